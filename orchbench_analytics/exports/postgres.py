"""Postgres, through ADBC: tables in the first schema of the connection's search path.

A refresh deletes and inserts the changed parts in one transaction: readers see the old rows until
all new ones are there, and grants and the views of users stay, even where columns change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from orchbench_analytics.errors import PathError
from orchbench_analytics.exports.contents import (
    MANIFEST_RELATION,
    Contents,
    manifest_table,
    parts_condition,
    read_manifest,
)
from orchbench_analytics.exports.postgres_shape import (
    create,
    exists,
    forget_references,
    refer,
    reshape,
)
from orchbench_analytics.exports.relations import Relation
from orchbench_analytics.exports.sink import Outgoing, Sink, require
from orchbench_analytics.exports.targets import without_password
from orchbench_analytics.exports.values import REPLACE_NUL, Rule
from orchbench_analytics.views.sql_text import quoted_name

_LOCK = 0x6F726368  # one export at a time in a database: "orch"


class PostgresTables(Sink):
    """Tables in a Postgres database."""

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self.adbc = require("adbc_driver_postgresql.dbapi", extra="postgres")
        self.may_overwrite = False

    def rules(self, *, is_raw: bool) -> Sequence[Rule]:
        """A text of Postgres has no NUL."""
        return (REPLACE_NUL,)

    def stored(self, *, may_overwrite: bool) -> Contents | None:
        """The manifest, from its table."""
        self.may_overwrite = may_overwrite
        with self._connect() as connection, connection.cursor() as cursor:
            return _read(cursor)

    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Bring over the changed parts in one transaction, then tidy up."""
        with self._connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"select pg_advisory_xact_lock({_LOCK})")
            cursor.fetchall()
            held = _read(cursor)  # another export may have been first
            stored = held if stored is not None else None
            is_shaped = _has_shape(outgoing, stored)
            if not is_shaped:
                self._shape(cursor, held, outgoing.relations)
                stored = None
            written = [r for r in outgoing.relations if outgoing.changed(r, stored)]
            for relation in written:
                _refresh(cursor, outgoing, relation, stored)
            if not is_shaped:
                refer(cursor, outgoing.relations)
            cursor.execute(f"delete from {MANIFEST_RELATION.name}")
            _insert(cursor, MANIFEST_RELATION, manifest_table(outgoing.contents))
            connection.commit()
        self._tidy([*written, MANIFEST_RELATION])

    def _shape(self, cursor: Any, held: Contents | None, relations: Sequence[Relation]) -> None:
        """Make all tables, empty: those of an earlier export keep their grants and views."""
        ours = {*held.relations, MANIFEST_RELATION.name} if held else set()
        wanted = {relation.name: relation for relation in (*relations, MANIFEST_RELATION)}
        there = {name for name in {*wanted, *ours} if exists(cursor, name)}
        strange = sorted(there - ours)
        if strange and not self.may_overwrite:
            raise PathError(
                f"the database has a table {strange[0]} that is not an earlier export; "
                "choose another schema, or replace it with --overwrite"
            )
        kept = [relation for name, relation in wanted.items() if name in there & ours]
        try:
            forget_references(cursor, kept)
            self._drop(cursor, sorted(there - {relation.name for relation in kept}))
            for relation in kept:
                cursor.execute(f"delete from {quoted_name(relation.name)}")
                reshape(cursor, relation)
        except self.adbc.Error as error:
            raise PathError(
                "the tables have other columns than before, and something depends on them; "
                f"drop it, and export again ({error})"
            ) from error
        for name, relation in wanted.items():
            if name not in there & ours:
                create(cursor, relation)

    def _drop(self, cursor: Any, names: Sequence[str]) -> None:
        """Drop tables, and with `--overwrite` what depends on them."""
        if names:
            listed = ", ".join(map(quoted_name, names))
            cursor.execute(f"drop table {listed}{' cascade' if self.may_overwrite else ''}")

    def _tidy(self, relations: Sequence[Relation]) -> None:
        with self._connect(autocommit=True) as connection, connection.cursor() as cursor:
            for relation in relations:
                cursor.execute(f"vacuum (analyze) {quoted_name(relation.name)}")

    def _connect(self, *, autocommit: bool = False) -> Any:
        try:
            return self.adbc.connect(self.uri, autocommit=autocommit)
        except self.adbc.Error as error:
            place = without_password(self.uri)
            raise PathError(f"cannot connect to {place}: {without_password(str(error))}") from None


def _read(cursor: Any) -> Contents | None:
    if not exists(cursor, MANIFEST_RELATION.name):
        return None
    columns = ", ".join(MANIFEST_RELATION.table.column_names)
    cursor.execute(f"select {columns} from {MANIFEST_RELATION.name}")
    return read_manifest(cursor.fetchall())


def _has_shape(outgoing: Outgoing, stored: Contents | None) -> bool:
    """Whether every table is there, with the columns it has now."""
    shapes = {name: c.shape_hash for name, c in outgoing.contents.relations.items()}
    return stored is not None and shapes == {n: c.shape_hash for n, c in stored.relations.items()}


def _refresh(cursor: Any, outgoing: Outgoing, relation: Relation, stored: Contents | None) -> None:
    parts = outgoing.changed(relation, stored)
    if stored is not None:
        column = relation.part_column
        condition = f" where {parts_condition(column, parts)}" if column else ""
        cursor.execute(f"delete from {quoted_name(relation.name)}{condition}")
    if outgoing.contents.relations[relation.name].parts.keys() & set(parts):
        _insert(cursor, relation, outgoing.rows(relation, parts))


def _insert(cursor: Any, relation: Relation, rows: pa.Table | pa.RecordBatchReader) -> None:
    cursor.adbc_ingest(relation.name, rows, mode="append")
