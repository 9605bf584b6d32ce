"""The data dictionary: every table, view and table of statistics, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from orchbench_analytics.schema import Table
from orchbench_analytics.stats import STATISTICS
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.tables import TABLES
from orchbench_analytics.views.catalog import connect
from orchbench_analytics.views.descriptions import describe_view
from orchbench_analytics.views.files import views
from orchbench_analytics.views.profiles_and_tags import PROFILES_AND_TAGS

_HEAD = "| column | type | may be null | meaning |\n|---|---|---|---|\n"


def dictionary() -> str:
    """Everything with rows in it: what one row is, and what its columns mean."""
    with connect(Path(), Manifest()) as connection:
        described = [
            (describe_view(connection, view), f"{view.description}\n\n")
            for view in sorted(views().values())
        ]
    return "\n".join(
        [
            "# Data dictionary\n\nMade by `orchbench dictionary`; a test keeps it current.\n",
            "# Tables\n\nParquet files of a warehouse; in SQL `main.<name>`.\n",
            *_sections((table, "") for table in (*TABLES.values(), *PROFILES_AND_TAGS)),
            "# Views\n\nQueries over the tables, one file each in `sql/`.\n",
            *_sections(described),
            "# Statistics\n\nWhat the methods of a warehouse return, such as `.compare()`.\n",
            *_sections((table, "") for table in STATISTICS),
        ]
    )


def _sections(tables: Iterable[tuple[Table, str]]) -> Iterable[str]:
    for table, description in tables:
        yield section(table, description)


def section(table: Table, description: str) -> str:
    """A table: what one row is, and what its columns mean."""
    rows = "".join(
        f"| `{c.name}` | {c.kind} | {'yes' if c.nullable else ''} | {c.description} |\n"
        for c in table.columns
    )
    return f"## {table.name}\n\n{description}One row per {table.grain}.\n\n{_HEAD}{rows}"
