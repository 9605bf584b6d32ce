"""Every column of every view has one line that says what it is, and no line is left over."""

from pathlib import Path

import duckdb
import pytest

from orchbench_analytics.metrics import METRICS
from orchbench_analytics.queries import describe_view, described_columns, glossary, views
from orchbench_analytics.schema import Table
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.tables import PROFILE_NAME, STEP_KEY, TABLES
from orchbench_analytics.views.catalog import connect, describe


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    connection = connect(Path(tmp_path_factory.mktemp("empty")), Manifest())
    describe(connection, kind="view")
    return connection


@pytest.fixture(scope="module")
def columns(connection: duckdb.DuckDBPyConnection) -> dict[str, list[str]]:
    """The column names of each view."""
    return {
        name: [row[0] for row in connection.execute(f"describe main.{name}").fetchall()]
        for name in views()
    }


def test_every_column_of_every_view_is_described(columns: dict[str, list[str]]) -> None:
    known = described_columns()
    assert [f"{v}.{c}" for v, names in columns.items() for c in names if c not in known] == []


def test_no_description_is_left_over(columns: dict[str, list[str]]) -> None:
    used = {name for names in columns.values() for name in names}
    assert glossary().columns.keys() - used == set()
    assert glossary().may_be_null - used == set()


def test_nothing_is_said_twice() -> None:
    of_tables = {c.name: {c.description} for c in (PROFILE_NAME, *STEP_KEY)}
    for table in TABLES.values():
        for column in table.columns:
            of_tables.setdefault(column.name, set()).add(column.description)
    columns = glossary().columns
    assert [n for n, words in columns.items() if of_tables.get(n) == {words.description}] == []
    assert columns.keys() & METRICS.keys() == set()


def test_a_description_is_one_short_sentence() -> None:
    texts = [said.description for said in (*glossary().columns.values(), *METRICS.values())]
    assert [text for text in texts if not text.endswith(".") or "\n" in text] == []
    assert max(map(len, texts)) <= 90


def test_duckdb_shows_the_meaning_of_every_column_of_every_view(
    connection: duckdb.DuckDBPyConnection, columns: dict[str, list[str]]
) -> None:
    comments = {
        (view, name): comment
        for view, name, comment in connection.execute(
            "select table_name, column_name, comment from duckdb_columns()"
        ).fetchall()
    }
    known = described_columns()
    wanted = {(view, name): known[name] for view, names in columns.items() for name in names}
    assert {key: comments[key] for key in wanted} == wanted


def test_a_view_is_described_like_a_table(connection: duckdb.DuckDBPyConnection) -> None:
    table = describe_view(connection, views()["confusion_matrix"])
    assert isinstance(table, Table)
    assert table.grain == "profile, model, experiment, language, actual, predicted"
    by_name = {column.name: column for column in table.columns}
    assert by_name["step_count"].kind == "int"
    assert not by_name["step_count"].nullable
    assert by_name["actual_share"].kind == "float"
    assert by_name["actual_share"].nullable
    assert by_name["predicted"].kind == "text"
