"""How many scenarios and runs it takes to see a difference.

The variance of a score is taken apart into what models, scenarios, their interaction and chance
between runs make of it. A planned comparison is the one that `compare` makes: its correction for
several rows, its degrees of freedom, and what translated scenarios have in common are taken from
the pairs of models that are there. The components are those of the analysis of variance of a
two-way table (Searle, Casella and McCulloch 1992, doi:10.1002/9780470316856).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import HEADLINE, resolve_metric, resolve_metrics
from orchbench_analytics.schema import frame
from orchbench_analytics.stats.compare import compared, contrasts
from orchbench_analytics.stats.consistency import run_counts, scenario_of_cell, sweeps_of_runs
from orchbench_analytics.stats.estimate import estimate_clusters, student_quantile
from orchbench_analytics.stats.sweep import ALONE, Array, Block, Frame, Sweep, sweeps
from orchbench_analytics.tables.statistics import SWEEP_PLANS, VARIANCES

_RUNS = (1, 2, 3, 5, 10)
_POWER = 0.8
_MOST_PAIRS, _MOST_FAMILIES, _PLANNING_DRAWS = 200, 20, 2_000


class SweepPlan(NamedTuple):
    """The variances of a sweep, the sweeps that would see a difference, and advice in words."""

    variances: pl.DataFrame
    plans: pl.DataFrame
    advice: str


class Comparison(NamedTuple):
    """How `compare` tells two models apart.

    level: of the interval of the row asked about first.
    design_effect: the variance of a difference over that of independent languages (Kish 1965).
    clusters: of scenarios, for each scenario of a language.
    carried: the share of clusters that carry a difference.
    """

    level: float = 0.95
    design_effect: float = 1.0
    clusters: float | None = None
    carried: float = 1.0


def plan_sweep(
    scored_steps: Frame,
    scored_plans: Frame,
    scenario_scores: pl.DataFrame,
    *,
    metric: str = "average_score",
    difference: float = 0.01,
    clusters: pl.DataFrame = ALONE,
    seed: int = 0,
) -> SweepPlan:
    """What it takes to see a difference in a metric, of the runs of a sweep."""
    name = resolve_metric(metric)
    found = variances(scored_steps, scored_plans, metrics=[name])
    names = tuple(dict.fromkeys((name, *HEADLINE)))
    comparisons = {
        sweep.profile: usual_comparison(sweep, names, seed=seed)
        for sweep in sweeps(scenario_scores, names, clusters)
    }
    plans = plan_sweeps(found, difference=difference, comparisons=comparisons)
    return SweepPlan(found, plans, planning_advice(found, plans, metric=name))


def usual_comparison(sweep: Sweep, names: tuple[str, ...], *, seed: int = 0) -> Comparison:
    """How pairs of models of a sweep are told apart in the first metric: the mean over pairs."""
    first, second = np.triu_indices(len(sweep.contenders), k=1)
    if not len(first) or not sweep.blocks:
        return Comparison()
    chosen = np.random.default_rng(seed).permutation(len(first))[:_MOST_PAIRS]
    pairs = first[chosen], second[chosen]
    (_, whole), *_ = contrasts(sweep.blocks, *pairs, names[0])
    summary = whole.difference.summary
    alone = [
        next(iter(contrasts([block], *pairs, names[0])))[1].difference.summary.error
        for block in sweep.blocks
    ]
    apart = np.nansum(np.stack(alone) ** 2) / len(sweep.blocks) ** 2
    is_known = summary.cluster_count > 1
    if not is_known.any() or not apart:
        return Comparison()
    levels = [
        compared(
            sweep, one[None], other[None], names, by_language=True, draws=_PLANNING_DRAWS, seed=seed
        ).first_level()
        for one, other in list(zip(*pairs, strict=True))[:_MOST_FAMILIES]
    ]
    scenarios = min(len(block.scenarios) for block in sweep.blocks)
    return Comparison(
        float(np.mean(levels)),
        float(np.nansum(summary.error**2) / apart),
        float(summary.cluster_count[is_known].mean()) / scenarios,
        float((summary.effective_count / np.maximum(summary.cluster_count, 1))[is_known].mean()),
    )


def plan_sweeps(
    found: pl.DataFrame,
    *,
    difference: float = 0.01,
    comparisons: Mapping[str, Comparison] | None = None,
    power: float = _POWER,
) -> pl.DataFrame:
    """What sweeps would find a difference, from `variances`: the table SWEEP_PLANS.

    The difference of two models' mean over languages has the variance 2 / languages² x the sum
    over languages of (interaction + run / runs) / scenarios: what a scenario does to all models
    cancels out. Translations that are alike multiply it by the design effect.
    """
    if not 0 < difference < 1:
        raise SelectionError(f"difference is {difference}; 0.01 is one point, choose below 1")
    rows = []
    groups = found.drop_nulls("interaction_variance").partition_by(
        "profile", "metric", as_dict=True, maintain_order=True
    )
    for (profile, metric), part in groups.items():
        now = _runs_now(part)
        usual = (comparisons or {}).get(str(profile), Comparison())
        has_runs = part["run_variance"].null_count() == 0
        for runs in sorted({*_RUNS, now}) if has_runs else (now,):
            one = _variance(part, runs)
            least = min(part["scenario_count"].to_list())
            needed = _needed(one, part.height, difference, usual, power=power)
            rows.append(
                {
                    "profile": profile,
                    "metric": metric,
                    "run_count": runs,
                    "scenario_count": least,
                    "detectable_difference": _detectable(
                        one, least, part.height, usual, power=power
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
        f"with {now} runs of {row['scenario_count']} scenarios per language, a difference of "
        f"{row['detectable_difference']:.4f} or more between two models is detected (80 % power); "
        f"{row['wanted_difference']:g} takes {row['needed_scenario_count']:,} scenarios per "
        "language"
    )
    if part["run_variance"].null_count():
        return f"{said}; with a single run, runs cannot be weighed against scenarios"
    before = _variance(part, now)
    run = 1 - np.sqrt(_variance(part, now + 1) / before) if before else 0.0
    scenario = 1 - np.sqrt(now / (now + 1))
    better = "scenarios" if scenario >= run else "runs"
    return (
        f"{said}; one more run of each scenario narrows that by {run:.1%}, the same number of "
        f"answers to new scenarios by {scenario:.1%}: more {better} are worth more"
    )


def _runs_now(part: pl.DataFrame) -> int:
    return max(1, round(float(part["mean_run_count"].to_numpy().mean())))


def _variance(part: pl.DataFrame, runs: int) -> float:
    """Mean over languages of a scenario's variance in the difference of two models."""
    chance = part["run_variance"].fill_null(0.0).to_numpy() / runs
    return float((2 * (part["interaction_variance"].to_numpy() + chance)).mean())


