"""How models stand while their sweep is still running: figures that may be looked at at any time.

Someone who looks again and again at ordinary intervals sees a difference in the end, whether there
is one or not. These hold at every look together: confidence sequences (see `anytime_level` in
`estimate`). Models are compared over the scenarios that both have, all pairs corrected together, as
`compare --sequential` does it. A model's best rank is 1 + how many are surely better.
"""

from __future__ import annotations

from collections import Counter

import polars as pl

from orchbench_analytics.schema import frame
from orchbench_analytics.stats.compare import compare_models
from orchbench_analytics.stats.estimate import anytime_level, bounded_interval, estimate
from orchbench_analytics.stats.sweep import (
    ALONE,
    NOTHING_EXPECTED,
    Contender,
    scored_counts,
    sweep_size,
    sweeps,
)
from orchbench_analytics.tables.statistics import STANDINGS

_METRIC = "average_score"


def standings(
    scenario_scores: pl.DataFrame,
    *,
    clusters: pl.DataFrame = ALONE,
    expected: pl.DataFrame = NOTHING_EXPECTED,
    seed: int = 0,
    level: float = 0.95,
) -> pl.DataFrame:
    """Models by their average score so far: the table STANDINGS."""
    found = []
    for sweep in sweeps(scenario_scores, [_METRIC], clusters):
        own = estimate(_METRIC, sweep.blocks).summary
        levels = anytime_level(level, own.cluster_count)
        interval = bounded_interval(own.value, own.error, own.even_count, level=levels)
        rows = scenario_scores.filter(profile=sweep.profile)
        better, worse = _sure_pairs(rows, clusters=clusters, seed=seed, level=level)
        height = len(sweep.contenders)
        found.append(
            pl.DataFrame(
                {
                    **sweep.keys,
                    "average_score": own.value,
                    "low": interval.low,
                    "high": interval.high,
                    "rank_low": [1 + better[contender] for contender in sweep.contenders],
                    "rank_high": [height - worse[contender] for contender in sweep.contenders],
                    "scenario_count": scored_counts(sweep.blocks),
                    "sweep_scenario_count": [sweep_size(sweep.blocks, expected)] * height,
                }
            )
        )
    order = ["profile", "average_score", "model", "experiment"]
    ranked = frame(STANDINGS, *found)
    return ranked.sort(order, descending=[False, True, False, False], nulls_last=True)


def _sure_pairs(
    scenario_scores: pl.DataFrame, *, clusters: pl.DataFrame, seed: int, level: float
) -> tuple[Counter[Contender], Counter[Contender]]:
    """For each contender, how many others are surely better, and how many surely worse."""
    compared = compare_models(
        scenario_scores,
        metrics=[_METRIC],
        is_sequential=True,
        clusters=clusters,
        seed=seed,
        level=level,
    )
    better: Counter[Contender] = Counter()
    worse: Counter[Contender] = Counter()
    columns = ["verdict", "candidate_model", "candidate_experiment"]
    columns += ["baseline_model", "baseline_experiment"]
    for verdict, *names in compared.select(columns).iter_rows():
        candidate, baseline = (names[0], names[1]), (names[2], names[3])
        if verdict == "better":
            better[baseline] += 1
            worse[candidate] += 1
        elif verdict == "worse":
            better[candidate] += 1
            worse[baseline] += 1
    return better, worse
