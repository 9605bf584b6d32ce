"""DuckDB: one file, with keys, comments and the manifest as a table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from orchbench_analytics.errors import PathError
from orchbench_analytics.exports.contents import (
    MANIFEST_RELATION,
    Contents,
    Selection,
    manifest_table,
    parts_of,
    read_manifest,
)
from orchbench_analytics.exports.ddl import DUCKDB, comments, create_table
from orchbench_analytics.exports.relations import STAGE, Relation, limit_memory
from orchbench_analytics.exports.sink import FileSink, Outgoing
from orchbench_analytics.queries import macros, views
from orchbench_analytics.store.replace import new_file
from orchbench_analytics.views.catalog import describe
from orchbench_analytics.views.sql_text import quoted, quoted_name

_TARGET = "target"
_NAMES = """
select if(schema_name = 'main', name, concat_ws('.', schema_name, name))
from (
    select schema_name, table_name as name from duckdb_tables() where not internal
    union all
    select schema_name, view_name as name from duckdb_views() where not internal
)
"""
_KEYS = 2**53  # surrogate keys are below
_INDEXED_ROWS = 131_072  # whose entries in eight indexes fit twice into the memory for them


class DuckDbFile(FileSink):
    """A DuckDB file for any client in any directory.

    All flat tables come with the views as views; a selection, or a star, has tables only.
    """

    unreadable = (duckdb.Error,)

    def read(self) -> Contents | None:
        """The manifest, from its table."""
        try:
            with duckdb.connect(str(self.path), read_only=True) as connection:
                held = read_manifest(connection.sql("from export_manifest").fetchall())
                there = [name for (name,) in connection.sql(_NAMES).fetchall()]
        except duckdb.Error as error:
            if "lock" in str(error):
                raise PathError(
                    f"{self.path} is open in another program; close it there, and export again"
                ) from error
            raise
        extras = (MANIFEST_RELATION.name, "profiles", "model_tags", *views())
        if held is not None:
            self.require_only(there, (*held.relations, *extras))
        return held

    def damaged(self, stored: Contents) -> set[str]:
        """The tables whose rows, by their hash, are not those that were exported."""
        computed = views() if _is_everything(stored.selection) else {}
        with duckdb.connect(str(self.path), read_only=True) as connection:
            there = {name for (name,) in connection.sql(_NAMES).fetchall()}
            return {
                name
                for name, content in stored.relations.items()
                if name not in there
                or (name not in computed and parts_of(connection, name, content) != content.parts)
            }

    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Write the file anew, beside the old one."""
        selection = outgoing.contents.selection
        is_everything = _is_everything(selection)
        computed = views() if is_everything else {}
        tables = [relation for relation in outgoing.relations if relation.name not in computed]
        with new_file(self.path) as staged, _attached(outgoing, staged) as connection:
            connection.execute(f"use {_TARGET}")
            for relation in (*tables, MANIFEST_RELATION):
                _create(connection, relation, present={table.name for table in tables})
            if is_everything:
                _create_views(connection)
            connection.execute(f"use {STAGE}")
            for relation in tables:
                _fill(outgoing, relation)
            connection.register("manifest_rows", manifest_table(outgoing.contents))
            connection.execute(f"insert into {_place(MANIFEST_RELATION)} from manifest_rows")


def _is_everything(selection: Selection) -> bool:
    return not selection.tables and not selection.is_star


@contextmanager
def _attached(outgoing: Outgoing, path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """The DuckDB that has the rows, with the file beside it: the two share one memory limit."""
    connection = outgoing.connection
    limit_memory(connection, outgoing.memory.indexing)
    connection.execute(f"attach {quoted(str(path))} as {_TARGET}")
    yield connection
    connection.execute(f"detach {_TARGET}")


def _create(
    connection: duckdb.DuckDBPyConnection, relation: Relation, *, present: set[str]
) -> None:
    connection.execute(create_table(relation, DUCKDB, present))
    for statement in comments(relation):
        connection.execute(statement)


def _create_views(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the views of `sql/`, what else they read, and the descriptions of all columns."""
    for name in ("profiles", "model_tags"):
        connection.execute(f"create table main.{name} as from {STAGE}.main.{name}")
    for statements in macros():
        connection.execute(statements)
    for view in views().values():
        connection.execute(f"create view main.{view.name} as {view.query}")
    describe(connection, kind="table")


def _fill(outgoing: Outgoing, relation: Relation) -> None:
    """Insert the rows by stretches of their key.

    DuckDB holds what is new in an index in memory until a checkpoint. Of a key that is spread over
    all numbers, as surrogate keys are, a stretch touches a small part of the index.
    """
    query = f"insert into {_place(relation)} from ({outgoing.query(relation)})"
    for stretch in _stretches(relation, outgoing.contents.relations[relation.name].row_count):
        outgoing.connection.execute(f"{query} where {stretch}")
        outgoing.connection.execute(f"checkpoint {_TARGET}")


def _stretches(relation: Relation, row_count: int) -> list[str]:
    """Conditions that split the rows of a relation into stretches of its key."""
    spread = [name for name in relation.key if name.endswith("_sk") and name != "profile_sk"]
    if not spread or row_count <= _INDEXED_ROWS:
        return ["true"]
    width = _KEYS * _INDEXED_ROWS // row_count
    return [
        f"{spread[0]} >= {start} and {spread[0]} < {start + width}"
        for start in range(0, _KEYS, width)
    ]


def _place(relation: Relation) -> str:
    return f"{_TARGET}.main.{quoted_name(relation.name)}"
