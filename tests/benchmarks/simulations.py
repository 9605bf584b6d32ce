"""Simulated sweeps whose truth is known: coverage, errors, power and ranks, as a table.

Run with `python -m tests.benchmarks.simulations`; it takes some minutes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import polars as pl
from scipy import special

from orchbench_analytics.stats.compare import compare_pairs
from orchbench_analytics.stats.counts import LanguageCounts
from orchbench_analytics.stats.limits import carrying_count, difference_interval, share_interval
from orchbench_analytics.stats.max_t import tested_together
from orchbench_analytics.stats.permute import swap_p_values, swap_patterns
from orchbench_analytics.stats.rank_sets import rank_sets
from tests.stats.conftest import _simulate

Scores = Callable[[np.random.Generator, float, tuple[int, int]], np.ndarray]
SWEEPS = 4000


def lumps(rng: np.random.Generator, mean: float, shape: tuple[int, int]) -> np.ndarray:
    """Most scenarios right, the others losing up to 0.44."""
    is_lost = rng.random(shape) < (1 - mean) / 0.22
    return np.asarray(1 - is_lost * rng.uniform(0, 0.44, shape))


def steps(rng: np.random.Generator, mean: float, shape: tuple[int, int]) -> np.ndarray:
    """Three to six steps, alike within a scenario."""
    count = rng.integers(3, 7, shape)
    return np.asarray(rng.binomial(count, rng.beta(3 * mean, 3 * (1 - mean), shape)) / count)


def coverage(scores: Scores, mean: float, count: int) -> float:
    """How often the 95 % interval of a mean holds the truth."""
    drawn = scores(np.random.default_rng(1), mean, (SWEEPS, count))
    n = np.full(SWEEPS, float(count))
    error = drawn.std(axis=1, ddof=1) / np.sqrt(n)
    found = share_interval(drawn.mean(axis=1), error, n - 1, n, level=0.95)
    return float(((found.low <= mean) & (mean <= found.high)).mean())


def difference_coverage(scores: Scores, one: float, other: float, count: int) -> float:
    """How often the 95 % interval of a difference holds the truth."""
    rng = np.random.default_rng(2)
    drawn = scores(rng, other, (SWEEPS, count)) - scores(rng, one, (SWEEPS, count))
    n = np.full(SWEEPS, float(count))
    error = drawn.std(axis=1, ddof=1) / np.sqrt(n)
    moved = carrying_count(drawn)
    found = difference_interval(drawn.mean(axis=1), error, n - 1, n, moved, level=0.95)
    return float(((found.low <= other - one) & (other - one <= found.high)).mean())


def language(parts: dict[str, np.ndarray], runs: np.ndarray) -> LanguageCounts:
    """Contender by scenario, of parts and runs."""
    names = tuple(f"{place:03d}" for place in range(runs.shape[1]))
    return LanguageCounts("EN", names, np.ones(runs.shape, dtype=bool), runs, parts)


def decisions(rng: np.random.Generator, skills: np.ndarray, runs: np.ndarray, count: int):  # type: ignore[no-untyped-def]
    """Call decisions of contenders in so many runs each."""
    difficulty, own = rng.normal(0, 1, (1, count)), rng.normal(0, 0.4, (len(skills), count))
    chance = special.expit(1.0 + skills[:, None] - difficulty + own)
    asked = rng.integers(1, 6, (1, count)) * runs[:, None]
    right = rng.binomial(asked, chance)
    false = rng.binomial(rng.integers(0, 3, (1, count)) * runs[:, None], 0.4, chance.shape)
    parts = {
        "true_positive_call_count": right.astype(float),
        "false_positive_call_count": false.astype(float),
        "false_negative_call_count": (asked - right).astype(float),
    }
    return language(parts, np.broadcast_to(runs[:, None], chance.shape).astype(float))


def rejected(runs: tuple[int, int], shift: float, count: int, sweeps: int) -> float:
    """How often records of two models with so many runs are found to differ in call F1."""
    rng = np.random.default_rng(3)
    p_values = [
        swap_p_values(
            [decisions(rng, np.array([0.0, shift]), np.array(runs), count)],
            ["call_f1"],
            resamples=500,
            seed=seed,
        )[0]
        for seed in range(sweeps)
    ]
    return float((np.array(p_values) <= 0.05).mean())


def plan_scores(rng: np.random.Generator, skills: np.ndarray, count: int) -> LanguageCounts:
    """Plan similarities of contenders, alike within a scenario."""
    shape = (len(skills), count)
    chance = special.expit(
        1.2 + skills[:, None] + rng.normal(0, 0.5, shape) - rng.normal(0, 1, (1, count))
    )
    parts = {
        "plan_similarity_sum": rng.binomial(12, chance) / 12,
        "plan_similarity_file_count": np.ones(shape),
    }
    return language(parts, np.ones(shape))


def rank_coverage(models: int, count: int, gap: float, sweeps: int) -> tuple[float, float, float]:
    """How often rank sets hold all true ranks, one of them, and that of the best."""
    rng = np.random.default_rng(4)
    truth = np.arange(models, 0, -1)
    held = []
    for seed in range(sweeps):
        drawn = plan_scores(rng, np.linspace(0, gap, models), count)
        score = drawn.parts["plan_similarity_sum"].mean(axis=1)
        sets = rank_sets(
            [drawn], "workflow_similarity", score, resamples=500, seed=seed, level=0.95
        )
        held.append((sets.low <= truth) & (truth <= sets.high))
    found = np.array(held)
    return float(found.all(axis=1).mean()), float(found.mean()), float(found[:, -1].mean())


def family_error(models: int, count: int, sweeps: int) -> float:
    """How often any pair of equal models is found to differ."""
    rng = np.random.default_rng(5)
    first, second = np.triu_indices(models, k=1)
    any_found = []
    for seed in range(sweeps):
        drawn = plan_scores(rng, np.zeros(models), count)
        scores = drawn.parts["plan_similarity_sum"] / count
        swaps = swap_patterns([drawn], resamples=500, seed=seed)
        family = tested_together([scores[second] - scores[first]], swaps, level=0.95)
        any_found.append((family.p_adjusted <= 0.05).any())
    return float(np.mean(any_found))


def all_pairs_seconds(models: int = 200, scenarios: int = 46) -> float:
    """The time for all pairs of a sweep in two languages."""
    skills = list(np.linspace(0.5, 2.5, models))
    sweep: pl.DataFrame = _simulate(
        np.random.default_rng(6), sweeps=1, scenarios=scenarios, skills=skills
    )
    started = time.perf_counter()
    compare_pairs(sweep)
    return time.perf_counter() - started


def main() -> int:
    """Print the table."""
    counts = (8, 12, 20, 45, 90, 220)
    print("coverage of the 95 % interval, %, by n      " + "".join(f"{n:>7}" for n in counts))
    for scores in (lumps, steps):
        for mean in (0.9, 0.98, 0.995):
            row = [100 * coverage(scores, mean, n) for n in counts]
            _print(f"mean, {scores.__name__} {mean}", row)
        for one, other in ((0.98, 0.98), (0.9, 0.98), (0.995, 0.98)):
            row = [100 * difference_coverage(scores, one, other, n) for n in counts]
            _print(f"difference, {scores.__name__} {one} and {other}", row)
    print("\npermutation test of call F1, 24 scenarios: errors and power, %")
    for runs in ((1, 1), (3, 3), (5, 1), (5, 3)):
        row = [100 * rejected(runs, shift, 24, 1500) for shift in (0.0, 0.4)]
        _print(f"{runs[0]} against {runs[1]} runs", row)
    print("\nrank sets: all held, each held, best held, %")
    for models, count, gap in ((10, 24, 0.1), (10, 45, 0.1), (50, 24, 0.1), (50, 45, 0.3)):
        row = [100 * share for share in rank_coverage(models, count, gap, 300)]
        _print(f"{models} models, {count} scenarios, gap {gap}", row)
    print("\nall pairs of equal models: any false finding, %")
    for models, count in ((10, 12), (10, 45), (50, 24)):
        _print(f"{models} models, {count} scenarios", [100 * family_error(models, count, 300)])
    print(f"\nall pairs of 200 models: {all_pairs_seconds():.1f} s")
    return 0


def _print(name: str, row: list[float]) -> None:
    print(f"  {name:<42}" + "".join(f"{value:7.1f}" for value in row), flush=True)


if __name__ == "__main__":
    sys.exit(main())
