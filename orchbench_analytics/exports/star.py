"""The star schema of `sql/star`: dimensions, facts and texts, with integer keys that stay."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import polars as pl

from orchbench_analytics.errors import OrchbenchError, SelectionError
from orchbench_analytics.exports.relations import SMALL, Memory, Relation, compute, limit_memory
from orchbench_analytics.exports.semantics import (
    FACT,
    averaged_columns,
    metric_rows,
    metrics_document,
)
from orchbench_analytics.queries import View, read_views, sql_directory, views
from orchbench_analytics.schema import Column, Table
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.tables import TABLES
from orchbench_analytics.views.catalog import needed_by, populate
from orchbench_analytics.views.descriptions import KINDS, described_columns
from orchbench_analytics.views.sql_text import quoted_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

METRICS_TABLE = "metrics"
_PLACES = ("dim", "text", "fact")


def star_relations(
    connection: duckdb.DuckDBPyConnection,
    root: Path,
    manifest: Manifest,
    names: Sequence[str],
    spark: SparkSession | None = None,
    *,
    memory: Memory = SMALL,
) -> list[Relation]:
    """All relations of the star, or the named ones, with their rows computed."""
    known = [*sorted(star_views(), key=_place), METRICS_TABLE]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SelectionError(
            f"the star has no table named {unknown[0]!r}; there are {', '.join(known)}"
        )
    compute(connection, root, manifest, _sources(), spark)
    limit_memory(connection, memory.making)
    connection.execute(_keys())
    for view in star_views().values():
        connection.execute(f"create table main.{view.name} as {view.query}")
        _require_keys(connection, view)
    connection.register("metric_rows", pl.DataFrame(metric_rows()).to_arrow())
    connection.execute(f"create table main.{METRICS_TABLE} as from metric_rows")
    limit_memory(connection, memory.reading)
    chosen = [name for name in known if name in names or not names]
    return [_relation(connection, name) for name in chosen]


def star_shapes(
    connection: duckdb.DuckDBPyConnection, root: Path, manifest: Manifest
) -> list[Relation]:
    """All relations of the star without their rows: nothing is computed."""
    sources = _sources()
    needed = needed_by(*sources)
    populate(connection, root, manifest, names=needed)
    connection.execute(_keys())
    for view in star_views().values():
        connection.execute(f"create view main.{view.name} as {view.query}")
    return [_relation(connection, name) for name in sorted(star_views(), key=_place)]


def _sources() -> set[str]:
    """The tables and views that the star is made from."""
    read = set().union(*(view.references for view in star_views().values()))
    return read & {*TABLES, *views(), "model_tags"}


def _keys() -> str:
    return (_directory() / "macros" / "keys.sql").read_text(encoding="utf-8")


def star_documents() -> dict[str, str]:
    """The files that go out with a star, by name."""
    return {"metrics.yaml": metrics_document()}


@cache
def star_views() -> dict[str, View]:
    """The queries of the star, each after those it reads."""
    return read_views(_directory())


def _directory() -> Path:
    return sql_directory() / "star"


def _place(name: str) -> tuple[int, bool, str]:
    """An order in which a table refers only to those before it."""
    return _PLACES.index(name.split("_")[0]), "," in star_views()[name].grain, name


def _require_keys(connection: duckdb.DuckDBPyConnection, view: View) -> None:
    """Refuse a table in which two rows have one key: two names may have the same hash."""
    query = f"select {view.grain} from main.{view.name} group by {view.grain} having count(*) > 1"
    repeated = connection.execute(f"{query} limit 1").fetchone()
    if repeated:
        raise OrchbenchError(
            f"two rows of {view.name} have the same key {repeated}: export flat tables instead, "
            "and report this"
        )


def _relation(connection: duckdb.DuckDBPyConnection, name: str) -> Relation:
    view = star_views().get(name)
    key = tuple(view.grain.split(", ")) if view else ("metric",)
    description = view.description if view else "The metrics, and the formula of each."
    grain = view.grain if view else "metric"
    columns = []
    for column, kind, *_ in connection.execute(f"describe main.{name}").fetchall():
        if kind not in KINDS:  # of a tag, which may be anything
            changed = f"alter {quoted_name(column)} type varchar"
            connection.execute(f"alter table main.{name} {changed}")
        nullable = column not in key and not column.endswith("_sk")
        columns.append(Column(column, KINDS.get(kind, "text"), _meaning(name, column), nullable))
    table = Table(name, grain, tuple(columns))
    return Relation(table, f"{description} One row per {grain}.", key, _references(table))


def _references(table: Table) -> Mapping[str, str]:
    """The tables that a table's keys point to: those of which a column is the whole key."""
    owners = {view.grain: view.name for view in star_views().values()}
    return {
        name: owners[name]
        for name in table.column_names
        if name in owners and owners[name] != table.name
    }


@cache
def _own_columns() -> dict[str, str]:
    content = tomllib.loads((_directory() / "columns.toml").read_text(encoding="utf-8"))
    meanings: dict[str, str] = content["columns"]
    return meanings


def _meaning(table: str, column: str) -> str:
    """What a column is: as the star says, else the tables it is read from, else the views."""
    if table == FACT and column in averaged_columns():
        metric = averaged_columns()[column]
        return f"{described_columns()[column]} Its average over rows is the metric {metric}."
    if column in _own_columns():
        return _own_columns()[column]
    read = star_views()[table].references & TABLES.keys()
    for source in sorted(read):
        for known in TABLES[source].columns:
            if known.name == column:
                return known.description
    what = "Choice of the rule" if table == "dim_profile" else "Tag"
    return described_columns().get(column, f"{what} `{column}`.")
