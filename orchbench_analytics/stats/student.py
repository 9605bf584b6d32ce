"""Student's t and the intervals made with it."""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import Array


class Interval(NamedTuple):
    """Both ends of an interval; NaN where there is none."""

    low: Array
    high: Array


def student_quantile(probability: float, degrees: Array) -> Array:
    """The quantile (probability above one half) of Student's t; NaN below one degree of freedom.

    Hill's Algorithm 396 (1970), right to 4 digits and better from 3 degrees on; 1 and 2 are exact.
    """
    two_tails = 2 * (1 - probability)
    nu = np.where(degrees >= 1, degrees, np.nan)
    a = 1 / (nu - 0.5)
    b = 48 / a**2
    c = ((20700 * a / b - 98) * a - 16) * a + 96.36
    d = ((94.5 / (b + c) - 3) / b + 1) * np.sqrt(a * np.pi / 2) * nu
    y = (d * two_tails) ** (2 / nu)

    x = NormalDist().inv_cdf(two_tails / 2)
    near = c + np.where(nu < 5, 0.3 * (nu - 4.5) * (x + 0.6), 0.0)
    near = (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b + near
    xx = x * x
    central = np.expm1(
        a * ((((((0.4 * xx + 6.3) * xx + 36) * xx + 94.5) / near - xx - 3) / b + 1) * x) ** 2
    )
    tail = (
        (1 / (((nu + 6) / (nu * y) - 0.089 * d - 0.822) * (nu + 2) * 3) + 0.5 / (nu + 4)) * y - 1
    ) * (nu + 1) / (nu + 2) + 1 / y
    quantile = np.sqrt(nu * np.where(y > 0.05 + a, central, tail))

    exact_1 = 1 / np.tan(two_tails * np.pi / 2)
    exact_2 = np.sqrt(2 / (two_tails * (2 - two_tails)) - 2)
    result: Array = np.where(nu == 1, exact_1, np.where(nu == 2, exact_2, quantile))
    return result


def interval_factor(degrees: Array, *, level: float) -> Array:
    """How many standard errors an interval reaches to each side."""
    if not 0 < level < 1:
        raise SelectionError(f"level is {level}; choose one between 0 and 1, such as 0.95")
    return student_quantile(0.5 + level / 2, degrees)


def share_interval(value: Array, error: Array, degrees: Array, *, level: float) -> Interval:
    """An interval for a figure from 0 to 1: Student's t on the scale of log odds.

    logit(value) ± t x error / (value (1 - value)), taken back. It stays between 0 and 1 and is
    wider on the side with more room; without spread it has no width.
    """
    reach = interval_factor(degrees, level=level) * error
    inner = np.clip(value, 1e-12, 1 - 1e-12)
    odds = np.log(inner / (1 - inner))
    step = reach / (inner * (1 - inner))
    step = np.minimum(step, 700.0)  # beyond that, exp has no number and the end is 0 or 1 anyway
    low = 1 / (1 + np.exp(np.clip(step - odds, -700, 700)))
    high = 1 / (1 + np.exp(np.clip(-step - odds, -700, 700)))
    is_flat = reach == 0
    return Interval(np.where(is_flat, value, low), np.where(is_flat, value, high))


def difference_interval(value: Array, error: Array, degrees: Array, *, level: float) -> Interval:
    """An interval for a difference from -1 to 1: value ± t x error, cut off at both ends."""
    reach = interval_factor(degrees, level=level) * error
    return Interval(np.maximum(value - reach, -1.0), np.minimum(value + reach, 1.0))


def pooled_degrees(variances: Array, degrees: Array) -> Array:
    """Degrees of freedom of a sum of independent errors (first axis), after Welch-Satterthwaite."""
    total = variances.sum(axis=0)
    below = (variances**2 / np.maximum(degrees, 1)).sum(axis=0)
    result: Array = degrees.sum(axis=0)
    np.divide(total**2, below, out=result, where=below > 0)
    return result
