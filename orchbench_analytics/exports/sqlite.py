"""SQLite, through ADBC: one file, with keys, descriptions and the manifest as tables."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from orchbench_analytics.exports.atomic import new_file
from orchbench_analytics.exports.contents import Contents, read_manifest
from orchbench_analytics.exports.ddl import SQLITE, create_table
from orchbench_analytics.exports.sink import FileSink, Outgoing, require


class SqliteFile(FileSink):
    """An SQLite file; booleans are 0 and 1, timestamps ISO texts."""

    unreadable = (sqlite3.Error,)

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.adbc = require("adbc_driver_sqlite.dbapi", extra="sqlite")

    def read(self) -> Contents | None:
        """The manifest, from its table."""
        with closing(sqlite3.connect(self.path)) as connection:
            return read_manifest(connection.execute("select * from export_manifest").fetchall())

    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Write the file anew, beside the old one."""
        extras = outgoing.extras
        with new_file(self.path) as staged, self.adbc.connect(str(staged)) as connection:
            with connection.cursor() as cursor:
                for relation in (*outgoing.relations, *(relation for relation, _ in extras)):
                    cursor.execute(create_table(relation, SQLITE, outgoing.names))
                for relation in outgoing.relations:
                    cursor.adbc_ingest(relation.name, outgoing.rows(relation), mode="append")
                for relation, rows in extras:
                    cursor.adbc_ingest(relation.name, rows, mode="append")
            connection.commit()
