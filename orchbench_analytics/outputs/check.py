"""Checking a warehouse against itself, and against what an evaluator reported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import duckdb
import msgspec
import polars as pl

from orchbench_analytics.engines import Engine
from orchbench_analytics.metrics import OVERALL_FIGURES, SCENARIO_FIGURES, is_rounded
from orchbench_analytics.outputs.audit import scored_in
from orchbench_analytics.profiles import SPEC, UPSTREAM
from orchbench_analytics.queries import scenario_scores_query, sql_directory
from orchbench_analytics.score.group import score
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.views.catalog import connect, frame_of

TOLERANCE = 1e-9
_RESULT = ("profile", "model", "experiment", "language")
DIFFERENCES: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(("check_name", *_RESULT, "scenario", "figure"), pl.String),
    **dict.fromkeys(("expected", "found"), pl.Float64),
}
# Both sides in long form, joined by the name of the figure; undefined prints as 0 in the JSON.
# Under `reported` our figures of a model are those that follow from the file's own rows.
_REPORTED_FIGURES = """
with

scores as (
    select
        profile, model, experiment, language, cast(null as varchar) as scenario,
        coalesce(cast(columns(* exclude (profile, model, experiment, language)) as double), 0)
    from main.model_scores
    where profile in ('upstream', 'reported')
    union all by name
    select
        profile, model, experiment, language, scenario,
        coalesce(
            cast(columns(* exclude (profile, model, experiment, language, scenario)) as double), 0
        )
    from main.scenario_scores
    where profile = 'upstream'
),

-- A row has no value in the columns that only the other table has, and unpivot leaves them out.
ours as (
    unpivot scores
    on columns(* exclude (profile, model, experiment, language, scenario))
    into name column_name value score
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
# Scenario files whose stored scores are not what the query gives over the rows beside them.
_UNLIKE_STORED = """
with

stored as (
    select scenario_scores.*
    from main.scenario_scores as scenario_scores
    inner join main.profiles as profiles using (profile)
    where profiles.scored_from = 'answers'
),

made as (
    select made.*
    from ({query}) as made
    inner join main.profiles as profiles using (profile)
    where profiles.scored_from = 'answers'
),

unlike as (
    (from stored except from made) union all (from made except from stored)
)

select distinct
    profile, model, experiment, language, scenario,
    'stored row of scenario_scores' as figure, 1 as expected, 0 as found
from unlike
"""
# Judge logs and answers carry the benchmark's clock. It starts again with the machine, and times of
# files change when they are copied, so that neither is proof enough; see `_stale`.
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
_ERROR_PATTERNS = ("overaction", "underaction", "type_mismatch")
# By the profile of our figures: the name of the check, and what the evaluator's are compared with.
_REPORTED_CHECKS = {
    "upstream": ("reported_figures_agree", "ours under upstream"),
    "reported": ("reported_totals_follow", "what follows from the rows beside them"),
}


UNSUMMED_MISMATCHES = "the evaluator prints no type mismatches, though its rows have some"
NEWER_NETWORKX = (
    'the evaluator ran with networkx 3.6 or later: with `lone_self_loop = "counted"` all agree'
)
_DECISION_SCORES = "score_details.call_rejection_scores"
_MISMATCH_FIGURES = [
    f"{_DECISION_SCORES}.total_rejection_type_mismatch",
    f"{_DECISION_SCORES}.total_failed_generation",
    f"{_DECISION_SCORES}.rejection_type_accuracy",
    *(f"{_DECISION_SCORES}.error_patterns.{kind}_rate" for kind in _ERROR_PATTERNS),
]
_PLAN_FIGURES = "workflow_|_GED$|Plan$|Average$"


class CheckReport(NamedTuple):
    """What was compared, in words, the figures that differ, and which results are stale.

    A difference whose cause is known and harmless has an `explanation`.
    """

    compared: list[str]
    differences: pl.DataFrame
    stale: list[str]

    @property
    def explained(self) -> dict[str, int]:
        """How many differences each known cause explains."""
        known = self.differences.drop_nulls("explanation").group_by("explanation").len()
        return dict(known.iter_rows())


def check(connection: duckdb.DuckDBPyConnection) -> CheckReport:
    """Whether all counts add up, and what an evaluator reported is what `upstream` gives."""
    queries = sorted((sql_directory() / "checks").glob("*.sql"))
    frames = [pl.DataFrame(schema=DIFFERENCES)]
    for path in queries:
        offending = frame_of(connection.sql(path.read_text(encoding="utf-8")))
        frames.append(_as_differences(offending, path.stem))
    unlike = frame_of(connection.sql(_UNLIKE_STORED.format(query=scenario_scores_query())))
    frames.append(_as_differences(unlike, "scenario_scores_follow_from_rows"))
    compared = [f"{len(queries) + 1} checks of what must add up"]
    figures = reported_figures(connection).with_columns(
        is_off=(pl.col("expected") - pl.col("found")).abs() > TOLERANCE
    )
    by_profile = figures.partition_by("profile", as_dict=True)
    for (profile,), own in by_profile.items():
        _, with_what = _REPORTED_CHECKS[str(profile)]
        compared.append(f"{len(own):,} figures that an evaluator reported, with {with_what}")
    stale = _stale(figures.filter(profile=UPSTREAM.name), connection)
    frames.append(_as_differences(stale, "reported_figures_are_current"))
    for profile, (name, _) in _REPORTED_CHECKS.items():
        off = figures.filter("is_off", profile=profile).join(stale, on=_RESULT, how="anti")
        frames.append(_as_differences(off, name))
    return CheckReport(
        compared,
        pl.concat(frames).with_columns(explanation=_explanation()),
        [
            f"{row['model']} / {row['experiment']} in {row['language']}: stale, the evaluator's "
            f"results are older than the answers beside them and {row['found']:,.0f} of their "
            "figures differ; run the evaluator again"
            for row in stale.to_dicts()
        ],
    )


def _explanation() -> pl.Expr:
    """Why a figure differs where that is known: the evaluator never sums type mismatches."""
    is_total = pl.col("check_name") == "reported_totals_follow"
    hangs_on_mismatches = pl.col("figure").is_in(_MISMATCH_FIGURES)
    return pl.when(is_total & hangs_on_mismatches).then(pl.lit(UNSUMMED_MISMATCHES))


def explained_by_self_loops(
    root: Path, manifest: Manifest, report: CheckReport, engine: Engine
) -> CheckReport:
    """The report, its differences explained if all are gone once a lone self-loop counts.

    An evaluator that runs on networkx 3.6 or later counts it; see the rule `lone_self_loop`.
    """
    differs = report.differences.filter(check_name="reported_figures_agree")
    if differs.is_empty() or not differs["figure"].str.contains(_PLAN_FIGURES).all():
        return report
    other = replace(UPSTREAM, lone_self_loop=SPEC.lone_self_loop)
    with TemporaryDirectory(prefix="orchbench-check-") as scratch:
        unscored = msgspec.structs.replace(manifest, scores=[], profiles={})
        scored = score(root, unscored, [other], engine, output=Path(scratch))
        with connect(root, scored_in(Path(scratch), scored)) as connection:
            figures = reported_figures(connection)
    is_off = (pl.col("expected") - pl.col("found")).abs() > TOLERANCE
    if not figures.filter(is_off).is_empty():
        return report
    is_figure = pl.col("check_name") == "reported_figures_agree"
    explanation = pl.when(is_figure).then(pl.lit(NEWER_NETWORKX)).otherwise("explanation")
    return report._replace(differences=report.differences.with_columns(explanation=explanation))


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
