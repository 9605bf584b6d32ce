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
from tests.exports.hostile import build_shapes


@pytest.fixture(scope="module")
def odd(make_once: Any) -> Warehouse:
    return open_warehouse(make_once("odd_export", build_shapes) / "warehouse")


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
