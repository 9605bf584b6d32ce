"""Scoring a warehouse: only what is new or changed, under every profile that was asked for."""

import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import orchbench_analytics
from orchbench_analytics import open_warehouse
from orchbench_analytics.engines import Here
from orchbench_analytics.profiles import BUILT_IN, SPEC, UPSTREAM, flip, rule_choices
from orchbench_analytics.score import group
from orchbench_analytics.score.plans.ged import GraphPair, Measured, measure
from orchbench_analytics.store.manifest import files_of, load_manifest, row_holders
from orchbench_analytics.store.parquet import scan_files
from orchbench_analytics.tables import SCORED_TABLES, TABLES
from orchbench_analytics.warehouse import Warehouse
from tests.documents import (
    agent_card,
    call,
    experiment_directory,
    judge_log,
    run,
    runs_document,
    scenario_path,
    write,
)
from tests.golden.pack import golden_warehouse
from tests.sweep import write_evaluations, write_sweep

PLAN_ANSWER = '{"workflow_1": {"steps": [{"agent_id": "weather_agent"}]}}'
PACKAGE = Path(orchbench_analytics.__file__).parent


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "results"
    for model in ("one", "two"):
        write(scenario_path(root, model))
    return root


@pytest.fixture
def warehouse(tmp_path: Path, tree: Path) -> Warehouse:
    made = open_warehouse(tmp_path / "warehouse", create=True)
    made.ingest(tree)
    return made


def groups(warehouse: Warehouse) -> dict[str, set[str]]:
    """The ids of score groups by profile."""
    found: dict[str, set[str]] = {}
    for scored in warehouse.manifest().scores:
        found.setdefault(scored.profile, set()).add(scored.group_id)
    return found


def rows(warehouse: Warehouse, table: str, **where: Any) -> pl.DataFrame:
    frame = warehouse.table(table).collect().filter(**where)
    return frame.sort(frame.columns, nulls_last=True)


def answering(**changes: Any) -> dict[str, Any]:
    return runs_document({"run #1": run(**changes)})


def with_plan(content: str) -> dict[str, Any]:
    return answering(main_agent_history=[{"step_id": 2, "content": content}])


