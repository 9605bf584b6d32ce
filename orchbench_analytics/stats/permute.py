"""The paired permutation test: how often chance alone makes as large a difference.

If two models do not differ, it is a coin toss which of them gave which record of a scenario. So
whole scenario records, runs and steps together, are swapped with probability one half each, and
the metrics are formed anew. Counts are taken per run: a model with more runs is not to be told by
its larger counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from orchbench_analytics.stats.counts import LanguageCounts, per_run
from orchbench_analytics.stats.evaluate import Array
from orchbench_analytics.stats.pairs import PairParts, differences, pair_up
from orchbench_analytics.stats.resample import check_resamples, generator

TOLERANCE = 1e-12  # differences this close are equal: their sums were added up in another order


class Swaps(NamedTuple):
    """For each language an array of scenario by pattern, 1 where the records are swapped."""

    patterns: tuple[Array, ...]
    is_exact: bool


def swap_patterns(languages: Sequence[LanguageCounts], *, resamples: int, seed: int) -> Swaps:
    """All patterns of swaps where there are at most `resamples`, else that many at random."""
    check_resamples(resamples)
    counts = [len(language.scenarios) for language in languages]
    total = sum(counts)
    if total < 63 and 2**total <= resamples:
        every = np.arange(2**total, dtype=np.int64) >> np.arange(total)[:, None] & 1
        ends = np.cumsum(counts)[:-1]
        return Swaps(tuple(np.split(every.astype(np.float64), ends)), is_exact=True)
    return Swaps(
        tuple(
            generator(seed, "permutation", language.language)
            .integers(0, 2, size=(resamples, count))
            .T.astype(np.float64, order="C")
            for language, count in zip(languages, counts, strict=True)
        ),
        is_exact=False,
    )


def swap_p_values(
    languages: Sequence[LanguageCounts], names: Sequence[str], *, resamples: int, seed: int
) -> Array:
    """The p-value of each metric's mean over languages, first contender against second."""
    swaps = swap_patterns(languages, resamples=resamples, seed=seed)
    one, other = np.array([0]), np.array([1])
    pairs = [pair_up(per_run(language), one, other) for language in languages]
    observed = [differences(names, *map(_totals, pair)) for pair in pairs]
    swapped = [
        _swapped_differences(pair, names, patterns)
        for pair, patterns in zip(pairs, swaps.patterns, strict=True)
    ]
    found = np.full(len(names), np.nan)
    for place, name in enumerate(names):
        defined = [n for n, values in enumerate(observed) if not np.isnan(values[name]).any()]
        if defined:
            seen = np.mean([observed[n][name] for n in defined], axis=0)
            chance = np.mean([swapped[n][name] for n in defined], axis=0)
            (found[place],) = permutation_p(seen, chance, is_exact=swaps.is_exact)
    return found


def permutation_p(observed: Array, permuted: Array, *, is_exact: bool) -> Array:
    """Two-sided p: the share of patterns that differ at least as much; NaN where undefined.

    Over all patterns b / m, over m random ones (b + 1) / (m + 1).
    """
    size = np.abs(np.nan_to_num(observed))[:, None]
    extreme = (np.abs(permuted) >= size - TOLERANCE).sum(axis=1)
    return np.where(np.isnan(observed), np.nan, share(extreme, permuted.shape[1], is_exact))


def share(extreme: Array, count: int, is_exact: bool) -> Array:
    """The share of extreme patterns, the one observed among them."""
    return extreme / count if is_exact else (extreme + 1) / (count + 1)


def _swapped_differences(
    pair: PairParts, names: Sequence[str], patterns: Array
) -> dict[str, Array]:
    """The differences of pair by pattern; where a swap leaves a metric undefined, 0."""
    baseline, candidate = {}, {}
    for part, theirs in pair.baseline.items():
        moved = (pair.candidate[part] - theirs) @ patterns
        baseline[part] = theirs.sum(axis=1, keepdims=True) + moved
        candidate[part] = pair.candidate[part].sum(axis=1, keepdims=True) - moved
    found = differences(names, baseline, candidate)
    return {name: np.nan_to_num(values, copy=False, nan=0.0) for name, values in found.items()}


def _totals(parts: dict[str, Array]) -> dict[str, Array]:
    return {part: values.sum(axis=1) for part, values in parts.items()}
