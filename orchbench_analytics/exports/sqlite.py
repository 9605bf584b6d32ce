"""SQLite, through ADBC: one file, with keys, descriptions and the manifest as tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from orchbench_analytics.exports.beside import new_file, refuse
from orchbench_analytics.exports.contents import Contents, manifest_rows, read_manifest
from orchbench_analytics.exports.ddl import MANIFEST_RELATION, SQLITE, create_table
from orchbench_analytics.exports.relations import Relation
from orchbench_analytics.exports.sink import Outgoing, require
from orchbench_analytics.exports.values import Rule
from orchbench_analytics.schema import Table, arrow_schema, text

# SQLite has no comments.
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


class SqliteFile:
    """An SQLite file; booleans are 0 and 1, timestamps ISO texts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.adbc = require("adbc_driver_sqlite.dbapi", extra="sqlite")

    def rules(self, *, is_raw: bool) -> Sequence[Rule]:
        """SQLite carries every value."""
        return ()

    def check(self, outgoing: Outgoing) -> None:
        """SQLite holds any number of rows."""

    def stored(self, *, may_overwrite: bool) -> Contents | None:
        """The manifest in the file."""
        if not self.path.exists():
            return None
        connection = sqlite3.connect(self.path)
        try:
            return read_manifest(connection.execute("select * from export_manifest").fetchall())
        except sqlite3.Error as error:
            if not may_overwrite:
                raise refuse(self.path) from error
            return None
        finally:
            connection.close()

    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Write the file anew, beside the old one."""
        present = {relation.name for relation in outgoing.relations}
        with new_file(self.path) as staged, self.adbc.connect(str(staged)) as connection:
            with connection.cursor() as cursor:
                for relation in (*outgoing.relations, DESCRIPTIONS, MANIFEST_RELATION):
                    cursor.execute(create_table(relation, SQLITE, present))
                for relation in outgoing.relations:
                    cursor.adbc_ingest(relation.name, outgoing.rows(relation), mode="append")
                for relation, rows in (
                    (DESCRIPTIONS, described(outgoing.relations)),
                    (MANIFEST_RELATION, manifest_rows(outgoing.contents)),
                ):
                    table = pa.Table.from_pylist(rows, arrow_schema(relation.table))
                    cursor.adbc_ingest(relation.name, table, mode="append")
            connection.commit()


def described(relations: Sequence[Relation]) -> list[dict[str, str]]:
    """The descriptions of tables and their columns, as rows."""
    names = ("relation", "column_name", "description")
    return [
        dict(zip(names, row, strict=True))
        for relation in relations
        for row in (
            (relation.name, "", relation.description),
            *((relation.name, c.name, c.description) for c in relation.table.columns),
        )
    ]
