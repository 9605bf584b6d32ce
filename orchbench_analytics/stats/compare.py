"""Which differences between models are real.

Throughout, a difference is candidate - baseline: above 0 the candidate is better. Pairs are
compared over the scenarios both have, language by language and over the mean of languages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import HEADLINE, MEAN_OF_LANGUAGES, resolve_metric, resolve_metrics
from orchbench_analytics.stats.columns import COMPARISONS, frame
from orchbench_analytics.stats.contrast import Contrast, contrast
from orchbench_analytics.stats.counts import (
    Contender,
    Counts,
    LanguageCounts,
    count_by_scenario,
    find_contender,
)
from orchbench_analytics.stats.evaluate import Array
from orchbench_analytics.stats.max_t import tested_together
from orchbench_analytics.stats.pairs import Indices, common_counts
from orchbench_analytics.stats.permute import swap_p_values, swap_patterns

Pair = tuple[str | Contender, str | Contender]


class _Test(NamedTuple):
    """p-values alone and together, the level of each interval, and over how many rows it is."""

    p_value: Array
    p_adjusted: Array
    each_level: float
    row_count: int


def compare_models(
    scenario_scores: pl.DataFrame,
    baseline: str | Contender | None,
    candidate: str | Contender | None,
    *,
    metrics: Sequence[str] = (),
    seed: int = 0,
    level: float = 0.95,
) -> pl.DataFrame:
    """Two models, everyone else against a baseline, or all pairs: the table COMPARISONS."""
    if baseline is not None and candidate is not None:
        chosen = metrics or HEADLINE
        return compare(scenario_scores, baseline, candidate, metrics=chosen, seed=seed, level=level)
    if candidate is not None:
        raise SelectionError("name a baseline to compare the candidate with")
    if len(metrics) > 1:
        raise SelectionError("many models are compared in one metric; choose one")
    metric = metrics[0] if metrics else HEADLINE[0]
    if baseline is None:
        return compare_pairs(scenario_scores, metric=metric, seed=seed, level=level)
    return compare_with(scenario_scores, baseline, metric=metric, seed=seed, level=level)


def compare(
    scenario_scores: pl.DataFrame,
    baseline: str | Contender,
    candidate: str | Contender,
    *,
    metrics: Iterable[str] = HEADLINE,
    resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
) -> pl.DataFrame:
    """Two (model, experiment) over common scenarios: the table COMPARISONS, Holm over all rows."""
    names = resolve_metrics(metrics)
    found = []
    for counts in count_by_scenario(scenario_scores, names):
        shared = common_counts(counts, baseline, candidate)
        groups: dict[str, Sequence[LanguageCounts]] = {
            **{language.language: [language] for language in shared.languages},
            MEAN_OF_LANGUAGES: shared.languages,
        }
        one, other = np.array([0]), np.array([1])
        contrasts, p_values = [], []
        for language, members in groups.items():
            options = {"resamples": resamples, "seed": seed}
            p_values.append(swap_p_values(members, names, **options))
            for name, result in contrast(members, one, other, names, **options).items():
                contrasts.append((language, name, result))
        tests = _holm_tests(np.concatenate(p_values), level=level)
        found += [
            _rows(result, test, level=level).with_columns(
                *_pair_columns(shared, one, other),
                metric=pl.lit(name),
                language=pl.lit(language),
            )
            for test, (language, name, result) in zip(tests, contrasts, strict=True)
        ]
    return frame(COMPARISONS, *found)


def compare_with(
    scenario_scores: pl.DataFrame,
    baseline: str | Contender,
    *,
    metric: str = "average_score",
    resamples: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
) -> pl.DataFrame:
    """Everyone else against one baseline: COMPARISONS, max-t over all of them."""
    contenders = scenario_scores.select("model", "experiment").unique().sort(pl.all()).rows()
    own = contenders[find_contender(contenders, baseline)]
    pairs: list[Pair] = [(own, other) for other in contenders if other != own]
    return compare_pairs(
        scenario_scores, pairs, metric=metric, resamples=resamples, seed=seed, level=level
    )


def compare_pairs(
    scenario_scores: pl.DataFrame,
    pairs: Sequence[Pair] | None = None,
    *,
    metric: str = "average_score",
    resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> pl.DataFrame:
    """Pairs of (baseline, candidate), or all there are, by the mean over languages: COMPARISONS.

    p-values and intervals are corrected for all pairs (max-t); none is below 1 / (resamples + 1).
    """
    name = resolve_metric(metric)
    found = []
    for counts in count_by_scenario(scenario_scores, [name]):
        baseline, candidate = _indices(counts.contenders, pairs)
        if not len(baseline):
            continue
        result = contrast(
            counts.languages, baseline, candidate, [name], resamples=resamples, seed=seed
        )[name]
        swaps = swap_patterns(counts.languages, resamples=resamples, seed=seed)
        family = tested_together(result.additions, swaps, level=level)
        is_undefined = np.isnan(result.difference.value)
        test = _Test(
            np.where(is_undefined, np.nan, family.p_value),
            np.where(is_undefined, np.nan, family.p_adjusted),
            family.each_level,
            1,
        )
        found.append(
            _rows(result, test, level=level).with_columns(
                *_pair_columns(counts, baseline, candidate),
                metric=pl.lit(name),
                language=pl.lit(MEAN_OF_LANGUAGES),
            )
        )
    return frame(COMPARISONS, *found)


def holm(p_values: Array) -> Array:
    """Holm's step-down p-values: the chance of any false finding stays below the level.

    The i-th smallest of m becomes the greatest of (m - j + 1) p_j over j up to i, at most 1;
    undefined p-values stay NaN and do not count.
    """
    result = np.full_like(p_values, np.nan)
    known = np.flatnonzero(~np.isnan(p_values))
    order = known[np.argsort(p_values[known], kind="stable")]
    scaled = np.arange(len(order), 0, -1) * p_values[order]
    result[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return result


def _holm_tests(p_values: Array, *, level: float) -> list[_Test]:
    """Holm over all rows that have a p-value; each interval has the level of its row's step."""
    row_count = int((~np.isnan(p_values)).sum())
    adjusted = holm(p_values)
    found_count = int(np.sum(adjusted <= 1 - level))
    tests = []
    for place, p_value in enumerate(p_values):
        found_before = min(int(np.sum(p_values < p_value)), found_count)
        each_level = 1 - (1 - level) / max(row_count - found_before, 1)
        tests.append(_Test(p_values[[place]], adjusted[[place]], each_level, row_count))
    return tests


