"""How scores move with a number that is known of models: training steps, size, price.

Least squares lay a line through the models' scores. Its slope is a weighted sum of scores, so each
scenario has a slope of its own, and their spread gives the interval: how sure the trend over these
very models is, had they answered other scenarios of the kind.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import HEADLINE, resolve_metrics
from orchbench_analytics.stats.columns import TRENDS, frame
from orchbench_analytics.stats.counts import Counts, count_by_scenario, in_common
from orchbench_analytics.stats.estimate import pooled_degrees
from orchbench_analytics.stats.evaluate import Array, scenario_additions, support, supported_by_any
from orchbench_analytics.stats.limits import carrying_count, difference_interval


def trends(
    scenario_scores: pl.DataFrame,
    numbers: pl.DataFrame,
    *,
    metrics: Iterable[str] = HEADLINE,
    level: float = 0.95,
) -> pl.DataFrame:
    """The slope of each metric over a number of each model: the table TRENDS.

    `numbers` has model, experiment and one numeric column. Models without a number are left out,
    and so are scenarios that not all others have. Intervals hold for all rows together.
    """
    (tag,) = (name for name in numbers.columns if name not in ("model", "experiment"))
    if not numbers.schema[tag].is_numeric():
        raise SelectionError(f"the tag {tag!r} is not a number, so it has no trend")
    names = resolve_metrics(metrics)
    known = numbers.drop_nulls(tag).select("model", "experiment", pl.col(tag).cast(pl.Float64))
    rows = scenario_scores.join(known, on=["model", "experiment"], how="semi")
    found = [_trend(counts, known, names, level) for counts in count_by_scenario(rows, names)]
    if not found:
        raise SelectionError(f"no model has the tag {tag!r}")
    return frame(TRENDS, pl.concat(found).with_columns(tag=pl.lit(tag)))


def _trend(
    counts: Counts, known: pl.DataFrame, names: tuple[str, ...], level: float
) -> pl.DataFrame:
    number_of = {(model, experiment): x for model, experiment, x in known.iter_rows()}
    numbers = np.array([number_of[contender] for contender in counts.contenders])
    if len(set(numbers)) < 3:
        raise SelectionError(
            f"a trend needs three different numbers; there are {len(set(numbers))}"
        )
    slope_of = (numbers - numbers.mean()) / ((numbers - numbers.mean()) ** 2).sum()
    everyone = np.arange(len(numbers))
    languages = [in_common(language, everyone) for language in counts.languages]
    span = float(np.ptp(numbers))
    each_level = 1 - (1 - level) / len(names)
    blocks = []
    for name in names:
        additions = [
            slope_of @ scenario_additions(name, one.parts, supported_by_any(name, one.parts))
            for one in languages
            if support(name, one.parts).any()
        ]
        slope = np.mean([added.sum() for added in additions]) if additions else np.nan
        error, degrees, count = _uncertainty(additions)
        # The change over the whole range is a difference of scores, and has its interval.
        moved = sum(float(carrying_count(added)) for added in additions)
        change, reach, below, scenarios, carrying = (
            np.array([value]) for value in (slope * span, error * span, degrees, count, moved)
        )
        ends = difference_interval(change, reach, below, scenarios, carrying, level=each_level)
        blocks.append(
            {
                "profile": counts.profile,
                "metric": name,
                "model_count": len(numbers),
                "scenario_count": int(count),
                "lowest_number": float(numbers.min()),
                "highest_number": float(numbers.max()),
                "slope": slope,
                "change": slope * span,
                "low": ends.low[0],
                "high": ends.high[0],
                "verdict": _verdict(float(ends.low[0]), float(ends.high[0])),
            }
        )
    return pl.DataFrame(blocks)


def _uncertainty(additions: list[Array]) -> tuple[float, float, float]:
    """The slope's standard error, its degrees of freedom, and the number of scenarios."""
    counts = np.array([len(added) for added in additions], dtype=np.float64)
    if not len(counts) or counts.min() < 2:
        return np.nan, 0.0, float(counts.sum())
    squares = [((added - added.mean()) ** 2).sum() for added in additions]
    variances = np.array(squares) * counts / (counts - 1) / len(additions) ** 2
    degrees = pooled_degrees(variances[:, None], counts[:, None] - 1)
    return float(np.sqrt(variances.sum())), float(degrees[0]), float(counts.sum())


def _verdict(low: float, high: float) -> str:
    if np.isnan(low):
        return "too little data"
    return "rising" if low > 0 else "falling" if high < 0 else "no trend shown"
