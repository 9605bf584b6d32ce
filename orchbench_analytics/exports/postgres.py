"""Postgres, through ADBC: tables in the first schema of the connection's search path.

A refresh deletes and inserts the changed parts in one transaction: readers see the old rows until
all new ones are there, and grants and the views of users stay, even where columns change.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import pyarrow as pa

from orchbench_analytics.errors import PathError
from orchbench_analytics.exports.addresses import parse, scrubbed, shown
from orchbench_analytics.exports.relations import (
    MANIFEST_RELATION,
    Contents,
    Relation,
    manifest_table,
    part_column,
    part_value,
    read_manifest,
    with_other_counts,
    without_nul,
)
from orchbench_analytics.exports.sink import (
    POSTGRES,
    REPLACE_NUL,
    Outgoing,
    Rule,
    Sink,
    comments,
    create_table,
    references,
    require,
)
from orchbench_analytics.views.catalog import quoted_name

_LOCK = 0x6F726368  # one export at a time in a database: "orch"
_ERROR = re.compile(r"ERROR: +(.+)")
_DEPENDENT = ("2BP01", "0A000")  # a view or another object needs what is to be changed
_REFUSALS = {
    "42501": "the user lacks a permission; grant usage and create on the schema, "
    "and let the user own the tables of earlier exports",
    "25006": "the user, the database or the server is read-only; write to another",
    "3F000": "no schema of the search path exists; create one, "
    "or name one with ?options=-csearch_path%3DNAME",
}


class PostgresTables(Sink):
    """Tables in a Postgres database."""

    def __init__(self, uri: str) -> None:
        self.uri = uri
        parsed = parse(uri)
        self.address = parsed.with_password(parsed.password)
        self.adbc = require("adbc_driver_postgresql.dbapi", extra="postgres")

    def rules(self, *, is_raw: bool) -> Sequence[Rule]:
        """A text of Postgres has no NUL."""
        return (REPLACE_NUL,)

    def stored(self) -> Contents | None:
        """The manifest, from its table."""
        with self._connect() as connection, connection.cursor() as cursor:
            return _read(cursor)

    def damaged(self, stored: Contents) -> set[str]:
        """The tables with other rows than were exported, counted model by model."""
        with self._connect() as connection, connection.cursor() as cursor:
            return with_other_counts(stored, lambda name: row_counts(cursor, name))

    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Write the changed parts in one transaction, then vacuum."""
        with self._connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"select pg_advisory_xact_lock({_LOCK})")
            cursor.fetchall()
            held = _read(cursor)  # another export may have finished meanwhile
            known = stored.relations.keys() if stored is not None else ()
            stored = held and msgspec.structs.replace(
                held, relations={n: c for n, c in held.relations.items() if n in known}
            )
            is_shaped = _has_shape(cursor, outgoing, held)
            if not is_shaped:
                self._shape(cursor, held, outgoing.relations)
                stored = None
            written = [r for r in outgoing.relations if _is_changed(outgoing, r, stored)]
            for relation in written:
                _refresh(cursor, outgoing, relation, stored)
            if not is_shaped:
                refer(cursor, outgoing.relations)
            cursor.execute(f"delete from {MANIFEST_RELATION.name}")
            _insert(cursor, MANIFEST_RELATION, manifest_table(outgoing.contents))
            connection.commit()
        with self._connect(autocommit=True) as connection, connection.cursor() as cursor:
            for relation in [*written, MANIFEST_RELATION]:
                cursor.execute(f"vacuum (analyze) {quoted_name(relation.name)}")

    def _shape(self, cursor: Any, held: Contents | None, relations: Sequence[Relation]) -> None:
        """Make or empty all tables; those of an earlier export keep their grants and views."""
        ours = {*held.relations, MANIFEST_RELATION.name} if held else set()
        wanted = {relation.name: relation for relation in (*relations, MANIFEST_RELATION)}
        there = {name for name in {*wanted, *ours} if exists(cursor, name)}
        strange = sorted(there - ours)
        if strange:
            raise PathError(
                f"the database has a table {strange[0]} that orchbench did not write; "
                "choose another schema"
            )
        kept = [relation for name, relation in wanted.items() if name in there & ours]
        try:
            for relation in kept:  # they would block every change
                _drop_constraints(cursor, relation, "f")
            gone = sorted(there - {relation.name for relation in kept})
            if gone:
                cursor.execute(f"drop table {', '.join(map(quoted_name, gone))}")
            for relation in kept:
                cursor.execute(f"delete from {quoted_name(relation.name)}")
                reshape(cursor, relation)
        except self.adbc.Error as error:
            if error.sqlstate not in _DEPENDENT:
                raise
            raise PathError(
                "the tables have other columns than before, and something depends on them; "
                f"drop it, and export again ({error})"
            ) from error
        for name, relation in wanted.items():
            if name not in there & ours:
                create(cursor, relation)

    @contextmanager
    def _connect(self, *, autocommit: bool = False) -> Iterator[Any]:
        """A connection that sends texts as UTF-8; what the server refuses is said in a sentence."""
        try:
            connection = self.adbc.connect(self.address, autocommit=autocommit)
        except self.adbc.Error as error:
            said = self._scrubbed(error)
            raise PathError(f"cannot connect to {shown(self.uri)}: {said}") from None
        try:
            with connection:
                self._agree_on_texts(connection)
                yield connection
        except self.adbc.Error as error:
            said = self._scrubbed(error)
            reason = _REFUSALS.get(error.sqlstate or "") or (_ERROR.search(said) or [said])[-1]
            raise PathError(f"{shown(self.uri)} did not take the export: {reason}") from None

    def _scrubbed(self, error: Exception) -> str:
        return scrubbed(scrubbed(str(error), self.address), self.uri)

    def _agree_on_texts(self, connection: Any) -> None:
        """Send texts as UTF-8, whatever the client is set to, and refuse to have them changed."""
        with connection.cursor() as cursor:
            for setting in ("client_encoding = 'UTF8'", "standard_conforming_strings = on"):
                cursor.execute(f"set {setting}")
            cursor.execute("select current_setting('server_encoding')")
            (encoding,) = cursor.fetchone()
        if encoding != "UTF8":
            raise PathError(
                f"{shown(self.uri)} keeps texts as {encoding}, which does not have every character "
                "of the results; make a database for them with: "
                "createdb --encoding UTF8 --template template0 NAME"
            )