def _indices(
    contenders: Sequence[Contender], pairs: Sequence[Pair] | None
) -> tuple[Indices, Indices]:
    if pairs is None:
        first, second = np.triu_indices(len(contenders), k=1)
        return first.astype(np.int64), second.astype(np.int64)
    places = [[find_contender(contenders, name) for name in pair] for pair in pairs]
    both = np.array(places, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _pair_columns(
    counts: Counts, baseline: Indices, candidate: Indices
) -> list[pl.Series | pl.Expr]:
    columns: list[pl.Series | pl.Expr] = [pl.lit(counts.profile).alias("profile")]
    for role, places in (("baseline", baseline), ("candidate", candidate)):
        for position, part in enumerate(("model", "experiment")):
            values = [counts.contenders[place][position] for place in places]
            columns.append(
                pl.lit(values[0]).alias(f"{role}_{part}")
                if len(values) == 1
                else pl.Series(f"{role}_{part}", values)
            )
    return columns


def _rows(result: Contrast, test: _Test, *, level: float) -> pl.DataFrame:
    estimate = result.difference
    error, count = estimate.standard_error, estimate.scenario_count
    interval = estimate.difference_interval(level=level)
    together = estimate.difference_interval(level=test.each_level)
    spread = error * np.sqrt(count)
    effect = np.divide(estimate.value, spread, out=np.full_like(spread, np.nan), where=spread > 0)
    return pl.DataFrame(
        {
            "scenario_count": count,
            "baseline_value": result.baseline_value,
            "candidate_value": result.candidate_value,
            "difference": estimate.value,
            "standard_error": error,
            "low": interval.low,
            "high": interval.high,
            "low_adjusted": together.low,
            "high_adjusted": together.high,
            "p_value": test.p_value,
            "p_adjusted": test.p_adjusted,
            "effect_size": effect,
            "detectable_difference": estimate.detectable_difference(level=test.each_level),
        }
    ).with_columns(verdict=_verdict(1 - level, test.row_count))


def _verdict(alpha: float, row_count: int) -> pl.Expr:
    """Words for the row, on which p-value and interval have to agree.

    The least p-value that n swaps can give is 2 / 2^n.
    """
    least_p = 2.0 ** (1 - pl.col("scenario_count")) * row_count
    is_found = pl.col("p_adjusted") <= alpha
    return (
        pl.when(pl.col("difference").is_nan() | (least_p > alpha))
        .then(pl.lit("too little data"))
        .when(is_found & (pl.col("low_adjusted") > 0))
        .then(pl.lit("better"))
        .when(is_found & (pl.col("high_adjusted") < 0))
        .then(pl.lit("worse"))
        .otherwise(pl.lit("no difference shown"))
    )
