"""Tables: every column is described, named by the rules, and the same in every engine."""

import re

import polars as pl
import pyarrow.parquet as pq
import pytest

from orchbench_analytics.ingest.sources import Source
from orchbench_analytics.schema import Column, Table, arrow_schema, polars_schema
from orchbench_analytics.store.parquet import Frame, to_arrow, write_table
from orchbench_analytics.tables import SOURCES, TABLES

ENDINGS_OF_KIND = {
    "bool": r"(is|has)_\w+",
    "int": r"\w+_(count|position|number|index|order)",
    "float": r"\w+_(f1|precision|recall|rate|similarity|distance|bound|cost|seconds|sum)"
    r"|value|cost",
    "text": r"\w+",
}
EVERY_COLUMN = [(table, column) for table in TABLES.values() for column in table.columns]


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_a_table_says_what_a_row_is(table: Table) -> None:
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*s", table.name)
    assert table.grain
    assert not table.grain.endswith(".")
    assert len(set(table.column_names)) == len(table.columns)


@pytest.mark.parametrize(
    ("table", "column"), EVERY_COLUMN, ids=lambda value: getattr(value, "name", "")
)
def test_a_column_is_described_and_named_by_its_kind(table: Table, column: Column) -> None:
    assert re.fullmatch(r"\w.{8,}[.…]", column.description)
    assert re.fullmatch(ENDINGS_OF_KIND[column.kind], column.name)
    if column.name.startswith(("is_", "has_")):
        assert column.kind == "bool"
        assert not column.nullable
    if column.name.endswith("_count"):
        assert column.kind == "int"
    if column.name.endswith("_id"):
        assert column.kind == "text"


def test_rows_of_sources_have_the_columns_of_sources() -> None:
    assert Source._fields == SOURCES.column_names


def test_columns_of_one_name_mean_the_same_kind_everywhere() -> None:
    kinds: dict[str, set[str]] = {}
    for _, column in EVERY_COLUMN:
        kinds.setdefault(column.name, set()).add(column.kind)

    assert {name for name, of_name in kinds.items() if len(of_name) > 1} == set()


@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_arrow_and_polars_agree(table: Table) -> None:
    empty = pl.from_arrow(arrow_schema(table).empty_table())

    assert isinstance(empty, pl.DataFrame)
    assert dict(empty.schema) == polars_schema(table)


@pytest.mark.parametrize("form", ["rows", "frame"])
@pytest.mark.parametrize("table", TABLES.values(), ids=lambda table: table.name)
def test_parquet_carries_descriptions_and_nullability(
    table: Table, form: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("tables") / f"{table.name}.parquet"
    frame = pl.DataFrame(schema=polars_schema(table))

    write_table(to_arrow(table, []) if form == "rows" else Frame(frame, table), path)

    schema = pq.read_schema(path)
    assert schema.metadata[b"grain"].decode() == f"one row per {table.grain}"
    for column in table.columns:
        field = schema.field(column.name)
        assert field.metadata[b"description"].decode() == column.description
        assert field.nullable == column.nullable
