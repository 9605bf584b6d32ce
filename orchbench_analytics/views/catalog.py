"""DuckDB over a warehouse: its tables, and the views of `sql/`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

import duckdb
import polars as pl

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.queries import macros, views
from orchbench_analytics.store.manifest import Manifest, table_files, tag_files
from orchbench_analytics.tables import SCENARIO_SCORES, TABLES
from orchbench_analytics.views.descriptions import described_columns
from orchbench_analytics.views.limits import Limits, set_limits
from orchbench_analytics.views.profiles_and_tags import (
    PROFILES_AND_TAGS,
    profiles_query,
    tag_names,
    tags_query,
)
from orchbench_analytics.views.sql_text import no_rows, quoted

# DuckDB has no way to write these as themselves: it looks for what matches, and stumbles over a
# neighbour whose name begins with a backslash.
_PATTERN_CHARACTERS = set("*?[" if os.sep == "\\" else "*?[\\")
_VIEW_COLUMNS = """
select table_name, column_name
from duckdb_columns()
where schema_name = 'main' and table_name in (select unnest(?))
"""
# From a table's name and files to what stands after `from` in SQL.
RowsOf = Callable[[str, list[Path]], str]


def connect(
    root: Path, manifest: Manifest, *, only: Iterable[str] | None = None
) -> duckdb.DuckDBPyConnection:
    """An in-memory DuckDB with all tables and views, described, or with only what some need."""
    connection = silent_duckdb()
    _fill(connection, root, manifest, only)
    return connection


def connect_sealed(
    root: Path,
    manifest: Manifest,
    *,
    only: Iterable[str] | None = None,
    limits: Limits = Limits(),  # noqa: B008 (immutable)
) -> duckdb.DuckDBPyConnection:
    """A DuckDB like that of `connect` that can open no file, to read or to write.

    pyarrow hands it the rows, so not even the warehouse's own files are in its reach.
    """
    connection = silent_duckdb()
    _fill(connection, root, manifest, only, rows_of=_handed_over(connection))
    set_limits(connection, limits)
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")
    return connection


def _fill(
    connection: duckdb.DuckDBPyConnection,
    root: Path,
    manifest: Manifest,
    only: Iterable[str] | None,
    *,
    rows_of: RowsOf | None = None,
) -> None:
    names = all_relations() if only is None else needed_by(*only)
    populate(connection, root, manifest, names=names, rows_of=rows_of)
    if only is None:
        describe(connection, kind="view")


def silent_duckdb() -> duckdb.DuckDBPyConnection:
    """An empty DuckDB in memory that draws no progress bar: it would draw on standard output."""
    connection = duckdb.connect()
    connection.execute("set enable_progress_bar = false")
    return connection


def all_relations() -> set[str]:
    """The names of everything that can be asked."""
    return {*TABLES, "model_tags", *views()}


def needed_by(*names: str) -> set[str]:
    """The tables and views named, and all that they read."""
    read = {name for view in views().keys() & {*names} for name in views()[view].references}
    return {*names} | (needed_by(*read) if read else set())


def populate(
    connection: duckdb.DuckDBPyConnection,
    root: Path,
    manifest: Manifest,
    *,
    names: set[str],
    rows_of: RowsOf | None = None,
) -> None:
    """Create the named tables, as views of their Parquet files, and the named views.

    `rows_of` says how SQL gets at the rows of a table's files. By default DuckDB reads them, unless
    it would take their path for a pattern.
    """
    if rows_of is None:
        is_literal = _PATTERN_CHARACTERS.isdisjoint(str(root.absolute()))
        rows_of = _read_parquet if is_literal else _handed_over(connection)
    for statements in macros():
        connection.execute(statements)
    connection.execute(f"create view main.profiles as {profiles_query(manifest)}")
    if "model_tags" in names:
        names = names | {SCENARIO_SCORES.name}  # which models there are to have tags
    for table in TABLES.values():
        if table.name in names:
            files = table_files(root, manifest, table.name)
            rows = f"select * from {rows_of(table.name, files)}" if files else no_rows(table)
            connection.execute(f"create view main.{table.name} as {rows}")
    if "model_tags" in names:
        files = tag_files(root, manifest)
        tags = tags_query(rows_of("model_tags", files) if files else None, tag_names(files))
        connection.execute(f"create view main.model_tags as {tags}")
    for view in (view for view in views().values() if view.name in names):
        connection.execute(f"create view main.{view.name} as {view.query}")


def describe(connection: duckdb.DuckDBPyConnection, *, kind: Literal["view", "table"]) -> None:
    """Attach to all tables, columns and views the descriptions that any DuckDB client can show.

    `kind` is what the tables were created as.
    """

    def comment(what: str, name: str, text: str) -> None:
        connection.execute(f"comment on {what} main.{name} is {quoted(text)}")

    for table in (*TABLES.values(), *PROFILES_AND_TAGS):
        comment(kind, table.name, f"One row per {table.grain}.")
        for column in table.columns:
            comment("column", f"{table.name}.{column.name}", column.description)
    for view in views().values():
        comment("view", view.name, f"{view.description} One row per {view.grain}.")
    meanings = described_columns()
    for view_name, column_name in connection.execute(_VIEW_COLUMNS, [[*views()]]).fetchall():
        comment("column", f"{view_name}.{column_name}", meanings[column_name])


def view_frame(connection: duckdb.DuckDBPyConnection, name: str) -> pl.DataFrame:
    """All rows of a view, in a fixed order."""
    return frame_of(connection.sql(f"select * from main.{name} order by all"))


def require_view(name: str) -> None:
    """Refuse the name of a view that is not there."""
    if name not in views():
        raise SelectionError(f"no view named {name!r}; there are {', '.join(views())}")


def frame_of(relation: duckdb.DuckDBPyRelation) -> pl.DataFrame:
    """The rows of a relation; columns that have the same name are numbered."""
    frame: pl.DataFrame = relation.pl()
    return frame


def _handed_over(connection: duckdb.DuckDBPyConnection) -> RowsOf:
    """A way to the rows that opens no file in DuckDB: pyarrow reads them."""
    import pyarrow.dataset as ds

    def register(name: str, files: list[Path]) -> str:
        source = f"{name}_rows"
        connection.register(source, ds.dataset([str(file) for file in files], format="parquet"))
        return source

    return register


def _read_parquet(_: str, files: list[Path]) -> str:
    """Parquet files in SQL; their directories add no column."""
    names = ", ".join(quoted(str(file.absolute())) for file in files)
    return f"read_parquet([{names}], hive_partitioning = false)"
