"""Postgres, through ADBC: tables in the first schema of the connection's search path.

A refresh deletes and inserts the changed parts in one transaction: readers see the old rows until
all new ones are there, and grants and the views of users stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from orchbench_analytics.errors import PathError
from orchbench_analytics.exports.contents import (
    MANIFEST_TABLE,
    Contents,
    manifest_rows,
    read_manifest,
)
from orchbench_analytics.exports.ddl import (
    MANIFEST_RELATION,
    POSTGRES,
    comments,
    create_table,
    references,
)
from orchbench_analytics.exports.predicates import sql_predicate
from orchbench_analytics.exports.relations import Relation
from orchbench_analytics.exports.sink import Outgoing, require
from orchbench_analytics.exports.targets import without_password
from orchbench_analytics.exports.values import REPLACE_NUL, Rule, quoted_name
from orchbench_analytics.schema import arrow_schema
from orchbench_analytics.views.catalog import quoted

_LOCK = 0x6F726368  # one export at a time in a database: "orch"


class PostgresTables:
    """Tables in a Postgres database."""

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self.adbc = require("adbc_driver_postgresql.dbapi", extra="postgres")
        self.may_overwrite = False

    def rules(self, *, is_raw: bool) -> Sequence[Rule]:
        """A text of Postgres has no NUL."""
        return (REPLACE_NUL,)

    def check(self, outgoing: Outgoing) -> None:
        """Postgres holds any number of rows."""

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
            if not _has_shape(outgoing, stored):
                self._drop(cursor, held, {r.name for r in outgoing.relations})
                stored = None
                _create(cursor, outgoing.relations)
            written = [r for r in outgoing.relations if outgoing.changed(r, stored)]
            for relation in written:
                _refresh(cursor, outgoing, relation, stored)
            if stored is None:
                _refer(cursor, outgoing.relations)
            cursor.execute(f"delete from {MANIFEST_TABLE.name}")
            _insert(cursor, MANIFEST_RELATION, _manifest(outgoing.contents))
            connection.commit()
        self._tidy([*written, MANIFEST_RELATION])

    def _drop(self, cursor: Any, held: Contents | None, wanted: set[str]) -> None:
        """Drop the tables of an earlier export, and with `--overwrite` all that are in the way."""
        ours = {*held.relations, MANIFEST_TABLE.name} if held else set()
        there = [name for name in (wanted | ours | {MANIFEST_TABLE.name}) if _exists(cursor, name)]
        strange = sorted(set(there) - ours)
        if strange and not self.may_overwrite:
            raise PathError(
                f"the database has a table {strange[0]} that is not an earlier export; "
                "choose another schema, or replace it with --overwrite"
            )
        if not there:
            return
        names = ", ".join(map(quoted_name, there))
        try:
            cursor.execute(f"drop table {names}{' cascade' if self.may_overwrite else ''}")
        except self.adbc.Error as error:
            raise PathError(
                "the tables have other columns than before, and something depends on them; "
                f"drop it, or let --overwrite drop it ({error})"
            ) from error

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
    if not _exists(cursor, MANIFEST_TABLE.name):
        return None
    columns = ", ".join(MANIFEST_TABLE.column_names)
    cursor.execute(f"select {columns} from {MANIFEST_TABLE.name}")
    return read_manifest(cursor.fetchall())


def _exists(cursor: Any, table: str) -> bool:
    """Whether the schema that new tables go to has the table."""
    cursor.execute(
        "select count(*) from pg_tables where schemaname = current_schema() "
        f"and tablename = {quoted(table)}"
    )
    return bool(cursor.fetchone()[0])


def _has_shape(outgoing: Outgoing, stored: Contents | None) -> bool:
    """Whether every table is there, with the columns it has now."""
    shapes = {name: c.shape_hash for name, c in outgoing.contents.relations.items()}
    return stored is not None and shapes == {n: c.shape_hash for n, c in stored.relations.items()}


def _create(cursor: Any, relations: Sequence[Relation]) -> None:
    for relation in (*relations, MANIFEST_RELATION):
        cursor.execute(create_table(relation, POSTGRES, set()))
        for statement in comments(relation):
            cursor.execute(statement)


def _refer(cursor: Any, relations: Sequence[Relation]) -> None:
    """Declare the references of tables that are full: Postgres then checks them all at once."""
    present = {relation.name for relation in relations}
    for relation in relations:
        for reference in references(relation, POSTGRES, present):
            cursor.execute(f"alter table {quoted_name(relation.name)} add {reference}")


def _refresh(cursor: Any, outgoing: Outgoing, relation: Relation, stored: Contents | None) -> None:
    parts = outgoing.changed(relation, stored)
    if stored is not None:
        column = relation.part_column
        condition = f" where {sql_predicate(column, parts)}" if column else ""
        cursor.execute(f"delete from {quoted_name(relation.name)}{condition}")
    if outgoing.contents.relations[relation.name].parts.keys() & set(parts):
        _insert(cursor, relation, outgoing.rows(relation, parts))


def _insert(cursor: Any, relation: Relation, rows: pa.Table | pa.RecordBatchReader) -> None:
    cursor.adbc_ingest(relation.name, rows, mode="append")


def _manifest(contents: Contents) -> pa.Table:
    return pa.Table.from_pylist(manifest_rows(contents), arrow_schema(MANIFEST_TABLE))
