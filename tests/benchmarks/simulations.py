"""Simulated sweeps whose truth is known: coverage, false verdicts, ranks, gates and power.

Run with `python -m tests.benchmarks.simulations`; it takes ten to twenty-five minutes, depending on
what else runs, and `--quick`, with a tenth of the replicates, about two. Every figure is a
percentage of simulated sweeps. A figure that misses its bound is marked with `*`: coverage
below 93 %, or more than two Monte Carlo errors beyond
5 % of false verdicts, 94 % of rank sets, or 3 points about 80 % of power.

Each sweep has two languages, and each scenario has a translation. Scores come from a normal copula:
a scenario and its translation have latent difficulties that correlate by 0, 0.5 or 0.8, and two
models on one scenario by 0.5. The scores then have the distribution that the row names.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import special

from orchbench_analytics.metrics import HEADLINE, SOURCE_COLUMNS
from orchbench_analytics.schema import polars_schema
from orchbench_analytics.stats.compare import Compared, compared, contrasts
from orchbench_analytics.stats.consistency import run_noise
from orchbench_analytics.stats.estimate import (
    Summary,
    difference,
    difference_interval,
    difference_p,
    estimate,
    evaluate,
    guarded_low,
    score_interval,
)
from orchbench_analytics.stats.planning import components, plan_sweeps, usual_comparison
from orchbench_analytics.stats.ranks import rank_sets
from orchbench_analytics.stats.sweep import Array, Block, Flags, Sweep
from orchbench_analytics.stats.trend import trends
from orchbench_analytics.tables import SCORED_STEPS

CORRELATIONS = (0.0, 0.5, 0.8)
COUNTS = (20, 45, 110, 220)
LANGUAGES = ("EN", "KO")
PLAN = "workflow_similarity"
ALIKE = 0.5  # the latent correlation of two models on one scenario
FAMILY_DRAWS = 2_000  # of sign patterns where each replicate has a family of its own

Scores = Callable[[Array, float], Array]


@dataclass(frozen=True, slots=True)
class Bound:
    """What a percentage should be; a miss counts beyond so many Monte Carlo errors."""

    least: float = 0.0
    most: float = 100.0
    aim: float = 50.0
    errors: float = 0.0

    def error(self, sweeps: int) -> float:
        """The Monte Carlo error of a percentage that is as it should be."""
        return float(np.sqrt(self.aim * (100 - self.aim) / sweeps))

    def mark(self, value: float, error: float) -> str:
        """A star where a figure misses the bound."""
        slack = self.errors * error + 1e-9
        return " " if self.least - slack <= value <= self.most + slack else "*"


COVERS = Bound(least=93.0, aim=95.0)
RARE = Bound(most=5.0, aim=5.0, errors=2.0)
RANKS_HOLD = Bound(least=94.0, aim=95.0, errors=2.0)
POWER = Bound(least=77.0, most=83.0, aim=80.0, errors=2.0)


# --- scores with a known mean -------------------------------------------------------------------


def smooth(uniform: Array, mean: float) -> Array:
    """Beta(6 mean, 6 (1 - mean)): every score between 0 and 1, skewed towards the nearer end."""
    grid = np.concatenate([np.geomspace(1e-9, 1e-3, 500), np.linspace(1e-3, 1, 4001)[1:]])
    grid = np.unique(np.concatenate([grid, 1 - grid]))
    quantiles = special.betaincinv(6 * mean, 6 * (1 - mean), grid)
    middle = (quantiles[1:] + quantiles[:-1]) / 2
    shift = mean - float(middle @ np.diff(grid))  # what interpolation loses, below 1e-5
    return np.clip(np.interp(uniform, grid, quantiles) + shift, 0.0, 1.0)


def lumps(uniform: Array, mean: float) -> Array:
    """Some scenarios fully right, each of the others losing an even share of a range."""
    least, most = (0.0, 0.44) if mean >= 0.9 else (0.0, 1.0) if mean >= 0.5 else (0.5, 1.0)
    chance = (1 - mean) / ((least + most) / 2)
    lost = np.minimum(uniform / chance, 1.0)
    return np.where(uniform < chance, 1 - (most - (most - least) * lost), 1.0)


def all_or_nothing(uniform: Array, mean: float) -> Array:
    """Right or wrong."""
    return (uniform >= 1 - mean).astype(np.float64)


def rare_zeros(uniform: Array, mean: float) -> Array:
    """Even between 0.98 and 1, with 2 % zeros; the mean is 0.9702."""
    assert mean == ZEROS_MEAN
    return np.where(uniform < 0.02, 0.0, 0.98 + 0.02 * (uniform - 0.02) / 0.98)


ZEROS_MEAN = 0.98 * 0.99
MEANS = (0.3, 0.7, 0.9, 0.98, 0.995)
KINDS: tuple[tuple[Scores, float], ...] = (
    *((kind, mean) for kind in (smooth, lumps, all_or_nothing) for mean in MEANS),
    (rare_zeros, ZEROS_MEAN),
)
PAIRS: tuple[tuple[Scores, float, float], ...] = (
    *((kind, mean, mean) for kind, mean in KINDS),
    *(
        (kind, one, other)
        for kind in (smooth, lumps, all_or_nothing)
        for one, other in ((0.7, 0.9), (0.9, 0.98), (0.98, 0.995))
    ),
)


def latent(
    rng: np.random.Generator, sweeps: int, models: int, count: int, correlation: float
) -> Array:
    """Standard normal, language by sweep by model by scenario, with the correlations above."""
    of_models = np.full((models, models), ALIKE) + (1 - ALIKE) * np.eye(models)
    of_languages = np.full((2, 2), correlation) + (1 - correlation) * np.eye(2)
    free = rng.normal(size=(2, sweeps, models, count))
    alike = np.einsum("mk,askn->asmn", np.linalg.cholesky(of_models), free, optimize=True)
    return np.asarray(np.einsum("ab,bsmn->asmn", np.linalg.cholesky(of_languages), alike))


def sweep_of(terms: Sequence[dict[str, Array]]) -> Sweep:
    """Terms of each language (contender by scenario), a scenario and its translation a cluster."""
    height, count = next(iter(terms[0].values())).shape
    names = tuple(f"{place:03d}" for place in range(count))
    shape = (height, count)
    present: Flags = np.ones(shape, dtype=np.bool_)
    blocks = tuple(
        Block(language, names, np.arange(count), count, present, np.ones(shape), part)
        for language, part in zip(LANGUAGES, terms, strict=True)
    )
    return Sweep("spec", tuple((f"m{place:06d}", "") for place in range(height)), names, blocks)


def plans_of(scores: Array) -> Sweep:
    """A sweep of plan similarities: language by sweep by model by scenario."""
    flat = scores.reshape(2, -1, scores.shape[-1])
    return sweep_of(
        [{"plan_similarity_sum": s, "plan_similarity_file_count": np.ones_like(s)} for s in flat]
    )


def drawn_plans(
    rng: np.random.Generator,
    kind: Scores,
    means: Sequence[float],
    size: tuple[int, int],
    correlation: float,
) -> Sweep:
    """Sweeps (how many, of how many scenarios) of models with these mean plan similarities."""
    uniform = special.ndtr(latent(rng, size[0], len(means), size[1], correlation))
    for place, mean in enumerate(means):
        uniform[:, :, place] = kind(uniform[:, :, place], mean)
    return plans_of(uniform)


def answers(
    rng: np.random.Generator,
    skills: Sequence[float],
    size: tuple[int, int],
    correlation: float,
    *,
    rejecting: float = 0.6,
) -> Sweep:
    """Sweeps with every term: decisions, calls and plans of models of these skills.

    A share of scenarios has one to three steps to reject, all have one to five to call. Steps of a
    scenario are alike in difficulty, and a translation has the same labels.
    """
    sweeps, count = size
    shape = (sweeps, len(skills), count)
    ease = np.asarray(skills)[None, :, None] + latent(rng, sweeps, len(skills), count, correlation)
    asked = rng.integers(1, 4, (sweeps, 1, count)) * (rng.random((sweeps, 1, count)) < rejecting)
    rejections = np.broadcast_to(asked, shape)
    calls = np.broadcast_to(rng.integers(1, 6, (sweeps, 1, count)), shape)
    terms = []
    for of_language in ease:
        decided = special.expit(of_language + rng.normal(0, 0.3, shape))
        rejected, called = rng.binomial(rejections, decided), rng.binomial(calls, decided)
        part: dict[str, npt.NDArray[Any]] = {
            "rejection_label_count": rejections,
            "true_positive_reject_count": rejected,
            "false_positive_reject_count": rng.binomial(calls - called, 0.7),
            "false_negative_reject_count": rejections - rejected,
            "true_positive_call_count": called,
            "false_positive_call_count": rejections - rejected,
            "false_negative_call_count": calls - called,
        }
        for name, easier in (("name_f1", 0.5), ("key_f1", 0.2), ("value_f1", -0.3)):
            chance = special.expit(of_language + easier + rng.normal(0, 0.3, shape))
            part[f"{name}_sum"] = rng.binomial(2 * calls, chance) / (2 * calls)
            part[f"{name}_file_count"] = np.ones(shape)
        chance = special.expit(of_language + rng.normal(0, 0.3, shape))
        part["plan_similarity_sum"] = rng.binomial(12, chance) / 12
        part["plan_similarity_file_count"] = np.ones(shape)
        flat = {term: np.ascontiguousarray(v, dtype=np.float64) for term, v in part.items()}
        terms.append({term: values.reshape(-1, count) for term, values in flat.items()})
    return sweep_of(terms)


def truth_of(skills: Sequence[float], names: Sequence[str], *, rejecting: float = 0.6) -> Array:
    """The metrics of models over very many scenarios: metric by model."""
    rng, sums = np.random.default_rng(1), dict[str, Array]()
    for _ in range(20):  # in pieces, for the sake of memory
        sweep = answers(rng, skills, (50, 400), 0.0, rejecting=rejecting)
        for block in sweep.blocks:
            for term, values in block.terms.items():
                added = values.sum(axis=1).reshape(50, -1).sum(axis=0)
                sums[term] = sums.get(term, 0.0) + added
    found = evaluate(names, sums)
    return np.stack([found[name] for name in names])


def part_of(sweep: Sweep, number: int, models: int) -> Sweep:
    """One of many simulated sweeps."""
    rows = slice(number * models, (number + 1) * models)
    blocks = tuple(
        Block(
            b.language,
            b.scenarios,
            b.cluster_of,
            b.cluster_count,
            b.present[rows],
            b.runs[rows],
            {term: values[rows] for term, values in b.terms.items()},
        )
        for b in sweep.blocks
    )
    return Sweep(sweep.profile, sweep.contenders[rows], sweep.clusters, blocks)


# --- what is measured ---------------------------------------------------------------------------


def share(flags: Flags | Sequence[bool]) -> float:
    """The percentage that is true; NaN of nothing."""
    return 100 * float(np.mean(flags)) if len(flags) else np.nan


def holds(low: Array, truth: float | Array, high: Array) -> Flags:
    """Where an interval holds the truth, rounding errors aside."""
    return np.asarray((low <= truth + 1e-12) & (truth <= high + 1e-12))


def pair_difference(sweep: Sweep, name: str = PLAN) -> Summary:
    """Candidate - baseline of each simulated pair, as `compare` has it."""
    places = np.arange(0, len(sweep.contenders), 2)
    parts = [c.difference.summary for _, c in contrasts(sweep.blocks, places, places + 1, name)]
    return Summary(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))


def interval_ends(found: Compared) -> Iterable[tuple[str, str, Array, Array]]:
    """The corrected intervals of a comparison, with their metric and language."""
    for part in found.parts:
        summary = part.contrast.difference.summary
        weights = np.full(len(summary.value), part.weight)
        level = found.family.corrected(difference_p(summary), weights, level=found.level).level
        ends = difference_interval(summary, level=level)
        yield part.metric, part.language, ends.low, ends.high


Row = tuple[str, list[float]]


class Bench:
    """Tables of percentages, with a share of the usual replicates."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def sweeps(self, usual: int) -> int:
        """How many replicates a cell has."""
        return max(20, round(usual * self.factor))

    def table(
        self,
        title: str,
        bound: Bound,
        sweeps: int,
        rows: Iterable[Row],
        *,
        counts: Sequence[int],
        correlations: Sequence[float] = CORRELATIONS,
    ) -> None:
        """Print rows of one cell for each correlation and number of clusters."""
        error = bound.error(sweeps)
        print(f"\n{title}\n{sweeps} sweeps a cell, Monte Carlo error {error:.1f} points")
        width = 7 * len(counts)
        if len(correlations) > 1:
            print(" " * 38 + "".join(f"{f'corr. {c:g}':>{width}} " for c in correlations))
        numbers = "".join(f"{n:>7}" for n in counts)
        print(f"  {'clusters':<36}" + f"{numbers} " * len(correlations))
        started = time.perf_counter()
        every: list[float] = []
        for name, values in rows:
            cells = [f"{v:6.1f}{bound.mark(v, error)}" if v == v else "      ." for v in values]
            split = [cells[i : i + len(counts)] for i in range(0, len(cells), len(counts))]
            print(f"  {name:<36}" + "".join(f"{''.join(part)} " for part in split), flush=True)
            every += [value for value in values if value == value]
        missed = sum(bound.mark(value, error) == "*" for value in every)
        print(
            f"  from {min(every):.1f} to {max(every):.1f}; {missed} of {len(every)} cells miss the "
            f"bound ({time.perf_counter() - started:.0f} s)",
            flush=True,
        )


