"""Tables in the words of SQL: types, keys, references and comments, as each database has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from orchbench_analytics.exports.relations import Relation
from orchbench_analytics.schema import DUCKDB_TYPES, Kind
from orchbench_analytics.views.sql_text import quoted, quoted_name


class Dialect(NamedTuple):
    """The types of a database, and what it adds to a reference."""

    types: Mapping[Kind, str]
    reference_suffix: str = ""


SQLITE = Dialect(
    {
        "text": "text",
        "int": "integer",
        "float": "real",
        "bool": "boolean",
        "timestamp": "timestamp",
    },
    " deferrable initially deferred",
)
DUCKDB = Dialect(DUCKDB_TYPES)
POSTGRES = Dialect(
    {
        "text": "text",
        "int": "bigint",
        "float": "double precision",
        "bool": "boolean",
        "timestamp": "timestamp",
    },
    " deferrable initially deferred",
)


def create_table(relation: Relation, dialect: Dialect, present: set[str]) -> str:
    """The statement that creates a table; it refers only to tables that are present."""
    lines = [
        f"{quoted_name(c.name)} {dialect.types[c.kind]}{'' if c.nullable else ' not null'}"
        for c in relation.table.columns
    ]
    if relation.key:
        lines.append(f"primary key ({', '.join(map(quoted_name, relation.key))})")
    lines += references(relation, dialect, present)
    return f"create table {quoted_name(relation.name)} ({', '.join(lines)})"


def references(relation: Relation, dialect: Dialect, present: set[str]) -> list[str]:
    """The references of a table to those that are present."""
    return [
        f"foreign key ({quoted_name(column)}) references {quoted_name(table)} "
        f"({quoted_name(column)}){dialect.reference_suffix}"
        for column, table in relation.references.items()
        if table in present
    ]


def comments(relation: Relation) -> Iterator[str]:
    """The statements that attach the descriptions of a table and its columns."""
    table = quoted_name(relation.name)
    yield f"comment on table {table} is {quoted(relation.description)}"
    for column in relation.table.columns:
        place = f"{table}.{quoted_name(column.name)}"
        yield f"comment on column {place} is {quoted(column.description)}"
