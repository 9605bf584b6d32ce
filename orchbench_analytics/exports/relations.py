"""What goes out: tables and views of a warehouse, each computed once, in a DuckDB of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import duckdb
import pyarrow as pa

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.queries import views
from orchbench_analytics.schema import Table, arrow_schema, text
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.tables import TABLES
from orchbench_analytics.views.catalog import needed_by, populate
from orchbench_analytics.views.descriptions import describe_view

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STAGE = "stage"  # the name of the database that rows are computed in
_THREADS = 2  # each needs a share of the memory


class Memory(NamedTuple):
    """What DuckDB may hold at each step, in MiB; past it DuckDB works on the disk."""

    computing: int  # views
    making: int  # a star from them
    reading: int  # what is made, so that few of its blocks stay
    indexing: int  # a DuckDB file with keys


SMALL = Memory(computing=96, making=80, reading=32, indexing=128)
LARGE = Memory(2048, 2048, 2048, 2048)  # for warehouses with texts of many megabytes


class Relation(NamedTuple):
    """A table that goes out: its columns, its key, what its keys point to, and what it is about.

    `part_column` tells the parts of a relation that change on their own, which are models.
    """

    table: Table
    description: str
    key: tuple[str, ...] = ()
    references: Mapping[str, str] = {}

    @property
    def name(self) -> str:
        """The name of the table."""
        return self.table.name

    @property
    def part_column(self) -> str | None:
        """The column whose values are the parts; null where the relation is one part."""
        return part_column(self.table.column_names)


def part_column(names: Sequence[str]) -> str | None:
    """The column of a table whose values are the parts; null where the table is one part."""
    return next((name for name in ("model_sk", "model") if name in names), None)


# For formats that have no place for descriptions.
DESCRIPTIONS = Relation(
    Table(
        "export_columns",
        "exported table, and column of one",
        (
            text("relation", "Name of the table."),
            text("column_name", "Name of the column; empty where the row is about the table."),
            text("description", "What it is."),
        ),
    ),
    "What the tables and columns are.",
    ("relation", "column_name"),
)


@contextmanager
def stage(memory: Memory = SMALL) -> Iterator[duckdb.DuckDBPyConnection]:
    """An empty DuckDB on the disk that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="orchbench-export-") as directory:
        connection = duckdb.connect(str(Path(directory) / f"{STAGE}.duckdb"))
        try:
            limit_memory(connection, memory.computing)
            connection.execute(f"set threads = {_THREADS}")
            connection.execute("set enable_progress_bar = false")
            connection.execute("set preserve_insertion_order = false")
            connection.execute("set fsync_mode = 'none'")  # what must last is synced by its sink
            yield connection
        finally:
            connection.close()


def limit_memory(connection: duckdb.DuckDBPyConnection, mebibytes: int) -> None:
    """Give DuckDB so much memory for what it works on, and for blocks that it keeps."""
    connection.execute(f"set memory_limit = '{mebibytes}MiB'")


def flat_relations(
    connection: duckdb.DuckDBPyConnection,
    root: Path,
    manifest: Manifest,
    names: Sequence[str],
    spark: SparkSession | None = None,
) -> list[Relation]:
    """The tables and views of these names, or all of them, as they are asked for in SQL."""
    known = [*TABLES, *views()]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SelectionError(f"no table or view named {unknown[0]!r}; there are {', '.join(known)}")
    chosen = list(dict.fromkeys(names)) or known
    compute(connection, root, manifest, {*chosen, "model_tags"}, spark)
    return [_flat(connection, name) for name in chosen]


def compute(
    connection: duckdb.DuckDBPyConnection,
    root: Path,
    manifest: Manifest,
    names: set[str],
    spark: SparkSession | None = None,
) -> None:
    """Make the named relations, and keep the rows of views, since other views read them too."""
    needed = needed_by(*names)
    if spark is not None:
        from orchbench_analytics.views.spark import hand_over  # imports what only Spark needs

        populate(connection, root, manifest, names=needed - views().keys())
        hand_over(connection, spark, root, manifest, names & views().keys())
        return
    populate(connection, root, manifest, names=needed)
    for view in views().values():
        if view.name in needed:
            connection.execute(f"drop view main.{view.name}")
            connection.execute(f"create table main.{view.name} as {view.query}")


def _flat(connection: duckdb.DuckDBPyConnection, name: str) -> Relation:
    if name in TABLES:
        return Relation(TABLES[name], f"One row per {TABLES[name].grain}.")
    view = views()[name]
    table = describe_view(connection, view)
    nullable = {column.name for column in table.columns if column.nullable}
    key = tuple(view.grain.split(", "))
    return Relation(
        table,
        f"{view.description} One row per {view.grain}.",
        key if nullable.isdisjoint(key) else (),
    )


def descriptions_table(relations: Sequence[Relation]) -> pa.Table:
    """The descriptions of tables and their columns, as rows of `export_columns`."""
    schema = arrow_schema(DESCRIPTIONS.table)
    rows = [
        row
        for relation in relations
        for row in (
            (relation.name, "", relation.description),
            *((relation.name, c.name, c.description) for c in relation.table.columns),
        )
    ]
    return pa.table([list(column) for column in zip(*rows, strict=True)], schema=schema)