def cells(
    measure: Callable[[np.random.Generator, int, float], float], counts: Sequence[int] = COUNTS
) -> list[float]:
    """A row: a figure for each correlation and number of clusters, each with draws of its own."""
    return [
        measure(np.random.default_rng([7, count, int(10 * correlation)]), count, correlation)
        for correlation in CORRELATIONS
        for count in counts
    ]


def bench_scores(bench: Bench) -> None:
    """Intervals of a score: the mean over languages, and one language alone."""
    sweeps = bench.sweeps(2000)
    for title, chosen in (("mean over languages", slice(None)), ("one language", slice(1))):

        def measure(
            kind: Scores,
            mean: float,
            rng: np.random.Generator,
            count: int,
            correlation: float,
            chosen: slice = chosen,
        ) -> float:
            sweep = drawn_plans(rng, kind, [mean], (sweeps, count), correlation)
            found = score_interval(estimate(PLAN, sweep.blocks[chosen]).summary, level=0.95)
            return share(holds(found.low, mean, found.high))

        rows = (
            (f"{kind.__name__} {mean:g}", cells(partial(measure, kind, mean)))
            for kind, mean in KINDS
        )
        title = f"score intervals, {title}: coverage of 95 %"
        bench.table(title, COVERS, sweeps, rows, counts=COUNTS)


