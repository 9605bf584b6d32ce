"""Scoring called from deep in a program: a nested answer still costs only itself."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from orchbench_analytics import open_warehouse
from orchbench_analytics.engines import Here
from tests.documents import run, runs_document, scenario_path, write

NESTED = "[" * 975 + "]" * 975
MARK = "@@ the nested lists @@"
PLAN = '{"workflow_1": {"steps": [{"agent_id": "weather_agent"}]}}'
DEEP_YAML = "workflow_1: " + "[" * 99 + "]" * 99
TABLES = ("scored_steps", "scored_arguments", "scored_plans", "plan_edits", "scenario_scores")


def called_deeper(frames: int, call: Callable[[], Any]) -> Any:
    return call() if frames == 0 else called_deeper(frames - 1, call)


def write_answers(root: Path, model: str, plan: Any, content: Any) -> None:
    answers = run()["sub_agent_history"]
    answers[0] |= {"content": content, "tool_calls": []}
    plans = [{"step_id": 2, "content": plan}]
    history = {"run #1": run(main_agent_history=plans, sub_agent_history=answers)}
    text = json.dumps(runs_document(history)).replace(json.dumps(MARK), NESTED)
    write(scenario_path(root, model), text.encode())


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    write_answers(root, "harmless", PLAN, "text")
    write_answers(root, "nested", MARK, MARK)
    write_answers(root, "nested-beside-a-plan", [PLAN, MARK], ["AWAITING_USER_INPUT", MARK])
    write_answers(root, "deep-yaml", DEEP_YAML, "text")
    return root


def scored(path: Path, tree: Path, frames: int) -> dict[str, pl.DataFrame]:
    warehouse = open_warehouse(path, engine=Here(), create=True)
    warehouse.ingest(tree, score=False)
    called_deeper(frames, lambda: warehouse.score(profile="spec"))
    called_deeper(frames, lambda: warehouse.score(profile="upstream"))
    return {name: warehouse.table(name).sort(pl.all()).collect() for name in TABLES}


@pytest.mark.parametrize("frames", [20, 100, 300])
def test_scores_do_not_depend_on_how_deep_scoring_is_called(
    tmp_path: Path, tree: Path, frames: int
) -> None:
    shallow = scored(tmp_path / "shallow", tree, 0)

    deep = scored(tmp_path / "deep", tree, frames)

    assert set(shallow["scored_plans"]["model"]) == {
        "harmless",
        "nested",
        "nested-beside-a-plan",
        "deep-yaml",
    }
    for name in TABLES:
        assert_frame_equal(deep[name], shallow[name])


def test_scoring_from_the_bottom_of_the_stack_costs_the_nested_answers_alone(
    tmp_path: Path, tree: Path
) -> None:
    found = scored(tmp_path / "warehouse", tree, 650)["scored_plans"]

    harmless = found.filter(model="harmless", profile="spec")
    assert set(harmless["read_as"]) == {"braces"}
    assert not harmless["is_failed"].any()
