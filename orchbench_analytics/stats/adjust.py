"""p-values corrected for many tests."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from orchbench_analytics.stats.evaluate import Array


def holm(p_values: Array) -> Array:
    """Holm's step-down p-values: the chance of any false finding stays below the level.

    The i-th smallest of m becomes the greatest of (m - j + 1) p_j over j up to i, at most 1;
    undefined p-values stay NaN and do not count.
    """
    return _adjusted(p_values, lambda p: np.maximum.accumulate(np.arange(len(p), 0, -1) * p))


def benjamini_hochberg(p_values: Array) -> Array:
    """Benjamini-Hochberg p-values: of what is found, the expected false share is below the level.

    The i-th smallest of m becomes the least of m p_j / j over j from i on, at most 1; undefined
    p-values stay NaN and do not count.
    """

    def step_up(p: Array) -> Array:
        scaled = len(p) * p / np.arange(1, len(p) + 1)
        return np.minimum.accumulate(scaled[::-1])[::-1]

    return _adjusted(p_values, step_up)


def _adjusted(p_values: Array, adjust_sorted: Callable[[Array], Array]) -> Array:
    result = np.full_like(p_values, np.nan)
    places = np.flatnonzero(~np.isnan(p_values))
    order = places[np.argsort(p_values[places], kind="stable")]
    result[order] = np.minimum(adjust_sorted(p_values[order]), 1.0)
    return result