def bench_rejections(bench: Bench) -> None:
    """Intervals of reject F1 and Call/Reject where few scenarios have anything to reject.

    Counted are the sweeps in which at least two scenarios do; with fewer there is no interval.
    """
    sweeps = bench.sweeps(2000)
    names = ("reject_f1", "call_rejection_f1")
    skills = (0.5, 2.0, 4.0)

    def rows() -> Iterable[Row]:
        for rejecting in (0.1, 0.3):
            truth = truth_of(skills, names, rejecting=rejecting)
            for name, truths in zip(names, truth, strict=True):
                for skill, value in zip(skills, truths, strict=True):

                    def measure(
                        rng: np.random.Generator,
                        count: int,
                        correlation: float,
                        name: str = name,
                        skill: float = skill,
                        value: float = value,
                        rejecting: float = rejecting,
                    ) -> float:
                        size = (sweeps, count)
                        sweep = answers(rng, [skill], size, correlation, rejecting=rejecting)
                        labels = sweep.blocks[0].terms["rejection_label_count"]
                        is_identified = (labels > 0).sum(axis=1) >= 2
                        found = score_interval(estimate(name, sweep.blocks).summary, level=0.95)
                        return share(holds(found.low, value, found.high)[is_identified])

                    yield f"{name} {value:.2f}, in {rejecting:.0%}", cells(measure)

    title = "few rejections, mean over languages, at least two scenarios with one: coverage of 95 %"
    bench.table(title, COVERS, sweeps, rows(), counts=COUNTS)


