"""Texts of SQL: literals, names, and a table without rows."""

from __future__ import annotations

from orchbench_analytics.schema import DUCKDB_TYPES, Table


def quoted(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def quoted_name(identifier: str) -> str:
    """An identifier in SQL, whatever is in it: tags are named by people."""
    return '"' + identifier.replace('"', '""') + '"'


def no_rows(table: Table) -> str:
    """A query that has the columns of a table and no row."""
    columns = (f"cast(null as {DUCKDB_TYPES[c.kind]}) as {c.name}" for c in table.columns)
    return f"select {', '.join(columns)} where false"