class TestIngest:
    def test_every_part_is_scored_under_every_built_in_profile(self, warehouse: Warehouse) -> None:
        assert groups(warehouse).keys() == BUILT_IN.keys()
        steps = rows(warehouse, "scored_steps")
        assert steps.group_by("profile", "model").len().sort("profile", "model").rows() == [
            (profile, model, 4) for profile in sorted(BUILT_IN) for model in ("one", "two")
        ]

    def test_what_is_scored_has_the_rows_of_what_was_answered(self, warehouse: Warehouse) -> None:
        for flat, scored in (("steps", "scored_steps"), ("plans", "scored_plans")):
            count = len(rows(warehouse, flat))
            assert count > 0
            for profile in BUILT_IN:
                assert len(rows(warehouse, scored, profile=profile)) == count

    def test_nothing_new_scores_nothing(self, warehouse: Warehouse, tree: Path) -> None:
        before = warehouse.manifest().scores

        warehouse.ingest(tree)

        assert warehouse.manifest().scores == before

    def test_a_new_model_scores_only_its_own_part(self, warehouse: Warehouse, tree: Path) -> None:
        before = groups(warehouse)
        write(scenario_path(tree, "three"))

        warehouse.ingest(tree)

        after = groups(warehouse)
        parts = {p.part_id for p in warehouse.manifest().parts if p.model == "three"}
        for profile in BUILT_IN:
            assert before[profile] < after[profile]
            (new,) = after[profile] - before[profile]
            assert set(part_ids(warehouse, profile, new)) == parts

    def test_a_changed_answer_is_scored_anew_and_its_neighbours_stay_as_they_were(
        self, warehouse: Warehouse, tree: Path
    ) -> None:
        before = rows(warehouse, "scored_steps", model="one")
        write(scenario_path(tree, "two"), answering(sub_agent_history=[]))

        warehouse.ingest(tree)

        assert rows(warehouse, "scored_steps", model="one").equals(before)
        changed = rows(warehouse, "scored_steps", model="two", profile="spec")
        assert set(changed["failure_reason"]) == {"missing"}

    def test_models_scored_together_or_one_by_one_get_the_same(
        self, warehouse: Warehouse, tree: Path, tmp_path: Path
    ) -> None:
        one_by_one = open_warehouse(tmp_path / "one_by_one", create=True)
        for model in ("two", "one"):
            one_by_one.ingest(tree / model)

        for table in ("scored_steps", "scored_arguments", "scored_plans", "plan_edits"):
            assert rows(one_by_one, table).equals(rows(warehouse, table))

    def test_many_parts_are_scored_in_groups_of_bounded_size(
        self, tmp_path: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("orchbench_analytics.score.group._GROUP_ROWS", 1)
        split = open_warehouse(tmp_path / "split", create=True)

        split.ingest(tree)

        assert [len(ids) for ids in groups(split).values()] == [2, 2, 2]

    @pytest.mark.parametrize("is_late", [True, False])
    def test_verdicts_count_wherever_and_whenever_the_judges_log_was_read(
        self, tmp_path: Path, tree: Path, monkeypatch: pytest.MonkeyPatch, is_late: bool
    ) -> None:
        monkeypatch.setattr("orchbench_analytics.score.group._GROUP_ROWS", 1)
        monkeypatch.setattr("orchbench_analytics.ingest.update._PART_FILES", 1)
        answers = run()["sub_agent_history"]
        answers[0]["tool_calls"] = [call(arguments='{"city": "Seul"}')]
        write(scenario_path(tree, "one"), answering(sub_agent_history=answers))
        write(scenario_path(tree, "one", "13"))
        made = open_warehouse(tmp_path / "judged", create=True)
        if is_late:
            made.ingest(tree)
        logs = experiment_directory(tree, "one") / "llm_evaluation_logs_EN"
        write(logs / "12_out_trial_run #1.json", judge_log())

        made.ingest(tree)

        judged = rows(made, "scored_arguments", decided_by="judge")
        assert set(judged["profile"]) == set(BUILT_IN)
        assert set(judged["scenario"]) == {"12"}

    def test_scores_depend_neither_on_the_order_of_files_nor_on_parts_and_groups(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_sweep(tmp_path, models=8, scenarios=2, languages=["EN"], write_judge_logs=True)
        cards = [tmp_path / "agent_cards"]
        whole = open_warehouse(tmp_path / "whole", create=True)
        whole.ingest(tmp_path / "results", agent_cards=cards, jobs=1)
        write_evaluations(tmp_path, whole)
        whole.ingest(tmp_path / "results", agent_cards=cards, jobs=1)
        monkeypatch.setattr("orchbench_analytics.score.group._GROUP_ROWS", 1)
        monkeypatch.setattr("orchbench_analytics.ingest.update._PART_FILES", 2)
        files = sorted((tmp_path / "results").rglob("*.json"))
        random.Random(5).shuffle(files)

        pieces = open_warehouse(tmp_path / "pieces", create=True)
        for start in range(3):
            pieces.ingest(*files[start::3], agent_cards=cards, jobs=1)

        assert len(rows(whole, "scored_arguments", decided_by="judge")) > 0
        for name in sorted({*TABLES} - {"sources"}):
            expected, found = (
                made.table(name).sort(pl.all()).collect() for made in (whole, pieces)
            )
            assert_frame_equal(found, expected)


def part_ids(warehouse: Warehouse, profile: str, group_id: str) -> list[str]:
    (found,) = (
        g for g in warehouse.manifest().scores if (g.profile, g.group_id) == (profile, group_id)
    )
    return found.part_ids


class TestProfiles:
    @pytest.fixture
    def lenient(self, tmp_path: Path) -> Callable[[str], str]:
        def path(rules: str) -> str:
            file = tmp_path / "lenient.toml"
            file.write_text(rules)
            return str(file)

        return path

    def test_a_fourth_profile_is_scored_from_parquet_alone(
        self, warehouse: Warehouse, tree: Path, lenient: Callable[[str], str]
    ) -> None:
        before = groups(warehouse)
        for file in tree.rglob("*.json"):
            file.unlink()

        name = warehouse.score(profile=lenient('base = "strict"\nfailed_rejection = "not_counted"'))

        assert name == "lenient"
        assert groups(warehouse).keys() == {*BUILT_IN, "lenient"}
        assert {profile: groups(warehouse)[profile] for profile in BUILT_IN} == before
        assert warehouse.manifest().profiles["lenient"]["rejected_call"] == "zero"
        assert set(warehouse.leaderboard(profile="lenient")["model"]) == {"one", "two"}

    def test_later_ingests_keep_it_current(
        self, warehouse: Warehouse, tree: Path, lenient: Callable[[str], str]
    ) -> None:
        warehouse.score(profile=lenient('silence = "call"'))
        write(scenario_path(tree, "three"))

        warehouse.ingest(tree)

        models = set(rows(warehouse, "scored_steps", profile="lenient")["model"])
        assert models == {"one", "two", "three"}

    def test_scoring_again_under_the_same_rules_does_nothing(
        self, warehouse: Warehouse, tree: Path, lenient: Callable[[str], str]
    ) -> None:
        file = lenient("agent_weight = 1\nstatus_weight = 0")
        warehouse.score(profile=file)
        before = warehouse.manifest().scores

        warehouse.score(profile=file)
        warehouse.ingest(tree)

        assert warehouse.manifest().scores == before

    def test_changed_rules_under_the_same_name_replace_the_scores(
        self, warehouse: Warehouse, tree: Path, lenient: Callable[[str], str]
    ) -> None:
        write(scenario_path(tree, "two"), answering(sub_agent_history=[]))
        warehouse.ingest(tree)
        warehouse.score(profile=lenient(""))
        kept = groups(warehouse)

        warehouse.score(profile=lenient('failed_rejection = "false_negative"'))

        after = groups(warehouse)
        assert {p: after[p] for p in BUILT_IN} == {p: kept[p] for p in BUILT_IN}
        assert not after["lenient"] & kept["lenient"]
        (count,) = rows(warehouse, "scored_steps", profile="lenient", model="two", step_id="4")[
            "false_negative_reject_count"
        ]
        assert count == 1

    def test_a_profile_may_have_any_name(self, warehouse: Warehouse) -> None:
        name = warehouse.score(profile=replace(SPEC, name="../../mine & yours = '1'"))

        assert set(rows(warehouse, "scored_steps", profile=name)["model"]) == {"one", "two"}
        assert len(warehouse.leaderboard(profile=name)) == 2


class TestAnswersToKeysOfCalls:
    def test_only_the_evaluator_scores_an_answer_that_names_the_key_of_gold_calls(
        self, tmp_path: Path
    ) -> None:
        answers = [
            {"step_id": step, "content": "", "tool_calls": [call()]} for step in ("3-1", "3-2", "3")
        ]
        write(scenario_path(tmp_path / "tree"), answering(sub_agent_history=answers))
        warehouse = open_warehouse(tmp_path / "w", create=True)
        warehouse.ingest(tmp_path / "tree")

        found = {}
        for profile in ("upstream", "spec"):
            steps = rows(warehouse, "scored_steps", profile=profile).filter(
                pl.col("answer_position").is_not_null()
            )
            columns = ("step_id", "actual", "judge_index", "name_f1", "left_out_reason")
            found[profile] = steps.select(columns).rows()

        assert found == {
            "upstream": [
                ("3", "call", 1, 1.0, None),
                ("3-1", "call", 0, 1.0, None),
                ("3-2", "rejection", None, None, None),
            ],
            "spec": [
                ("3", "call", 1, 1.0, None),
                ("3-1", "call", 0, None, "unlabelled_answer"),
                ("3-2", "rejection", None, None, "unlabelled_answer"),
            ],
        }


class TestAgentCards:
    def test_a_changed_card_scores_everything_anew(
        self, warehouse: Warehouse, tree: Path, tmp_path: Path
    ) -> None:
        cards = tmp_path / "agent_cards" / "EN"
        card = agent_card()
        write(cards / "weather.json", card)
        warehouse.ingest(tree, agent_cards=[cards.parent])
        before = groups(warehouse)

        card["tools"][0]["parameters"]["properties"]["city"] = {"type": "integer"}
        write(cards / "weather.json", card)
        warehouse.ingest(tree, agent_cards=[cards.parent])

        assert all(not before[profile] & groups(warehouse)[profile] for profile in BUILT_IN)

    def test_the_card_decides_which_matches_the_evaluator_loses(
        self, tmp_path: Path, tree: Path
    ) -> None:
        two_calls = [call(arguments=f'{{"city": "{c}"}}') for c in ("Seoul", "Sol")]
        document = runs_document()
        for each in document["history"].values():
            each["label"]["3-1"]["tool_calls"] = [call(), call(arguments='{"city": "Daegu"}')]
            each["sub_agent_history"][0]["tool_calls"] = two_calls
        write(scenario_path(tree, "one"), document)
        cards = tmp_path / "agent_cards" / "EN"
        found = {}
        for value_type in ("string", "number"):
            card = agent_card()
            card["tools"][0]["parameters"]["properties"]["city"] = {"type": value_type}
            write(cards / "weather.json", card)
            made = open_warehouse(tmp_path / value_type, create=True)

            made.ingest(tree, agent_cards=[cards.parent])

            scored = rows(made, "scored_arguments", profile="upstream", model="one")
            found[value_type] = set(scored["true_positive_count"])

        assert found == {"string": {0}, "number": {1}}


class TestPlans:
    def test_each_distinct_pair_is_measured_once_however_many_plans_have_it(
        self, tmp_path: Path, tree: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        measured: list[GraphPair] = []

        def measure_and_count(pair: GraphPair) -> Measured:
            measured.append(pair)
            return measure(pair)

        monkeypatch.setattr("orchbench_analytics.score.plans.score.measure", measure_and_count)

        open_warehouse(tmp_path / "w", engine=Here(), create=True).ingest(tree)

        assert len(measured) == len(set(measured)) == 2  # one of each graph: all plans are alike

    def test_another_profile_with_the_same_rules_of_plans_scores_them_alike(
        self, warehouse: Warehouse
    ) -> None:
        warehouse.score(profile=replace(SPEC, name="other", silence="call"))

        found, expected = (
            rows(warehouse, "scored_plans", profile=name).drop("profile")
            for name in ("other", "spec")
        )
        assert found.equals(expected)


class Counting(Here):
    """An engine that runs everything in this process, and keeps the tasks of each function."""

    def __init__(self) -> None:
        self.tasks: dict[str, list[Any]] = {}

    def run(self, function: Any, tasks: Any, *, is_small: bool = False) -> Any:
        kept = self.tasks.setdefault(function.__name__, [])
        for task in tasks:
            kept.append(task)
            yield function(task)


def test_any_engine_gives_the_same_warehouse(
    warehouse: Warehouse, tree: Path, tmp_path: Path
) -> None:
    counting = Counting()
    other = open_warehouse(tmp_path / "other", engine=counting, create=True)
    other.ingest(tree)

    assert [name for name in counting.tasks if name != "_unseen"] == ["build_part", "score_group"]
    for name in TABLES:
        if name != "sources":
            assert other.table(name).collect().equals(warehouse.table(name).collect())


def test_changed_code_scores_everything_anew(warehouse: Warehouse, tmp_path: Path) -> None:
    """A plan wrapped in prose is read; with the way that reads it gone, it is not."""
    copied = tmp_path / "copied"
    shutil.copytree(PACKAGE, copied / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(PACKAGE.parent / "sql", copied / "sql")
    write(scenario_path(tmp_path / "results", "one"), with_plan(f"```json\n{PLAN_ANSWER}\n```"))
    ingest = f"open_warehouse({str(warehouse.path)!r}).ingest({str(tmp_path / 'results')!r})"
    code = f"from orchbench_analytics import open_warehouse; {ingest}"
    graphs = copied / PACKAGE.name / "score" / "plans" / "graphs.py"
    found = []
    for way in ("json_block", "braces"):
        subprocess.run([sys.executable, "-c", code], cwd=copied, check=True)
        found.append(rows(warehouse, "scored_plans", model="one", profile="spec")["read_as"][0])
        without = [line for line in graphs.read_text().splitlines() if f'("{way}",' not in line]
        graphs.write_text("\n".join(without))

    assert found[0] == "json_block"
    assert found[1] != "json_block"


def test_the_same_tree_gives_the_same_rows_in_the_same_order(
    warehouse: Warehouse, tree: Path, tmp_path: Path
) -> None:
    again = open_warehouse(tmp_path / "again", create=True)
    again.ingest(tree)

    for table in ("scored_steps", "scored_arguments", "scored_plans", "plan_edits"):
        assert again.table(table).collect().equals(warehouse.table(table).collect())


def test_a_tree_without_runs_makes_no_warehouse(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()

    open_warehouse(tmp_path / "w", create=True).ingest(empty)

    assert not (tmp_path / "w" / "manifest.json").exists()


@pytest.mark.long
def test_profiles_scored_together_are_what_each_gives_alone(make_once, tmp_path: Path) -> None:
    root = tmp_path / "warehouse"
    shutil.copytree(make_once("golden", golden_warehouse) / "warehouse", root)
    manifest = msgspec.structs.replace(load_manifest(root), scores=[], profiles={})
    differing = [r for r in rule_choices() if getattr(SPEC, r) != getattr(UPSTREAM, r)]
    profiles = [
        *(flip(SPEC, rule, UPSTREAM) for rule in differing),
        replace(SPEC, name="weighty", agent_weight=0.5),
        replace(SPEC, name="renamed"),
    ]
    together = group.score(root, manifest, profiles, Here(), output=tmp_path / "together")

    for profile in profiles:
        alone = group.score(root, manifest, [profile], Here(), output=tmp_path / profile.name)
        for table in SCORED_TABLES:
            found, wanted = (
                scan_files(files_of(tmp_path / place, row_holders(scored), table.name))
                .filter(profile=profile.name)
                .collect()
                for place, scored in (("together", together), (profile.name, alone))
            )
            assert found.equals(wanted), (profile.name, table.name)