def bench_differences(bench: Bench) -> None:
    """One row of a comparison alone: coverage, and false alarms of equal models."""
    sweeps = bench.sweeps(1000)

    def covered(
        kind: Scores,
        one: float,
        other: float,
        rng: np.random.Generator,
        count: int,
        correlation: float,
    ) -> float:
        found = pair_difference(drawn_plans(rng, kind, [one, other], (sweeps, count), correlation))
        interval = difference_interval(found, level=0.95)
        return share(holds(interval.low, other - one, interval.high))

    rows = (
        (f"{kind.__name__} {one:g} and {other:g}", cells(partial(covered, kind, one, other)))
        for kind, one, other in PAIRS
    )
    title = (
        "difference of two models, one row: coverage of 95 %; of equal models, 100 - false alarms"
    )
    bench.table(title, COVERS, sweeps, rows, counts=COUNTS)


def bench_gaps(bench: Bench) -> None:
    """Intervals of the gap between a model's languages."""
    sweeps = bench.sweeps(1000)

    def covered(
        kind: Scores,
        one: float,
        other: float,
        rng: np.random.Generator,
        count: int,
        correlation: float,
    ) -> float:
        uniform = special.ndtr(latent(rng, sweeps, 1, count, correlation))
        sweep = plans_of(np.stack([kind(uniform[0], one), kind(uniform[1], other)]))
        reference, block = ([b] for b in sweep.blocks)
        gap = difference(estimate(PLAN, block), estimate(PLAN, reference)).summary
        interval = difference_interval(gap, level=0.95)
        return share(holds(interval.low, other - one, interval.high))

    rows = (
        (f"{kind.__name__} {one:g} and {other:g}", cells(partial(covered, kind, one, other)))
        for kind, one, other in PAIRS
    )
    title = "gap between two languages of a model: coverage of 95 %"
    bench.table(title, COVERS, sweeps, rows, counts=COUNTS)


