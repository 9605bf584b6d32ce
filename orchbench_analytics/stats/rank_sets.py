"""Ranks that hold together: which models are surely better, which cannot be told apart.

All pairwise differences get intervals that hold together (max-t over the bootstrap's resamples).
A model's best rank is 1 + how many are surely better, its worst leaves those below that are surely
worse. So all rank sets hold the true ranks at once, with the level asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from orchbench_analytics.stats.counts import LanguageCounts
from orchbench_analytics.stats.estimate import pooled_degrees
from orchbench_analytics.stats.evaluate import Array, scenario_additions, supported_by_any
from orchbench_analytics.stats.limits import difference_interval, has_no_spread
from orchbench_analytics.stats.max_t import level_of_each
from orchbench_analytics.stats.resample import resampling_weights

Ranks = npt.NDArray[np.int64]
_DIGITS = 12  # scores this close are equal: their sums were only added up in another order
_MOST_RESAMPLES = 1000  # of the greatest difference: its 95 % quantile is steady to two digits


class RankSets(NamedTuple):
    """The least and greatest rank of each contender, and its tier."""

    low: Ranks
    high: Ranks
    tier: Ranks


def rank_sets(
    languages: Sequence[LanguageCounts],
    name: str,
    score: Array,
    *,
    resamples: int,
    seed: int,
    level: float,
) -> RankSets:
    """The ranks of contenders that all have the same scenarios, by their mean over languages."""
    height = len(score)
    variances, degrees, drawn = [], [], np.zeros((height, min(resamples, _MOST_RESAMPLES)))
    moved, counts = np.zeros((height, height)), []
    for language in languages:
        supported = supported_by_any(name, language.parts)
        count = int(supported[0].sum())
        additions = np.nan_to_num(scenario_additions(name, language.parts, supported))
        centred = np.where(
            supported, additions - additions.sum(axis=1, keepdims=True) / max(count, 1), 0.0
        )
        squares = cdist(centred, centred, "sqeuclidean") / len(languages) ** 2
        variances.append(squares * count / max(count - 1, 1))
        degrees.append(np.full((height, height), max(count - 1.0, 0.0)))
        weights = resampling_weights(language, resamples=drawn.shape[1], seed=seed)
        drawn += centred @ weights / len(languages)
        sums = cdist(additions, additions, "cityblock")
        size = cdist(additions, additions, "sqeuclidean")
        moved += np.divide(sums**2, size, out=np.zeros_like(sums), where=size > 0)
        counts.append(count)
    error = np.sqrt(np.add.reduce(variances))
    each_level = level_of_each(_greatest(drawn, error), level=level)
    first, second = np.triu_indices(height, k=1)
    interval = difference_interval(
        score[first] - score[second],
        error[first, second],
        pooled_degrees(np.stack(variances), np.stack(degrees))[first, second],
        np.full(len(first), float(min(counts) * len(counts))),
        moved[first, second],
        level=each_level,
    )
    is_better = np.zeros((height, height), dtype=np.bool_)  # the first than the second
    is_better[first, second] = interval.low > 0
    is_better[second, first] = interval.high < 0
    low, high = 1 + is_better.sum(axis=0), height - is_better.sum(axis=1)
    return RankSets(low, high, tiers(score, is_better))


def tiers(score: Array, is_better: npt.NDArray[np.bool_]) -> Ranks:
    """From the top: the first model that is surely worse than the best of its tier begins one."""
    found = np.zeros(len(score), dtype=np.int64)
    best, tier = -1, 0
    for place in np.argsort(-score, kind="stable"):
        if best < 0 or is_better[best, place]:
            best, tier = place, tier + 1
        found[place] = tier
    return found


def competition_ranks(values: Array) -> Ranks:
    """Rank from the top, 1 + how many are greater; undefined values come last."""
    ordered = np.where(np.isnan(values), -np.inf, np.round(values, _DIGITS))
    ranks: Ranks = 1 + len(values) - np.searchsorted(np.sort(ordered), ordered, side="right")
    return ranks


def _greatest(drawn: Array, error: Array) -> Array:
    """In each resample the greatest difference from what was observed, in standard errors."""
    factor = np.divide(1.0, error, out=np.zeros_like(error), where=~has_no_spread(error))
    greatest = np.zeros(drawn.shape[1], dtype=np.float32)
    single = np.ascontiguousarray(drawn, dtype=np.float32)
    for place in range(len(drawn) - 1):
        apart = np.abs(single[place + 1 :] - single[place])
        apart *= factor[place, place + 1 :, None].astype(np.float32)
        np.maximum(greatest, apart.max(axis=0), out=greatest)
    return greatest.astype(np.float64)
