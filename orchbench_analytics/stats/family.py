"""Many differences tested together: the greatest of them under chance sets the bar for each.

If models do not differ, each cluster may as well move a difference the other way: one pattern of
signs for all rows at once, which keeps how they depend on each other. Under every pattern each row
has a p of its own; the least of them over all rows has a distribution, and a row's corrected p is
the share of it that is as small (Westfall and Young 1993, the single-step min-p). Every interval
reaches as far as that bar, so all of them hold together, and an interval leaves out 0 exactly if
its corrected p is small enough.

Rows may weigh unequally (Westfall, Krishen and Young 1998): the p of the row that is asked about
first is divided by a greater weight, so it keeps most of the allowed error.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.stats.evaluate import Array

Signs = npt.NDArray[np.float32]

FIRST_WEIGHT = 4.0  # of the row asked about first; all others weigh 1
_MANY_ROWS, _VERY_MANY_ROWS = 1_000, 100_000


class Corrected(NamedTuple):
    """The p-values of rows corrected for all of them, and the level of each row's interval."""

    p_value: Array
    level: Array


def sign_patterns(clusters: tuple[str, ...], *, draws: int, seed: int) -> Signs:
    """Cluster by draw, 1 or -1: a cluster has the same signs whatever else is compared."""
    if draws < 100:
        raise SelectionError(f"draws is {draws}; choose at least 100")
    signs = np.empty((len(clusters), draws), dtype=np.float32)
    for place, name in enumerate(clusters):
        generator = np.random.default_rng([seed, *name.encode("utf-8", "surrogatepass")])
        signs[place] = generator.integers(0, 2, draws)
    signs *= 2
    signs -= 1
    return signs


def draws_for(row_count: int) -> int:
    """How many patterns of signs: the 5 % quantile of so many is steady to two digits."""
    return 10_000 if row_count <= _MANY_ROWS else 2_000 if row_count <= _VERY_MANY_ROWS else 500


class Family:
    """Rows that are corrected together; they come in pieces, so that memory stays bounded."""

    def __init__(self, draws: int) -> None:
        self.least = np.full(draws, np.inf)  # under each pattern the least weighted p of any row
        self.row_count = 0
        self.weight = 0.0

    def add(self, sums: Signs, squares: Array, counts: Array, weights: Array) -> None:
        """Rows with their sums of signed moves (row by draw) and of squared moves.

        A row's statistic is Student's t of its moves with `counts` - 1 degrees of freedom. Rows
        without any move stay at 0 under every pattern, and count no further.
        """
        is_moved = (squares > 1e-24) & (counts > 1)
        self.row_count += len(squares)
        self.weight += float(weights.sum())
        for count, weight in sorted({*zip(counts[is_moved], weights[is_moved], strict=True)}):
            rows = is_moved & (counts == count) & (weights == weight)
            scaled = np.abs(sums[rows]) / np.sqrt(squares[rows, None]).astype(sums.dtype)
            size = scaled.max(axis=0).astype(np.float64)
            np.minimum(self.least, _p_of(size, count) / weight, out=self.least)

    def corrected(self, p_unadjusted: Array, weights: Array, *, level: float) -> Corrected:
        """The corrected p and level of every row; of a single row, its own."""
        if self.row_count <= 1:
            return Corrected(p_unadjusted, np.full(len(p_unadjusted), level))
        draws = len(self.least)
        ordered = np.sort(self.least)
        asked = p_unadjusted / weights
        below = np.searchsorted(ordered, asked, side="right")
        shares = np.where(np.isnan(asked), np.nan, (below + 1) / (draws + 1))
        place = int(np.floor((1 - level) * (draws + 1) + 1e-9)) - 1
        bar = ordered[place] if place >= 0 else 0.0
        levels = np.maximum(level, 1 - np.minimum(weights * bar, 1.0))
        return Corrected(np.maximum(shares, p_unadjusted), levels)

    def shared_out(self, p_unadjusted: Array, weights: Array, *, level: float) -> Corrected:
        """As `corrected`, without a distribution: each row has its share of the allowed error.

        Bonferroni's correction, for p that hold at every look: patterns of signs tell of one only.
        """
        share = weights / self.weight
        return Corrected(np.minimum(p_unadjusted / share, 1.0), 1 - (1 - level) * share)


def _p_of(size: Array, count: float) -> Array:
    """The two-sided p of |sum| / sqrt(sum of squares) of n signed moves, as Student's t."""
    rest = np.maximum(count - size**2, 1e-9)
    t = size * np.sqrt(max(count - 1, 1) / rest)
    return np.asarray(2 * special.stdtr(max(count - 1.0, 1.0), -t), dtype=np.float64)
