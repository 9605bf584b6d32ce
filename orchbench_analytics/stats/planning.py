"""How many scenarios and runs it takes to see a difference."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from math import ceil
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import resolve_metric
from orchbench_analytics.stats.columns import frame
from orchbench_analytics.stats.limits import student_quantile
from orchbench_analytics.stats.run_columns import SWEEP_PLANS
from orchbench_analytics.stats.runs import Frame
from orchbench_analytics.stats.variances import variances

_RUNS = (1, 2, 3, 5, 10)
_POWER = 0.8


class SweepPlan(NamedTuple):
    """The variances of a sweep, the sweeps that would see a difference, and advice in words."""

    variances: pl.DataFrame
    plans: pl.DataFrame
    advice: str


def plan_sweep(
    scored_steps: Frame,
    scored_plans: Frame,
    *,
    metric: str = "average_score",
    difference: float = 0.01,
) -> SweepPlan:
    """What it takes to see a difference in a metric, of the runs of a sweep."""
    name = resolve_metric(metric)
    found = variances(scored_steps, scored_plans, metrics=[name])
    plans = plan_sweeps(found, difference=difference)
    return SweepPlan(found, plans, planning_advice(found, plans, metric=name))


def plan_sweeps(
    found: pl.DataFrame, *, difference: float = 0.01, level: float = 0.95, power: float = _POWER
) -> pl.DataFrame:
    """What sweeps would find a difference, from `variances`: the table SWEEP_PLANS.

    The difference of two models' mean over languages has the variance 2 / languages² x the sum
    over languages of (interaction + run / runs) / scenarios: what a scenario does to all models
    cancels out.
    """
    if not 0 < difference < 1:
        raise SelectionError(f"difference is {difference}; 0.01 is one point, choose below 1")
    rows = []
    groups = found.drop_nulls("interaction_variance").partition_by(
        "profile", "metric", as_dict=True, maintain_order=True
    )
    for (profile, metric), part in groups.items():
        now = _runs_now(part)
        has_runs = part["run_variance"].null_count() == 0
        for runs in sorted({*_RUNS, now}) if has_runs else (now,):
            one = _variance(part, runs)
            least = min(part["scenario_count"].to_list())
            needed = _needed(one, part.height, difference, level=level, power=power)
            rows.append(
                {
                    "profile": profile,
                    "metric": metric,
                    "run_count": runs,
                    "scenario_count": least,
                    "detectable_difference": _detectable(
                        one, least, part.height, level=level, power=power
                    ),
                    "wanted_difference": difference,
                    "needed_scenario_count": needed,
                    "needed_answer_count": needed * runs * part.height,
                }
            )
    return frame(SWEEP_PLANS, pl.DataFrame(rows))


def planning_advice(found: pl.DataFrame, plans: pl.DataFrame, *, metric: str) -> str:
    """Two sentences: what it takes to see the difference, and whether runs or scenarios pay."""
    rows = plans.filter(pl.col("metric") == metric)
    part = found.filter(pl.col("metric") == metric).drop_nulls("interaction_variance")
    if rows.is_empty():
        return "two models over the same scenarios are needed to plan a sweep"
    now = _runs_now(part)
    row = rows.filter(pl.col("run_count") == now).row(0, named=True)
    said = (
        f"with {now} runs of {row['scenario_count']} scenarios a language, two models are told "
        f"apart from a difference of {row['detectable_difference']:.4f} on (80 % power); "
        f"{row['wanted_difference']:g} takes {row['needed_scenario_count']:,} scenarios a language"
    )
    if part["run_variance"].null_count():
        return f"{said}; runs cannot be weighed against scenarios, as there is one run alone"
    before = _variance(part, now)
    run = 1 - np.sqrt(_variance(part, now + 1) / before) if before else 0.0
    scenario = 1 - np.sqrt(now / (now + 1))
    better = "scenarios" if scenario >= run else "runs"
    return (
        f"{said}; one more run of each narrows that by {run:.1%}, as many answers to new scenarios "
        f"by {scenario:.1%}: more {better} are worth more"
    )


def power_advice(row: Mapping[str, Any], *, difference: float = 0.01) -> str | None:
    """For a row of COMPARISONS without a verdict: what it would have taken to tell."""
    detectable, count = row["detectable_difference"], row["scenario_count"]
    if row["verdict"] in ("better", "worse") or not detectable or not count:
        return None
    needed = ceil(count * (detectable / difference) ** 2)
    return (
        f"{row['metric']}: on {count} scenarios a difference below {detectable:.4f} is easily "
        f"missed; to see {difference:g} takes about {needed:,} scenarios like these"
    )


def _runs_now(part: pl.DataFrame) -> int:
    return max(1, round(float(part["mean_run_count"].to_numpy().mean())))


def _variance(part: pl.DataFrame, runs: int) -> float:
    """Mean over languages of a scenario's variance in the difference of two models."""
    chance = part["run_variance"].fill_null(0.0).to_numpy() / runs
    return float((2 * (part["interaction_variance"].to_numpy() + chance)).mean())


def _detectable(one: float, scenarios: int, languages: int, *, level: float, power: float) -> float:
    degrees = np.array([max(1.0, languages * (scenarios - 1.0))])
    factor = student_quantile(0.5 + level / 2, degrees) + student_quantile(power, degrees)
    return float(factor[0] * np.sqrt(one / max(scenarios * languages, 1)))


def _needed(one: float, languages: int, difference: float, *, level: float, power: float) -> int:
    """The least number of scenarios of each language that finds the difference."""

    def is_enough(scenarios: int) -> bool:
        return _detectable(one, scenarios, languages, level=level, power=power) <= difference

    most = 4
    while not is_enough(most):
        most *= 2
    return bisect_left(range(most), True, lo=2, key=is_enough)
