"""The paired permutation test: what the difference would be, had chance dealt out the answers.

If two models do not differ, it is a coin toss which of them gave which record of a scenario. So
whole scenario records, runs and steps together, are swapped with probability one half each, and
the metrics are formed anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from orchbench_analytics.metrics import Array
from orchbench_analytics.stats.counts import LanguageCounts
from orchbench_analytics.stats.pairs import PairParts, differences
from orchbench_analytics.stats.resample import check_resamples, generator

_TOLERANCE = 1e-12  # differences this close are equal: their sums were added up in another order


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


def swapped_differences(pair: PairParts, names: Sequence[str], patterns: Array) -> dict[str, Array]:
    """The differences of pair by pattern; where a swap leaves a metric undefined, 0."""
    baseline, candidate = {}, {}
    for part, theirs in pair.baseline.items():
        change = pair.candidate[part] - theirs
        base = theirs.sum(axis=1, keepdims=True)
        other = pair.candidate[part].sum(axis=1, keepdims=True)
        if change.any():
            moved = change @ patterns
            baseline[part], candidate[part] = base + moved, other - moved
        else:
            shape = (len(theirs), patterns.shape[1])
            baseline[part] = candidate[part] = np.broadcast_to(base, shape)
    found = differences(names, baseline, candidate)
    return {name: np.nan_to_num(values, copy=False, nan=0.0) for name, values in found.items()}


def permutation_p(observed: Array, permuted: Array, *, is_exact: bool) -> Array:
    """Two-sided p: the share of patterns that differ at least as much; NaN where undefined.

    Over all patterns b / m, over m random ones (b + 1) / (m + 1).
    """
    size = np.abs(np.nan_to_num(observed))[:, None]
    extreme = (np.abs(permuted) >= size - _TOLERANCE).sum(axis=1)
    count = permuted.shape[1]
    p = extreme / count if is_exact else (extreme + 1) / (count + 1)
    return np.where(np.isnan(observed), np.nan, p)
