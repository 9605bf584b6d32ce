"""How far apart a model's scores in two languages are."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np
import polars as pl

from orchbench_analytics.metrics import HEADLINE, resolve_metrics
from orchbench_analytics.stats.bootstrap import estimate_language
from orchbench_analytics.stats.columns import LANGUAGE_GAPS, frame
from orchbench_analytics.stats.counts import count_by_scenario
from orchbench_analytics.stats.estimate import Estimate, pooled_degrees


def language_gaps(
    scenario_scores: pl.DataFrame,
    *,
    metrics: Iterable[str] = HEADLINE,
    resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> pl.DataFrame:
    """Each model's metrics in one language less those in another: the table LANGUAGE_GAPS.

    Scenarios of two languages are taken to be independent, after Welch.
    """
    names = resolve_metrics(metrics)
    found = []
    for counts in count_by_scenario(scenario_scores, names):
        estimates = {
            language.language: estimate_language(language, names, resamples=resamples, seed=seed)
            for language in counts.languages
        }
        for (first, one), (second, other) in combinations(estimates.items(), 2):
            for name in names:
                gap = _gap(one[name], other[name])
                interval = gap.difference_interval(level=level)
                found.append(
                    pl.DataFrame(
                        {
                            **counts.keys,
                            "metric": name,
                            "language": second,
                            "reference_language": first,
                            "gap": gap.value,
                            "standard_error": gap.standard_error,
                            "low": interval.low,
                            "high": interval.high,
                        }
                    ).filter(~pl.Series(np.isnan(gap.value)))
                )
    return frame(LANGUAGE_GAPS, *found)


def _gap(one: Estimate, other: Estimate) -> Estimate:
    variances = np.stack([one.standard_error**2, other.standard_error**2])
    least = np.minimum(one.even_count, other.even_count)
    return Estimate(
        other.value - one.value,
        np.sqrt(variances.sum(axis=0)),
        np.sqrt(one.cluster_standard_error**2 + other.cluster_standard_error**2),
        pooled_degrees(variances, np.stack([one.degrees, other.degrees])),
        one.scenario_count + other.scenario_count,
        least,
        # All scenarios carry a gap, so that only one without any spread is widened.
        one.scenario_count + other.scenario_count + np.inf,
    )
