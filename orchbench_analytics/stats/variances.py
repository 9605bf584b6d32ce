"""Where the spread of scores comes from: models, scenarios, their interaction, and runs.

score of a run = mean + model + scenario + what this model makes of this scenario + chance. The
variances are those of the two-way analysis of variance, with the means over runs in the cells.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import polars as pl

from orchbench_analytics.metrics import HEADLINE, resolve_metrics
from orchbench_analytics.stats.columns import frame
from orchbench_analytics.stats.counts import LanguageCounts
from orchbench_analytics.stats.evaluate import Array, scenario_additions, support
from orchbench_analytics.stats.run_columns import VARIANCES
from orchbench_analytics.stats.runs import Frame, count_by_run, run_counts, scenario_of_cell


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
    for counts in count_by_run(run_counts(scored_steps, scored_plans), names):
        for language in counts.languages:
            for name in names:
                means, runs, within = _cells(language, name)
                found = components(means, runs, within)
                rows.append(
                    {
                        "profile": counts.profile,
                        "language": language.language,
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

    Negative estimates are 0. One run a cell leaves chance and interaction together, as the latter.
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


def _cells(language: LanguageCounts, name: str) -> tuple[Array, Array, Array]:
    """Model by scenario, of models that have all: mean score, runs, and squares within."""
    member = scenario_of_cell(language)
    supported = support(name, language.parts)
    scores = scenario_additions(name, language.parts, supported)
    scores = np.nan_to_num(scores * supported.sum(axis=1, keepdims=True))
    runs = supported.astype(np.float64) @ member
    asked = runs.any(axis=0)
    whole = (runs[:, asked] > 0).all(axis=1)
    mean = np.divide(scores @ member, runs, out=np.zeros_like(runs), where=runs > 0)
    within = (np.where(supported, scores - mean @ member.T, 0.0) ** 2) @ member
    return mean[whole][:, asked], runs[whole][:, asked], within[whole][:, asked]
