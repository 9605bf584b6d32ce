"""SQL for people: one query that reads the warehouse and cannot reach anything else."""

from __future__ import annotations

import atexit
import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from orchbench_analytics.errors import QueryError, suggest
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.views.catalog import (
    EVERYTHING,
    Scope,
    all_relations,
    describe,
    frame_of,
    needed_by,
    populate,
    quoted_name,
    silent_duckdb,
)
from orchbench_analytics.views.sandbox import Limits, spill_directory

if TYPE_CHECKING:
    import polars as pl

_GIGABYTE = 10**9
_DEFAULT_MEMORY = "50%"  # of the machine's, so that other programs keep working
_READING = {
    duckdb.StatementType.SELECT,
    duckdb.StatementType.MULTI,  # what `pivot` turns into
}
# Types that Arrow and polars lack.
_FOREIGN = ("INTERVAL", "BLOB", "BIT", "MAP", "UNION", "UUID", "BIGNUM", "TIME WITH", "VARIANT")
# What lists the tables and views, and what lists their descriptions too.
_LISTING = re.compile(r"\b(show|describe\s*$|information_schema|(duckdb|pg|sqlite)_)", re.I)
_DESCRIBING = re.compile(r"\bduckdb_", re.I)
_EXPLAIN = re.compile(r"\s*explain\s+(?:analyze\s+)?(?:\([^()]*\)\s*)?", re.I)
# The errors of DuckDB that are common enough to have words of their own.
_KIND = re.compile(r"^([A-Z][a-zA-Z]+ )+Error: ")
_NO_TABLE = re.compile(r"Table with name (\S+) does not exist")
_NO_COLUMN = re.compile(
    r'Referenced column "([^"]*)" not found in FROM clause!\s*'
    r"Candidate bindings: (.*)"
)
_NO_VALUES = re.compile(r"Values were not provided for the following parameters: (\w+).*")
_NO_MEMORY = ("Out of Memory Error", "bad_alloc", "failed to allocate", "Cannot allocate")


def run_query(
    root: Path,
    manifest: Manifest,
    query: str,
    *,
    parameters: Mapping[str, Any] | None = None,
    unsafe: bool = False,
    limits: Limits = Limits(),  # noqa: B008 (immutable)
    scope: Scope = EVERYTHING,
    spill_directory: str | None = None,
) -> duckdb.DuckDBPyRelation:
    """The rows of one query; unless it is called unsafe, it can only read, and only the warehouse.

    Only the tables and views whose names are in the query are made. If it lacks one, all are made:
    it may compose a name, or a wrong name is answered with the closest right one.
    """

    def answered(names: set[str]) -> duckdb.DuckDBPyRelation:
        connection = connect_for_query(
            root,
            manifest,
            names=names,
            is_described=bool(_DESCRIBING.search(query)),
            unsafe=unsafe,
            limits=limits,
            scope=scope,
            spill_directory=spill_directory,
        )
        return ask(connection, query, parameters=parameters, unsafe=unsafe)

    names = relations_in(query)
    try:
        return answered(names)
    except QueryError as error:
        is_complete = names == all_relations()
        if is_complete or not isinstance(error.__cause__, duckdb.CatalogException):
            raise
    return answered(all_relations())


def connect_for_query(
    root: Path,
    manifest: Manifest,
    *,
    names: set[str],
    is_described: bool = False,
    unsafe: bool = False,
    limits: Limits = Limits(),  # noqa: B008 (immutable)
    scope: Scope = EVERYTHING,
    spill_directory: str | None = None,
) -> duckdb.DuckDBPyConnection:
    """A connection with limits; unless it is called unsafe, it cannot open a file.

    pyarrow reads the warehouse's files for it, so it cannot open even those.
    """
    connection = silent_duckdb()
    populate(connection, root, manifest, names=names, scope=scope, opens_files=unsafe)
    if is_described:
        describe(connection, kind="view")
    _set_limits(connection, limits, spill_directory or _spill_directory())
    if not unsafe:
        connection.execute("set enable_external_access = false")
        connection.execute("set lock_configuration = true")
    return connection


def relations_in(query: str) -> set[str]:
    """The tables and views that a query may read: those it names, and what they read."""
    if _LISTING.search(query):
        return all_relations()
    return needed_by(*all_relations().intersection(re.findall(r"\w+", query.lower())))


def ask(
    connection: duckdb.DuckDBPyConnection,
    query: str,
    *,
    parameters: Mapping[str, Any] | None = None,
    unsafe: bool = False,
) -> duckdb.DuckDBPyRelation:
    """The rows of one query; anything but reading is refused unless it is called unsafe."""
    try:
        if not unsafe:
            _require_reading(connection, query)
        return connection.sql(query, params=dict(parameters or {}) or None)
    except duckdb.PermissionException as error:
        raise QueryError(
            f"{_in_words(str(error))}\nA query can only read the warehouse; --unsafe lifts this"
        ) from error
    except duckdb.ParserException as error:
        name = query.strip().rstrip(";")
        if name.removeprefix("main.") in all_relations():
            raise QueryError(f"{name} is not a query; did you mean: from {name}?") from error
        raise query_error(error) from error
    except (duckdb.Error, RuntimeError, MemoryError) as error:  # not all of DuckDB's are its own
        raise query_error(error) from error


