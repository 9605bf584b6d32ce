"""Rates over steps with their intervals, scenarios being clusters of steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from orchbench_analytics.stats.limits import share_interval


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
    interval = share_interval(
        value, np.sqrt(factor) * spread / total, count - 1, count, level=level
    )
    return summed.select(
        *by,
        pl.col("_rate").alias(f"{name}_rate"),
        pl.Series(f"{name}_low", interval.low).fill_nan(None),
        pl.Series(f"{name}_high", interval.high).fill_nan(None),
    )
