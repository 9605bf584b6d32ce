"""Checking a warehouse against itself, and against what an evaluator reported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from orchbench_analytics.outputs.results import result_document
from orchbench_analytics.profiles import UPSTREAM
from orchbench_analytics.views.catalog import frame_of, sql_directory

if TYPE_CHECKING:
    import duckdb

TOLERANCE = 1e-9
DIFFERENCES = {
    "check_name": pl.String,
    "profile": pl.String,
    "model": pl.String,
    "experiment": pl.String,
    "language": pl.String,
    "scenario": pl.String,
    "figure": pl.String,
    "expected": pl.Float64,
    "found": pl.Float64,
}


class CheckReport(NamedTuple):
    """What was compared, in words, and the figures that differ."""

    compared: list[str]
    differences: pl.DataFrame


def check(connection: duckdb.DuckDBPyConnection) -> CheckReport:
    """Whether all counts add up, and what an evaluator reported is what `upstream` gives."""
    queries = sorted((sql_directory() / "checks").glob("*.sql"))
    frames = [pl.DataFrame(schema=DIFFERENCES)]
    for path in queries:
        offending = frame_of(connection.sql(path.read_text(encoding="utf-8")))
        frames.append(_as_differences(offending, path.stem))
    figures = [
        figure
        for document in _reported_documents(connection)
        for figure in _figures(connection, document)
    ]
    off = [figure for figure in figures if abs(figure["expected"] - figure["found"]) > TOLERANCE]
    frames.append(_as_differences(pl.DataFrame(off, schema=DIFFERENCES), "reported_figures_agree"))
    return CheckReport(
        [
            f"{len(queries)} checks of what must add up",
            f"{len(figures):,} figures that an evaluator reported, with ours under upstream",
        ],
        pl.concat(frames),
    )


class _Reported(NamedTuple):
    model: str
    experiment: str
    language: str


def _reported_documents(connection: duckdb.DuckDBPyConnection) -> Iterator[_Reported]:
    """The models for which there are both an evaluator's figures and our own."""
    rows = connection.execute(
        """
        select distinct model, experiment, language
        from main.reported_models
        semi join main.model_scores using (model, experiment, language)
        order by all
        """
    ).fetchall()
    return (_Reported(*row) for row in rows)


def _figures(
    connection: duckdb.DuckDBPyConnection, reported: _Reported
) -> Iterator[dict[str, Any]]:
    """Each figure of an evaluator's file that we have too: what it says, and what we say."""
    document = result_document(connection, UPSTREAM, **reported._asdict())
    ours = {(None, name): value for name, value in _numbers(document["overall_statistics"])}
    for result in document["detailed_results"]:
        scenario = result["scenario"]
        ours |= {(scenario, name): value for name, value in _numbers(result)}
    for scenario, figure, value in connection.execute(
        """
        select null as scenario, figure, value from main.reported_models
        where model = $model and experiment = $experiment and language = $language
        union all
        select scenario, figure, value from main.reported_scenarios
        where model = $model and experiment = $experiment and language = $language
        """,
        reported._asdict(),
    ).fetchall():
        if value is not None and (scenario, figure) in ours:
            yield {
                "profile": UPSTREAM.name,
                **reported._asdict(),
                "scenario": scenario,
                "figure": figure,
                "expected": value,
                "found": ours[scenario, figure],
            }


def _numbers(values: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _numbers(value, f"{prefix}{name}.")
        elif isinstance(value, int | float):
            yield f"{prefix}{name}", value


def _as_differences(offending: pl.DataFrame, name: str) -> pl.DataFrame:
    return offending.with_columns(check_name=pl.lit(name)).select(
        pl.col(column).cast(dtype) for column, dtype in DIFFERENCES.items()
    )
