"""The files of `sql/`: views with their headers, the macros they use, and the stored query.

With them stands what every column means and what people call it, by its name. A column has one
meaning in all views: it is declared in a table, as a metric, or in `sql/columns.toml`.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from orchbench_analytics.metrics import METRICS
from orchbench_analytics.schema import DUCKDB_TYPES, Column, Kind, Table
from orchbench_analytics.tables import PROFILE_NAME, SCENARIO_SCORES, STEP_KEY, TABLES
from orchbench_analytics.tables.statistics import STATISTICS

if TYPE_CHECKING:
    import duckdb

_REFERENCE = re.compile(r"\bmain\.(\w+)")
KINDS: dict[str, Kind] = {name.upper(): kind for kind, name in DUCKDB_TYPES.items()}
KINDS["INTEGER"] = "int"
# The units that the ends of names tell; a share is from 0 to 1.
_UNITS = {
    "tokens": ("token_count", "tokens"),
    "seconds": ("_seconds",),
    "UTC": ("_at",),
    "share": (
        *("_rate", "_share", "_accuracy", "_f1", "_precision", "_recall", "_similarity"),
        *("coverage", "score"),
    ),
}


class View(NamedTuple):
    """A view of `sql/`: its name, what it is about, its grain, and its query."""

    name: str
    description: str
    grain: str
    query: str

    @property
    def references(self) -> set[str]:
        """The tables and views it reads."""
        return references(self.query)


def references(query: str) -> set[str]:
    """The tables and views that a query of ours reads, which it names as `main.<name>`."""
    return set(_REFERENCE.findall(query))


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


class Words(NamedTuple):
    """What `sql/columns.toml` says of a column; label and unit where its name does not say them."""

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


class Shown(NamedTuple):
    """What people call a column, and its unit if it has one: share, tokens, seconds or UTC."""

    label: str
    unit: str | None


@lru_cache(maxsize=1_000)  # people name the columns of a query
def shown_as(column: str) -> Shown:
    """The label and the unit of a column: declared ones, or those that its name gives."""
    declared = _declared_words().get(column)
    unit = next((unit for unit, endings in _UNITS.items() if column.endswith(endings)), None)
    if declared is None:
        return Shown(_label_from(column), unit)
    return Shown(declared.label or _label_from(column), declared.unit or unit)


@cache
def _declared_words() -> dict[str, Words | Column]:
    """The columns that have a label or a unit of their own."""
    columns = [c for table in (*TABLES.values(), *STATISTICS) for c in table.columns]
    named = {column.name: column for column in columns} | glossary().columns
    return {name: words for name, words in named.items() if words.label or words.unit}


def _label_from(name: str) -> str:
    """The label of a metric, or a name in plain words: `refused_file_count` is refused files.

    What follows the name of a metric is told beside its label: `average_score_en` is Average EN.
    """
    for metric in sorted(METRICS, key=len, reverse=True):
        if name == metric:
            return METRICS[metric].label
        if name.startswith(f"{metric}_"):
            rest = _label_from(name.removeprefix(f"{metric}_"))
            return f"{METRICS[metric].label} {rest.upper() if len(rest) == 2 else rest}"
    words = name.removeprefix("is_").removesuffix("_number").removesuffix("_id")
    if words.endswith("_count"):
        noun = words.removesuffix("_count")
        if noun.endswith("y"):
            words = f"{noun[:-1]}ies"
        else:
            words = f"{noun}es" if noun.endswith(("ch", "s", "x")) else f"{noun}s"
    return " ".join("F1" if word == "f1" else word for word in words.split("_"))


def describe_view(connection: duckdb.DuckDBPyConnection, view: View) -> Table:
    """What a view is, in the form of a table: its grain, and its columns as DuckDB has them."""
    described = connection.execute(f"describe main.{view.name}").fetchall()
    columns = (_column(name, KINDS[kind]) for name, kind, *_ in described)
    return Table(view.name, view.grain, tuple(columns))


def _column(name: str, kind: Kind) -> Column:
    may_be_null = kind == "float" or name in glossary().may_be_null
    return Column(name, kind, described_columns()[name], may_be_null)
