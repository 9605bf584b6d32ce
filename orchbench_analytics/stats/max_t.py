"""Many differences tested together: the greatest of them under chance sets the bar for each.

Every difference is a sum of what scenarios add to it. If models do not differ, each addition may
as well have the other sign: one pattern of signs for all differences at once. So the greatest
|sum| / error over all differences has a distribution that accounts for how they depend on each
other, and adjusted p-values are shares of it (Westfall and Young), stepping down from the greatest
difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import special

from orchbench_analytics.stats.evaluate import Array
from orchbench_analytics.stats.permute import TOLERANCE, Swaps, share
from orchbench_analytics.stats.resample import chunks


class Family(NamedTuple):
    """p-values of differences alone and together, and the level that holds for all together."""

    p_value: Array
    p_adjusted: Array
    each_level: float


def tested_together(additions: Sequence[Array], swaps: Swaps, *, level: float) -> Family:
    """Test the differences that these additions (difference by scenario, by language) add up to.

    Each interval at `each_level` makes all of them hold together with `level`.
    """
    scale = np.sqrt(np.add.reduce([(a**2).sum(axis=1) for a in additions]))
    total = np.add.reduce([a.sum(axis=1) for a in additions])
    known = np.flatnonzero(scale > TOLERANCE)
    size = np.zeros(len(total))
    size[known] = np.abs(total[known]) / scale[known]
    signs = [1 - 2 * patterns for patterns in swaps.patterns]
    count = signs[0].shape[1]
    alone, together = np.ones(len(total)), np.ones(len(total))
    order = known[np.argsort(size[known], kind="stable")]
    greatest = np.zeros(count)
    for rows in chunks(len(order), count):
        places = order[rows]
        drawn = np.add.reduce([a[places] @ s for a, s in zip(additions, signs, strict=True)])
        drawn = np.abs(drawn, out=drawn)
        drawn /= scale[places, None]
        bar = size[places, None] - TOLERANCE
        alone[places] = share((drawn >= bar).sum(axis=1), count, swaps.is_exact)
        np.maximum(drawn[0], greatest, out=drawn[0])
        np.maximum.accumulate(drawn, axis=0, out=drawn)
        greatest = drawn[-1].copy()
        together[places] = share((drawn >= bar).sum(axis=1), count, swaps.is_exact)
    # A smaller difference is never surer than a greater one.
    together[order] = np.maximum.accumulate(together[order][::-1])[::-1]
    scenarios = sum(a.shape[1] for a in additions)
    each_level = level_of_each(
        _as_t(greatest, scenarios), level=level, degrees=max(scenarios - 1.0, 1.0)
    )
    return Family(alone, together, each_level)


def level_of_each(greatest: Array, *, level: float, degrees: float = np.inf) -> float:
    """The level of a single interval that reaches as far as the greatest of all under chance."""
    reach = float(np.quantile(greatest, level, method="higher")) if len(greatest) else 0.0
    beyond = special.stdtr(degrees, -reach) if np.isfinite(degrees) else special.ndtr(-reach)
    return max(level, 1 - 2 * float(beyond))


def _as_t(sizes: Array, count: int) -> Array:
    """|sum| / sqrt(sum of squares) of n additions as Student's t of their mean."""
    rest = np.maximum(count - sizes**2, 1e-9)
    return sizes * np.sqrt(max(count - 1, 1) / rest)
