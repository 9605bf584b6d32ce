"""DuckDB: one file, with comments, the manifest as a table, and keys for those who want them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from orchbench_analytics.errors import PathError
from orchbench_analytics.exports.relations import (
    MANIFEST_RELATION,
    STAGE,
    Contents,
    Relation,
    Selection,
    limit_memory,
    manifest_table,
    parts_of,
)
from orchbench_analytics.exports.sink import (
    DUCKDB,
    FileSink,
    Outgoing,
    comments,
    create_table,
    own_manifest,
)
from orchbench_analytics.queries import macros, views
from orchbench_analytics.store.replace import new_file
from orchbench_analytics.views.catalog import describe, quoted, quoted_name, silent_duckdb

_TARGET = "target"
# Every DuckDB since 1.2 opens the file. Smaller blocks suit many small tables.
_STORAGE = "storage_version 'v1.2.0', block_size 65536"
_NAMES = """
select if(schema_name = 'main', name, concat_ws('.', schema_name, name))
from (
    select schema_name, table_name as name from duckdb_tables() where not internal
    union all
    select schema_name, view_name as name from duckdb_views() where not internal
)
"""
_KEYS = 2**53  # surrogate keys are smaller
_INDEXED_ROWS = 131_072  # their entries in eight indexes take half of the memory for indexing


class DuckDbFile(FileSink):
    """A DuckDB file for any client in any directory.

    All flat tables come with the views as views; a selection, or a star, has tables only.
    """

    takes_keys = True
    unreadable = (duckdb.Error,)

    def read(self) -> Contents | None:
        """The manifest, from its table."""
        try:
            with silent_duckdb(self.path, read_only=True) as connection:
                rows = connection.sql("from export_manifest").fetchall()
                there = [name for (name,) in connection.sql(_NAMES).fetchall()]
        except duckdb.Error as error:
            if "lock" in str(error):
                raise PathError(
                    f"{self.path} is open in another program; close it there, and export again"
                ) from error
            raise
        return own_manifest(self.path, rows, there, ours=views())

    def damaged(self, stored: Contents) -> set[str]:
        """The tables whose rows do not have the hash of those that were exported."""
        computed = views() if _is_everything(stored.selection) else {}
        with silent_duckdb(self.path, read_only=True) as connection:
            there = {name for (name,) in connection.sql(_NAMES).fetchall()}
            return {
                name
                for name, content in stored.relations.items()
                if name not in there
                or (name not in computed and parts_of(connection, name, content) != content.parts)
            }

    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Write a new file beside the old one, and replace it."""
        selection = outgoing.contents.selection
        is_everything = _is_everything(selection)
        computed = views() if is_everything else {}
        tables = [relation for relation in outgoing.relations if relation.name not in computed]
        with new_file(self.path) as staged, _attached(outgoing, staged) as connection:
            connection.execute(f"use {_TARGET}")
            for relation in (*tables, MANIFEST_RELATION):
                declared = relation if selection.has_keys else relation.without_keys()
                connection.execute(create_table(declared, DUCKDB, {table.name for table in tables}))
                for statement in comments(declared):
                    connection.execute(statement)
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
    connection.execute(f"attach {quoted(str(path))} as {_TARGET} ({_STORAGE})")
    yield connection
    connection.execute(f"detach {_TARGET}")


def _create_views(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the views of `sql/`, and describe all columns."""
    for statements in macros():
        connection.execute(statements)
    for view in views().values():
        connection.execute(f"create view main.{view.name} as {view.query}")
    describe(connection, kind="table")


def _fill(outgoing: Outgoing, relation: Relation) -> None:
    """Insert the rows, and those of a table with keys by stretches of its key.

    DuckDB holds what is new in an index in memory until a checkpoint. Surrogate keys are spread
    over all numbers, so a stretch of them touches a small part of the index.
    """
    query = f"insert into {_place(relation)} from ({outgoing.query(relation)})"
    if not outgoing.contents.selection.has_keys:
        outgoing.connection.execute(query)
        return
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
