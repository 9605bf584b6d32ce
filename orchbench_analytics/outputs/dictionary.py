"""The data dictionary: what every table, view and table of statistics is, all or one of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import polars as pl

from orchbench_analytics.errors import SelectionError, suggest
from orchbench_analytics.queries import describe_view, shown_as, views
from orchbench_analytics.schema import Column, Table
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.tables import TABLES
from orchbench_analytics.tables.statistics import STATISTICS
from orchbench_analytics.views.catalog import PROFILES_AND_TAGS, connect

_HEAD = "| column | shown as | type | may be null | meaning |\n|---|---|---|---|---|\n"

_JOINING = """# How to join

Join by the columns named below each table: they are never null, so no row is lost. `step_key` tells
a sub-agent step or answer from all others, `plan_key` a plan. A table with `profile` has rows under
every profile that was scored: join by it too, filter by one, or fix it for the whole query with
`orchbench sql --profile`. A row of a coarser table repeats for each row of a finer one. The view
`step_arguments` has scored steps and their arguments already joined.
"""

_ROW_KEYS = ("step_key", "plan_key")
_COARSER = ("model", "experiment", "language", "scenario", "run")
# Tables whose keys are not only equal or different.
_JOIN_NOTES = {
    "sources": "Its key columns are null for files about less than a scenario: a join with it "
    "leaves these files out, a left join keeps them.",
    "expected_scenarios": "Only a list of scenarios has names to join by; a number has nulls.",
    "judgements": "A verdict decided the argument of the step with the same `run`, "
    "`call_index = judge_index` and the same `argument_key`; an unused verdict has no such step.",
    "tool_parameters": "An argument's parameter has the same `agent_id` and `argument_key`, and "
    "the same `language` or `unknown`.",
}


class Entry(NamedTuple):
    """A table, and a sentence on what it is about; empty if its grain says it all."""

    table: Table
    sentence: str = ""

    @property
    def joins(self) -> list[str]:
        """How to join it with each table and view, in words; those that join alike stand together.

        What a statistic returns is not in the warehouse, so it has none.
        """
        if self.table in STATISTICS:
            return []
        partners: dict[tuple[str, ...], list[str]] = {}
        for other in _relations():
            columns = join_columns(self.table, other)
            if columns and other.name != self.table.name:
                partners.setdefault(columns, []).append(f"`{other.name}`")
        finest_first = sorted(partners.items(), key=lambda item: _fineness(item[0]), reverse=True)
        note = _JOIN_NOTES.get(self.table.name)
        said = [f"`using ({', '.join(on)})` with {', '.join(names)}" for on, names in finest_first]
        return [*([note] if note else []), *said]

    @property
    def title(self) -> str:
        """Its name, and what it means."""
        return f"{self.table.name}: {self.meaning}"

    @property
    def meaning(self) -> str:
        """What it says, and what one row is."""
        said = f"{self.sentence} " if self.sentence else ""
        return f"{said}One row per {self.table.grain}."

    @property
    def markdown(self) -> str:
        """What one row is, and what its columns mean."""
        rows = "".join(
            f"| `{c.name}` | {shown_as(c.name).label} | {_type_of(c)} "
            f"| {'yes' if c.nullable else ''} | {c.description} |\n"
            for c in self.table.columns
        )
        said = f"{self.sentence}\n\n" if self.sentence else ""
        joins = "".join(f"- {join}\n" for join in self.joins)
        joins = f"\nHow to join it:\n\n{joins}" if joins else ""
        return (
            f"## {self.table.name}\n\n{said}One row per {self.table.grain}.\n\n{_HEAD}{rows}{joins}"
        )

    @property
    def columns(self) -> pl.DataFrame:
        """A row for each column: name, type, meaning."""
        rows = [(c.name, _type_of(c), c.description) for c in self.table.columns]
        return pl.DataFrame(rows, schema=["column", "type", "meaning"], orient="row")


def join_columns(left: Table, right: Table) -> tuple[str, ...]:
    """The columns to name in `using (…)`; none if the two have nothing in common.

    These are the keys that both share and that are never null, so no row is lost or invented.
    """
    shared = _never_null(left) & _never_null(right)
    profile = ("profile",) if "profile" in shared else ()
    row_keys = tuple(name for name in _ROW_KEYS if name in shared)
    coarser = tuple(name for name in _COARSER if name in shared)
    if coarser == ("language",):  # of an agent card, which may be for all languages
        coarser = ()
    return profile + (row_keys or coarser)


def _never_null(table: Table) -> set[str]:
    return {column.name for column in table.columns if not column.nullable}


@cache
def _relations() -> Sequence[Table]:
    """Every table and view."""
    own = (*TABLES.values(), *PROFILES_AND_TAGS)
    return (*own, *(entry.table for entry in view_entries(sorted(views()))))


def _fineness(columns: tuple[str, ...]) -> tuple[bool, int]:
    """The key of a step or plan is finer than any number of coarser columns."""
    return columns[-1].endswith("_key"), len(columns)


def _type_of(column: Column) -> str:
    """What kind of value a column holds, and in which unit."""
    unit = shown_as(column.name).unit if column.kind in ("int", "float", "timestamp") else None
    return f"{column.kind}, {unit}" if unit else column.kind


def dictionary() -> str:
    """Everything that has rows, as Markdown."""
    return "\n".join(
        [
            "# Data dictionary\n\nMade by `orchbench dictionary`; a test keeps it current.\n",
            _JOINING,
            "# Tables\n\nParquet files of a warehouse; in SQL `main.<name>`.\n",
            *(entry.markdown for entry in table_entries()),
            "# Views\n\nQueries over the tables, one file each in `sql/`.\n",
            *(entry.markdown for entry in view_entries(sorted(views()))),
            "# Statistics\n\nWhat the methods of a warehouse return, such as `.compare()`.\n",
            *(Entry(table).markdown for table in STATISTICS),
        ]
    )


def table_entries() -> list[Entry]:
    """The entries of all tables."""
    return [Entry(table) for table in (*TABLES.values(), *PROFILES_AND_TAGS)]


def find_entry(name: str) -> Entry:
    """The entry of a table, view or table of statistics."""
    wanted = name.removeprefix("main.")
    tables = {t.name: t for t in (*TABLES.values(), *PROFILES_AND_TAGS, *STATISTICS)}
    if wanted in views():
        return view_entries([wanted])[0]
    if wanted in tables:
        return Entry(tables[wanted])
    known = [*tables, *views()]
    raise SelectionError(f"no table or view named {name!r}; {suggest(wanted, known)}")


def view_entries(names: Iterable[str]) -> list[Entry]:
    """The entries of some views."""
    with connect(Path(), Manifest()) as connection:
        chosen = [views()[name] for name in names]
        return [Entry(describe_view(connection, view), view.description) for view in chosen]
