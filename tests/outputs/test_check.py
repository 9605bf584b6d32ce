"""`check` finds nothing in an honest warehouse, and what was tampered with."""

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.metrics import OVERALL_FIGURES, SCENARIO_FIGURES
from orchbench_analytics.outputs.check import reported_figures
from orchbench_analytics.queries import sql_directory
from orchbench_analytics.schema import polars_schema
from orchbench_analytics.store.parquet import Frame, write_table
from orchbench_analytics.tables import TABLES
from orchbench_analytics.warehouse import Warehouse
from tests.sample_sweep import build_demo
from tests.warehouses import save_as_it_is


@pytest.fixture
def warehouse(make_once, tmp_path: Path) -> Warehouse:
    shutil.copytree(make_once("demo", build_demo) / "warehouse", tmp_path / "warehouse")
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
        ("scored_plans", pl.col("plan_similarity") * 3, "scores_are_shares"),
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
    assert there == tried | {"files_have_scenarios"}


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
    assert off["figure"].to_list() == ["key_metrics.Plan", "function_name_accuracy"]
    assert (off["expected"] - off["found"]).to_list() == pytest.approx([0.25, -0.5])


def test_figures_are_compared_only_where_we_have_them(warehouse: Warehouse, tmp_path: Path) -> None:
    document = warehouse.results("perfect", language="EN", profile="upstream")
    document["overall_statistics"]["key_metrics"]["Elegance"] = 0.5
    document["detailed_results"] = document["detailed_results"][:1]
    path = tmp_path / "perfect" / "baseline" / "evaluation_result_EN.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(document), encoding="utf-8")
    warehouse.ingest(path)
    with warehouse.connect() as connection:
        figures = reported_figures(connection).filter(model="perfect")
    of_models = figures.filter(pl.col("scenario").is_null())
    assert set(of_models["figure"]) == OVERALL_FIGURES.keys()
    assert len(figures) == len(OVERALL_FIGURES) + len(SCENARIO_FIGURES)
    assert figures["expected"].to_list() == figures["found"].to_list()
