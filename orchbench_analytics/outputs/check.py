"""Checking a warehouse against itself, and against what an evaluator reported."""

from __future__ import annotations

from typing import NamedTuple

import duckdb
import polars as pl

from orchbench_analytics.metrics import OVERALL_FIGURES, SCENARIO_FIGURES, is_rounded
from orchbench_analytics.queries import sql_directory
from orchbench_analytics.views.catalog import frame_of

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
# Both sides in long form, joined by the name of the figure; undefined prints as 0 in the JSON.
# Under `reported` our figures of a model are those that follow from the file's own rows.
_REPORTED_FIGURES = """
with

models as (
    select
        profile, model, experiment, language, cast(null as varchar) as scenario,
        coalesce(cast(columns(* exclude (profile, model, experiment, language)) as double), 0)
    from main.model_scores
    where profile in ('upstream', 'reported')
),

scenarios as (
    select
        profile, model, experiment, language, scenario,
        coalesce(
            cast(columns(* exclude (profile, model, experiment, language, scenario)) as double), 0
        )
    from main.scenario_scores
    where profile = 'upstream'
),

ours as (
    from (
        unpivot models
        on columns(* exclude (profile, model, experiment, language, scenario))
        into name column_name value score
    )
    union all
    from (
        unpivot scenarios
        on columns(* exclude (profile, model, experiment, language, scenario))
        into name column_name value score
    )
),

reported as (
    select model, experiment, language, cast(null as varchar) as scenario, figure, value
    from main.reported_models
    union all
    select model, experiment, language, scenario, figure, value
    from main.reported_scenarios
)

select
    ours.profile,
    ours.model,
    ours.experiment,
    ours.language,
    ours.scenario,
    reported.figure,
    reported.value as expected,
    case
        when seed_figures.is_rounded then round_half_even(ours.score, 4) else ours.score
    end as found
from reported
inner join seed_figures
    on reported.figure = seed_figures.figure
    and (reported.scenario is not null) = seed_figures.is_of_scenario
inner join ours
    on reported.model = ours.model
    and reported.experiment = ours.experiment
    and reported.language = ours.language
    and reported.scenario is not distinct from ours.scenario
    and seed_figures.column_name = ours.column_name
where reported.value is not null
order by all nulls first
"""


# By the profile of our figures: the name of the check, and what the evaluator's are compared with.
_REPORTED_CHECKS = {
    "upstream": ("reported_figures_agree", "ours under upstream"),
    "reported": ("reported_totals_follow", "what follows from the rows beside them"),
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
    compared = [f"{len(queries)} checks of what must add up"]
    figures = reported_figures(connection).partition_by("profile", as_dict=True)
    for profile, (name, with_what) in _REPORTED_CHECKS.items():
        own = figures.get((profile,), pl.DataFrame(schema=DIFFERENCES))
        off = own.filter((pl.col("expected") - pl.col("found")).abs() > TOLERANCE)
        frames.append(_as_differences(off, name))
        if len(own):
            compared.append(f"{len(own):,} figures that an evaluator reported, with {with_what}")
    return CheckReport(compared, pl.concat(frames))


def reported_figures(connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """Each figure of an evaluator's files that we have too: what it says, and what we say."""
    connection.execute(
        "create or replace temp table seed_figures"
        " (figure varchar, column_name varchar, is_of_scenario boolean, is_rounded boolean)"
    )
    connection.executemany("insert into seed_figures values (?, ?, ?, ?)", _seed_figures())
    return frame_of(connection.sql(_REPORTED_FIGURES))


def _seed_figures() -> list[tuple[str, str, bool, bool]]:
    """The seed's name of each figure, our column, and whether it is printed to four digits."""
    return [
        *((path, column, False, is_rounded(path)) for path, column in OVERALL_FIGURES.items()),
        *((name, column, True, False) for name, column in SCENARIO_FIGURES.items()),
    ]


def _as_differences(offending: pl.DataFrame, name: str) -> pl.DataFrame:
    return offending.with_columns(check_name=pl.lit(name)).select(
        pl.col(column).cast(dtype) for column, dtype in DIFFERENCES.items()
    )
