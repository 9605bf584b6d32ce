"""Sinks that write documents made from scores, in the words of another format, and not tables.

A document is about one profile. It is written again when a row that it is made from has changed.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import polars as pl

from orchbench_analytics.exports.relations import Contents, Relation
from orchbench_analytics.exports.sink import DirectorySink, Outgoing
from orchbench_analytics.metrics import HEADLINE, MEAN_OF_LANGUAGES
from orchbench_analytics.profiles import REPORTED
from orchbench_analytics.stats.intervals import intervals
from orchbench_analytics.views.catalog import frame_of

BENCHMARK = "OrchestrationBench"
# What Windows does not allow in the name of a file, and names that mean a device there.
_NOT_PLAIN = re.compile(r'[<>:"/\\|?*\x00-\x1f]')
_RESERVED = re.compile(r"^(con|prn|aux|nul|com\d|lpt\d)(?=\.|$)", re.IGNORECASE)
SCORE_TABLES = (
    *("scenario_scores", "scenario_clusters", "language_ranks"),
    *("reported_models", "profiles"),
)
Row = dict[str, Any]


class DocumentDirectory(DirectorySink):
    """A directory of documents about the models of a warehouse."""

    manifest_name = ".orchbench_export"  # so that no program takes it for a document
    tables: tuple[str, ...]  # what the documents are made from

    @abstractmethod
    def documents(self, outgoing: Outgoing) -> Iterator[tuple[str, Iterable[bytes]]]:
        """The path of each document below the directory, and its content in pieces."""

    def file_name(self, relation: str) -> str:
        """No relation has a file of its own."""
        return f"{relation} (no file)"

    def write_file(self, outgoing: Outgoing, relation: Relation, path: Path) -> None:
        """No relation has a file of its own."""

    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Write all documents again."""
        super().write(outgoing, None)

    def write_others(self, outgoing: Outgoing, staged: Path) -> None:
        """Write the documents."""
        for name, pieces in self.documents(outgoing):
            path = staged / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                file.writelines(pieces)


class Subject(NamedTuple):
    """Whose scores a document holds."""

    model: str
    experiment: str


class Score(NamedTuple):
    """A headline metric of a model in a language, or the mean of its languages."""

    metric: str
    language: str
    value: float
    low: float | None
    high: float | None
    standard_error: float | None
    scenario_count: int
    cluster_count: int


def scores_of(connection: duckdb.DuckDBPyConnection) -> dict[Subject, list[Score]]:
    """The headline metrics of every model, with intervals; undefined ones are left out.

    Under the profile `reported` a value that a file states goes before the one computed from its
    scenarios, which may be rounded otherwise.
    """
    rows = rows_of(connection, "from main.scenario_scores order by all")
    clusters = rows_of(
        connection, "select language, scenario, cluster from main.scenario_clusters order by all"
    )
    spans = intervals(rows, metrics=HEADLINE, clusters=clusters)
    printed = _printed(connection)
    stated = _stated(connection)
    found: dict[Subject, list[Score]] = {}
    for row in spans.iter_rows(named=True):
        subject = Subject(row["model"], row["experiment"])
        place = (*subject, row["language"], row["metric"])
        value = stated.get(place, printed.get(place))
        if value is not None:
            known = {name: row[name] for name in Score._fields if name != "value"}
            found.setdefault(subject, []).append(Score(value=value, **known))
    return found


def profile_of(connection: duckdb.DuckDBPyConnection) -> str:
    """The name of the one profile that is exported."""
    return str(rows_of(connection, "select profile from main.profiles").item())


def directory_names(names: Iterable[str]) -> dict[str, str]:
    """A directory for each name, on any system: of plain characters, and apart in small letters.

    A name that has to be changed, or that another one differs from in capitals alone, ends with a
    part of its hash.
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(set(names)):
        plain = name.replace("/", "__")
        safe = _RESERVED.sub(r"_\g<0>", _NOT_PLAIN.sub("_", plain).rstrip(". "))
        is_kept = safe == plain and safe.lower() not in taken
        found[name] = safe if is_kept else f"{safe}-{sha256(name.encode()).hexdigest()[:8]}"
        taken.add(found[name].lower())
    return found


def rows_of(connection: duckdb.DuckDBPyConnection, query: str, **parameters: str) -> pl.DataFrame:
    """The rows of a query over what is exported."""
    return frame_of(connection.sql(query, params=parameters or None))


Place = tuple[str, str, str, str]


def _printed(connection: duckdb.DuckDBPyConnection) -> dict[Place, float]:
    """Each headline metric as the views have it, rounded by the profile's rule."""
    query = f"select model, experiment, language, {', '.join(HEADLINE)} from main.language_ranks"
    return {
        (row["model"], row["experiment"], row["language"], metric): row[metric]
        for row in rows_of(connection, query).iter_rows(named=True)
        for metric in HEADLINE
        if row[metric] is not None
    }


def _stated(connection: duckdb.DuckDBPyConnection) -> dict[Place, float]:
    """Each headline metric that an imported document states; of both languages, also their mean."""
    if profile_of(connection) != REPORTED.name:
        return {}
    query = "select model, experiment, language, figure, value from main.reported_models"
    stated: dict[Place, float] = {
        (model, experiment, language, figure): value
        for model, experiment, language, figure, value in rows_of(connection, query).iter_rows()
        if figure in HEADLINE and value is not None
    }
    means: dict[Place, list[float]] = {}
    for (model, experiment, _, metric), value in sorted(stated.items()):
        means.setdefault((model, experiment, MEAN_OF_LANGUAGES, metric), []).append(value)
    return stated | {place: sum(values) / len(values) for place, values in means.items()}
