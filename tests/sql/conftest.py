"""Given these rows, expect those: each view is tried on tables of a few literal rows."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from orchbench_analytics.profiles import SPEC, rules_of
from orchbench_analytics.queries import scenario_scores_query
from orchbench_analytics.schema import Column
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.tables import TABLES
from orchbench_analytics.views.catalog import connect

Row = dict[str, Any]
Given = Callable[..., None]
Expect = Callable[[str, list[Row]], None]

# What a row says of itself where a test does not care; the rest is null, or empty of its kind.
COMMON = {
    "profile": "spec",
    "model": "m",
    "experiment": "x",
    "language": "EN",
    "scenario": "1",
    "run": "run #1",
    "actual": "call",
    "predicted": "call",
    "decided_by": "compared",
    "is_scored": True,
    "is_ged_exact": True,
    "is_asked": True,
    "is_usable": True,
    "run_count": 1,
}
_KEY = ("model", "experiment", "language", "scenario", "run", "step_id", "answer_position")
EMPTY = {"text": "", "int": 0, "float": 0.0, "bool": False}
TYPES = {"text": "varchar", "int": "bigint", "float": "double", "bool": "boolean"}


@pytest.fixture(scope="session")
def empty_tables(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    """All views as they are in a warehouse, over tables that take rows."""
    connection = connect(Path(tmp_path_factory.mktemp("empty")), Manifest())
    for table in TABLES.values():
        columns = ", ".join(f"{c.name} {TYPES[c.kind]}" for c in table.columns)
        connection.execute(f"drop view main.{table.name}")
        connection.execute(f"create table main.{table.name} ({columns})")
    connection.execute("drop table main.scenario_scores")
    connection.execute(f"create view main.scenario_scores as {scenario_scores_query()}")
    connection.execute("create table rules as select * from main.profiles")
    connection.execute("drop view main.profiles")
    connection.execute("alter table rules rename to profiles")
    return connection


@pytest.fixture
def tables(empty_tables: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    empty_tables.execute("begin transaction")
    yield empty_tables
    empty_tables.execute("rollback")


@pytest.fixture
def given(tables: duckdb.DuckDBPyConnection) -> Given:
    """Fill tables: `given(scored_steps=[{...}, ...])`; steps are numbered where not named.

    The profile is `spec`; `rules` are those that differ from it.
    """

    def fill(*, rules: Row | None = None, **rows_by_table: list[Row]) -> None:
        profile = {("profile" if k == "name" else k): v for k, v in rules_of(SPEC).items()}
        _insert(tables, "profiles", [profile | (rules or {})])
        for name, rows in rows_by_table.items():
            columns = TABLES[name].columns
            filled = [{c.name: _filled(c, row, i) for c in columns} for i, row in enumerate(rows)]
            unknown = {key for row in rows for key in row} - {c.name for c in columns}
            assert not unknown, f"{name} has no {unknown}"
            _insert(tables, name, filled)

    return fill


@pytest.fixture
def expect(tables: duckdb.DuckDBPyConnection) -> Expect:
    """Compare all rows of a view, in any order, by the columns that are named."""

    def compare(view: str, rows: list[Row]) -> None:
        names = list(rows[0]) if rows else ["*"]
        found = tables.execute(f"select {', '.join(names)} from main.{view}").fetchall()
        wanted = [tuple(row[name] for name in names) for row in rows]
        assert sorted(found, key=_order) == [
            tuple(pytest.approx(v) if isinstance(v, float) else v for v in row)
            for row in sorted(wanted, key=_order)
        ]

    return compare


def _filled(column: Column, row: Row, number: int) -> Any:
    if column.name in row:
        return row[column.name]
    if column.name == "step_id":
        return str(number + 1)
    if column.name in ("step_key", "plan_key"):
        place = {"step_id": str(number + 1)} | COMMON | row
        return "/".join(str(place.get(name)) for name in _KEY)
    return COMMON.get(column.name, None if column.nullable else EMPTY[column.kind])


def _insert(connection: duckdb.DuckDBPyConnection, table: str, rows: list[Row]) -> None:
    for row in rows:
        marks = ", ".join("?" for _ in row)
        names = ", ".join(row)
        connection.execute(f"insert into main.{table} ({names}) values ({marks})", [*row.values()])


def _order(row: tuple[Any, ...]) -> list[str]:
    """Rows that belong together stand at the same place, whatever the last digits of floats."""
    return [f"{v:.6f}" if isinstance(v, float) else str(v) for v in row]