def _detectable(
    one: float, scenarios: int, languages: int, usual: Comparison, *, power: float
) -> float:
    clusters = scenarios * (languages if usual.clusters is None else usual.clusters)
    degrees = np.array([max(1.0, usual.carried * clusters - 1.0)])
    factor = student_quantile(0.5 + usual.level / 2, degrees) + student_quantile(power, degrees)
    variance = one * usual.design_effect / max(scenarios * languages, 1)
    return min(float(factor[0] * np.sqrt(variance)), 1.0)


def _needed(
    one: float, languages: int, difference: float, usual: Comparison, *, power: float
) -> int:
    """The least number of scenarios of each language that finds the difference."""

    def is_enough(scenarios: int) -> bool:
        return _detectable(one, scenarios, languages, usual, power=power) <= difference

    most = 4
    while not is_enough(most):
        most *= 2
    return bisect_left(range(most), True, lo=2, key=is_enough)


class Components(NamedTuple):
    """Variances of one score; NaN where there is nothing to tell them by."""

    model: float
    scenario: float
    interaction: float
    run: float


def variances(
    scored_steps: Frame, scored_plans: Frame, *, metrics: Iterable[str] = HEADLINE
) -> pl.DataFrame:
    """The variances of each metric by language: the table VARIANCES."""
    names = resolve_metrics(metrics)
    rows = []
    for counts in sweeps_of_runs(run_counts(scored_steps, scored_plans), names):
        for block in counts.blocks:
            for name in names:
                means, runs, within = _cells(block, name)
                found = components(means, runs, within)
                rows.append(
                    {
                        "profile": counts.profile,
                        "language": block.language,
                        "metric": name,
                        "model_count": means.shape[0],
                        "scenario_count": means.shape[1],
                        "mean_run_count": 1 / (1 / runs).mean() if runs.size else np.nan,
                        "model_variance": found.model,
                        "scenario_variance": found.scenario,
                        "interaction_variance": found.interaction,
                        "run_variance": found.run,
                    }
                )
    return frame(VARIANCES, pl.DataFrame(rows))


def components(means: Array, runs: Array, within: Array) -> Components:
    """Variances from model by scenario: means over runs, numbers of runs, squares within.

    By the analysis of variance (Searle, Casella and McCulloch 1992). Negative estimates are 0. One
    run a cell leaves chance and interaction together, as the latter.
    """
    models, scenarios = means.shape
    if models < 2 or scenarios < 2:
        return Components(np.nan, np.nan, np.nan, np.nan)
    of_model, of_scenario = means.mean(axis=1, keepdims=True), means.mean(axis=0, keepdims=True)
    rest = means - of_model - of_scenario + means.mean()
    interaction = (rest**2).sum() / ((models - 1) * (scenarios - 1))
    degrees = (runs - 1).sum()
    run = within.sum() / degrees if degrees else np.nan
    chance = run * (1 / runs).mean() if degrees else 0.0
    return Components(
        max(float(of_model.var(ddof=1) - interaction / scenarios), 0.0),
        max(float(of_scenario.var(ddof=1) - interaction / models), 0.0),
        max(float(interaction - chance), 0.0),
        float(run),
    )


def _cells(block: Block, name: str) -> tuple[Array, Array, Array]:
    """Model by scenario, of models that have all: mean score, runs, and squares within."""
    member = scenario_of_cell(block)
    found = estimate_clusters(name, block.terms)
    supported = found.supported
    scores = found.additions * supported.sum(axis=1, keepdims=True)
    runs = supported.astype(np.float64) @ member
    asked = runs.any(axis=0)
    whole = (runs[:, asked] > 0).all(axis=1)
    mean = np.divide(scores @ member, runs, out=np.zeros_like(runs), where=runs > 0)
    within = (np.where(supported, scores - mean @ member.T, 0.0) ** 2) @ member
    return mean[whole][:, asked], runs[whole][:, asked], within[whole][:, asked]
