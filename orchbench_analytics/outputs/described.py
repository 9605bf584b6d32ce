"""What one table, view or table of statistics is, for those who ask by its name."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

import polars as pl

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.outputs.dictionary import section
from orchbench_analytics.schema import Table
from orchbench_analytics.stats import STATISTICS
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.tables import TABLES
from orchbench_analytics.views.catalog import connect
from orchbench_analytics.views.descriptions import describe_view
from orchbench_analytics.views.files import views
from orchbench_analytics.views.profiles_and_tags import PROFILES_AND_TAGS


class Described(NamedTuple):
    """A table, and a sentence on what it is about; empty if its grain says it all."""

    table: Table
    sentence: str = ""

    @property
    def title(self) -> str:
        """Its name, and what one row is."""
        said = f"{self.sentence} " if self.sentence else ""
        return f"{self.table.name}: {said}One row per {self.table.grain}."

    @property
    def markdown(self) -> str:
        """Its section of the data dictionary."""
        return section(self.table, f"{self.sentence}\n\n" if self.sentence else "")


def described(name: str) -> Described:
    """What a name stands for in the data dictionary."""
    wanted = name.removeprefix("main.")
    tables = {t.name: t for t in (*TABLES.values(), *PROFILES_AND_TAGS, *STATISTICS)}
    if wanted in views():
        view = views()[wanted]
        with connect(Path(), Manifest()) as connection:
            return Described(describe_view(connection, view), view.description)
    if wanted in tables:
        return Described(tables[wanted])
    known = [*tables, *views()]
    close = get_close_matches(wanted, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}"
    raise SelectionError(f"no table or view named {name!r}; {hint}")


def columns_of(table: Table) -> pl.DataFrame:
    """A row for each column: name, type, meaning."""
    rows = [(c.name, c.kind, c.description) for c in table.columns]
    return pl.DataFrame(rows, schema=["column", "type", "meaning"], orient="row")
