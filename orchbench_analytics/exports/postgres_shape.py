"""The tables of an export in Postgres: made, or changed in place, so that grants and views stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from orchbench_analytics.exports.ddl import POSTGRES, comments, create_table, references
from orchbench_analytics.exports.relations import Relation, part_column
from orchbench_analytics.views.sql_text import quoted_name

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


def forget_references(cursor: Any, relations: Sequence[Relation]) -> None:
    """Drop the references between tables, which stand in the way of every change."""
    for relation in relations:
        _drop_constraints(cursor, relation, "f")


def refer(cursor: Any, relations: Sequence[Relation]) -> None:
    """Declare the references of tables that are full: Postgres then checks them all at once."""
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
    """What to alter; a column of another type goes and comes again."""
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
