"""Warehouses of an evaluator's result files alone, and of both kinds: every command, tried."""

import json
import re
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import NoAnswersError
from orchbench_analytics.warehouse import Warehouse
from tests.conftest import MakeOnce
from tests.pages.unpack import frame_of_columns, unpacked

KEY_METRICS = {
    "Average": "average_score",
    "Call Rejection Classification Accuracy": "call_rejection_f1",
    "FC": "function_call_f1",
    "Plan": "workflow_similarity",
}
ALONE = "perfect"


def write_results(demo: Path, target: Path) -> None:
    """A tree of whole result files, as the evaluator would write them for the demo's answers."""
    warehouse = open_warehouse(demo / "warehouse")
    for model, experiment, language, *_ in warehouse.models().iter_rows():
        key = {"experiment": experiment, "language": language}
        place = target / model / experiment / f"evaluation_result_{language}.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(warehouse.results(model, **key)), encoding="utf-8")


@pytest.fixture(scope="session")
def alone(demo: Path, make_once: MakeOnce) -> Path:
    """`results` and `warehouse` of result files alone."""

    def build(directory: Path) -> None:
        write_results(demo, directory / "results")
        open_warehouse(directory / "warehouse", create=True).ingest(directory / "results", jobs=1)

    return make_once("results_alone", build)


@pytest.fixture(scope="session")
def mixed(demo: Path, make_once: MakeOnce) -> Path:
    """A warehouse in which one model has result files alone, and another runs alone."""

    def build(directory: Path) -> None:
        write_results(demo, directory / "results")
        for model in sorted((demo / "results").iterdir()):
            if model.name != ALONE:
                shutil.copytree(
                    model,
                    directory / "results" / model.name,
                    dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("evaluation_result_*"),
                )
        for path in (directory / "results" / "silent").rglob("evaluation_result_*.json"):
            path.unlink()
        open_warehouse(directory / "warehouse", create=True).ingest(
            directory / "results", agent_cards=[demo / "agent_cards"], jobs=1
        )

    return make_once("results_and_runs", build) / "warehouse"


def test_the_key_metrics_equal_those_of_every_file(alone: Path) -> None:
    scores = (
        open_warehouse(alone / "warehouse")
        .table("model_scores")
        .collect()
        .rows_by_key(["model", "experiment", "language"], named=True, unique=True)
    )
    files = list((alone / "results").rglob("evaluation_result_*.json"))
    assert len(files) == len(scores) == 18
    for path in files:
        metrics = json.loads(path.read_bytes())["overall_statistics"]["key_metrics"]
        row = scores[path.parents[1].name, path.parent.name, path.stem[-2:]]
        assert {name: row[column] for name, column in KEY_METRICS.items()} == metrics
        assert row["profile"] == "reported"


def test_a_warehouse_of_result_files_opens_on_what_was_reported(alone: Path, orchbench) -> None:
    board = orchbench("leaderboard", alone / "warehouse", "--format", "json")

    rows = json.loads(board.stdout)
    assert {row["profile"] for row in rows} == {"reported"}
    assert [row["model"] for row in rows[:2]] == ["perfect", "graded-2"]
    assert board.returncode == 0


@pytest.mark.parametrize(
    "command",
    [
        ("leaderboard", "--intervals"),
        ("leaderboard", "--language", "EN"),
        ("leaderboard", "--wide"),
        ("compare", "graded-1", "silent"),
        ("compare", "graded-1", "silent", "--drivers", "3"),
        ("compare", "graded-1"),
        ("compare",),
        ("show",),
        ("show", "graded-1"),
        ("sources",),
        ("sql", "from scenario_means"),
        ("sql", "from scenario_difficulties"),
        ("results", "graded-1", "--language", "KO"),
        ("check", "--all"),
    ],
    ids=" ".join,
)
def test_commands_that_go_by_scenario_work(alone: Path, orchbench, command) -> None:
    name, *arguments = command
    done = orchbench(name, alone / "warehouse", *arguments)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) > 2


