"""The questions that take several statistics to answer."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import HEADLINE
from orchbench_analytics.stats.compare import compare, compare_all, compare_with
from orchbench_analytics.stats.consistency import flips, pass_rates
from orchbench_analytics.stats.counts import Contender
from orchbench_analytics.stats.drivers import drivers, step_drivers
from orchbench_analytics.stats.gaps import language_gaps
from orchbench_analytics.stats.noise import model_spread, run_noise
from orchbench_analytics.stats.runs import Frame


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
        return compare_all(scenario_scores, metric=metric, seed=seed, level=level)
    return compare_with(scenario_scores, baseline, metric=metric, seed=seed, level=level)


def all_drivers(
    scenario_scores: pl.DataFrame,
    scored_steps: Frame,
    baseline: str | Contender,
    candidate: str | Contender,
    *,
    metric: str = "average_score",
) -> dict[str, pl.DataFrame]:
    """What carries a difference: scenarios of a metric, agents and tools of the calls."""
    return {
        "scenarios": drivers(scenario_scores, baseline, candidate, metric=metric),
        "agents": step_drivers(scored_steps, baseline, candidate, by="agent"),
        "tools": step_drivers(scored_steps, baseline, candidate, by="tool", metric="FC"),
    }


def consistency(
    scored_steps: Frame, scored_plans: Frame, scenario_scores: pl.DataFrame
) -> dict[str, pl.DataFrame]:
    """How steady models are: from run to run, between models, and between languages."""
    noise = run_noise(scored_steps, scored_plans)
    return {
        "flips": flips(scored_steps),
        "pass_rates": pass_rates(scored_steps),
        "run_noise": noise,
        "spread": model_spread(noise),
        "gaps": language_gaps(scenario_scores),
    }
