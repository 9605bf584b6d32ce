"""The ends of intervals: Student's t, and what it needs near 0, near 1 and without spread.

Student's t alone misleads where few scenarios carry all the loss: n perfect scores have no spread,
yet a lower mean is quite possible. So three cases are told apart by the number of scenarios that
carry the loss, (sum of losses)² / (sum of squared losses), and by the spread:

- no spread: P(all n scores alike) <= pⁿ for the share p of such scores, so p may be as low as
  a = tail^(1/n), and whatever else there is may be anything;
- few carry it: the interval is stretched to hold that of the same data with a made-up scenario
  that loses half a point (a quarter either way for differences), and at the near end a gamma limit
  for rare losses;
- else Student's t, for shares on the scale of log odds.

Coverage of the 95 % interval in simulated sweeps is printed by `tests/benchmarks/simulations.py`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.stats.evaluate import Array

_NO_SPREAD = 1e-12  # sums were added up in another order
_FEW = 10  # scenarios that carry a loss: from here on Student's t holds what it says
_FEW_MOVED = 6  # the same for differences, which are less skewed
_MADE_UP_LOSS = 0.5
_MADE_UP_DIFFERENCE = 0.25


class Interval(NamedTuple):
    """Both ends of an interval; NaN where there is none."""

    low: Array
    high: Array


def student_quantile(probability: float | Array, degrees: Array) -> Array:
    """The quantile of Student's t; NaN below one degree of freedom."""
    known = np.where(degrees >= 1, degrees, np.nan)
    return np.asarray(special.stdtrit(known, probability), dtype=np.float64)


def interval_factor(degrees: Array, *, level: float) -> Array:
    """How many standard errors an interval reaches to each side."""
    if not 0 < level < 1:
        raise SelectionError(f"level is {level}; choose one between 0 and 1, such as 0.95")
    return student_quantile(0.5 + level / 2, degrees)


def has_no_spread(error: Array) -> npt.NDArray[np.bool_]:
    """Where all scenarios say the same."""
    return error < _NO_SPREAD


def share_interval(
    value: Array, error: Array, degrees: Array, count: Array, *, level: float
) -> Interval:
    """An interval for a figure from 0 to 1 over `count` scenarios.

    Where all scores are 1 it is [tail^(1/n), 1] with the tail (1 - level) / 2, exact for means.
    """
    usual = _log_odds_interval(value, error, interval_factor(degrees, level=level))
    low_loss, high_loss = _rare_loss(1 - value, error, degrees, count, level=level)
    low_gain, high_gain = _rare_loss(value, error, degrees, count, level=level)
    is_flat = has_no_spread(error)
    alike = _least_alike(count, level=level)
    low = np.fmin(np.fmin(usual.low, 1 - high_loss), low_gain)
    high = np.fmax(np.fmax(usual.high, high_gain), 1 - low_loss)
    return Interval(
        np.where(is_flat, alike * value, np.maximum(low, 0.0)),
        np.where(is_flat, 1 - alike * (1 - value), np.minimum(high, 1.0)),
    )


def difference_interval(
    value: Array, error: Array, degrees: Array, count: Array, moved: Array, *, level: float
) -> Interval:
    """An interval for a difference over `count` scenarios, of which `moved` carry it."""
    low, high = _difference_ends(value, error, degrees, count, moved, level=level)
    return Interval(np.maximum(low, -1.0), np.minimum(high, 1.0))


def detectable_difference(
    value: Array,
    error: Array,
    degrees: Array,
    count: Array,
    moved: Array,
    *,
    level: float,
    power: float = 0.8,
) -> Array:
    """The smallest true difference whose interval leaves out 0 with this power, at most 1."""
    low, high = _difference_ends(value, error, degrees, count, moved, level=level)
    return np.minimum((high - low) / 2 + student_quantile(power, degrees) * error, 1.0)


def carrying_count(amounts: Array) -> Array:
    """How many scenarios (last axis) carry a sum of amounts: all alike n, one alone 1, none 0."""
    squares = (amounts**2).sum(axis=-1)
    sums = np.abs(amounts).sum(axis=-1)
    count: Array = np.divide(sums**2, squares, out=np.zeros_like(squares), where=squares > 0)
    return count


def _difference_ends(
    value: Array, error: Array, degrees: Array, count: Array, moved: Array, *, level: float
) -> Interval:
    reach = interval_factor(degrees, level=level) * error
    wider = interval_factor(degrees + 1, level=level)
    ends = []
    for sign in (-1.0, 1.0):
        mean, spread = _with_made_up(value, error, count, sign * _MADE_UP_DIFFERENCE)
        stretched = np.where(moved < _FEW_MOVED, sign * mean + wider * spread, -np.inf)
        alike = _least_alike(count, level=level)
        usual = np.fmax(sign * value + reach, stretched)
        ends.append(sign * np.where(has_no_spread(error), sign * alike * value + 1 - alike, usual))
    is_known = ~np.isnan(reach)
    return Interval(*(np.where(is_known, end, np.nan) for end in ends))


def _log_odds_interval(value: Array, error: Array, factor: Array) -> Interval:
    """logit(value) ± factor x error / (value (1 - value)), taken back."""
    inner = np.clip(value, 1e-12, 1 - 1e-12)
    odds = special.logit(inner)
    step = factor * error / (inner * (1 - inner))
    return Interval(special.expit(odds - step), special.expit(odds + step))


def _rare_loss(
    loss: Array, error: Array, degrees: Array, count: Array, *, level: float
) -> tuple[Array, Array]:
    """Both ends for a mean loss that few scenarios carry; NaN where many do or none does."""
    squares = error**2 * (count - 1) + loss**2
    carrying = np.divide(count * loss**2, squares, out=np.zeros_like(loss), where=squares > 0)
    is_rare = (carrying < _FEW) & ~has_no_spread(error) & (degrees >= 1)
    variance = np.maximum(error**2, _NO_SPREAD**2)
    tail = (1 - level) / 2
    known = np.maximum(loss, _NO_SPREAD)
    least = special.gammaincinv(known**2 / variance, tail) * variance / known
    mean, spread = _with_made_up(loss, error, count, _MADE_UP_LOSS)
    most = mean + interval_factor(degrees + 1, level=level) * spread
    return np.where(is_rare, least, np.nan), np.where(is_rare, most, np.nan)


def _with_made_up(value: Array, error: Array, count: Array, score: float) -> tuple[Array, Array]:
    """The mean and its error with one more scenario of this score."""
    known = np.maximum(count, 2.0)
    squares = error**2 * known * (known - 1) + known / (known + 1) * (value - score) ** 2
    return (known * value + score) / (known + 1), np.sqrt(squares / (known * (known + 1)))


def _least_alike(count: Array, *, level: float) -> Array:
    """The least share of alike scores that lets all of `count` be alike, but for the tail."""
    return ((1 - level) / 2) ** (1 / np.maximum(count, 1.0))
