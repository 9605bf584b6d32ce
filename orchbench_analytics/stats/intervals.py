"""How well a model's scores are known: intervals of every metric, and of gaps between languages.

An interval says where the metric would lie over all scenarios of the kind, of which these are a
sample (Miller 2024, arXiv:2411.00640). A scenario goes with all its runs and steps, and with its
translations. The limits are Gaffke's, the errors those of the jack-knife (`estimate`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
import polars as pl

from orchbench_analytics.metrics import HEADLINE, MEAN_OF_LANGUAGES, METRICS, resolve_metrics
from orchbench_analytics.schema import frame
from orchbench_analytics.stats.estimate import (
    difference,
    difference_interval,
    estimate,
    estimate_block,
    over_languages,
    score_interval,
    support,
)
from orchbench_analytics.stats.sweep import (
    ALONE,
    NOTHING_EXPECTED,
    Array,
    Block,
    expected_of,
    scored_counts,
    sweep_size,
    sweeps,
)
from orchbench_analytics.tables.statistics import INTERVALS, LANGUAGE_GAPS


def intervals(
    scenario_scores: pl.DataFrame,
    *,
    metrics: Iterable[str] = tuple(METRICS),
    clusters: pl.DataFrame = ALONE,
    level: float = 0.95,
    expected: pl.DataFrame = NOTHING_EXPECTED,
) -> pl.DataFrame:
    """Each metric of each model with its error and interval: the table INTERVALS.

    Coverage is of the scenarios that some model has and of those that are `expected`, which has
    the columns of `expected_scenarios`.
    """
    names = resolve_metrics(metrics)
    found = []
    for sweep in sweeps(scenario_scores, names, clusters):
        own = {
            (name, block.language): estimate_block(name, block)
            for name in names
            for block in sweep.blocks
        }
        groups = [
            *((b.language, [b], expected_of(sweep, b.language, expected)) for b in sweep.blocks),
            (MEAN_OF_LANGUAGES, sweep.blocks, expected),
        ]
        for language, blocks, asked in groups:
            coverage = scored_counts(blocks) / sweep_size(blocks, asked)
            for name in names:
                estimates = [own[name, block.language] for block in blocks]
                summary = over_languages(estimates).summary
                interval = score_interval(summary, level=level)
                rows = pl.DataFrame(
                    {
                        **sweep.keys,
                        "metric": name,
                        "language": language,
                        "value": summary.value,
                        "low": interval.low,
                        "high": interval.high,
                        "standard_error": summary.error,
                        "scenario_count": _supporting(name, blocks),
                        "cluster_count": summary.cluster_count,
                        "coverage": coverage,
                    }
                )
                found.append(rows.filter(pl.col("coverage") > 0))
    return frame(INTERVALS, *found)


def language_gaps(
    scenario_scores: pl.DataFrame,
    *,
    metrics: Iterable[str] = HEADLINE,
    clusters: pl.DataFrame = ALONE,
    level: float = 0.95,
) -> pl.DataFrame:
    """Each model's metrics in one language less those in another: the table LANGUAGE_GAPS.

    A scenario is compared with its translation where both are known.
    """
    names = resolve_metrics(metrics)
    found = []
    for sweep in sweeps(scenario_scores, names, clusters):
        for reference, block in combinations(sweep.blocks, 2):
            pairs = np.intersect1d(reference.cluster_of, block.cluster_of)
            for name in names:
                gap = difference(estimate(name, [block]), estimate(name, [reference])).summary
                interval = difference_interval(gap, level=level)
                rows = pl.DataFrame(
                    {
                        **sweep.keys,
                        "metric": name,
                        "language": block.language,
                        "reference_language": reference.language,
                        "gap": gap.value,
                        "low": interval.low,
                        "high": interval.high,
                        "standard_error": gap.error,
                        "pair_count": len(pairs),
                    }
                )
                found.append(rows.filter(~pl.Series(np.isnan(gap.value))))
    return frame(LANGUAGE_GAPS, *found)


def _supporting(name: str, blocks: Sequence[Block]) -> Array:
    """How many scenarios of each contender say something about a metric."""
    counts: Array = np.add.reduce([support(name, block.terms).sum(axis=1) for block in blocks])
    return counts