def bench_gates(bench: Bench) -> None:
    """Gates on Plan: how often one holds that should not, and one that should.

    The wrong one is -0.01 where the candidate breaks 1.5 % of plans, which costs 0.013. The right
    ones are of a candidate that differs from the baseline by chance alone.
    """
    sweeps, counts = bench.sweeps(2000), (22, 45, 110, 220)

    def held(
        jitter: float,
        languages: int,
        losing: float,
        bound: float,
        rng: np.random.Generator,
        count: int,
        correlation: float,
    ) -> float:
        latents = latent(rng, sweeps, 2, count, correlation)
        scores = 0.87 + jitter * rng.normal(size=latents.shape)
        broken = special.ndtr(latents[:, :, 1]) < losing
        scores[:, :, 1] = np.where(broken, 0.0, scores[:, :, 1])
        sweep = plans_of(scores)
        found = pair_difference(replace(sweep, blocks=sweep.blocks[:languages]))
        low = difference_interval(found, level=0.95).low
        return share(np.minimum(low, guarded_low(found, level=0.95)) >= bound)

    wrong = (
        (
            f"{which}, plans move by {jitter:g}",
            cells(partial(held, jitter, languages, 0.015, -0.01), counts),
        )
        for languages, which in ((2, "two languages"), (1, "one language"))
        for jitter in (0.0, 0.001, 0.02)
    )
    title = "gate Plan >= -0.01, true difference -0.013: wrongly held"
    bench.table(title, RARE, sweeps, wrong, counts=counts)
    right = (
        (
            f"gate {bound:g}, plans move by {jitter:g}",
            cells(partial(held, jitter, 2, 0.0, bound), counts),
        )
        for bound in (-0.01, -0.02, -0.05)
        for jitter in (0.001, 0.05)
    )
    title = "gates on Plan, true difference 0, two languages: rightly held"
    bench.table(title, Bound(), sweeps, right, counts=counts)


