"""Which differences between models are real.

Throughout, a difference is candidate - baseline: above 0 the candidate is better. Pairs are
compared over the scenarios both have, language by language and over the mean of languages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl

from orchbench_analytics.metrics import (
    HEADLINE,
    Array,
    resolve_metric,
    resolve_metrics,
)
from orchbench_analytics.stats.adjust import benjamini_hochberg, holm
from orchbench_analytics.stats.columns import COMPARISONS, frame
from orchbench_analytics.stats.contrast import Contrast, contrast
from orchbench_analytics.stats.counts import (
    MEAN_OF_LANGUAGES,
    Contender,
    Counts,
    LanguageCounts,
    count_by_scenario,
    find_contender,
)
from orchbench_analytics.stats.pairs import Indices, common_counts
from orchbench_analytics.stats.student import (
    difference_interval,
    interval_factor,
    student_quantile,
)

_POWER = 0.8


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
    """Two (model, experiment) over common scenarios: the table COMPARISONS, Holm over metrics."""
    names = resolve_metrics(metrics)
    found = []
    for counts in count_by_scenario(scenario_scores, names):
        shared = common_counts(counts, baseline, candidate)
        groups: dict[str, Sequence[LanguageCounts]] = {
            **{language.language: [language] for language in shared.languages},
            MEAN_OF_LANGUAGES: shared.languages,
        }
        one, other = np.array([0]), np.array([1])
        for language, members in groups.items():
            contrasts = contrast(members, one, other, names, resamples=resamples, seed=seed)
            p_values = np.array([contrasts[name].p_value[0] for name in names])
            adjusted = holm(p_values)
            rows = [
                _rows(
                    contrasts[name],
                    adjusted[[place]],
                    level=level,
                    # What the clearest possible result has to survive.
                    test_count=int((~np.isnan(p_values)).sum()),
                ).with_columns(metric=pl.lit(name), language=pl.lit(language))
                for place, name in enumerate(names)
            ]
            found.append(pl.concat(rows).with_columns(*_pair_columns(shared, one, other)))
    return frame(COMPARISONS, pl.concat(found) if found else {})


def compare_all(
    scenario_scores: pl.DataFrame,
    *,
    metric: str = "average_score",
    resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> pl.DataFrame:
    """All pairs of a sweep by the mean over languages: COMPARISONS, Benjamini-Hochberg over pairs.

    No p-value is below 1 / (resamples + 1): to find few differences among many pairs, raise it.
    """
    return compare_pairs(
        scenario_scores, None, metric=metric, resamples=resamples, seed=seed, level=level
    )


def compare_pairs(
    scenario_scores: pl.DataFrame,
    pairs: Sequence[tuple[str | Contender, str | Contender]] | None,
    *,
    metric: str = "average_score",
    resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> pl.DataFrame:
    """Chosen pairs of (baseline, candidate), or all where None: as `compare_all`."""
    name = resolve_metric(metric)
    found = []
    for counts in count_by_scenario(scenario_scores, [name]):
        baseline, candidate = _indices(counts.contenders, pairs)
        if not len(baseline):
            continue
        result = contrast(
            counts.languages, baseline, candidate, [name], resamples=resamples, seed=seed
        )[name]
        rows = _rows(result, benjamini_hochberg(result.p_value), level=level, test_count=1)
        found.append(
            rows.with_columns(
                *_pair_columns(counts, baseline, candidate),
                metric=pl.lit(name),
                language=pl.lit(MEAN_OF_LANGUAGES),
            )
        )
    return frame(COMPARISONS, pl.concat(found) if found else {})


def _indices(
    contenders: Sequence[Contender],
    pairs: Sequence[tuple[str | Contender, str | Contender]] | None,
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


def _rows(result: Contrast, adjusted: Array, *, level: float, test_count: int) -> pl.DataFrame:
    estimate = result.difference
    error, count = estimate.standard_error, estimate.scenario_count
    interval = difference_interval(estimate.value, error, estimate.degrees, level=level)
    spread = error * np.sqrt(count)
    effect = np.divide(estimate.value, spread, out=np.full_like(spread, np.nan), where=spread > 0)
    reach = interval_factor(estimate.degrees, level=level)
    return pl.DataFrame(
        {
            "scenario_count": count,
            "baseline_value": result.baseline_value,
            "candidate_value": result.candidate_value,
            "difference": estimate.value,
            "standard_error": error,
            "low": interval.low,
            "high": interval.high,
            "p_value": result.p_value,
            "p_adjusted": adjusted,
            "effect_size": effect,
            "detectable_difference": (reach + student_quantile(_POWER, estimate.degrees)) * error,
        }
    ).with_columns(verdict=_verdict(1 - level, test_count))


def _verdict(alpha: float, test_count: int) -> pl.Expr:
    """Words for the row; the least p-value that n swaps can give is 2 / 2^n."""
    least_p = 2.0 ** (1 - pl.col("scenario_count")) * test_count
    is_found = pl.col("p_adjusted") <= alpha
    return (
        pl.when(pl.col("difference").is_nan() | (least_p > alpha))
        .then(pl.lit("too little data"))
        .when(is_found & (pl.col("difference") > 0))
        .then(pl.lit("better"))
        .when(is_found & (pl.col("difference") < 0))
        .then(pl.lit("worse"))
        .otherwise(pl.lit("no difference shown"))
    )