def _read(cursor: Any) -> Contents | None:
    names = MANIFEST_RELATION.table.column_names
    there = columns_of(cursor, MANIFEST_RELATION.name)
    if not {*names} <= there.keys():
        return None
    columns = ", ".join(names)
    cursor.execute(f"select {columns} from {MANIFEST_RELATION.name}")
    return read_manifest(cursor.fetchall())


def _has_shape(cursor: Any, outgoing: Outgoing, held: Contents | None) -> bool:
    """Whether every table is there, with the columns it has now."""
    shapes = {name: c.shape_hash for name, c in outgoing.contents.relations.items()}
    is_same = held is not None and shapes == {n: c.shape_hash for n, c in held.relations.items()}
    return is_same and all(exists(cursor, name) for name in shapes)


def _is_changed(outgoing: Outgoing, relation: Relation, stored: Contents | None) -> bool:
    is_held = stored is None or relation.name in stored.relations
    return not is_held or bool(outgoing.changed(relation, stored))


def _refresh(cursor: Any, outgoing: Outgoing, relation: Relation, stored: Contents | None) -> None:
    parts = outgoing.changed(relation, stored)
    if stored is not None:
        is_held = relation.name in stored.relations
        _delete(cursor, relation, relation.part_column if is_held else None, parts)
    if outgoing.contents.relations[relation.name].parts.keys() & set(parts):
        _insert(cursor, relation, outgoing.rows(relation, parts))


def _delete(cursor: Any, relation: Relation, column: str | None, parts: Sequence[str]) -> None:
    """Delete the rows of some parts, or all rows; values are bound, never part of the SQL."""
    delete = f"delete from {quoted_name(relation.name)}"
    if column is None:
        cursor.execute(delete)
        return
    values = [without_nul(part_value(part)) for part in parts]
    known = [(value,) for value in values if value is not None]
    if known:
        cursor.executemany(f"{delete} where {quoted_name(column)} = $1", known)
    if None in values:
        cursor.execute(f"{delete} where {quoted_name(column)} is null")