def bench_families(bench: Bench, *, pairs: Sequence[tuple[float, float]]) -> None:
    """Twelve rows of two models: whether any of the intervals misses the truth.

    The rows are four metrics, over both languages and in each; of equal models, an interval that
    misses 0 is a false verdict.
    """
    sweeps, counts = bench.sweeps(400), (20, 45, 110)
    own: dict[tuple[float, float], list[float]] = {}

    def missed(
        one: float, other: float, rng: np.random.Generator, count: int, correlation: float
    ) -> float:
        truths = truth[one, other]
        sweep = answers(rng, [one, other], (sweeps, count), correlation)
        wrong, first = np.zeros(sweeps, dtype=np.bool_), np.zeros(sweeps, dtype=np.bool_)
        for number in range(sweeps):
            found = compared(
                part_of(sweep, number, 2),
                np.array([0]),
                np.array([1]),
                HEADLINE,
                by_language=True,
                draws=FAMILY_DRAWS,
                seed=number,
            )
            for metric, language, low, high in interval_ends(found):
                is_wrong = not holds(low, truths[metric], high)[0]
                wrong[number] |= is_wrong
                if (metric, language) == (HEADLINE[0], "mean"):
                    first[number] = is_wrong
        own.setdefault((one, other), []).append(share(first))
        return share(wrong)

    truth = {}
    for pair in pairs:
        values = truth_of(pair, HEADLINE) if pair[0] != pair[1] else np.zeros((len(HEADLINE), 2))
        truth[pair] = dict(zip(HEADLINE, (values[:, 1] - values[:, 0]).tolist(), strict=True))

    def rows() -> Iterable[Row]:
        for one, other in pairs:
            what = f"equal, skill {one:g}" if one == other else f"skills {one:g} and {other:g}"
            yield f"{what}: any of 12 rows", cells(partial(missed, one, other), counts)
            yield f"{what}: first row", own[one, other]

    title = "two models, 12 rows: any interval without the truth (equal models: a false verdict)"
    bench.table(title, RARE, sweeps, rows(), counts=counts)


def bench_ranks(bench: Bench, *, models: int, usual: int, counts: Sequence[int]) -> None:
    """Rank sets of many models: whether all of them hold at once.

    Of equal models they hold if no pair gets a verdict, so that row is also the one for all pairs.
    """
    sweeps = bench.sweeps(usual)

    def held(skills: Array, rng: np.random.Generator, count: int, correlation: float) -> float:
        best = 1 + (skills[None, :] > skills[:, None]).sum(axis=1)
        worst = models - (skills[None, :] < skills[:, None]).sum(axis=1)
        sweep = answers(rng, skills.tolist(), (sweeps, count), correlation)
        found = []
        for number in range(sweeps):
            part = part_of(sweep, number, models)
            whole = estimate(HEADLINE[0], part.blocks)
            sets = rank_sets(whole, part.clusters, seed=number, level=0.95)
            found.append(bool(((sets.low <= best) & (worst <= sets.high)).all()))
        return share(found)

    rows = (
        (name, cells(partial(held, np.asarray(skills)), counts))
        for name, skills in (
            (f"{models} equal models", np.ones(models)),
            (f"{models} models, close", np.linspace(1.0, 1.5, models)),
            (f"{models} models, apart", np.linspace(0.0, 3.0, models)),
        )
    )
    title = f"rank sets of {models} models: all hold (equal models: no pair gets a verdict)"
    bench.table(title, RANKS_HOLD, sweeps, rows, counts=counts)


def rows_of(sweep: Sweep) -> pl.DataFrame:
    """A sweep of plans as rows of `scenario_scores`."""
    frames = [
        pl.DataFrame(
            {
                "profile": "spec",
                "model": np.repeat([model for model, _ in sweep.contenders], len(b.scenarios)),
                "experiment": "",
                "language": b.language,
                "scenario": np.tile(b.scenarios, len(sweep.contenders)),
                "plan_similarity": b.terms["plan_similarity_sum"].ravel(),
            }
        )
        for b in sweep.blocks
    ]
    absent = [
        pl.lit(0 if name.endswith("_count") else None, pl.Float64).alias(name)
        for name in SOURCE_COLUMNS
        if name != "plan_similarity"
    ]
    return pl.concat(frames).with_columns(absent)


