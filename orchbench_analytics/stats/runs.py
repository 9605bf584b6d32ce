"""Single runs in the shape of `scenario_scores`, so that a run has every metric."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from orchbench_analytics.metrics import SOURCE_COLUMNS, TERMS, terms_of
from orchbench_analytics.stats.evaluate import Array, evaluate
from orchbench_analytics.stats.sweep import Block, Sweep, sweeps
from orchbench_analytics.tables import RUN_KEY

RUN = ("profile", *(column.name for column in RUN_KEY))
_COUNTS = [name for name in SOURCE_COLUMNS if name.endswith(("_reject_count", "_call_count"))]
_CALL_SCORES = ("name_f1", "key_f1", "value_f1")
_PLAN_SCORES = ("plan_similarity", "structure_similarity", "component_similarity")
_BETWEEN = "\x1f"  # sorts before all that is printed
Frame = pl.DataFrame | pl.LazyFrame


def run_counts(scored_steps: Frame, scored_plans: Frame) -> pl.DataFrame:
    """One row per run of a scenario, with the columns of `scenario_scores` that metrics need.

    Runs are averaged as `spec` and `strict` have it, whatever the profile.
    """
    steps = step_counts(scored_steps, RUN)
    plans = (
        scored_plans.lazy()
        .filter(pl.col("is_scored"))
        .group_by(RUN)
        .agg(pl.col(name).fill_null(0.0).mean() for name in _PLAN_SCORES)
    )
    return (
        steps.join(plans, on=RUN, how="full", coalesce=True)
        .with_columns(pl.col("rejection_label_count", *_COUNTS).fill_null(0))
        .sort(RUN)
        .collect()
    )


def step_counts(scored_steps: Frame, by: Sequence[str]) -> pl.LazyFrame:
    """Decisions counted and call scores averaged over the scored steps of each group."""
    has_calls = (pl.col("actual") == "call").any()
    return (
        scored_steps.lazy()
        .filter(pl.col("is_scored"))
        .group_by(by)
        .agg(
            (pl.col("actual") != "call").sum().cast(pl.Int64).alias("rejection_label_count"),
            *(pl.col(name).sum() for name in _COUNTS),
            *(
                pl.when(has_calls).then(pl.col(name).mean().fill_null(0.0)).alias(name)
                for name in _CALL_SCORES
            ),
        )
    )


def sweeps_of_runs(runs: pl.DataFrame, metrics: Sequence[str]) -> list[Sweep]:
    """As `sweeps`, with a column of the arrays for each run of a scenario."""
    cell = pl.concat_str("scenario", "run", separator=_BETWEEN)
    return sweeps(runs.with_columns(scenario=cell), metrics)


def scenario_of_cell(block: Block) -> Array:
    """Cell by scenario: 1 where the cell is a run of the scenario, of counts by run."""
    names = [cell.split(_BETWEEN)[0] for cell in block.scenarios]
    _, place = np.unique(names, return_inverse=True)
    member: Array = np.eye(place.max() + 1)[place]
    return member


def with_metrics(counts: pl.DataFrame, names: Sequence[str], *, by: Sequence[str]) -> pl.DataFrame:
    """The metrics of each group of rows, in long form: the group, `metric` and `value`."""
    needed = terms_of(names)
    summed = (
        counts.lazy()
        .group_by(by)
        .agg(TERMS[part].cast(pl.Float64).sum().alias(part) for part in needed)
        .sort(by)
        .collect()
    )
    values = evaluate(names, {part: summed[part].to_numpy() for part in needed})
    return pl.concat(
        summed.select(*by).with_columns(
            pl.lit(name).alias("metric"), pl.Series("value", values[name]).fill_nan(None)
        )
        for name in names
    )
