"""The files of `sql/`: views with their headers, the macros they use, and the stored query."""

from __future__ import annotations

import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import NamedTuple

from orchbench_analytics.tables import SCENARIO_SCORES, TABLES

_REFERENCE = re.compile(r"\bmain\.(\w+)")


class View(NamedTuple):
    """A view of `sql/`: its name, what it is about, its grain, and its query."""

    name: str
    description: str
    grain: str
    query: str

    @property
    def references(self) -> set[str]:
        """The tables and views it reads."""
        return set(_REFERENCE.findall(self.query))


def sql_directory() -> Path:
    """Where the queries lie: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parent
    installed = package / "sql"
    return installed if installed.is_dir() else package.parent / "sql"


@cache
def views() -> dict[str, View]:
    """All views, each after those it reads."""
    found = read_views(sql_directory())
    return {name: view for name, view in found.items() if name not in TABLES}


@cache
def scenario_scores_query() -> str:
    """The query that scoring runs over the rows of a task, and stores the result of."""
    path = sql_directory() / f"{SCENARIO_SCORES.name}.sql"
    return path.read_text(encoding="utf-8")


def read_views(directory: Path) -> dict[str, View]:
    """The queries of a directory, each after those it reads."""
    found = {}
    for path in sorted(directory.glob("*.sql")):
        query = path.read_text(encoding="utf-8")
        header = [
            line.removeprefix("--").strip() for line in query.splitlines() if line[:2] == "--"
        ]
        grain = next(line.removeprefix("grain:").strip() for line in header if "grain:" in line)
        found[path.stem] = View(path.stem, header[0], grain, query)
    order = TopologicalSorter({v.name: v.references & found.keys() for v in found.values()})
    return {name: found[name] for name in order.static_order()}


@cache
def macros() -> tuple[str, ...]:
    """The statements that create the macros, file by file."""
    paths = sorted((sql_directory() / "macros").glob("*.sql"))
    return tuple(path.read_text(encoding="utf-8") for path in paths)
