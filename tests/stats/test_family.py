from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.stats.estimate import FIRST_WEIGHT, Family, sign_patterns


def added(moves: np.ndarray, signs: np.ndarray, weights: np.ndarray) -> Family:
    family = Family(signs.shape[1])
    counts = np.full(len(moves), float(moves.shape[1]))
    family.add((moves @ signs).astype(np.float32), (moves**2).sum(axis=1), counts, weights)
    return family


def p_of(moves: np.ndarray) -> np.ndarray:
    """Student's p of each row's mean."""
    return np.asarray(stats.ttest_1samp(moves, 0, axis=1).pvalue)


@pytest.mark.parametrize("first", [1.0, FIRST_WEIGHT])
def test_corrected_p_are_those_of_westfall_and_young_by_hand(first: float) -> None:
    """Every pattern of signs over six clusters: in how many is any row as extreme?"""
    rng = np.random.default_rng(1)
    scores = rng.normal(0.4, 1, (3, 6))
    centred = scores - scores.mean(axis=1, keepdims=True)
    weights = np.array([first, 1.0, 1.0])
    signs = np.array([*product((-1.0, 1.0), repeat=6)]).T
    asked = p_of(scores)
    least = np.array(
        [(p_of(centred * pattern) / weights).min() for pattern in signs.T if abs(pattern.sum()) < 6]
    )
    family = added(centred, signs, weights)
    found = family.corrected(asked, weights, level=0.95).p_value
    for row, weighted in enumerate(asked / weights):
        extreme = (least <= weighted + 1e-9).sum() + (family.least().max() <= weighted)
        wanted = (extreme + 1) / (signs.shape[1] + 1)
        assert found[row] == pytest.approx(max(wanted, asked[row]), abs=2.5 / signs.shape[1])


def test_one_row_is_not_corrected() -> None:
    signs = np.ones((4, 100))
    family = added(np.ones((1, 4)), signs, np.ones(1))
    corrected = family.corrected(np.array([0.03]), np.ones(1), level=0.95)
    assert corrected.p_value.tolist() == [0.03]
    assert corrected.level.tolist() == [0.95]


def test_rows_without_a_move_count_no_further() -> None:
    """Whether all other rows rest on as many clusters, or each on its own number."""
    rng = np.random.default_rng(3)
    moves = rng.normal(size=(4, 30))
    signs = sign_patterns(tuple(map(str, range(30))), draws=500, seed=0)
    for counts in (np.full(4, 30.0), np.array([30.0, 29.0, 28.0, 30.0])):
        found = []
        for beside in (moves[:0], np.zeros((2, 30))):
            rows, there = np.vstack([moves, beside]), np.append(counts, np.full(len(beside), 30.0))
            family = Family(500)
            family.add(
                (rows @ signs).astype(np.float32), (rows**2).sum(axis=1), there, np.ones(len(rows))
            )
            found.append(family.least())
        np.testing.assert_array_equal(*found)


def test_the_first_row_keeps_most_of_the_allowed_error() -> None:
    rng = np.random.default_rng(2)
    moves = rng.normal(size=(12, 40))
    signs = sign_patterns(tuple(map(str, range(40))), draws=4000, seed=0)
    weights = np.array([FIRST_WEIGHT, *np.ones(11)])
    levels = added(moves, signs, weights).corrected(np.full(12, 0.5), weights, level=0.95).level
    equal = added(moves, signs, np.ones(12)).corrected(np.full(12, 0.5), np.ones(12), level=0.95)
    assert 0.95 < levels[0] < equal.level[0] < levels[1] < 0.999


def test_an_interval_leaves_out_0_exactly_if_the_corrected_p_is_small_enough() -> None:
    rng = np.random.default_rng(3)
    moves = rng.normal(size=(5, 30))
    signs = sign_patterns(tuple(map(str, range(30))), draws=999, seed=0)
    family = added(moves, signs, np.ones(5))
    asked = np.concatenate([np.linspace(1e-4, 0.05, 500), family.least()[:200]])
    corrected = family.corrected(asked, np.ones(len(asked)), level=0.95)
    assert ((asked < 1 - corrected.level) == (corrected.p_value <= 0.05)).all()


def test_a_cluster_has_the_same_signs_whatever_else_is_compared() -> None:
    one = sign_patterns(("a", "b", "c"), draws=500, seed=4)
    other = sign_patterns(("c", "a"), draws=500, seed=4)
    np.testing.assert_array_equal(one[0], other[1])
    np.testing.assert_array_equal(one[2], other[0])
    assert (one != sign_patterns(("a", "b", "c"), draws=500, seed=5)).any()
    assert set(np.unique(one)) == {-1.0, 1.0}
    with pytest.raises(SelectionError, match="at least 100"):
        sign_patterns(("a",), draws=10, seed=0)