def bench_trend(bench: Bench) -> None:
    """Models without a trend: how often one is called rising or falling."""
    sweeps, counts = bench.sweeps(300), (45, 220)

    def shown(
        models: int, scatter: float, rng: np.random.Generator, count: int, correlation: float
    ) -> float:
        means = 0.8 + scatter * rng.normal(size=(1, sweeps, models, 1))
        scores = means + 0.06 * latent(rng, sweeps, models, count, correlation)
        sweep = plans_of(np.clip(scores, 0.0, 1.0))
        found = []
        for number in range(sweeps):
            rows = rows_of(part_of(sweep, number, models))
            clusters = rows.select("language", "scenario", cluster="scenario").unique()
            numbers = rows.select("model", "experiment").unique(maintain_order=True)
            numbered = numbers.with_row_index("step")
            trend = trends(rows, numbered, metrics=[PLAN], clusters=clusters)
            found.append(trend["verdict"][0] in ("rising", "falling"))
        return share(found)

    rows = (
        (name, cells(partial(shown, models, scatter), counts))
        for name, models, scatter in (
            ("6 models scattering by 0.02", 6, 0.02),
            ("6 models scattering by 0.005", 6, 0.005),
            ("4 equal models", 4, 0.0),
        )
    )
    title = "no trend: called rising or falling"
    bench.table(title, RARE, sweeps, rows, counts=counts)


def bench_noise(bench: Bench) -> None:
    """Intervals of the intraclass correlation of three runs, in one language."""
    sweeps, runs = bench.sweeps(1000), 3

    def covered(mean: float, spread: float, precision: float, count: int) -> float:
        """Chances of scenarios from a beta distribution; runs right or wrong, or graded."""
        rng = np.random.default_rng([8, count])
        shape = (sweeps, count, runs)
        chance = rng.beta(mean * spread, (1 - mean) * spread, (sweeps, count, 1))
        inner = np.broadcast_to(np.clip(chance, 1e-6, 1 - 1e-6), shape)
        between = mean * (1 - mean) / (spread + 1)
        of_run = mean * (1 - mean) * spread / (spread + 1)  # of a right or wrong answer
        if precision:
            scores = rng.beta(precision * inner, precision * (1 - inner))
            of_run /= precision + 1
        else:
            scores = rng.binomial(1, inner).astype(np.float64)
        model, scenario, run = (place.ravel() for place in np.indices(shape))
        plans = pl.DataFrame(
            {
                "profile": "spec",
                "model": model.astype(str),
                "experiment": "",
                "language": "EN",
                "scenario": scenario.astype(str),
                "run": run.astype(str),
                "is_scored": True,
                **dict.fromkeys(
                    ("plan_similarity", "structure_similarity", "component_similarity"),
                    scores.ravel(),
                ),
            }
        )
        steps = pl.DataFrame(schema=polars_schema(SCORED_STEPS))
        found = run_noise(steps, plans, metrics=[PLAN]).drop_nulls("intraclass_low")
        low, high = (found[f"intraclass_{end}"].to_numpy() for end in ("low", "high"))
        return share(holds(low, between / (between + of_run), high))

    rows = (
        (
            f"{name} {mean:g}, ICC {1 / (1 + spread / ((precision or 0) + 1)):.2f}",
            [covered(mean, spread, precision, count) for count in COUNTS],
        )
        for name, precision in (("all or nothing", 0.0), ("graded", 8.0))
        for mean in (0.5, 0.9, 0.97)
        for spread in ((0.5, 2.0) if not precision else (4.0, 12.0))
    )
    title = "intraclass correlation of 3 runs, one language: coverage of 95 %"
    bench.table(title, COVERS, sweeps, rows, counts=COUNTS, correlations=(0.0,))


