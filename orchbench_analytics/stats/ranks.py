"""How sure the ranks of a leaderboard are."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import polars as pl

from orchbench_analytics.metrics import Array, defined_mean, evaluate
from orchbench_analytics.stats.bootstrap import estimate
from orchbench_analytics.stats.columns import RANK_INTERVALS, frame
from orchbench_analytics.stats.counts import Counts, LanguageCounts, count_by_scenario
from orchbench_analytics.stats.estimate import mean_estimate
from orchbench_analytics.stats.resample import resampled_metrics, resampling_weights, spread
from orchbench_analytics.stats.student import interval_factor, share_interval

_METRIC = "average_score"
_DIGITS = 12  # scores this close are equal: their sums were only added up in another order


def rank_intervals(
    scenario_scores: pl.DataFrame, *, resamples: int = 2000, seed: int = 0, level: float = 0.95
) -> pl.DataFrame:
    """Models ranked by average_score, with intervals of score and rank: the table RANK_INTERVALS.

    In each resample of scenarios, the same for all models, all are ranked anew. The rank interval
    leaves out the same share of resamples at each end, a smaller one where scenarios are few.
    """
    found = [
        _rank(counts, resamples=resamples, seed=seed, level=level)
        for counts in count_by_scenario(scenario_scores, [_METRIC])
    ]
    return frame(RANK_INTERVALS, pl.concat(found) if found else {})


def _rank(counts: Counts, *, resamples: int, seed: int, level: float) -> pl.DataFrame:
    resampled = [_resampled(one, resamples=resamples, seed=seed) for one in counts.languages]
    score = mean_estimate(
        [
            estimate(_METRIC, language, _values(language), spread(drawn))
            for language, drawn in zip(counts.languages, resampled, strict=True)
        ]
    )
    interval = share_interval(score.value, score.standard_error, score.degrees, level=level)
    ranks = competition_ranks(defined_mean(resampled))
    is_first = ranks == 1
    tails = _tail_shares(score.degrees, score.scenario_count, level=level)
    last = resamples - 1
    ordered = np.sort(ranks, axis=1)
    best = np.floor(tails * last).astype(np.int64)
    worst = last - best
    return pl.DataFrame(
        {
            "profile": [counts.profile] * len(counts.contenders),
            "model": [model for model, _ in counts.contenders],
            "experiment": [experiment for _, experiment in counts.contenders],
            "average_score": score.value,
            "low": interval.low,
            "high": interval.high,
            "rank_number": competition_ranks(score.value[:, None])[:, 0],
            "rank_low": np.take_along_axis(ordered, best[:, None], axis=1)[:, 0],
            "rank_high": np.take_along_axis(ordered, worst[:, None], axis=1)[:, 0],
            "best_probability": (is_first / is_first.sum(axis=0)).mean(axis=1),
        }
    )


def competition_ranks(values: Array) -> npt.NDArray[np.int64]:
    """Rank from the top of each column, 1 + how many are greater; undefined values come last."""
    columns = np.ascontiguousarray(np.round(values, _DIGITS).T)
    columns[np.isnan(columns)] = -np.inf
    height = len(values)
    ranks = np.empty(columns.shape, dtype=np.int64)
    for place, column in enumerate(columns):
        ranks[place] = height + 1 - np.searchsorted(np.sort(column), column, side="right")
    return np.ascontiguousarray(ranks.T)


def _resampled(language: LanguageCounts, *, resamples: int, seed: int) -> Array:
    weights = resampling_weights(language, resamples=resamples, seed=seed)
    drawn = np.empty((len(language.present), resamples))
    for rows, metrics in resampled_metrics(language, [_METRIC], weights):
        drawn[rows] = metrics[_METRIC]
    return drawn


def _values(language: LanguageCounts) -> Array:
    totals = {part: values.sum(axis=1) for part, values in language.parts.items()}
    return evaluate([_METRIC], totals)[_METRIC]


def _tail_shares(degrees: Array, count: Array, *, level: float) -> Array:
    """The share of resamples beyond each end: Student's t and n - 1 in place of the normal's n."""
    reach = interval_factor(degrees, level=level) * np.sqrt(count / np.maximum(degrees, 1))
    normal = NormalDist()
    return np.array([0.0 if np.isnan(r) else normal.cdf(-r) for r in reach])
