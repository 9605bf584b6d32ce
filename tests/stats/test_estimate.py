from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from orchbench_analytics.metrics import TERMS
from orchbench_analytics.stats.estimate import (
    Estimate,
    Interval,
    Summary,
    anytime_level,
    anytime_p,
    bounded_interval,
    detectable_difference,
    difference_interval,
    difference_p,
    estimate_clusters,
    guarded_low,
    is_surely_different,
    score_interval,
    student_quantile,
)

SWEEPS = 3000


def test_of_very_many_contenders_each_is_estimated_as_it_is_alone() -> None:
    rng = np.random.default_rng(4)
    terms = {term: rng.integers(0, 3, (700, 90)) * 1.0 for term in TERMS}
    together = estimate_clusters("average_score", terms)
    for place in (0, 350, 699):
        alone = estimate_clusters("average_score", {t: v[[place]] for t, v in terms.items()})
        for field, own in zip(together, alone, strict=True):
            np.testing.assert_array_equal(field[[place]], own)


def summary_of(scores: np.ndarray) -> Summary:
    """The mean of each row, of as many clusters as there are columns."""
    count = scores.shape[1]
    mean = scores.mean(axis=1)
    return Estimate(
        mean,
        (scores - mean[:, None]) / count,
        np.ones(scores.shape, dtype=bool),
        np.full(len(scores), float(count)),
    ).summary


def interval_of(scores: np.ndarray) -> Interval:
    return score_interval(summary_of(scores), level=0.95)


def difference_of(scores: np.ndarray) -> Interval:
    return difference_interval(summary_of(scores), level=0.95)


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


@pytest.mark.parametrize(("right", "count"), [(0, 8), (3, 8), (45, 45), (20, 45), (1, 220)])
def test_right_and_wrong_have_the_limits_of_clopper_and_pearson(right: int, count: int) -> None:
    scores = (np.arange(count) < right).astype(np.float64)[None]
    found = interval_of(scores)
    exact = stats.binomtest(right, count).proportion_ci(0.95, method="exact")
    assert (found.low[0], found.high[0]) == pytest.approx((exact.low, exact.high), abs=1e-9)


def test_the_limits_are_gaffkes() -> None:
    """The quantiles of the mean with one more score, 0 or 1, under weights of the simplex.

    The beta distribution has a lighter tail where one score is far from all others.
    """
    rng = np.random.default_rng(59)
    for count, apart in ((12, 0.03), (45, 0.01), (220, 0.003)):
        scores = rng.beta(4, 1, (1, count))
        weights = rng.dirichlet(np.ones(count + 1), 40_000)
        found = interval_of(scores)
        low = np.quantile(weights @ np.append(scores[0], 0.0), 0.025)
        high = np.quantile(weights @ np.append(scores[0], 1.0), 0.975)
        assert (found.low[0], found.high[0]) == pytest.approx((low, high), abs=apart)


def test_a_flat_score_between_may_hide_anything_else() -> None:
    found = interval_of(np.full((1, 10), 0.6))
    least = 0.025**0.1
    assert found.low[0] == pytest.approx(0.6 * least, abs=0.04)
    assert found.high[0] == pytest.approx(1 - 0.4 * least, abs=0.04)


@pytest.mark.parametrize(
    ("mean", "count"),
    [(m, n) for m in (0.9, 0.98, 0.995) for n in (8, 12, 20, 45, 220)],
)
def test_intervals_near_perfection_hold_the_truth(mean: float, count: int) -> None:
    found = interval_of(nearly_perfect(np.random.default_rng(60), mean, count))
    assert ((found.low <= mean) & (mean <= found.high)).mean() > 0.93
    mirrored = interval_of(1 - nearly_perfect(np.random.default_rng(60), mean, count))
    np.testing.assert_allclose(mirrored.low, 1 - found.high, atol=1e-9)


@pytest.mark.parametrize("count", [20, 45, 110])
def test_rare_zeros_among_near_perfect_scores_are_allowed_for(count: int) -> None:
    """Levels near 1 with 2 % zeros, which most sweeps do not even show."""
    rng = np.random.default_rng(61)
    is_lost = rng.random((SWEEPS, count)) < 0.02
    scores = np.where(is_lost, 0.0, rng.uniform(0.98, 1.0, (SWEEPS, count)))
    found = interval_of(scores)
    truth = 0.98 * 0.99
    assert ((found.low <= truth) & (truth <= found.high)).mean() > 0.95


@pytest.mark.parametrize(("one", "other"), [(0.98, 0.98), (0.9, 0.98), (0.995, 0.98)])
@pytest.mark.parametrize("count", [12, 20, 45, 90])
def test_intervals_of_rare_differences_hold_the_truth(one: float, other: float, count: int) -> None:
    rng = np.random.default_rng(62)
    found = difference_of(nearly_perfect(rng, other, count) - nearly_perfect(rng, one, count))
    truth = other - one
    assert ((found.low <= truth) & (truth <= found.high)).mean() > 0.93


def test_a_difference_that_all_carry_has_students_interval() -> None:
    """With differences of one size, all n clusters carry it: n - 1 degrees of freedom."""
    rng = np.random.default_rng(63)
    scores = np.where(rng.random((20, 45)) < 0.8, 0.3, -0.3)
    found, p_value = difference_of(scores), difference_p(summary_of(scores))
    mean, error = scores.mean(axis=1), scores.std(axis=1, ddof=1) / np.sqrt(45)
    low, high = stats.t.interval(0.95, 44, loc=mean, scale=error)
    np.testing.assert_allclose(found.low, low)
    np.testing.assert_allclose(found.high, high)
    theirs = stats.ttest_1samp(scores, 0, axis=1).pvalue
    np.testing.assert_allclose(p_value, np.maximum(theirs, 2.0**-44), rtol=1e-9)


