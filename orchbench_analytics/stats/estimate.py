"""A figure with its uncertainty, for each contender; and the mean of such figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from orchbench_analytics.stats.evaluate import Array
from orchbench_analytics.stats.limits import (
    Interval,
    detectable_difference,
    difference_interval,
    share_interval,
)


class Estimate(NamedTuple):
    """Values with two standard errors and what they rest on; NaN where there is nothing to say.

    `even_count` is the number of scenarios of equal weight that the value is worth, at least, and
    `moved_count` how many of them carry a difference.
    """

    value: Array
    standard_error: Array
    cluster_standard_error: Array
    degrees: Array
    scenario_count: Array
    even_count: Array
    moved_count: Array

    def share_interval(self, *, level: float) -> Interval:
        """The interval of a figure from 0 to 1."""
        return share_interval(
            self.value, self.standard_error, self.degrees, self.even_count, level=level
        )

    def difference_interval(self, *, level: float) -> Interval:
        """The interval of a figure from -1 to 1."""
        return difference_interval(*self._moved(), level=level)

    def detectable_difference(self, *, level: float) -> Array:
        """The smallest true difference found with 80 % power."""
        return detectable_difference(*self._moved(), level=level)

    def _moved(self) -> tuple[Array, Array, Array, Array, Array]:
        error, degrees = self.standard_error, self.degrees
        return self.value, error, degrees, self.even_count, self.moved_count


def mean_estimate(estimates: Sequence[Estimate]) -> Estimate:
    """The mean over languages, of those in which the value is defined; errors are independent."""
    value = np.stack([estimate.value for estimate in estimates])
    is_defined = ~np.isnan(value)
    count = is_defined.sum(axis=0)

    def stacked(arrays: Sequence[Array]) -> Array:
        return np.where(is_defined, np.stack(arrays), 0.0)

    def error_of_mean(errors: Sequence[Array]) -> Array:
        total = np.sqrt((stacked(errors) ** 2).sum(axis=0))
        return _divide(total, count)

    variances = stacked([estimate.standard_error for estimate in estimates]) ** 2
    degrees = stacked([estimate.degrees for estimate in estimates])
    even = np.where(is_defined, np.stack([e.even_count for e in estimates]), np.inf).min(axis=0)
    return Estimate(
        _divide(np.nansum(value, axis=0), count),
        error_of_mean([estimate.standard_error for estimate in estimates]),
        error_of_mean([estimate.cluster_standard_error for estimate in estimates]),
        pooled_degrees(variances, degrees),
        stacked([estimate.scenario_count for estimate in estimates]).sum(axis=0),
        np.where(count > 0, even, 0.0) * count,
        stacked([estimate.moved_count for estimate in estimates]).sum(axis=0),
    )


def pooled_degrees(variances: Array, degrees: Array) -> Array:
    """Degrees of freedom of a sum of independent errors (first axis), after Welch-Satterthwaite."""
    total = variances.sum(axis=0)
    below = (variances**2 / np.maximum(degrees, 1)).sum(axis=0)
    result: Array = degrees.sum(axis=0)
    np.divide(total**2, below, out=result, where=below > 0)
    return result


def cluster_error(influences: Array, count: Array) -> Array:
    """Cluster-robust standard error: sqrt(n / (n - 1) x sum of squared influences of scenarios)."""
    factor = np.divide(count, count - 1, out=np.full_like(count, np.nan), where=count > 1)
    error: Array = np.sqrt(factor * (influences**2).sum(axis=-1))
    return error


def _divide(total: Array, count: npt.NDArray[np.int_]) -> Array:
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