def _insert(cursor: Any, relation: Relation, rows: pa.Table | pa.RecordBatchReader) -> None:
    cursor.adbc_ingest(relation.name, rows, mode="append")


_COLUMNS = """
select attname, format_type(atttypid, atttypmod)
from pg_attribute
where attrelid = cast($1 as text)::regclass and attnum > 0 and not attisdropped
order by attnum
"""
_CONSTRAINTS = """
select conname
from pg_constraint
where conrelid = cast($1 as text)::regclass and contype = cast($2 as text)::"char"
order by conname
"""
_TYPE_NAMES = {"timestamp": "timestamp without time zone"}  # as Postgres itself calls them


def exists(cursor: Any, table: str) -> bool:
    """Whether the schema that new tables go to has the table."""
    cursor.execute(
        "select count(*) from pg_tables where schemaname = current_schema() and tablename = $1",
        (table,),
    )
    return bool(cursor.fetchone()[0])


def row_counts(cursor: Any, table: str) -> Counter[Any] | None:
    """The rows of a table by the value of its part column; null if it is gone."""
    if not exists(cursor, table):
        return None
    column = part_column(list(columns_of(cursor, table)))
    wanted = quoted_name(column) if column else "null::text"
    cursor.execute(f"select {wanted}, count(*) from {quoted_name(table)} group by 1")
    return Counter(dict(cursor.fetchall()))


def create(cursor: Any, relation: Relation) -> None:
    """Create a table, with its descriptions and without its references."""
    cursor.execute(create_table(relation, POSTGRES, set()))
    _describe(cursor, relation)


def refer(cursor: Any, relations: Sequence[Relation]) -> None:
    """Declare the foreign keys of filled tables, so that Postgres checks all rows at once."""
    present = {relation.name for relation in relations}
    for relation in relations:
        for reference in references(relation, POSTGRES, present):
            cursor.execute(f"alter table {quoted_name(relation.name)} add {reference}")


def reshape(cursor: Any, relation: Relation) -> None:
    """Give an emptied table the columns that its relation has now."""
    _drop_constraints(cursor, relation, "p")
    for change in _changes(relation, columns_of(cursor, relation.name)):
        cursor.execute(f"alter table {quoted_name(relation.name)} {change}")
    _describe(cursor, relation)


def columns_of(cursor: Any, table: str) -> dict[str, str]:
    """The columns of a table, and their types as Postgres calls them; none if it is not there."""
    if not exists(cursor, table):
        return {}
    cursor.execute(_COLUMNS, (quoted_name(table),))
    return dict(cursor.fetchall())


def _changes(relation: Relation, there: dict[str, str]) -> Iterator[str]:
    """What to alter; a column whose type changed is dropped and added again."""
    wanted = {column.name: POSTGRES.types[column.kind] for column in relation.table.columns}
    kept = {n for n, kind in wanted.items() if there.get(n) == _TYPE_NAMES.get(kind, kind)}
    for name in there.keys() - kept:
        yield f"drop column {quoted_name(name)}"
    for name in (name for name in wanted if name not in kept):
        yield f"add column {quoted_name(name)} {wanted[name]}"
    for column in relation.table.columns:
        yield f"alter {quoted_name(column.name)} {'drop' if column.nullable else 'set'} not null"
    if relation.key:
        yield f"add primary key ({', '.join(map(quoted_name, relation.key))})"


def _drop_constraints(cursor: Any, relation: Relation, kind: str) -> None:
    cursor.execute(_CONSTRAINTS, (quoted_name(relation.name), kind))
    for (name,) in cursor.fetchall():
        table = quoted_name(relation.name)
        cursor.execute(f"alter table {table} drop constraint {quoted_name(name)}")


def _describe(cursor: Any, relation: Relation) -> None:
    for statement in comments(relation):
        cursor.execute(statement)
