"""How scores move with a numeric tag of models: training steps, size, price.

Least squares lay a line through the models' scores. Two things make its slope uncertain: other
scenarios of the kind would give other scores, and models scatter about the line for reasons of
their own. The first shows in the moves of the slope by cluster, the second in the residuals, which
contain chance of the first kind too; so the greater of both errors counts. Metrics share the
allowed error evenly (Dunn 1961, doi:10.1080/01621459.1961.10482090).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import HEADLINE, resolve_metrics
from orchbench_analytics.schema import frame
from orchbench_analytics.stats.estimate import estimate, student_quantile
from orchbench_analytics.stats.sweep import ALONE, Sweep, sweeps
from orchbench_analytics.tables.statistics import TRENDS


def trends(
    scenario_scores: pl.DataFrame,
    numbers: pl.DataFrame,
    *,
    metrics: Iterable[str] = HEADLINE,
    clusters: pl.DataFrame = ALONE,
    level: float = 0.95,
) -> pl.DataFrame:
    """The slope of each metric over a number of each model: the table TRENDS.

    `numbers` has model, experiment and one numeric column. Models without a number are left out,
    and so are scenarios that not all others have. Intervals hold for all rows together
    (Bonferroni).
    """
    (tag,) = (name for name in numbers.columns if name not in ("model", "experiment"))
    if not numbers.schema[tag].is_numeric():
        raise SelectionError(f"the tag {tag!r} is not a number, so it has no trend")
    names = resolve_metrics(metrics)
    known = numbers.drop_nulls(tag).select("model", "experiment", pl.col(tag).cast(pl.Float64))
    rows = scenario_scores.join(known, on=["model", "experiment"], how="semi")
    found = [_trend(sweep, known, names, level) for sweep in sweeps(rows, names, clusters)]
    if not found:
        raise SelectionError(f"no model has the tag {tag!r}")
    return frame(TRENDS, pl.concat(found).with_columns(tag=pl.lit(tag)))


def _trend(sweep: Sweep, known: pl.DataFrame, names: tuple[str, ...], level: float) -> pl.DataFrame:
    number_of = {(model, experiment): x for model, experiment, x in known.iter_rows()}
    numbers = np.array([number_of[contender] for contender in sweep.contenders])
    if len(set(numbers)) < 3:
        raise SelectionError(
            f"a trend needs three different numbers; there are {len(set(numbers))}"
        )
    centred = numbers - numbers.mean()
    slope_of = centred / (centred**2).sum()
    span = float(np.ptp(numbers))
    shared = sweep.in_common(np.arange(len(numbers)))
    each_level = 1 - (1 - level) / len(names)
    rows = []
    for name in names:
        found = estimate(name, shared.blocks) if shared.blocks else None
        if found is None or np.isnan(found.value).any():
            slope = scatter = reach = np.nan
        else:
            slope = float(slope_of @ found.value)
            residuals = found.value - found.value.mean() - slope * centred
            scatter = float(np.sqrt((residuals**2).sum() / (len(numbers) - 2)))
            reach = _reach(slope_of @ found.moves, slope_of, scatter, each_level)
        low, high = (slope - reach) * span, (slope + reach) * span
        rows.append(
            {
                "profile": sweep.profile,
                "metric": name,
                "verdict": _verdict(low, high),
                "change": slope * span,
                "low": max(low, -1.0),
                "high": min(high, 1.0),
                "slope": slope,
                "scatter": scatter,
                "model_count": len(numbers),
                "scenario_count": sum(len(block.scenarios) for block in shared.blocks),
                "lowest_number": float(numbers.min()),
                "highest_number": float(numbers.max()),
            }
        )
    return pl.DataFrame(rows)


def _reach(moves: np.ndarray, slope_of: np.ndarray, scatter: float, level: float) -> float:
    """How far the interval of a slope reaches: over other scenarios, and over the models."""
    count = len(moves)
    if count < 2:
        return np.nan
    of_scenarios = np.sqrt(count / (count - 1) * (moves**2).sum())
    of_models = scatter * np.sqrt((slope_of**2).sum())
    degrees = np.array([count - 1.0, len(slope_of) - 2.0])
    factors = student_quantile(0.5 + level / 2, degrees)
    return float(max(of_scenarios * factors[0], of_models * factors[1]))


def _verdict(low: float, high: float) -> str:
    if np.isnan(low):
        return "too little data"
    return "rising" if low > 0 else "falling" if high < 0 else "no trend shown"
