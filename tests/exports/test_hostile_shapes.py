"""Labels, answers, names and tags at their worst: every table keeps what it says of itself."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.exports.relations import flat_relations, stage
from orchbench_analytics.exports.star import star_relations
from orchbench_analytics.warehouse import Warehouse
from tests.documents import call, run, runs_document, scenario_path, write

MODELS = ('it\'s a "model"', "=1+1", "모델; drop table steps")
TAGS = "select,profile,agent,MODEL_LABEL,크기"  # words of SQL, and names of other columns


def odd_run() -> dict[str, Any]:
    """Steps without a label, without an answer, without an agent, and calls of every bad shape."""
    label = {
        "2": {"role": "assistant", "content": "workflow_1: ["},
        "3": {"role": "assistant", "agent_id": "weather_agent", "content": ""},
        "3-1": {"role": "assistant", "tool_calls": []},
        "4": {"role": "assistant", "agent_id": None, "content": None},
        "5": {"role": "assistant", "agent_id": "bank_agent", "content": "x"},
        "5-1": {"role": "assistant", "content": "no call"},
    }
    answers = [
        {"step_id": "3", "agent_id": None, "content": None, "tool_calls": [call("", "{")]},
        {"step_id": "3", "agent_id": "weather_agent", "tool_calls": [call(), call("b", "[]")]},
        {"step_id": "9", "agent_id": "nobody", "tool_calls": [call("unasked")]},
        {"step_id": "5", "agent_id": "bank_agent", "content": "\0", "tool_calls": None},
    ]
    plans = [{"step_id": 2, "content": None}, {"step_id": 8, "content": '{"workflow_1": 3}'}]
    return run(label=label, sub_agent_history=answers, main_agent_history=plans)


def build_odd(directory: Path) -> None:
    for model in MODELS:
        document = runs_document({"run #1": odd_run(), "": run(), "=run": {}})
        document["usage"] = {"total_cost": 1e300, "total_tokens": None}
        write(scenario_path(directory / "results", model, "1"), document)
        write(scenario_path(directory / "results", model, "2"), runs_document({}))
        write(scenario_path(directory / "results", model, "3"), b"{")
    warehouse = open_warehouse(directory / "warehouse", create=True)
    warehouse.ingest(directory / "results", jobs=1)
    (directory / "tags.csv").write_text(f"model,{TAGS}\n=1+1,1,2,3,4,5\n", encoding="utf-8")
    warehouse.tag(directory / "tags.csv")


@pytest.fixture(scope="module")
def odd(make_once: Any) -> Warehouse:
    return open_warehouse(make_once("odd_export", build_odd) / "warehouse")


@pytest.fixture(scope="module", params=[False, True], ids=["flat", "star"])
def is_star(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture(scope="module")
def staged(odd: Warehouse, is_star: bool) -> Iterator[tuple[Any, Any]]:
    """The relations that go out, and the DuckDB that has their rows."""
    with stage() as connection:
        relations_of = star_relations if is_star else flat_relations
        yield relations_of(connection, odd.path, odd.manifest(), ()), connection


def test_a_step_without_a_label_has_no_label_tools(odd: Warehouse) -> None:
    unlabelled = odd.table("scored_steps").filter(pl.col("label_tools").is_null()).collect()
    assert len(unlabelled) > 0
    tools = odd.table("step_tools").collect().filter(pl.col("tool") == "unasked")
    assert tools.filter(pl.col("is_labelled")).is_empty()


def test_columns_that_are_never_null_hold_no_null_and_keys_are_keys(staged: Any) -> None:
    relations, connection = staged
    for relation in relations:
        never = [column.name for column in relation.table.columns if not column.nullable]
        for name in never:
            quoted = '"' + name.replace('"', '""') + '"'
            query = f"select count(*) from main.{relation.name} where {quoted} is null"
            assert connection.execute(query).fetchone() == (0,), (relation.name, name)
        if relation.key:
            keys = ", ".join(relation.key)
            query = f"select {keys} from main.{relation.name} group by {keys} having count(*) > 1"
            assert connection.execute(query).fetchall() == [], relation.name


def test_every_sink_with_constraints_takes_it(
    odd: Warehouse, is_star: bool, tmp_path: Path
) -> None:
    summary = odd.export(tmp_path / "out.sqlite", star=is_star)
    assert summary.row_count > 0
    opened = sqlite3.connect(tmp_path / "out.sqlite")
    assert opened.execute("pragma foreign_key_check").fetchall() == []
    for exported in summary.relations:
        query = f"select count(*) from {exported.relation}"
        assert opened.execute(query).fetchall() == [(exported.row_count,)]
    opened.close()
    odd.export(tmp_path / "out.duckdb", star=is_star)
    odd.export(tmp_path / "out", star=is_star)
    with duckdb.connect(str(tmp_path / "out.duckdb"), read_only=True) as connection:
        for exported in summary.relations:
            frame = pl.read_parquet(tmp_path / "out" / f"{exported.relation}.parquet")
            assert len(frame) == exported.row_count
            query = f"select count(*) from {exported.relation}"
            assert connection.sql(query).fetchall() == [(exported.row_count,)]
