"""Asking a warehouse which differences are real."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from orchbench_analytics.metrics import HEADLINE, METRICS
from orchbench_analytics.store.verify import names_damage
from orchbench_analytics.warehouse.scores import Scores

if TYPE_CHECKING:
    import polars as pl

    from orchbench_analytics.stats.planning import SweepPlan

Contender = str | tuple[str, str]  # a model, or a model and its experiment


class Differences(Scores):
    """How sure the scores of a warehouse are, and how far apart."""

    def rank_intervals(
        self, profile: str | None = None, *, seed: int = 0, min_coverage: float = 1.0
    ) -> pl.DataFrame:
        """Models by rank, with 95 % intervals of score and rank.

        profile: whose rules count.
        seed: of the resampling; the same seed gives the same figures.
        min_coverage: a model that has less of the sweep's scenarios is not ranked.

        Returns `rank_number`, `rank_low`, `rank_high`, `tier_number`, `average_score`, `low`,
        `high`, coverage, and why a model is not ranked.

        >>> warehouse.rank_intervals().select("model", "rank_low").row(0)
        ('perfect', 1)
        """
        from orchbench_analytics.stats.ranks import rank_intervals
        from orchbench_analytics.views.select import refused_files, unanswered_models

        return rank_intervals(
            self._rows("scenario_scores", profile),
            seed=seed,
            min_coverage=min_coverage,
            expected=self.table("expected_scenarios").collect(),
            refused_files=refused_files(self.table("sources")),
            unanswered=unanswered_models(self.view("model_problems")),
        )

    def intervals(
        self, profile: str | None = None, *, metrics: Sequence[str] | None = None, seed: int = 0
    ) -> pl.DataFrame:
        """Metrics of every model with their 95 % intervals.

        profile: whose rules count.
        metrics: their names; by default all.
        seed: of the resampling; the same seed gives the same figures.

        Returns a row for each metric and language, and `mean` over languages: `value`, `low`,
        `high`, standard errors, `scenario_count`, `coverage_rate`.

        >>> spans = warehouse.intervals(metrics=["average_score"])
        >>> spans.filter(model="perfect", language="mean")["value"].item()
        1.0
        """
        from orchbench_analytics.stats.bootstrap import intervals

        scores = self._rows("scenario_scores", profile)
        expected = self.table("expected_scenarios").collect()
        names = metrics or tuple(METRICS)
        return intervals(scores, metrics=names, seed=seed, expected=expected)

    def compare(
        self,
        baseline: Contender | None = None,
        candidate: Contender | None = None,
        *,
        profile: str | None = None,
        metrics: Sequence[str] = (),
        seed: int = 0,
        level: float = 0.95,
    ) -> pl.DataFrame:
        """Candidate - baseline, paired over common scenarios.

        baseline: a model, or a model and its experiment; without it all pairs are compared.
        candidate: likewise; without it everyone else is compared with the baseline.
        profile: whose rules count.
        metrics: their names; by default the headline.
        seed: of the resampling; the same seed gives the same figures.
        level: of the intervals.

        Returns a row for each pair, metric and language: both values, `difference`, `low`, `high`,
        `p_value`, all corrected for the number of rows too, `effect_size` and `verdict`.

        >>> rows = warehouse.compare("silent", "perfect", metrics=["Plan"])
        >>> rows.filter(language="mean").select("difference", "verdict").row(0)
        (1.0, 'better')
        """
        from orchbench_analytics.stats.compare import compare_models

        scores = self._rows("scenario_scores", profile)
        return compare_models(scores, baseline, candidate, metrics=metrics, seed=seed, level=level)

    @names_damage
    def drivers(
        self,
        baseline: Contender,
        candidate: Contender,
        *,
        profile: str | None = None,
        metric: str = "average_score",
    ) -> dict[str, pl.DataFrame]:
        """What a difference between two models comes from.

        baseline: a model, or a model and its experiment.
        candidate: likewise.
        profile: whose rules count.
        metric: the one whose difference is taken apart.

        Returns `scenarios`, and of answers `agents` and `tools`, each with `driver`, both values
        and `contribution`; the contributions of scenarios add up to the difference.

        >>> scenarios = warehouse.drivers("silent", "perfect")["scenarios"]
        >>> round(scenarios["contribution"].sum(), 9)
        1.0
        """
        from orchbench_analytics.stats.drivers import all_drivers

        chosen = self.profile(profile)
        scores = self._rows("scenario_scores", chosen.name)
        steps = self.scored(chosen.name)["steps"] if chosen.scored_from == "answers" else None
        return all_drivers(scores, steps, baseline, candidate, metric=metric)

    def trends(
        self, tag: str, *, profile: str | None = None, metrics: Sequence[str] | None = None
    ) -> pl.DataFrame:
        """How metrics move with a number known of models, such as a checkpoint's step.

        tag: a numeric column of `model_tags`.
        profile: whose rules count.
        metrics: their names; by default the headline.

        Returns a row for each metric and language: `slope`, its interval, and how sure it is.

        >>> _ = warehouse.tag("sizes.csv")  # of three models
        >>> warehouse.trends("size", metrics=["Plan"]).select("metric", "model_count").row(0)
        ('workflow_similarity', 3)
        """
        from orchbench_analytics.stats.trend import trends

        scores = self._rows("scenario_scores", profile)
        return trends(scores, self._tagged(tag), metrics=metrics or HEADLINE)

    @names_damage
    def consistency(self, profile: str | None = None) -> dict[str, pl.DataFrame]:
        """How steady models are from run to run.

        profile: whose rules count.

        Returns `flips`, `pass_rates`, `run_noise`, `spread` and `gaps`, a frame each.

        >>> sorted(warehouse.consistency())
        ['flips', 'gaps', 'pass_rates', 'run_noise', 'spread']
        """
        from orchbench_analytics.stats.consistency import consistency

        asked = "consistency over runs"
        steps, plans = (self._scored(w, profile, asked=asked) for w in ("steps", "plans"))
        return consistency(steps, plans, self._rows("scenario_scores", profile))

    def plan(
        self, difference: float = 0.01, *, profile: str | None = None, metric: str = "average_score"
    ) -> SweepPlan:
        """How many scenarios and runs it takes to see a difference.

        difference: the smallest that should be seen, in scores of 0 to 1.
        profile: whose rules count.
        metric: the one it should be seen in.

        Returns `variances` by source, `plans` that would see it, and `advice` in words.

        >>> "scenarios" in warehouse.plan(0.05).advice
        True
        """
        from orchbench_analytics.stats.planning import plan_sweep

        asked = "how much runs vary"
        steps, plans = (self._scored(w, profile, asked=asked) for w in ("steps", "plans"))
        return plan_sweep(steps, plans, metric=metric, difference=difference)
