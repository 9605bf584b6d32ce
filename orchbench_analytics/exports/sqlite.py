"""SQLite, through ADBC: one file, with keys, descriptions and the manifest as tables."""

from __future__ import annotations

import sqlite3
import struct
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from orchbench_analytics.exports.relations import (
    DESCRIPTIONS,
    Contents,
    part_column,
    with_other_counts,
)
from orchbench_analytics.exports.sink import (
    SQLITE,
    FileSink,
    Outgoing,
    create_table,
    own_manifest,
    require,
)
from orchbench_analytics.store.replace import new_file
from orchbench_analytics.views.catalog import quoted_name

# Fields of the header of an SQLite file: write and read version (1 without a write-ahead log),
# file change counter, user version.
_HEADER = struct.Struct(">18xBB4xI32xI")


class SqliteFile(FileSink):
    """An SQLite file; booleans are 0 and 1, timestamps ISO texts."""

    unreadable = (sqlite3.Error,)

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.adbc = require("adbc_driver_sqlite.dbapi", extra="sqlite")

    def read(self) -> Contents | None:
        """The manifest, from its table."""
        with closing(self._connect()) as connection:
            rows = connection.execute("select * from export_manifest").fetchall()
            names = connection.execute("select name from sqlite_master").fetchall()
        there = (name for (name,) in names if not name.startswith("sqlite_"))
        return own_manifest(self.path, rows, there, ours=[DESCRIPTIONS.name])

    def damaged(self, stored: Contents) -> set[str]:
        """The tables with other rows than were exported, or all if something was written since."""
        with self.path.open("rb") as file:
            header = file.read(_HEADER.size)
        write_version, read_version, change_count, expected = _HEADER.unpack(header)
        if (write_version, read_version, change_count) != (1, 1, expected):
            return {*stored.relations}
        with closing(self._connect()) as connection:
            return with_other_counts(stored, lambda name: _row_counts(connection, name))

    def _connect(self) -> sqlite3.Connection:
        """A connection that changes nothing, not even by rolling back what others left."""
        return sqlite3.connect(f"{self.path.absolute().as_uri()}?mode=ro", uri=True)

    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Write a new file beside the old one, and replace it."""
        extras = outgoing.extras
        with new_file(self.path) as staged:
            with self.adbc.connect(str(staged)) as connection:
                with connection.cursor() as cursor:
                    for relation in (*outgoing.relations, *(relation for relation, _ in extras)):
                        cursor.execute(create_table(relation, SQLITE, outgoing.names))
                    for relation in outgoing.relations:
                        cursor.adbc_ingest(relation.name, outgoing.rows(relation), mode="append")
                    for relation, rows in extras:
                        cursor.adbc_ingest(relation.name, rows, mode="append")
                connection.commit()
            _note_changes(staged)


def _note_changes(path: Path) -> None:
    """Store SQLite's file change counter as the user version, so that a later change shows."""
    with path.open("rb") as file:
        change_count = _HEADER.unpack(file.read(_HEADER.size))[2]
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"pragma user_version = {change_count + 1}")  # this is a change too
        connection.commit()


def _row_counts(connection: sqlite3.Connection, name: str) -> Counter[Any] | None:
    """The rows of a table by the value of its part column; null if it is gone."""
    try:
        table = quoted_name(name)
        columns = [row[1] for row in connection.execute(f"pragma table_info({table})").fetchall()]
        column = part_column(columns) or "null"
        found = connection.execute(f"select {column}, count(*) from {table} group by 1").fetchall()
    except sqlite3.Error:
        return None
    return Counter(dict(found))
