"""How well a model's scores are known: intervals of every metric, and of gaps between languages.

An interval says where the metric would lie over all scenarios of the kind, of which these are a
sample (Miller 2024, arXiv:2411.00640). A scenario goes with all its runs and steps, and with its
translations. The limits are Gaffke's, the errors those of the jack-knife (`estimate`).

Coverage is how much of the sweep a model has answered. The sweep's scenarios are those that any
model has a file of, language by language, and those that are expected. An expected number is of all
languages together; it does not say how many each has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
import polars as pl

from orchbench_analytics.metrics import HEADLINE, MEAN_OF_LANGUAGES, METRICS, resolve_metrics
from orchbench_analytics.schema import polars_schema
from orchbench_analytics.stats.estimate import (
    defined_mean,
    difference,
    difference_interval,
    estimate,
    estimate_block,
    evaluate,
    over_languages,
    score_interval,
    support,
)
from orchbench_analytics.stats.sweep import ALONE, SUMMED, Array, Block, Flags, Sweep, sweeps
from orchbench_analytics.tables import EXPECTED_SCENARIOS
from orchbench_analytics.tables.statistics import INTERVALS, LANGUAGE_GAPS, frame

NOTHING_EXPECTED = pl.DataFrame(schema=polars_schema(EXPECTED_SCENARIOS))


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


def scored_counts(blocks: Sequence[Block]) -> npt.NDArray[np.int64]:
    """How many of the sweep's scenarios each contender has."""
    count: npt.NDArray[np.int64] = np.hstack([block.present for block in blocks]).sum(axis=1)
    return count


def sweep_size(blocks: Sequence[Block], expected: pl.DataFrame) -> int:
    """How many scenarios the sweep has: `expected` has the columns of `expected_scenarios`."""
    there = {(block.language, scenario) for block in blocks for scenario in block.scenarios}
    return max(len(there.union(expected.drop_nulls().iter_rows())), expected.height)


def expected_of(sweep: Sweep, language: str, expected: pl.DataFrame) -> pl.DataFrame:
    """What was expected of one language; a mere number is, if it is the only language."""
    is_only = len(sweep.blocks) == 1 and expected["language"].null_count() == expected.height
    return expected if is_only else expected.filter(pl.col("language") == language)


def gap_reason(sweep: Sweep, place: int, expected: pl.DataFrame) -> str:
    """What a contender lacks, in words."""
    total = sweep_size(sweep.blocks, expected)
    missing = total - int(scored_counts(sweep.blocks)[place])
    if not missing:
        return "no score"
    there = {block.language for block in sweep.blocks if block.present[place].any()}
    asked = {block.language for block in sweep.blocks}.union(expected["language"].drop_nulls())
    gone = sorted(asked - there)
    reason = f"{missing} of {total} scenarios missing"
    return f"{reason}, all of {', '.join(gone)}" if gone else reason


def expected_scores(sweep: Sweep, name: str) -> Array:
    """The mean over all languages of a metric from 0 to 1, missing files filled in: an estimate.

    What a missing file would have added is taken from a two-way fit by least squares: an effect of
    the model, over all its files, and an effect of the scenario, over all models that have it. It
    assumes that what is hard for one model is hard for all.
    """
    present = np.hstack([block.present for block in sweep.blocks])
    runs = np.hstack([block.runs for block in sweep.blocks])
    usual_runs = np.average(runs, axis=1, weights=present)[:, None]
    ends = np.cumsum([len(block.scenarios) for block in sweep.blocks])[:-1]
    sums: list[dict[str, Array]] = [{} for _ in sweep.blocks]
    for term in sweep.blocks[0].terms:
        known = np.hstack([block.terms[term] for block in sweep.blocks])
        if not present.all():
            # Of one run, so that files with more runs weigh as much as others.
            is_summed = term in SUMMED
            fitted = two_way_fit(known / runs if is_summed else known, present)
            guess = np.maximum(fitted, 0.0) * (usual_runs if is_summed else 1.0)
            known = np.where(present, known, guess)
        for block, values in zip(sums, np.split(known, ends, axis=1), strict=True):
            block[term] = values.sum(axis=1)
    return defined_mean([np.clip(evaluate([name], block)[name], 0.0, 1.0) for block in sums])


def two_way_fit(values: Array, present: Flags) -> Array:
    """Row effect + column effect of every cell, by least squares over the cells that are there.

    The analysis of a two-way table with unequal numbers (Yates 1934,
    doi:10.1080/01621459.1934.10502686).
    """
    weight = present.astype(np.float64)
    in_row, in_column = weight.sum(axis=1), weight.sum(axis=0)
    row_mean = (values * weight).sum(axis=1) / np.maximum(in_row, 1)
    # The row effects are eliminated: what is left are equations for the columns alone.
    equations = np.diag(in_column) - (weight / np.maximum(in_row, 1)[:, None]).T @ weight
    column_sums = ((values - row_mean[:, None]) * weight).sum(axis=0)
    columns = np.linalg.lstsq(equations, column_sums, rcond=None)[0]
    rows = row_mean - weight @ columns / np.maximum(in_row, 1)
    fitted: Array = rows[:, None] + columns[None, :]
    return fitted
