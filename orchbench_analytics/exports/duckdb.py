"""DuckDB: one file, with keys, comments and the manifest as a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb
import pyarrow as pa

from orchbench_analytics.exports.beside import new_file, refuse
from orchbench_analytics.exports.contents import Contents, manifest_rows, read_manifest
from orchbench_analytics.exports.ddl import (
    DUCKDB,
    MANIFEST_RELATION,
    comments,
    create_table,
)
from orchbench_analytics.exports.relations import MEMORY, Relation
from orchbench_analytics.exports.sink import Outgoing
from orchbench_analytics.exports.values import Rule, quoted_name
from orchbench_analytics.schema import arrow_schema
from orchbench_analytics.views.catalog import describe, views
from orchbench_analytics.views.files import macros

_KEYED_MEMORY = "512MiB"  # DuckDB holds the index of a key in memory while it makes it


class DuckDbFile:
    """A DuckDB file for any client in any directory.

    All flat tables come with the views as views; a selection, or a star, has tables only.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def rules(self, *, is_raw: bool) -> Sequence[Rule]:
        """DuckDB carries every value."""
        return ()

    def check(self, outgoing: Outgoing) -> None:
        """DuckDB holds any number of rows."""

    def stored(self, *, may_overwrite: bool) -> Contents | None:
        """The manifest in the file."""
        if not self.path.exists():
            return None
        try:
            with duckdb.connect(str(self.path), read_only=True) as connection:
                return read_manifest(connection.sql("from export_manifest").fetchall())
        except duckdb.Error as error:
            if not may_overwrite:
                raise refuse(self.path) from error
            return None

    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Write the file anew, beside the old one."""
        schema = arrow_schema(MANIFEST_RELATION.table)
        manifest = pa.Table.from_pylist(manifest_rows(outgoing.contents), schema).to_reader()
        selection = outgoing.contents.selection
        is_everything = not selection.tables and not selection.is_star
        computed = views() if is_everything else {}
        tables = [relation for relation in outgoing.relations if relation.name not in computed]
        present = {relation.name for relation in tables}
        with new_file(self.path) as staged, duckdb.connect(str(staged)) as connection:
            is_keyed = selection.is_star and outgoing.memory == MEMORY
            memory = _KEYED_MEMORY if is_keyed else outgoing.memory
            connection.execute(f"set memory_limit = '{memory}'")
            for relation in tables:
                _create(connection, relation, present, outgoing.rows(relation))
            if is_everything:
                _create_views(connection, outgoing.connection)
            _create(connection, MANIFEST_RELATION, present, manifest)


def _create(
    connection: duckdb.DuckDBPyConnection,
    relation: Relation,
    present: set[str],
    rows: pa.RecordBatchReader,
) -> None:
    connection.execute(create_table(relation, DUCKDB, present))
    connection.register("outgoing_rows", rows)
    connection.execute(f"insert into {quoted_name(relation.name)} from outgoing_rows")
    connection.unregister("outgoing_rows")
    for statement in comments(relation):
        connection.execute(statement)


def _create_views(connection: duckdb.DuckDBPyConnection, staged: duckdb.DuckDBPyConnection) -> None:
    """Create the views of `sql/`, what else they read, and the descriptions of all columns."""
    for name in ("profiles", "model_tags"):
        connection.register("outgoing_rows", staged.sql(f"from main.{name}").to_arrow_table())
        connection.execute(f"create table main.{name} as from outgoing_rows")
        connection.unregister("outgoing_rows")
    for statements in macros():
        connection.execute(statements)
    for view in views().values():
        connection.execute(f"create view main.{view.name} as {view.query}")
    describe(connection, kind="table")
