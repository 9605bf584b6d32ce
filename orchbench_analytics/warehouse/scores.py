"""Asking a warehouse for scores, and whether they can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchbench_analytics.profiles import UPSTREAM
from orchbench_analytics.store.verify import Finding, names_damage, verify
from orchbench_analytics.warehouse.rows import Rows

if TYPE_CHECKING:
    import polars as pl

    from orchbench_analytics.outputs.check import CheckReport


class Scores(Rows):
    """The scores of a warehouse, under any profile it was scored under."""

    def leaderboard(
        self, profile: str | None = None, *, by: str | None = None, min_coverage: float = 1.0
    ) -> pl.DataFrame:
        """Models by rank, or groups of models.

        profile: whose rules count.
        by: a column of `model_tags` whose values make the groups.
        min_coverage: a model that has less of the sweep's scenarios is not ranked.

        Returns the columns of the view `leaderboard`; of groups the tag, `model_count`, and the
        mean of each metric.

        >>> warehouse.leaderboard("strict").select("rank_number", "model", "average_score").row(0)
        (1, 'perfect', 1.0)
        """
        from orchbench_analytics.outputs.leaderboard import by_tag, in_order, ranked_from

        board = self._rows("leaderboard", profile)
        if min_coverage < 1:
            board = ranked_from(board, min_coverage)
        board = in_order(board)
        return board if by is None else by_tag(board, self._tagged(by), by)

    def scenario_scores(self, profile: str | None = None) -> pl.DataFrame:
        """Every scenario of every model.

        profile: whose rules count.

        Returns the columns of the view `scenario_scores`: keys, counts and scores.

        >>> warehouse.scenario_scores().filter(model="perfect")["plan_similarity"].min()
        1.0
        """
        return self._rows("scenario_scores", profile)

    def scored(self, profile: str | None = None) -> dict[str, pl.LazyFrame]:
        """What was scored, step by step.

        profile: whose rules count.

        Returns `steps` (decisions and calls) and `plans`, with the columns of the tables
        `scored_steps` and `scored_plans`.

        >>> steps = warehouse.scored()["steps"].filter(model="silent").collect()
        >>> steps["predicted"].unique().item()
        'failed'
        """
        asked = "a single step"
        return {what: self._scored(what, profile, asked=asked) for what in ("steps", "plans")}

    @names_damage
    def results(
        self,
        model: str,
        *,
        experiment: str | None = None,
        language: str | None = None,
        profile: str | None = None,
    ) -> dict[str, Any]:
        """A model's results in the format of the benchmark's own evaluator.

        model: its name.
        experiment: which of several; one that is alone need not be named.
        language: which of several; one that is alone need not be named.
        profile: whose rules count; by default `upstream`, whose figures are the evaluator's own, or
            `reported` if there are result files alone.

        Returns the document: `directory`, `profile`, `overall_statistics` and `detailed_results`.

        >>> document = warehouse.results("perfect", language="EN", profile="spec")
        >>> document["overall_statistics"]["key_metrics"]["Average"]
        1.0
        """
        from orchbench_analytics.outputs.results import result_document
        from orchbench_analytics.views.select import one_result, profiles_with_rows

        chosen = self.manifest()
        if profile is None and UPSTREAM.name in profiles_with_rows(chosen):
            profile = UPSTREAM.name
        scored = self.profile(profile)
        result = one_result(chosen, model, experiment, language)
        with self.connect(only=["model_scores", "scenario_scores"]) as connection:
            return result_document(connection, scored, **result._asdict())

    @names_damage
    def check(self) -> CheckReport:
        """Whether all counts add up, and an evaluator's reported figures agree with ours.

        Returns what was `compared`, in words, and the figures with `differences`.

        >>> warehouse.check().differences.height
        0
        """
        from orchbench_analytics.outputs.check import check, explained_by_self_loops
        from orchbench_analytics.views.catalog import all_relations

        with self.connect(only=all_relations()) as connection:
            report = check(connection)
        with self._running(None, is_local=True) as engine:
            return explained_by_self_loops(self.path, self.manifest(), report, engine)

    def verify(self) -> list[Finding]:
        """Whether every file has the bytes that were written.

        Returns the files that have not, and what is wrong with each.

        >>> warehouse.verify()
        []
        """
        return verify(self.path, self.manifest())

    @names_damage
    def audit(self, *, jobs: int | None = None) -> pl.DataFrame:
        """What each rule in which `upstream` and `spec` differ does to every model.

        jobs: how many processes; by default as many as there are cores.

        Returns `rule`, `model`, `experiment`, the headline metrics under `upstream` with this rule
        of `spec`, and how each changed; `all rules` is all of them together.

        >>> warehouse.audit(jobs=1).filter(model="silent")["average_score_change"].min() < -0.1
        True
        """
        from orchbench_analytics.outputs.audit import audit
        from orchbench_analytics.views.select import require_answers

        require_answers(self.profile(), "an audit of scoring rules")
        with self._running(jobs, is_local=True) as engine:
            return audit(self.path, self.manifest(), engine)