def test_interval_and_p_say_the_same() -> None:
    """An interval leaves out 0 exactly if p is below its level, also without any spread."""
    rng = np.random.default_rng(64)
    flat = np.repeat(rng.uniform(-0.3, 0.3, (200, 1)), 12, axis=1)
    scores = np.concatenate([rng.normal(0.05, 0.1, (1000, 12)), flat, np.zeros((1, 12))])
    summary = summary_of(scores)
    p_value = difference_p(summary)
    for level in (0.8, 0.95, 0.99):
        found = difference_interval(summary, level=level)
        leaves_out = (found.low > 0) | (found.high < 0)
        assert (leaves_out == (p_value < 1 - level)).all()
        assert 0 < leaves_out.sum() < len(leaves_out)
    assert p_value[-1] == 1


def test_carrying_clusters_are_counted() -> None:
    scores = np.array([[0.0, 0, 0, 0], [0.3, 0, 0, 0], [1, -1, 1, -1], [1, 1, 0, 0]])
    assert summary_of(scores).effective_count.tolist() == pytest.approx([0, 1, 4, 2])


def test_without_spread_no_small_difference_is_detectable() -> None:
    found = detectable_difference(summary_of(np.zeros((1, 12))), level=0.95)
    assert found[0] == pytest.approx(1 - 0.025 ** (1 / 12))


@pytest.mark.parametrize("count", [22, 45, 110, 220])
def test_the_guarded_end_is_rarely_above_a_rare_loss(count: int) -> None:
    """A candidate that breaks 1.5 % of plans is worse by 1.3 points, and rarely shows it."""
    rng = np.random.default_rng(65)
    broken = rng.random((SWEEPS, count)) < 0.015
    scores = rng.normal(0, 0.001, (SWEEPS, count)) - broken * 0.87
    summary = summary_of(scores)
    plain = difference_interval(summary, level=0.95).low >= -0.01
    held = (guarded_low(summary, level=0.95) >= -0.01) & plain
    assert held.mean() < 0.05
    if count < 100:
        assert plain.mean() > 0.4  # what the guard is for


def test_slight_movement_does_not_switch_the_guard_off() -> None:
    rng = np.random.default_rng(66)
    still, moved = np.zeros((1, 45)), rng.uniform(-0.001, 0.001, (1, 45))
    ends = [guarded_low(summary_of(scores), level=0.95)[0] for scores in (still, moved)]
    assert ends[0] == pytest.approx(0.025 ** (1 / 45) - 1, abs=1e-9)
    assert ends[1] == pytest.approx(ends[0], abs=0.002)


def test_a_bounded_interval_needs_two_clusters() -> None:
    one = np.ones(1)
    found = bounded_interval(one, np.array([np.nan]), one, level=0.95)
    assert np.isnan(found.low[0])
    assert np.isnan(found.high[0])


def test_looking_again_and_again_rarely_misleads() -> None:
    """Every 20 scenarios of a running sweep: any false verdict, and any gate wrongly held."""
    rng = np.random.default_rng(67)
    scores = rng.normal(-0.0101, 0.2, (1500, 440))
    found, held, plain = (np.zeros(1500, dtype=bool) for _ in range(3))
    for count in range(20, 441, 20):
        gate, null = summary_of(scores[:, :count]), summary_of(scores[:, :count] + 0.0101)
        level = anytime_level(0.95, null.cluster_count)
        interval = difference_interval(null, level=level)
        is_found = (interval.low > 0) | (interval.high < 0)
        p_value = anytime_p(difference_p(null), null.cluster_count)
        assert ((p_value < 0.05) == is_found).all()
        found |= is_found
        once = difference_interval(null, level=0.95)
        plain |= (once.low > 0) | (once.high < 0)
        held |= difference_interval(gate, level=level).low >= -0.01
    assert found.mean() < 0.05
    assert held.mean() < 0.05
    assert plain.mean() > 0.15  # what a look that counts once does when it is repeated


def test_an_interval_for_every_look_costs_two_thirds_more() -> None:
    count = np.array([45.0, 220.0])
    ratio = stats.norm.ppf(0.5 + anytime_level(0.95, count) / 2) / stats.norm.ppf(0.975)
    assert ((ratio > 1.5) & (ratio < 1.75)).all()


@pytest.mark.parametrize("level", [0.5, 0.95, 0.9999])
def test_a_difference_is_sure_exactly_if_its_interval_leaves_out_0(level: float) -> None:
    rng = np.random.default_rng(6)
    scores = rng.normal(0.06, 0.2, (4000, 12)) * rng.choice([0.05, 1.0], (4000, 12))
    scores[:20] = scores[:20, :1]  # no spread
    found = summary_of(np.clip(scores, -1, 1))
    found.value[20] = found.error[21] = np.nan
    # Some differences lie at the very end of their interval.
    at_end = slice(100, 200)
    reach = found.value - difference_interval(found, level=level).low
    found.value[at_end] = reach[at_end]
    interval = difference_interval(found, level=level)
    is_different = is_surely_different(found, level=level)
    assert (is_different == ((interval.low > 0) | (interval.high < 0))).all()
    assert 0 < is_different.sum() < len(is_different)