def _require_reading(connection: duckdb.DuckDBPyConnection, query: str) -> None:
    """Refuse several statements, and one that does more than read."""
    kind = _statement_kind(connection, query)
    if kind == duckdb.StatementType.EXPLAIN:  # what is explained may be run
        kind = _statement_kind(connection, _EXPLAIN.sub("", query, count=1))
    if kind not in _READING:
        name = getattr(kind, "name", "this statement").lower()
        raise QueryError(
            f"a query may only read (select, with, from, describe, pivot, explain), not {name}; "
            "--unsafe lifts this"
        )


def _statement_kind(connection: duckdb.DuckDBPyConnection, query: str) -> object:
    statements = connection.extract_statements(query)
    if not statements:
        raise QueryError("the query is empty")
    if len(statements) > 1:
        raise QueryError(f"expected one query, got {len(statements)} statements")
    try:
        return statements[0].type
    except ValueError:  # DuckDB's Python client does not know all of DuckDB's statements
        return None


def query_error(error: BaseException) -> QueryError:
    """An error of DuckDB, pyarrow or Python while a query ran, as ours."""
    said = str(error)
    if isinstance(error, MemoryError) or any(words in said for words in _NO_MEMORY):
        first = (said.splitlines() or ["out of memory"])[0]
        return QueryError(
            "the query needs more than its limits of memory and disk, --memory and --spill: "
            f"{first}"
        )
    return QueryError(_in_words(said))


def _in_words(said: str) -> str:
    """What DuckDB found wrong, without the names of its errors and of what is internal."""
    if found := _NO_TABLE.search(said):
        hint = suggest(found[1], sorted(all_relations()))
        return f"no table or view named {found[1]!r}; {hint}\nsee: orchbench dictionary"
    if found := _NO_COLUMN.search(said):
        return (
            f"no column {found[1]!r} in the tables of the query; the closest are {found[2]}; "
            f"a text stands in single quotes: '{found[1]}'"
        )
    said = _KIND.sub("", said).replace("Values list ", "Table ")  # that is what an alias is to it
    return _NO_VALUES.sub(r"\g<0>; give --param \1=VALUE", said)


def fetch(relation: duckdb.DuckDBPyRelation) -> pl.DataFrame:
    """The rows of a relation; an error that only the data brings up is the query's too."""
    try:
        return frame_of(portable(relation))
    except duckdb.Error as error:
        if is_unreadable(error):  # the caller looks for the damaged file
            raise
        raise query_error(error) from error


def is_unreadable(error: BaseException) -> bool:
    """Whether a query failed because pyarrow could not read a file, in the words of DuckDB."""
    return "reading the Arrow source failed" in str(error)


def portable(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """The relation with distinct names, and with texts for values that other formats lack."""
    names = _distinct(relation.columns)
    foreign = [any(word in str(kind) for word in _FOREIGN) for kind in relation.types]
    if names == relation.columns and not any(foreign):
        return relation
    columns = []
    for place, (name, is_foreign) in enumerate(zip(names, foreign, strict=True), 1):
        value = f"cast(#{place} as varchar)" if is_foreign else f"#{place}"
        columns.append(f"{value} as {quoted_name(name)}")
    return relation.project(", ".join(columns))


def _distinct(names: Sequence[str]) -> list[str]:
    """The names, with a number after each that occurred before."""
    distinct: dict[str, None] = {}
    for name in names:
        numbered = (f"{name}_{number}" for number in count(1))
        free = name if name not in distinct else next(n for n in numbered if n not in distinct)
        distinct[free] = None
    return list(distinct)


def _set_limits(connection: duckdb.DuckDBPyConnection, limits: Limits, directory: str) -> None:
    """Bound the memory of a connection, and what it may write to the disk instead.

    Without a directory it cannot write to the disk.
    """
    memory = _DEFAULT_MEMORY if limits.memory_gb is None else _bytes(limits.memory_gb)
    connection.execute("set memory_limit = $memory", {"memory": memory})
    connection.execute("set temp_directory = $directory", {"directory": directory})
    connection.execute("set max_temp_directory_size = $size", {"size": _bytes(limits.spill_gb)})


def _bytes(gigabytes: float) -> str:
    return f"{round(gigabytes * _GIGABYTE)}B"


@cache
def _spill_directory() -> str:
    """A directory that is removed when this process ends: a relation may outlive its connection."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(spill_directory())
