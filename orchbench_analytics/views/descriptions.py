"""What the columns of the views mean, from `sql/columns.toml`, the metrics and the tables."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from orchbench_analytics.queries import sql_directory
from orchbench_analytics.schema import DUCKDB_TYPES, Column, Kind, Table
from orchbench_analytics.tables import PROFILE_NAME, SCENARIO_SCORES, STEP_KEY, TABLES

if TYPE_CHECKING:
    import duckdb

    from orchbench_analytics.queries import View

KINDS: dict[str, Kind] = {name.upper(): kind for kind, name in DUCKDB_TYPES.items()}
KINDS["INTEGER"] = "int"


class Glossary(NamedTuple):
    """The meaning of columns that only views have, and which of them may be null."""

    columns: dict[str, str]
    may_be_null: frozenset[str]


@cache
def glossary() -> Glossary:
    """What `sql/columns.toml` says."""
    content = tomllib.loads((sql_directory() / "columns.toml").read_text(encoding="utf-8"))
    return Glossary(content["columns"], frozenset(content["may_be_null"]))


@cache
def described_columns() -> dict[str, str]:
    """The meaning of every known column.

    Views sum up `scenario_scores`, so what it says of a column holds for them too.
    """
    from orchbench_analytics.metrics import METRICS  # imports numpy, which a query does not need

    meanings: dict[str, set[str]] = {}
    for table in TABLES.values():
        for column in table.columns:
            meanings.setdefault(column.name, set()).add(column.description)
    agreed = {name: texts.pop() for name, texts in meanings.items() if len(texts) == 1}
    keys = {column.name: column.description for column in (PROFILE_NAME, *STEP_KEY)}
    metrics = {name: metric.description for name, metric in METRICS.items()}
    sums = {column.name: column.description for column in SCENARIO_SCORES.columns}
    return agreed | sums | keys | metrics | glossary().columns


def describe_view(connection: duckdb.DuckDBPyConnection, view: View) -> Table:
    """What a view is, in the form of a table: its grain, and its columns as DuckDB has them."""
    described = connection.execute(f"describe main.{view.name}").fetchall()
    columns = (_column(name, KINDS[kind]) for name, kind, *_ in described)
    return Table(view.name, view.grain, tuple(columns))


def _column(name: str, kind: Kind) -> Column:
    may_be_null = kind == "float" or name in glossary().may_be_null
    return Column(name, kind, described_columns()[name], may_be_null)
