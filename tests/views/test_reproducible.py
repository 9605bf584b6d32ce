"""Every view gives the same bits, in whatever order rows come, with any number of threads."""

import struct
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import duckdb
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.queries import macros, views
from orchbench_analytics.tables import TABLES

# How rows come, and how many threads take them.
WAYS = (("rowid", 1), ("hash(rowid, 1)", 1), ("hash(rowid, 2)", 4), ("rowid desc", 2))


def shuffled(tables: dict[str, Any], order: str, threads: int) -> duckdb.DuckDBPyConnection:
    """All views over tables whose rows stand in another order."""
    connection = duckdb.connect(config={"threads": threads})
    for statements in macros():
        connection.execute(statements)
    for name, rows in tables.items():
        connection.register("given_rows", rows)
        connection.execute("create or replace temp table unordered as from given_rows")
        connection.execute(f"create table main.{name} as from unordered order by {order}")
    for view in views().values():
        connection.execute(f"create view main.{view.name} as {view.query}")
    return connection


def bits(value: object) -> object:
    return struct.pack("<d", value) if isinstance(value, float) else value


@pytest.fixture(scope="module")
def connections(demo: Path) -> Iterator[list[duckdb.DuckDBPyConnection]]:
    warehouse = open_warehouse(demo / "warehouse")
    with warehouse.connect() as connection:
        names = [*TABLES, "profiles"]
        tables = {n: connection.sql(f"from main.{n}").to_arrow_table() for n in names}
    with ExitStack() as stack:
        yield [stack.enter_context(shuffled(tables, *way)) for way in WAYS]


@pytest.mark.parametrize("name", sorted(views()))
def test_a_view_gives_the_same_bits(
    connections: list[duckdb.DuckDBPyConnection], name: str
) -> None:
    results = [
        sorted(
            (tuple(map(bits, row)) for row in connection.execute(f"from main.{name}").fetchall()),
            key=repr,
        )
        for connection in connections
    ]
    assert results[0]
    for other in results[1:]:
        assert other == results[0]
