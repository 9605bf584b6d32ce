"""Checking a warehouse against itself, and against what an evaluator reported."""

from __future__ import annotations

from typing import NamedTuple

import duckdb
import polars as pl

from orchbench_analytics.outputs.results import OVERALL_FIGURES, SCENARIO_FIGURES, is_rounded
from orchbench_analytics.views.catalog import frame_of
from orchbench_analytics.views.files import sql_directory

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
_REPORTED_FIGURES = """
with

models as (
    select
        profile, model, experiment, language, cast(null as varchar) as scenario,
        coalesce(cast(columns(* exclude (profile, model, experiment, language)) as double), 0)
    from main.model_scores
    where profile = 'upstream'
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
# Judge logs and answers carry the benchmark's clock. It starts anew with the machine, and the times
# of files change when they are copied, so that neither is proof enough; see `_stale`.
_OLDER_THAN_ANSWERS = """
with

judged as (
    select model, experiment, language
    from main.judgements
    inner join main.scenarios using (model, experiment, language, scenario)
    where judgements.judged_seconds < scenarios.generated_seconds
),

written as (
    select
        model, experiment, language, kind,
        max(try_cast(split_part(file_stamp, ':', 2) as bigint)) / 1e9 as changed_seconds
    from main.sources
    where status = 'taken' and kind in ('runs', 'results')
    group by model, experiment, language, kind
),

rewritten as (
    select results.model, results.experiment, results.language
    from written as results
    inner join written as runs using (model, experiment, language)
    where results.kind = 'results' and runs.kind = 'runs'
        and results.changed_seconds + 60 < runs.changed_seconds
)

select distinct * from judged
union
select distinct * from rewritten
"""
_RESULT = ("profile", "model", "experiment", "language")


class CheckReport(NamedTuple):
    """What was compared, in words, the figures that differ, and which results are stale."""

    compared: list[str]
    differences: pl.DataFrame
    stale: list[str]


def check(connection: duckdb.DuckDBPyConnection) -> CheckReport:
    """Whether all counts add up, and what an evaluator reported is what `upstream` gives."""
    queries = sorted((sql_directory() / "checks").glob("*.sql"))
    frames = [pl.DataFrame(schema=DIFFERENCES)]
    for path in queries:
        offending = frame_of(connection.sql(path.read_text(encoding="utf-8")))
        frames.append(_as_differences(offending, path.stem))
    figures = reported_figures(connection)
    is_off = (pl.col("expected") - pl.col("found")).abs() > TOLERANCE
    stale = _stale(figures.with_columns(is_off=is_off), connection)
    off = figures.filter(is_off).join(stale, on=_RESULT, how="anti")
    frames.append(_as_differences(off, "reported_figures_agree"))
    frames.append(_as_differences(stale, "reported_figures_are_current"))
    return CheckReport(
        [
            f"{len(queries)} checks of what must add up",
            f"{len(figures):,} figures that an evaluator reported, with ours under upstream",
        ],
        pl.concat(frames),
        [
            f"{row['model']} / {row['experiment']} in {row['language']}: stale, the evaluator's "
            f"results are older than the answers beside them and {row['found']:,.0f} of their "
            "figures differ; run the evaluator anew"
            for row in stale.to_dicts()
        ],
    )


def _stale(figures: pl.DataFrame, connection: duckdb.DuckDBPyConnection) -> pl.DataFrame:
    """The result files that are about other answers than those beside them, as one row each.

    They are older by the benchmark's clock or by their file's time, and at least half of their
    scenarios have a figure that differs.
    """
    older = frame_of(connection.sql(_OLDER_THAN_ANSWERS))
    scenarios = figures.filter(pl.col("scenario").is_not_null())
    differing = (
        scenarios.group_by(*_RESULT, "scenario")
        .agg(pl.col("is_off").any())
        .group_by(_RESULT)
        .agg(pl.col("is_off").mean().alias("share"))
        .filter(pl.col("share") >= 0.5)
    )
    counts = figures.group_by(_RESULT).agg(pl.col("is_off").sum().cast(pl.Float64).alias("found"))
    return (
        counts.join(differing, on=_RESULT, how="semi")
        .join(older, on=_RESULT[1:], how="semi")
        .select(
            *_RESULT,
            pl.lit(None, pl.String).alias("scenario"),
            pl.lit("figures that differ").alias("figure"),
            pl.lit(0.0).alias("expected"),
            "found",
        )
        .sort(_RESULT)
    )


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
