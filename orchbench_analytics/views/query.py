"""SQL for people: one query, read-only, with nothing in reach but the warehouse."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from orchbench_analytics.errors import QueryError
from orchbench_analytics.queries import views
from orchbench_analytics.store.manifest import Manifest, row_count
from orchbench_analytics.tables import TABLES
from orchbench_analytics.views.catalog import all_relations, connect, connect_sealed, frame_of
from orchbench_analytics.views.limits import Limits, set_limits
from orchbench_analytics.views.profiles_and_tags import PROFILES_AND_TAGS
from orchbench_analytics.views.running import BATCH_ROWS
from orchbench_analytics.views.sql_text import quoted_name

_READING = {
    duckdb.StatementType.SELECT,
    duckdb.StatementType.MULTI,  # what `pivot` turns into
}
_FOREIGN = ("INTERVAL", "BLOB", "BIT", "MAP", "UNION", "UUID", "BIGNUM", "TIME WITH")
# What lists the tables and views that there are.
_CATALOG = re.compile(r"duckdb_|information_schema|pg_catalog|sqlite_", re.IGNORECASE)
_EXPLAIN = re.compile(r"\s*explain\s+(?:analyze\s+)?(?:\([^()]*\)\s*)?", re.IGNORECASE)


def connect_for_queries(
    root: Path,
    manifest: Manifest,
    *,
    query: str,
    unsafe: bool = False,
    limits: Limits = Limits(),  # noqa: B008 (immutable)
) -> duckdb.DuckDBPyConnection:
    """A connection for a query, within limits, sealed unless it is called unsafe."""
    only = relations_of(query)
    if not unsafe:
        return connect_sealed(root, manifest, only=only, limits=limits)
    connection = connect(root, manifest, only=only)
    set_limits(connection, limits)
    return connection


def relations_of(query: str) -> set[str] | None:
    """The tables and views that a query names; null where it may ask for others, or is mistaken.

    To make and describe all of them takes longer than most answers do.
    """
    if _CATALOG.search(query):
        return None
    try:
        with duckdb.connect(config={"enable_external_access": False}) as parser:
            named = {name.lower() for name in parser.get_table_names(query)}
    except duckdb.Error:  # it has parameters, a pivot, one of our macros, or a mistake
        return None
    return named if named and named <= {*all_relations(), "profiles"} else None


def run_query(
    connection: duckdb.DuckDBPyConnection,
    query: str,
    *,
    parameters: Mapping[str, Any] | None = None,
    unsafe: bool = False,
) -> duckdb.DuckDBPyRelation:
    """The rows of one query; anything but reading is refused unless it is called unsafe."""
    kind = _statement_type(connection, query)
    if kind == duckdb.StatementType.EXPLAIN and not unsafe:  # what is explained may be run
        kind = _statement_type(connection, _EXPLAIN.sub("", query, count=1))
    if kind not in _READING and not unsafe:
        raise QueryError(
            f"a query may only read (select, with, from, describe, pivot, explain), not "
            f"{kind.name.lower()}; --unsafe lifts this"
        )
    try:
        return connection.sql(query, params=dict(parameters or {}) or None)
    except duckdb.PermissionException as error:
        raise QueryError(f"{error}\nOnly the warehouse is in reach; --unsafe lifts this") from error
    except duckdb.Error as error:
        raise _query_error(error) from error


def _statement_type(connection: duckdb.DuckDBPyConnection, query: str) -> duckdb.StatementType:
    try:
        statements = connection.extract_statements(query)
    except duckdb.Error as error:
        raise QueryError(str(error)) from error
    if len(statements) != 1:
        raise QueryError(f"expected one query, got {len(statements)} statements")
    return statements[0].type


def fetch(relation: duckdb.DuckDBPyRelation) -> pl.DataFrame:
    """The rows of a relation; what goes wrong only with the data is the query's fault too."""
    try:
        return frame_of(_as_rows(relation))
    except duckdb.Error as error:
        raise _query_error(error) from error


def fetch_batches(relation: duckdb.DuckDBPyRelation) -> Iterator[pl.DataFrame]:
    """The rows of a relation a batch at a time; the first frame has none, but has the columns."""
    try:
        reader = _as_rows(relation).to_arrow_reader(BATCH_ROWS)
        yield pl.DataFrame(reader.schema.empty_table())
        for batch in reader:
            yield pl.DataFrame(batch)
    except (duckdb.Error, OSError) as error:  # pyarrow has one of its own for what DuckDB says
        raise _query_error(error) from error


def _query_error(error: Exception) -> QueryError:
    said = str(error)
    if isinstance(error, duckdb.OutOfMemoryException) or "Out of Memory Error" in said:
        return QueryError(
            f"the query needs more than its limits of memory and disk, --memory and --spill: "
            f"{said.splitlines()[0]}"
        )
    return QueryError(said)


def _as_rows(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """The relation with unlike names, and texts for values that no other format has."""
    names = _unlike(relation.columns)
    foreign = [any(word in str(kind) for word in _FOREIGN) for kind in relation.types]
    if names == relation.columns and not any(foreign):
        return relation
    columns = []
    for place, (name, is_foreign) in enumerate(zip(names, foreign, strict=True), 1):
        value = f"cast(#{place} as varchar)" if is_foreign else f"#{place}"
        columns.append(f"{value} as {quoted_name(name)}")
    return relation.project(", ".join(columns))


def _unlike(names: Sequence[str]) -> list[str]:
    """The names, with a number behind those that were there before."""
    unlike: dict[str, None] = {}
    for name in names:
        numbered = (f"{name}_{number}" for number in count(1))
        free = name if name not in unlike else next(n for n in numbered if n not in unlike)
        unlike[free] = None
    return list(unlike)


def parse_parameters(given: Iterable[str]) -> dict[str, Any]:
    """`name=value` texts as query parameters; numbers, true, false and null count as such."""
    parameters = {}
    for text in given:
        name, separator, value = text.partition("=")
        if not separator or not name.isidentifier():
            raise QueryError(f"--param {text!r}: expected name=value")
        try:
            parsed = json.loads(value)
        except ValueError:
            parsed = value
        parameters[name] = parsed if isinstance(parsed, int | float | bool | None) else value
    return parameters


def query_text(given: str) -> str:
    """The query itself, or the text of the .sql file that was named."""
    path = Path(given)
    if given.endswith(".sql"):
        if not path.is_file():
            raise QueryError(f"no such file: {given}")
        return path.read_text(encoding="utf-8")
    return given


def list_relations(root: Path, manifest: Manifest) -> pl.DataFrame:
    """Every table and view: name, kind, rows, and what one row is."""
    rows = [
        (table.name, "table", row_count(manifest, table.name), f"One row per {table.grain}.")
        for table in TABLES.values()
    ]
    with connect(root, manifest, only=all_relations()) as connection:
        rows += [
            (table.name, "table", _count(connection, table.name), f"One row per {table.grain}.")
            for table in PROFILES_AND_TAGS
        ]
        rows += [
            (view.name, "view", _count(connection, view.name), view.description)
            for view in views().values()
        ]
    columns = ["relation", "kind", "row_count", "description"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def _count(connection: duckdb.DuckDBPyConnection, name: str) -> int:
    ((count,),) = connection.execute(f"select count(*) from main.{name}").fetchall()
    return int(count)
