"""Consistency over runs: how often a model decides otherwise when asked again.

pass@k is the estimate of Chen et al. (2021, arXiv:2107.03374), pass^k that of Yao et al. (2024,
arXiv:2406.12045).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb

import numpy as np
import polars as pl

from orchbench_analytics.stats.limits import bounded_interval
from orchbench_analytics.stats.runs import Frame
from orchbench_analytics.tables.statistics import FLIPS, PASS_RATES, frame

_MODEL = ("profile", "model", "experiment", "language")
_STEP = (*_MODEL, "scenario", "step_id")

_DECISION_RIGHT = ((pl.col("true_positive_reject_count") > 0) & ~pl.col("is_type_mismatch")) | (
    pl.col("true_negative_reject_count") > 0
)
_CALL_RIGHT = pl.all_horizontal(pl.col(f"{part}_f1") == 1 for part in ("name", "key", "value"))
CRITERIA = {
    "decision": _DECISION_RIGHT,
    "answer": _DECISION_RIGHT & ((pl.col("actual") != "call") | _CALL_RIGHT.fill_null(False)),
}


def pass_rates(scored_steps: Frame) -> pl.DataFrame:
    """pass^k and pass@k for k from 1 to the usual number of runs: the table PASS_RATES.

    For a step right in c of n runs, pass^k is C(c, k) / C(n, k) and pass@k is
    1 - C(n - c, k) / C(n, k): both unbiased. Every k is about the same steps, so that rates can be
    compared: k ends at the largest number of runs that at least half of the model's steps have,
    and steps with fewer are left out.
    """
    tallies = (
        _first_answers(scored_steps)
        .group_by(_STEP)
        .agg(pl.len().alias("n"), *(right.sum().alias(name) for name, right in CRITERIA.items()))
        .with_columns(most=pl.col("n").quantile(0.5, "higher").over(_MODEL).cast(pl.UInt32))
        .collect()
    )
    left_out = tallies.group_by(_MODEL).agg(
        (pl.col("n") < pl.col("most")).sum().alias("left_out_step_count")
    )
    whole = tallies.filter(pl.col("n") >= pl.col("most")).unpivot(
        on=list(CRITERIA),
        index=[*_MODEL, "scenario", "n", "most"],
        variable_name="criterion",
        value_name="c",
    )
    by = [*_MODEL, "criterion", "k"]
    by_scenario = (
        whole.join(_chances(whole), on=["n", "c"])
        .filter(pl.col("k") <= pl.col("most"))
        .group_by(*by, "scenario")
        .agg(pl.len().alias("step_count"), pl.col("all_right").sum(), pl.col("any_right").sum())
    )
    rates = clustered_rates(
        by_scenario,
        by,
        {"pass_all": ("all_right", "step_count"), "pass_any": ("any_right", "step_count")},
    )
    counted = by_scenario.group_by(by).agg(pl.col("step_count").sum())
    joined = rates.join(counted, on=by).join(left_out, on=_MODEL)
    return frame(PASS_RATES, joined.sort(by))


def flips(scored_steps: Frame) -> pl.DataFrame:
    """How often two runs of a step decide differently: the table FLIPS.

    A decision is what `predicted` says: call, a rejection type, or failed.
    """
    by_scenario = (
        _first_answers(scored_steps)
        .group_by(*_STEP, "predicted")
        .len("same")
        .with_columns(pl.col("same").cast(pl.Int64))
        .group_by(_STEP)
        .agg(
            pl.col("same").sum().alias("n"),
            (pl.col("same") * (pl.col("same") - 1) // 2).sum().alias("equal_pairs"),
        )
        .filter(pl.col("n") > 1)
        .with_columns(pairs=pl.col("n") * (pl.col("n") - 1) // 2)
        .group_by(*_MODEL, "scenario")
        .agg(
            pl.len().alias("step_count"),
            (pl.col("equal_pairs") < pl.col("pairs")).sum().alias("unstable_step_count"),
            pl.col("pairs").sum().alias("run_pair_count"),
            (pl.col("pairs") - pl.col("equal_pairs")).sum().alias("flipped_pair_count"),
        )
        .collect()
    )
    rates = clustered_rates(
        by_scenario,
        _MODEL,
        {
            "unstable_step": ("unstable_step_count", "step_count"),
            "flip": ("flipped_pair_count", "run_pair_count"),
        },
    )
    counted = by_scenario.group_by(_MODEL).agg(pl.col("^.*_count$").sum())
    return frame(FLIPS, rates.join(counted, on=_MODEL).sort(_MODEL))


def _first_answers(scored_steps: Frame) -> pl.LazyFrame:
    """One row per step and run: profiles that score every answer may have more."""
    return (
        scored_steps.lazy()
        .filter(pl.col("is_scored"))
        .sort("answer_position")
        .unique(subset=[*_STEP, "run"], keep="first")
    )


def _chances(tallies: pl.DataFrame) -> pl.DataFrame:
    """pass^k and pass@k of a step that was right in c of n runs, for each n and c there is."""
    rows = [
        (n, c, k, comb(c, k) / comb(n, k), 1 - comb(n - c, k) / comb(n, k))
        for n, c in tallies.select("n", "c").unique().iter_rows()
        for k in range(1, n + 1)
    ]
    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        "n": tallies.schema["n"],
        "c": tallies.schema["c"],
        "k": pl.Int64,
        "all_right": pl.Float64,
        "any_right": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def clustered_rates(
    by_scenario: pl.DataFrame,
    by: Sequence[str],
    rates: Mapping[str, tuple[str, str]],
    *,
    level: float = 0.95,
) -> pl.DataFrame:
    """For each group the `<name>_rate` (sum of one column / sum of another), `_low` and `_high`.

    The error is the cluster-robust one of a ratio, sqrt(n / (n - 1) x sum of squares of
    (above - rate x below)) / sum of below, over the n scenarios that have any below.
    """
    frames = [
        _rate(by_scenario.filter(pl.col(below) > 0), by, name, above, below, level)
        for name, (above, below) in rates.items()
    ]
    joined = by_scenario.select(by).unique()
    for found in frames:
        joined = joined.join(found, on=by, how="left", nulls_equal=True)
    return joined.sort(by)


def _rate(
    rows: pl.DataFrame, by: Sequence[str], name: str, above: str, below: str, level: float
) -> pl.DataFrame:
    rate = (pl.col(above).sum() / pl.col(below).sum()).over(by)
    summed = (
        rows.with_columns(_rate=rate)
        .group_by(by)
        .agg(
            pl.col("_rate").first(),
            pl.len().cast(pl.Float64).alias("_count"),
            (pl.col(above) - pl.col("_rate") * pl.col(below)).pow(2).sum().sqrt().alias("_spread"),
            pl.col(below).sum().cast(pl.Float64).alias("_below"),
        )
    )
    value, count, spread, total = (
        summed[column].to_numpy() for column in ("_rate", "_count", "_spread", "_below")
    )
    factor = np.divide(count, count - 1, out=np.full_like(count, np.nan), where=count > 1)
    interval = bounded_interval(value, np.sqrt(factor) * spread / total, count, level=level)
    return summed.select(
        *by,
        pl.col("_rate").alias(f"{name}_rate"),
        pl.Series(f"{name}_low", interval.low).fill_nan(None),
        pl.Series(f"{name}_high", interval.high).fill_nan(None),
    )
