from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from orchbench_analytics.stats.limits import (
    Interval,
    carrying_count,
    detectable_difference,
    difference_interval,
    share_interval,
    student_quantile,
)

SWEEPS = 3000


def interval_of(scores: np.ndarray, level: float = 0.95) -> Interval:
    """The interval of the mean of each row."""
    count = np.full(len(scores), float(scores.shape[1]))
    error = scores.std(axis=1, ddof=1) / np.sqrt(count)
    return share_interval(scores.mean(axis=1), error, count - 1, count, level=level)


def difference_of(scores: np.ndarray, level: float = 0.95) -> Interval:
    count = np.full(len(scores), float(scores.shape[1]))
    error = scores.std(axis=1, ddof=1) / np.sqrt(count)
    moved = carrying_count(scores)
    return difference_interval(scores.mean(axis=1), error, count - 1, count, moved, level=level)


def nearly_perfect(rng: np.random.Generator, mean: float, count: int) -> np.ndarray:
    """Most scenarios right, the others losing up to 0.44."""
    is_lost = rng.random((SWEEPS, count)) < (1 - mean) / 0.22
    return np.asarray(1 - is_lost * rng.uniform(0, 0.44, (SWEEPS, count)))


@pytest.mark.parametrize("probability", [0.8, 0.95, 0.975, 0.995])
def test_quantiles_are_students(probability: float) -> None:
    degrees = np.array([1, 2, 3.7, 8.5, 44, 1000])
    found = student_quantile(probability, degrees)
    np.testing.assert_allclose(found, stats.t.ppf(probability, degrees), rtol=1e-10)
    assert np.isnan(student_quantile(probability, np.array([0.0]))).all()


@pytest.mark.parametrize("count", [2, 8, 45])
def test_all_right_is_not_certain(count: int) -> None:
    least = 0.025 ** (1 / count)
    right, wrong = interval_of(np.ones((1, count))), interval_of(np.zeros((1, count)))
    assert (right.low[0], right.high[0]) == pytest.approx((least, 1))
    assert (wrong.low[0], wrong.high[0]) == pytest.approx((0, 1 - least))
    same = difference_of(np.zeros((1, count)))
    assert (same.low[0], same.high[0]) == pytest.approx((least - 1, 1 - least))
    # The exact limit of Clopper and Pearson, one-sided as there is nothing above 1.
    exact = stats.binomtest(count, count).proportion_ci(0.95, method="exact")
    assert right.low[0] == pytest.approx(exact.low)


def test_a_flat_score_between_may_hide_anything_else() -> None:
    found = interval_of(np.full((1, 10), 0.6))
    least = 0.025**0.1
    assert found.low[0] == pytest.approx(0.6 * least)
    assert found.high[0] == pytest.approx(1 - 0.4 * least)


@pytest.mark.parametrize(
    ("mean", "count"),
    [(m, n) for m in (0.9, 0.98, 0.995) for n in (8, 12, 20, 45, 220)],
)
def test_intervals_near_perfection_hold_the_truth(mean: float, count: int) -> None:
    found = interval_of(nearly_perfect(np.random.default_rng(60), mean, count))
    assert ((found.low <= mean) & (mean <= found.high)).mean() > 0.93
    mirrored = interval_of(1 - nearly_perfect(np.random.default_rng(60), mean, count))
    np.testing.assert_allclose(mirrored.low, 1 - found.high, atol=1e-9)


@pytest.mark.parametrize("mean", [0.9, 0.98, 0.995])
@pytest.mark.parametrize("count", [20, 45, 220])
def test_intervals_of_right_and_wrong_hold_the_truth(mean: float, count: int) -> None:
    scores = (np.random.default_rng(61).random((SWEEPS, count)) < mean).astype(np.float64)
    found = interval_of(scores)
    assert ((found.low <= mean) & (mean <= found.high)).mean() > 0.93


@pytest.mark.parametrize(("one", "other"), [(0.98, 0.98), (0.9, 0.98), (0.995, 0.98)])
@pytest.mark.parametrize("count", [8, 12, 20, 45, 90])
def test_intervals_of_rare_differences_hold_the_truth(one: float, other: float, count: int) -> None:
    rng = np.random.default_rng(62)
    found = difference_of(nearly_perfect(rng, other, count) - nearly_perfect(rng, one, count))
    truth = other - one
    assert ((found.low <= truth) & (truth <= found.high)).mean() > 0.93


def test_with_many_that_carry_it_a_difference_has_students_interval() -> None:
    scores = np.random.default_rng(63).normal(0.05, 0.2, (20, 45))
    found = difference_of(scores)
    mean, error = scores.mean(axis=1), scores.std(axis=1, ddof=1) / np.sqrt(45)
    low, high = stats.t.interval(0.95, 44, loc=mean, scale=error)
    np.testing.assert_allclose(found.low, low)
    np.testing.assert_allclose(found.high, high)


def test_carrying_scenarios_are_counted() -> None:
    amounts = np.array([[0.0, 0, 0, 0], [0.3, 0, 0, 0], [1, -1, 1, -1], [1, 1, 0, 0]])
    assert carrying_count(amounts).tolist() == [0, 1, 4, 2]


def test_without_spread_no_small_difference_is_detectable() -> None:
    zero, count = np.zeros(1), np.array([12.0])
    found = detectable_difference(zero, zero, count - 1, count, zero, level=0.95)
    assert found[0] == pytest.approx(1 - 0.025 ** (1 / 12))