@pytest.mark.parametrize(
    "command",
    [
        ("show", "graded-1", "1"),
        ("consistency",),
        ("plan",),
        ("audit",),
        ("leaderboard", "--profile", "spec"),
        ("compare", "graded-1", "silent", "--profile", "strict"),
    ],
    ids=" ".join,
)
def test_commands_that_need_answers_say_so_in_one_sentence(alone: Path, orchbench, command) -> None:
    name, *arguments = command
    done = orchbench(name, alone / "warehouse", *arguments)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "<scenario>_out.json" in done.stderr


def test_no_step_is_offered_where_there_are_none(alone: Path, orchbench) -> None:
    assert "one of them" not in orchbench("show", alone / "warehouse", "graded-1").stderr


def test_python_says_it_too(alone: Path) -> None:
    warehouse = open_warehouse(alone / "warehouse")
    with pytest.raises(NoAnswersError, match="consistency over runs needs the answers"):
        warehouse.consistency()
    assert set(warehouse.drivers("silent", "perfect")["kind"]) == {"scenarios"}


def test_the_star_and_the_report_have_its_scenarios(alone: Path, orchbench, tmp_path: Path) -> None:
    star = orchbench("export", alone / "warehouse", tmp_path / "star", "--star")
    report = orchbench("report", alone / "warehouse", tmp_path / "report.html")

    assert (star.returncode, report.returncode) == (0, 0)
    files = [*(tmp_path / "star" / "fact_scenario").rglob("*.parquet")]
    files += (tmp_path / "star").glob("fact_scenario.parquet")
    assert sum(pq.read_metadata(file).num_rows for file in files) == 72
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    core = unpacked(re.search(r'data-piece="core">([^<]+)<', page)[1])
    assert core["profiles"] == ["reported"]
    scores = unpacked(re.search(r'data-piece="board-0">([^<]+)<', page)[1])
    assert len(frame_of_columns(scores["board"]).filter(language="mean")) == 9


def test_printed_results_read_in_again_are_the_same(alone: Path, orchbench, tmp_path: Path) -> None:
    done = orchbench("results", alone / "warehouse", "graded-1", "--output", tmp_path / "out")

    assert done.returncode == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "evaluation_result_EN.json",
        "evaluation_result_KO.json",
    ]
    written = json.loads((tmp_path / "out" / "evaluation_result_EN.json").read_bytes())
    (original,) = (alone / "results" / "graded-1").rglob("evaluation_result_EN.json")
    given = json.loads(original.read_bytes())["overall_statistics"]
    assert written["profile"] == "reported"
    assert written["overall_statistics"]["key_metrics"] == given["key_metrics"]


def left_out(warehouse: Warehouse, profile: str) -> set[str]:
    shown = set(warehouse.leaderboard(profile=profile)["model"])
    return set(warehouse.models()["model"]) - shown


def test_a_mixed_warehouse_says_which_models_a_ranking_leaves_out(mixed: Path, orchbench) -> None:
    warehouse = open_warehouse(mixed)
    assert left_out(warehouse, "spec") == {ALONE}
    assert left_out(warehouse, "reported") == {"silent"}
    for arguments in (("leaderboard",), ("leaderboard", "--intervals"), ("compare",)):
        name, *options = arguments
        under_spec = orchbench(name, mixed, *options)
        assert f"1 model is not shown under spec ({ALONE} / " in under_spec.stderr
        under_reported = orchbench(name, mixed, *options, "--profile", "reported")
        assert "1 model is not shown under reported (silent / " in under_reported.stderr


def test_the_reported_figures_of_a_model_with_runs_are_there_too(mixed: Path) -> None:
    scores = (
        open_warehouse(mixed)
        .table("model_scores")
        .collect()
        .filter(model="graded-1", language="EN")
    )
    by_profile = {row["profile"]: row for row in scores.to_dicts()}
    for column in KEY_METRICS.values():
        assert by_profile["reported"][column] == by_profile["upstream"][column]
