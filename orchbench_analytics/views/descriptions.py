"""What every column means and what people call it, by its name.

A column has one meaning in all views. It is declared in a table, as a metric, or in
`sql/columns.toml`.
"""

from __future__ import annotations

import tomllib
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from orchbench_analytics.metrics import METRICS
from orchbench_analytics.queries import sql_directory
from orchbench_analytics.schema import (
    DUCKDB_TYPES,
    Column,
    Kind,
    Table,
    plain_unit,
    plain_words,
)
from orchbench_analytics.tables import PROFILE_NAME, SCENARIO_SCORES, STEP_KEY, TABLES
from orchbench_analytics.tables.statistics import STATISTICS

if TYPE_CHECKING:
    import duckdb

    from orchbench_analytics.queries import View

KINDS: dict[str, Kind] = {name.upper(): kind for kind, name in DUCKDB_TYPES.items()}
KINDS["INTEGER"] = "int"


class Words(NamedTuple):
    """What is said of a column; label and unit only where its name does not give them."""

    description: str
    label: str | None = None
    unit: str | None = None


class Glossary(NamedTuple):
    """The words of columns that only views have, and which of these may be null."""

    columns: dict[str, Words]
    may_be_null: frozenset[str]


@cache
def glossary() -> Glossary:
    """What `sql/columns.toml` says."""
    content = tomllib.loads((sql_directory() / "columns.toml").read_text(encoding="utf-8"))
    columns = {
        name: Words(said) if isinstance(said, str) else Words(**said)
        for name, said in content["columns"].items()
    }
    return Glossary(columns, frozenset(content["may_be_null"]))


@cache
def described_columns() -> dict[str, str]:
    """The meaning of every column of a view.

    Views sum up `scenario_scores`, so what it says of a column holds for them too.
    """
    meanings: dict[str, set[str]] = {}
    for table in TABLES.values():
        for column in table.columns:
            meanings.setdefault(column.name, set()).add(column.description)
    agreed = {name: texts.pop() for name, texts in meanings.items() if len(texts) == 1}
    keys = {column.name: column.description for column in (PROFILE_NAME, *STEP_KEY)}
    metrics = {name: metric.description for name, metric in METRICS.items()}
    sums = {column.name: column.description for column in SCENARIO_SCORES.columns}
    own = {name: words.description for name, words in glossary().columns.items()}
    return agreed | sums | keys | metrics | own


@cache
def _declared_words() -> dict[str, Words | Column]:
    """The columns that have a label or a unit of their own."""
    columns = [c for table in (*TABLES.values(), *STATISTICS) for c in table.columns]
    named = {column.name: column for column in columns} | glossary().columns
    return {name: words for name, words in named.items() if words.label or words.unit}


def label_of(column: str) -> str:
    """What people call a column: the label of its metric, its own, or its name in plain words.

    What follows the name of a metric is told beside its label: `average_score_en` is Average EN.
    """
    if column in METRICS:
        return METRICS[column].label
    declared = _declared_words().get(column)
    if declared is not None and declared.label:
        return declared.label
    for metric in sorted(METRICS, key=len, reverse=True):
        if column.startswith(f"{metric}_"):
            rest = plain_words(column.removeprefix(f"{metric}_"))
            return f"{METRICS[metric].label} {rest.upper() if len(rest) == 2 else rest}"
    return plain_words(column)


def unit_of(column: str) -> str | None:
    """The unit of a column, where it has one: share (from 0 to 1), tokens, seconds, UTC."""
    declared = _declared_words().get(column)
    return (declared.unit if declared is not None else None) or plain_unit(column)


def describe_view(connection: duckdb.DuckDBPyConnection, view: View) -> Table:
    """What a view is, in the form of a table: its grain, and its columns as DuckDB has them."""
    described = connection.execute(f"describe main.{view.name}").fetchall()
    columns = (_column(name, KINDS[kind]) for name, kind, *_ in described)
    return Table(view.name, view.grain, tuple(columns))


def _column(name: str, kind: Kind) -> Column:
    may_be_null = kind == "float" or name in glossary().may_be_null
    return Column(name, kind, described_columns()[name], may_be_null)