def bench_power(bench: Bench) -> None:
    """At the difference that is said to have 80 % power: how often the first row has a verdict.

    The prediction comes from pilot sweeps of 12 equal models; the pairs are other models on other
    scenarios, one as much better as the other is worse.
    """
    sweeps, counts = bench.sweeps(400), (45, 110)
    pilots = 8

    def predicted(rng: np.random.Generator, skill: float, count: int, correlation: float) -> float:
        pilot = answers(rng, [skill] * 12, (pilots, count), correlation)
        found = []
        for number in range(pilots):
            part = part_of(pilot, number, 12)
            variances = pl.concat(pl.DataFrame(_variances(block)) for block in part.blocks)
            usual = usual_comparison(part, HEADLINE, seed=number)
            plans = plan_sweeps(variances, comparisons={"spec": usual})
            found.append(plans["detectable_difference"].item())
        return float(np.mean(found))

    halves = np.linspace(0.0, 0.8, 7)  # of a shift in skill, to either side
    half_for = {}
    for skill in (1.0, 2.5):
        truth = truth_of([*(skill + halves), *(skill - halves)], HEADLINE[:1])[0]
        gaps = truth[: len(halves)] - truth[len(halves) :]
        half_for[skill] = np.polynomial.Polynomial.fit(gaps - gaps[0], halves, 3)

    def power(skill: float, rng: np.random.Generator, count: int, correlation: float) -> float:
        half = float(half_for[skill](predicted(rng, skill, count, correlation)))
        sweep = answers(rng, [skill - half, skill + half], (sweeps, count), correlation)
        found = []
        for number in range(sweeps):
            pair = compared(
                part_of(sweep, number, 2),
                np.array([0]),
                np.array([1]),
                HEADLINE,
                by_language=True,
                draws=FAMILY_DRAWS,
                seed=number,
            )
            *_, low, _ = next(iter(interval_ends(pair)))
            found.append(bool(low[0] > 0))
        return share(found)

    rows = ((f"skill {skill:g}", cells(partial(power, skill), counts)) for skill in half_for)
    title = "verdicts of the first of 12 rows at the difference that `power` says has 80 %"
    bench.table(title, POWER, sweeps, rows, counts=counts)


def _variances(block: Block) -> dict[str, list[object]]:
    """A row of VARIANCES of Average, of one run of each scenario."""
    found = estimate(HEADLINE[0], [block])
    scores = found.additions * found.cluster_count[:, None]
    parts = components(scores, np.ones_like(scores), np.zeros_like(scores))
    return {
        "profile": ["spec"],
        "language": [block.language],
        "metric": [HEADLINE[0]],
        "scenario_count": [scores.shape[1]],
        "mean_run_count": [1.0],
        "interaction_variance": [parts.interaction],
        "run_variance": [None],
    }


BENCHES: dict[str, Callable[[Bench], None]] = {
    "scores": bench_scores,
    "rejections": bench_rejections,
    "differences": bench_differences,
    "gaps": bench_gaps,
    "gates": bench_gates,
    "equal": partial(bench_families, pairs=((1.0, 1.0), (3.0, 3.0))),
    "unequal": partial(bench_families, pairs=((1.0, 2.0), (2.0, 4.0))),
    "ranks": partial(bench_ranks, models=10, usual=150, counts=(20, 45, 110)),
    "many_ranks": partial(bench_ranks, models=50, usual=50, counts=(45,)),
    "trend": bench_trend,
    "noise": bench_noise,
    "power": bench_power,
}


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Simulations of the statistics, as tables.")
    parser.add_argument("--quick", action="store_true", help="a tenth of the replicates")
    parser.add_argument("--factor", type=float, default=1.0, help="times the usual replicates")
    parser.add_argument("tables", nargs="*", choices=[*BENCHES, []], help="these tables only")
    asked = parser.parse_args()
    bench = Bench(0.1 if asked.quick else asked.factor)
    print(__doc__.split("\n\n", 2)[2].rstrip() if __doc__ else "")
    for name in asked.tables or BENCHES:
        BENCHES[name](bench)
    return 0


if __name__ == "__main__":
    sys.exit(main())
