"""Every view of `sql/` in Postgres, over exported tables: the same rows as in DuckDB."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from psycopg.rows import dict_row

from orchbench_analytics import open_warehouse
from orchbench_analytics.queries import views
from orchbench_analytics.tables import TABLES
from orchbench_analytics.views.postgres import postgres_script
from tests.conftest import MakeOnce
from tests.sample_sweep import build_demo
from tests.services.engine_views import (
    Row,
    differences,
    in_order,
    rounded_by_duckdb,
    rows_of_duckdb,
    telling_numbers,
)
from tests.services.postgres import postgres_server, server_programs


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    programs = server_programs()
    if programs is None:
        pytest.skip("Postgres is not installed; make test-services installs it")
    with postgres_server(programs) as uri:
        yield uri


def schema_with_views(
    server: str, name: str, warehouse: Path, *, is_materialized: bool = False
) -> str:
    """The address of a new schema with the exported tables of a warehouse, and all views."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"create schema {name}")
    uri = f"{server}&options={quote(f'-csearch_path={name}')}"
    opened = open_warehouse(warehouse)
    opened.export(uri, relations=[*TABLES])
    with psycopg.connect(uri, autocommit=True) as connection:
        for statement in postgres_script(opened.manifest(), is_materialized=is_materialized):
            connection.execute(statement)
    return uri


@pytest.fixture(scope="module")
def demo(make_once: MakeOnce) -> Path:
    return make_once("demo", build_demo) / "warehouse"


@pytest.fixture(scope="module")
def uri(server: str, demo: Path) -> str:
    return schema_with_views(server, "demo", demo)


def rows_of_postgres(uri: str, view: str) -> list[Row]:
    with psycopg.connect(uri, row_factory=dict_row) as connection:
        return in_order(view, connection.execute(f"select * from {view}").fetchall())


@pytest.mark.parametrize("view", views())
def test_rows_of_the_demo_are_those_of_duckdb(uri: str, demo: Path, view: str) -> None:
    ours = rows_of_duckdb(open_warehouse(demo), view)
    assert ours
    assert differences(ours, rows_of_postgres(uri, view)) == []


def test_rows_of_the_conformance_pack_are_those_of_duckdb(
    server: str, pack_warehouse: Path
) -> None:
    uri = schema_with_views(server, "pack", pack_warehouse, is_materialized=True)
    warehouse = open_warehouse(pack_warehouse)
    found = {
        view: differences(rows_of_duckdb(warehouse, view), rows_of_postgres(uri, view))
        for view in views()
    }
    assert {view: rows for view, rows in found.items() if rows} == {}


def test_numbers_are_rounded_as_by_duckdb_and_python(uri: str) -> None:
    numbers = telling_numbers()
    with psycopg.connect(uri) as connection, connection.cursor() as cursor:
        cursor.execute("create temporary table numbers (place int, x double precision)")
        with cursor.copy("copy numbers from stdin") as rows:
            for row in enumerate(numbers):
                rows.write_row(row)
        query = (
            "select round_half_even(x, 4), cast(to_units(x) as text), from_units(to_units(x)) "
            "from numbers order by place"
        )
        theirs = cursor.execute(query).fetchall()
    assert len(numbers) >= 40_000
    assert theirs == rounded_by_duckdb(numbers)
    assert [row[0] for row in theirs] == [round(number, 4) for number in numbers]
