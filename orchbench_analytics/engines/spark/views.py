"""A warehouse in a Spark session: its Parquet files as tables, and the views of `sql/`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl

from orchbench_analytics.engines.spark.dialect import (
    relations_in,
    spark_functions,
    spark_views,
    translate,
)
from orchbench_analytics.errors import EngineError, QueryError
from orchbench_analytics.queries import views
from orchbench_analytics.schema import Table
from orchbench_analytics.store.manifest import Manifest, table_files
from orchbench_analytics.tables import TABLES
from orchbench_analytics.views.catalog import (
    all_relations,
    needed_by,
    populate,
    profiles_query,
    silent_duckdb,
    tag_names,
    tags_query,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_TYPES = {
    "text": "string",
    "int": "bigint",
    "float": "double",
    "bool": "boolean",
    "timestamp": "timestamp_ntz",
}
# By default 200 partitions however few the rows, and a task for every file that is looked for.
_AT_ONCE = (
    "spark.sql.shuffle.partitions",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism",
)
_PARTITIONS_OF_A_CORE = 2
_PATTERN_CHARACTERS = set("*?[]{}\\")


def warehouse_session(
    session: SparkSession, root: Path, manifest: Manifest, *, names: set[str]
) -> SparkSession:
    """A session beside the caller's, with the named tables and views as temporary views.

    Views that other views read are computed at once and kept by the executors: Spark would plan
    and compute them again wherever they are read, and take minutes to plan the last of them.
    """
    own = session.newSession()
    own.conf.set("spark.sql.runSQLOnFiles", "false")
    context = session.sparkContext
    for setting in _AT_ONCE:
        if not context.getConf().contains(setting):
            own.conf.set(setting, str(_PARTITIONS_OF_A_CORE * context.defaultParallelism))
    for statement in spark_functions():
        own.sql(statement)
    own.sql(translate(profiles_query(manifest))).createOrReplaceTempView("profiles")
    for table in (table for table in TABLES.values() if table.name in names):
        files = table_files(root, manifest, table.name)
        _read(own, files, _columns(table)).createOrReplaceTempView(table.name)
    if "model_tags" in names:
        _create_tags(own, table_files(root, manifest, "model_tags"))
    shared = {name for view in names & views().keys() for name in views()[view].references}
    for name, query in spark_views().items():
        if name in names:
            rows = own.sql(query)
            rows = rows.localCheckpoint() if name in shared else rows
            rows.createOrReplaceTempView(name)
    return own


def _create_tags(session: SparkSession, files: list[Path]) -> None:
    names: list[str] = []
    if files:
        rows = _read(session, files)
        rows.createOrReplaceTempView("given_tags")
        names = tag_names(rows.columns)
    query = tags_query("given_tags" if files else None, names)
    session.sql(translate(query)).createOrReplaceTempView("model_tags")


def connect_answered(
    session: SparkSession, root: Path, manifest: Manifest, *, only: Iterable[str] | None = None
) -> duckdb.DuckDBPyConnection:
    """A DuckDB over the warehouse's files, with rows that Spark computed in place of views.

    All tables and views are there, or those named, the views they read, and the tables they need.
    """
    chosen = all_relations() if only is None else set(only)
    names = needed_by(*chosen)
    read = {name for view in chosen & views().keys() for name in views()[view].references}
    wanted = (chosen | read) & views().keys()
    connection = silent_duckdb()
    populate(connection, root, manifest, names=names - views().keys())
    copy_views(connection, session, root, manifest, wanted)
    return connection


def copy_views(
    connection: duckdb.DuckDBPyConnection,
    session: SparkSession,
    root: Path,
    manifest: Manifest,
    names: set[str],
) -> None:
    """Let Spark compute the named views, and keep their rows as tables of a DuckDB connection."""
    needed = needed_by(*names)
    own = warehouse_session(session, root, manifest, names=needed)
    for name in names:
        connection.register("spark_rows", frame_of_spark(own.table(name)).to_arrow())
        connection.execute(f"create table main.{name} as from spark_rows")
        connection.unregister("spark_rows")


def ask(
    session: SparkSession,
    root: Path,
    manifest: Manifest,
    query: str,
    *,
    parameters: Mapping[str, Any] | None = None,
) -> pl.DataFrame:
    """The rows of a query in DuckDB's words over a warehouse, as Spark answers it."""
    from pyspark.errors import PySparkException

    asked = translate(query)
    needed = needed_by(*relations_in(query) & all_relations())
    try:
        own = warehouse_session(session, root, manifest, names=needed)
        return frame_of_spark(own.sql(asked, args=dict(parameters or {})))
    except PySparkException as error:
        raise QueryError(str(error).split("\n\nJVM stacktrace")[0]) from error


def frame_of_spark(rows: DataFrame) -> pl.DataFrame:
    """The rows of a Spark frame, brought to this process; whole numbers as everywhere else."""
    return pl.DataFrame(rows.toArrow()).with_columns(pl.col(pl.Int32).cast(pl.Int64))


def _read(session: SparkSession, files: list[Path], schema: str | None = None) -> DataFrame:
    """Parquet files; Spark would take some characters of a path for a pattern."""
    if not files:
        return session.createDataFrame([], schema or "")
    if not _PATTERN_CHARACTERS.isdisjoint(str(files[0].absolute())):
        raise EngineError(
            f"Spark takes {files[0].parents[2]} for a pattern; "
            "move the warehouse to a path without any of *?[]{}\\"
        )
    reader = session.read if schema is None else session.read.schema(schema)
    return reader.parquet(*(f"file://{file.absolute()}" for file in files))


def _columns(table: Table) -> str:
    return ", ".join(f"{column.name} {_TYPES[column.kind]}" for column in table.columns)
