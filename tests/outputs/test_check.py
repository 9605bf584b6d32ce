"""`check` finds nothing in an honest warehouse, and what was tampered with."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.metrics import OVERALL_FIGURES, SCENARIO_FIGURES
from orchbench_analytics.outputs.check import (
    NEWER_NETWORKX,
    UNSUMMED_MISMATCHES,
    reported_figures,
)
from orchbench_analytics.profiles import UPSTREAM
from orchbench_analytics.queries import sql_directory
from orchbench_analytics.schema import polars_schema
from orchbench_analytics.store.parquet import Frame, write_table
from orchbench_analytics.tables import TABLES
from orchbench_analytics.warehouse import Warehouse
from tests.documents import judge_log, results_document, runs_document, scenario_path, write
from tests.warehouses import save_as_it_is


@pytest.fixture
def warehouse(demo: Path, tmp_path: Path) -> Warehouse:
    shutil.copytree(demo / "warehouse", tmp_path / "warehouse")
    return open_warehouse(tmp_path / "warehouse")


def tamper(warehouse: Warehouse, table: str, change: pl.Expr) -> None:
    """Change a table's file under `spec` behind the warehouse's back."""
    scores = [group for group in warehouse.manifest().scores if group.profile == "spec"]
    file = warehouse.path / scores[0].directory / f"{table}.parquet"
    changed = pl.read_parquet(file).with_columns(change).cast(polars_schema(TABLES[table]))
    write_table(Frame(changed, TABLES[table]), file)
    save_as_it_is(warehouse.path)


def test_an_honest_warehouse_agrees(warehouse: Warehouse) -> None:
    assert warehouse.check().differences.is_empty()


@pytest.mark.parametrize(
    ("table", "change", "check_name"),
    [
        ("scored_steps", pl.col("true_positive_call_count") + 1, "decisions_add_up"),
        ("scored_steps", pl.col("true_negative_reject_count") + 1, "perspectives_agree"),
        ("scored_steps", pl.lit(None).alias("left_out_reason"), "steps_are_scored_or_left_out"),
        ("scored_plans", pl.lit(None).alias("left_out_reason"), "plans_are_scored_or_left_out"),
        ("scored_arguments", pl.col("false_positive_count") + 1, "argument_values_add_up"),
        ("plan_edits", pl.col("cost") * 2, "plan_edits_add_up"),
        ("scenario_scores", pl.col("plan_similarity") * 3, "scores_are_shares"),
        ("scenario_scores", pl.col("plan_count") + 1, "scenario_scores_follow_from_rows"),
    ],
)
def test_what_does_not_add_up_is_found(
    warehouse: Warehouse, table: str, change: pl.Expr, check_name: str
) -> None:
    tamper(warehouse, table, change)
    assert check_name in warehouse.check().differences["check_name"].to_list()


def test_every_check_is_tried(warehouse: Warehouse) -> None:
    tried = {
        parameters[2] for parameters in test_what_does_not_add_up_is_found.pytestmark[0].args[1]
    }
    there = {path.stem for path in (sql_directory() / "checks").glob("*.sql")}
    stored = "scenario_scores_follow_from_rows"
    assert there | {stored} == tried | {"files_have_scenarios"}


def test_a_lost_part_is_found(warehouse: Warehouse) -> None:
    save_as_it_is(warehouse.path, parts=warehouse.manifest().parts[1:])
    assert "files_have_scenarios" in warehouse.check().differences["check_name"].to_list()


def test_reported_figures_are_compared_with_ours(warehouse: Warehouse, tmp_path: Path) -> None:
    document = warehouse.results("perfect", language="EN", profile="upstream")
    path = tmp_path / "perfect" / "baseline" / "evaluation_result_EN.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(document), encoding="utf-8")
    warehouse.ingest(path)
    report = warehouse.check()
    assert report.differences.is_empty()
    assert any("figures that an evaluator reported" in text for text in report.compared)

    document["overall_statistics"]["key_metrics"]["Plan"] += 0.25
    document["detailed_results"][0]["function_name_accuracy"] -= 0.5
    path.write_text(json.dumps(document), encoding="utf-8")
    warehouse.ingest(path)
    off = warehouse.check().differences
    off = off.filter(pl.col("check_name") == "reported_figures_agree")
    assert off["figure"].to_list() == ["key_metrics.Plan", "function_name_accuracy"]
    assert (off["expected"] - off["found"]).to_list() == pytest.approx([0.25, -0.5])


def test_an_overall_figure_that_does_not_follow_from_its_rows_is_listed(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    document = warehouse.results("graded-1", language="EN", experiment="baseline")
    document["overall_statistics"]["key_metrics"]["Plan"] += 0.25
    document["detailed_results"][0]["total_rejection_type_mismatch"] = 7
    path = tmp_path / "graded-1" / "baseline" / "evaluation_result_EN.json"
    write(path, document)
    alone = open_warehouse(tmp_path / "alone", create=True)
    alone.ingest(path)

    off = alone.check().differences

    assert set(off["check_name"]) == {"reported_totals_follow"}
    unexplained = off.filter(pl.col("explanation").is_null())
    assert unexplained["figure"].to_list() == ["key_metrics.Plan"]
    explained = off.filter(explanation=UNSUMMED_MISMATCHES)["figure"].to_list()
    assert [name for name in explained if name.endswith("total_rejection_type_mismatch")]


@pytest.mark.parametrize("choice", ["counted", "free"])
def test_an_evaluator_with_a_newer_networkx_is_recognised(tmp_path: Path, choice: str) -> None:
    """The label is one workflow that depends on itself; the answer is one that does not."""
    label = "workflow_1:\n  depends_on: [workflow_1]\n  steps:\n  - agent_id: weather_agent\n"
    document = runs_document()
    for each in document["history"].values():
        for entry in each["label"].values():
            if str(entry.get("content", "")).startswith("workflow_"):
                entry["content"] = label
        each["main_agent_history"] = [
            {"step_id": 2, "content": '{"workflow_1": {"steps": [{"agent_id": "weather_agent"}]}}'}
        ]
    write(scenario_path(tmp_path / "tree"), document)
    warehouse = open_warehouse(tmp_path / "warehouse", create=True)
    warehouse.ingest(tmp_path / "tree")
    warehouse.score(profile=replace(UPSTREAM, name="other", lone_self_loop=choice))
    written = warehouse.results("m", profile="other")
    write(scenario_path(tmp_path / "tree").parents[2] / "evaluation_result_EN.json", written)
    warehouse.ingest(tmp_path / "tree")

    off = warehouse.check().differences.filter(check_name="reported_figures_agree")

    if choice == "free":
        assert off.is_empty()
    else:
        assert set(off["explanation"]) == {NEWER_NETWORKX}
        assert "average_structural_GED" in off["figure"].to_list()


def test_figures_are_compared_only_where_we_have_them(warehouse: Warehouse, tmp_path: Path) -> None:
    document = warehouse.results("perfect", language="EN", profile="upstream")
    document["overall_statistics"]["key_metrics"]["Elegance"] = 0.5
    document["detailed_results"] = document["detailed_results"][:1]
    path = tmp_path / "perfect" / "baseline" / "evaluation_result_EN.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(document), encoding="utf-8")
    warehouse.ingest(path)
    with warehouse.connect() as connection:
        figures = reported_figures(connection).filter(model="perfect", profile="upstream")
    of_models = figures.filter(pl.col("scenario").is_null())
    assert set(of_models["figure"]) == OVERALL_FIGURES.keys()
    assert len(figures) == len(OVERALL_FIGURES) + len(SCENARIO_FIGURES)
    assert figures["expected"].to_list() == figures["found"].to_list()


def results_beside_answers(
    directory: Path, *, judged_at: str, generated_at: str = "100.5", seconds_older: int = 0
) -> Warehouse:
    """A model's answers, and a judge's log and results with other figures than theirs."""
    runs = scenario_path(directory / "tree", "m")
    experiment = runs.parents[2]
    results = experiment / "evaluation_result_EN.json"
    document = results_document()
    document["detailed_results"][0] |= {"function_name_accuracy": 0.125}
    write(runs, runs_document(generated_at=generated_at))
    write(
        experiment / "llm_evaluation_logs_EN" / "12_out_trial_run #1.json",
        judge_log(timestamp=judged_at),
    )
    write(results, document)
    changed_at = runs.stat().st_mtime - seconds_older
    os.utime(results, (changed_at, changed_at))
    warehouse = open_warehouse(directory / "warehouse", create=True)
    warehouse.ingest(directory / "tree", jobs=1)
    return warehouse


@pytest.mark.parametrize(
    "age",
    [
        {"judged_at": "99.25"},
        {"judged_at": "200.0", "seconds_older": 3600},
        {"judged_at": "2025-07-16", "generated_at": "2025-07-17", "seconds_older": 3600},
    ],
)
def test_results_older_than_the_answers_are_one_line(tmp_path: Path, age: dict) -> None:
    report = results_beside_answers(tmp_path, **age).check()

    (row,) = report.differences.to_dicts()
    assert (row["check_name"], row["model"]) == ("reported_figures_are_current", "m")
    (sentence,) = report.stale
    assert sentence.startswith("m / exp in EN: stale, the evaluator's results are older")
    assert f"and {row['found']:,.0f} of their figures differ" in sentence


@pytest.mark.parametrize("age", [{"judged_at": "100.75"}, {"judged_at": "x", "seconds_older": 30}])
def test_results_that_are_not_older_differ_one_by_one(tmp_path: Path, age: dict) -> None:
    report = results_beside_answers(tmp_path, **age).check()

    assert report.stale == []
    assert report.differences["check_name"].unique().to_list() == ["reported_figures_agree"]
    assert "function_name_accuracy" in report.differences["figure"].to_list()


def test_a_single_difference_of_many_scenarios_is_not_put_down_to_age(tmp_path: Path) -> None:
    warehouse = results_beside_answers(tmp_path, judged_at="99.25")
    document = warehouse.results("m", language="EN", profile="upstream")
    (right,) = document["detailed_results"]
    wrong = right | {"file_path": "13_out.json", "function_name_accuracy": 0.125}
    rest = [right | {"file_path": f"{number}_out.json"} for number in (14, 15)]
    document["detailed_results"] = [right, wrong, *rest]
    document["overall_statistics"] = {}
    runs = scenario_path(tmp_path / "tree", "m")
    for number in (13, 14, 15):
        write(runs.with_name(f"{number}_out.json"), runs_document(generated_at="100.5"))
    write(runs.parents[2] / "evaluation_result_EN.json", document)
    warehouse.ingest(tmp_path / "tree", jobs=1)

    report = warehouse.check()

    assert report.stale == []
    assert report.differences.select("scenario", "figure").rows() == [
        ("13", "function_name_accuracy")
    ]
