"""The warehouse as people hold it in Python: one class, with a method for each command.

Each method imports the room that does the work, so that a command waits only for what it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import polars as pl

from orchbench_analytics.errors import EngineError, SelectionError
from orchbench_analytics.metrics import HEADLINE, METRICS
from orchbench_analytics.paths import input_path, is_address, local_path, require_parent
from orchbench_analytics.profiles import UPSTREAM, Profile, load_profile
from orchbench_analytics.selection import (
    Asked,
    Chosen,
    Contender,
    Selection,
    ask,
    choose,
    choose_in,
    find_removed,
    one_result,
    profiles_with_rows,
    require_answers,
    scored_profile,
    several,
)
from orchbench_analytics.store.bucket import use_options
from orchbench_analytics.store.manifest import (
    Finding,
    Manifest,
    load_manifest,
    names_damage,
    naming_damage,
    scan_table,
    verify,
)
from orchbench_analytics.store.mirror import root_of

if TYPE_CHECKING:
    import duckdb
    from pyspark.sql import SparkSession

    from orchbench_analytics.engines import Engine
    from orchbench_analytics.exports.export import ExportSummary
    from orchbench_analytics.exports.sink import RowProgress
    from orchbench_analytics.exports.superset import BundleSummary
    from orchbench_analytics.ingest.settle import Look
    from orchbench_analytics.ingest.update import IngestSummary, Progress
    from orchbench_analytics.outputs.check import CheckReport
    from orchbench_analytics.pages.figures import Figure
    from orchbench_analytics.pages.report import Report
    from orchbench_analytics.stats.compare import GateResult
    from orchbench_analytics.stats.planning import SweepPlan

__all__ = ["Contender", "Warehouse", "open_warehouse"]

_KEYS = ("model", "experiment", "language")
_MODELS_AT_ONCE = 50
FigureName = Literal["leaderboard", "pairs", "cost", "consistency", "plan"]
Question = Literal["flips", "pass_rates", "run_noise", "spread", "gaps"]


def open_warehouse(
    path: str | Path,
    *,
    create: bool = False,
    engine: Engine | None = None,
    storage_options: Mapping[str, str] | None = None,
) -> Warehouse:
    """Open the warehouse in a directory or a bucket.

    Args:
        path: the directory, where `~` is your home, or an address such as `s3://bucket/warehouse`.
        create: it need not exist yet; the first ingest makes it.
        engine: where its work runs; by default on this machine, with all its cores.
        storage_options: of buckets, such as `endpoint`; see docs/storage.md.

    Returns:
        The warehouse.

    Examples:
        >>> warehouse = open_warehouse("orchbench-demo/warehouse")
        >>> warehouse.leaderboard(profile="strict").select("model", "average_score").row(0)
        ('perfect', 1.0)
    """
    warehouse = Warehouse(path, engine, storage_options)
    if not create:
        load_manifest(warehouse.path)
    return warehouse


class Warehouse:
    """A directory, or a place in a bucket, of Parquet tables made from result files.

    Where a method takes `profile`, it is the name of the rules that scores are under; by default
    `spec`, or `reported` if there are result files alone. Where it takes `models`, `experiments`
    and `languages`, nothing else is looked at: they are names or patterns such as `graded-*`.
    """

    def __init__(
        self,
        path: str | Path,
        engine: Engine | None = None,
        storage_options: Mapping[str, str] | None = None,
    ) -> None:
        self._storage_options = storage_options or {}
        self._use_options([path])
        # Absolute, so that it still holds after a change of directory, and for workers elsewhere.
        self.path = root_of(path).absolute()
        self.engine = engine

    def _use_options(self, paths: Iterable[str | Path]) -> None:
        for address in filter(is_address, paths):
            use_options(self._storage_options, str(address))

    def _inputs(self, paths: Sequence[str | Path]) -> list[str | Path]:
        """Input files as they are given; those in buckets are read with the same options."""
        self._use_options(paths)
        return [input_path(path) for path in paths]

    def __repr__(self) -> str:
        from orchbench_analytics.outputs.overview import as_text

        return as_text(self.path)

    def _repr_html_(self) -> str:
        from orchbench_analytics.outputs.overview import as_html

        return as_html(self.path)

    # Fill a warehouse

    @names_damage
    def ingest(
        self,
        *paths: str | Path,
        model: str | None = None,
        experiment: str | None = None,
        language: str | None = None,
        pattern: str | None = None,
        agent_cards: str | Path | Sequence[str | Path] = (),
        expect: int | str | Path | None = None,
        prune: bool = False,
        verify: bool = False,
        score: bool = True,
        jobs: int | None = None,
        wait: bool = True,
        progress: Progress | None = None,
    ) -> IngestSummary:
        """Take in result files that are new or changed, and score them.

        Args:
            paths: files, and directories that are searched to any depth.
            model: the model of all files, if their paths do not say it.
            experiment: the experiment of all files, if their paths do not say it.
            language: the language of all files, if their paths do not say it.
            pattern: how the tree names things, such as `{model}/{language}/{scenario}.json`.
            agent_cards: files and directories with the tools' schemas, such as the benchmark's
                `data`; only cards are read there.
            expect: what the whole sweep has, for coverage: a number of scenarios over all
                languages, a file with a line such as `EN/12` for each, or the benchmark's `data`.
                It is kept; 0 forgets it.
            prune: forget files that were read from these paths and no longer exist.
            verify: check every byte of the warehouse, and read damaged parts again from their
                files.
            score: score under all profiles of the warehouse; otherwise the next ingest does it.
            jobs: how many processes; by default as many as there are cores.
            wait: wait for another writer; otherwise another writer is an error.
            progress: called with the files and bytes just read, and the bytes to read in all.

        Returns:
            How many files were taken, unchanged, ignored and removed, those refused, and those
            that no longer exist but still count.

        Examples:
            >>> warehouse.ingest("orchbench-demo/results", jobs=1).refused
            []
        """
        from orchbench_analytics.changes import ingest
        from orchbench_analytics.ingest.by_hand import read_expected
        from orchbench_analytics.ingest.sources import Placement, compile_pattern

        expression = compile_pattern(pattern) if pattern else None
        given, cards = self._inputs(paths), self._inputs(several(agent_cards))
        expected = None if expect is None else read_expected(expect, language=language)
        with self._running(jobs) as engine:
            return ingest(
                self.path,
                given,
                engine,
                placement=Placement(model, experiment, language, expression),
                agent_cards=cards,
                expected=expected,
                prune=prune,
                verify=verify,
                is_scoring=score,
                wait=wait,
                progress=progress,
            )

    def watch(
        self,
        *paths: str | Path,
        every: float = 5.0,
        model: str | None = None,
        experiment: str | None = None,
        language: str | None = None,
        pattern: str | None = None,
        agent_cards: str | Path | Sequence[str | Path] = (),
        expect: int | str | Path | None = None,
        prune: bool = False,
        jobs: int | None = None,
    ) -> Iterator[Look]:
        """Take in result files as they appear, until the caller stops asking.

        Args:
            paths: as for `ingest`; local directories are watched, buckets are listed.
            every: look again after so many seconds, even if no change was noticed.
            model: as for `ingest`.
            experiment: as for `ingest`.
            language: as for `ingest`.
            pattern: as for `ingest`.
            agent_cards: as for `ingest`.
            expect: as for `ingest`.
            prune: as for `ingest`.
            jobs: as for `ingest`.

        Returns:
            An iterator over what each look at the files found. A file that is still being written
            waits; nothing is refused that a later look would take.

        Examples:
            >>> next(warehouse.watch("orchbench-demo/results", jobs=1)).summary.refused
            []
        """
        from orchbench_analytics.changes import ingest
        from orchbench_analytics.ingest.by_hand import read_expected
        from orchbench_analytics.ingest.settle import Look, Settling, looks
        from orchbench_analytics.ingest.sources import Placement, compile_pattern

        expression = compile_pattern(pattern) if pattern else None
        given, cards = self._inputs(paths), self._inputs(several(agent_cards))
        expected = None if expect is None else read_expected(expect, language=language)
        settling = Settling()
        with self._running(jobs) as engine:
            for _ in looks([*given, *cards], settling, every=every):
                with naming_damage(self.path):
                    summary = ingest(
                        self.path,
                        given,
                        engine,
                        placement=Placement(model, experiment, language, expression),
                        agent_cards=cards,
                        expected=expected,
                        prune=prune,
                        verify=False,
                        is_scoring=True,
                        wait=True,
                        progress=None,
                        settling=settling,
                    )
                expected = None  # it is kept
                yield Look(summary, len(settling.waiting))

    @names_damage
    def score(
        self, *, profile: Profile | str | Path, jobs: int | None = None, wait: bool = True
    ) -> str:
        """Score everything under a profile, from Parquet alone; later ingests keep it current.

        Args:
            profile: a name, a TOML file, or a profile.
            jobs: how many processes; by default as many as there are cores.
            wait: wait for another writer; otherwise another writer is an error.

        Returns:
            The name that its scores are found under.

        Examples:
            >>> warehouse.score(profile="strict", jobs=1)
            'strict'
        """
        from orchbench_analytics.changes import score

        chosen = profile if isinstance(profile, Profile) else load_profile(str(profile))
        with self._running(jobs) as engine:
            score(self.path, chosen, engine, wait=wait)
        return chosen.name

    @names_damage
    def tag(self, path: str | Path, *, replace: bool = False) -> pl.DataFrame:
        """Tag models with what a file says about them, such as their size.

        Args:
            path: a CSV file with a column `model`, or a TOML file with a table for each model.
            replace: forget earlier tags; otherwise they stay unless the file has other values.

        Returns:
            What the file says: `model`, `experiment` and a column for each tag.

        Examples:
            >>> warehouse.tag("sizes.csv").columns
            ['model', 'experiment', 'size']
        """
        from orchbench_analytics.changes import tag

        return tag(self.path, local_path(path), replace=replace)

    @names_damage
    def remove(
        self,
        *,
        models: Sequence[str] = (),
        experiments: Sequence[str] = (),
        profiles: Sequence[str] = (),
        tags: bool = False,
        jobs: int | None = None,
    ) -> list[str]:
        """Remove models, experiments, profiles or tags.

        Args:
            models: names or patterns such as `graded-*`.
            experiments: names or patterns; with models, only these experiments of theirs.
            profiles: names; their scores are removed too.
            tags: remove all tags.
            jobs: how many processes; by default as many as there are cores.

        Returns:
            The names of what was removed; what was removed before is removed again, without
            an error.

        Examples:
            >>> warehouse.remove(models=["over-*"], jobs=1)
            ['over-cautious/baseline', 'over-eager/baseline']
        """
        from orchbench_analytics.changes import remove

        selection = Selection(models, experiments)
        try:
            contenders = choose_in(self.manifest(), selection).contenders
        except SelectionError:
            contenders = find_removed(self.manifest().removed_models, selection)
            if not contenders:
                raise
        with self._running(jobs) as engine:
            return remove(
                self.path,
                engine,
                contenders=contenders or (),
                profiles=several(profiles),
                tags=tags,
            )

    # Look at what is there

    def manifest(self) -> Manifest:
        """Read what is in the warehouse now.

        Returns:
            The manifest: its parts, scores, profiles, and how many input files there are.

        Examples:
            >>> sorted(warehouse.manifest().profiles)
            ['spec', 'strict', 'upstream']
        """
        return load_manifest(self.path)

    @names_damage
    def models(self) -> pl.DataFrame:
        """List every model, experiment and language that has scenarios.

        Returns:
            `model`, `experiment`, `language`, `scenario_count`, and whether scores come from
            `answers` or from an evaluator's `results` alone.

        Examples:
            >>> warehouse.models().filter(model="perfect")["language"].to_list()
            ['EN', 'KO']
        """
        answers = self.table("scenarios").select(*_KEYS, "scenario", scored_from=pl.lit("answers"))
        results = (
            self.table("reported_scenarios")
            .select(*_KEYS, "scenario", scored_from=pl.lit("results"))
            .unique()
            .join(answers, on=_KEYS, how="anti")
        )
        counted = pl.concat([answers, results]).group_by(*_KEYS, "scored_from")
        models = counted.agg(pl.len().cast(pl.Int64).alias("scenario_count"))
        return models.select(*_KEYS, "scenario_count", "scored_from").sort(_KEYS).collect()

    @names_damage
    def sources(
        self,
        *,
        models: Sequence[str] = (),
        experiments: Sequence[str] = (),
        languages: Sequence[str] = (),
    ) -> pl.DataFrame:
        """List every input file and what became of it.

        Args:
            models: only files of these; refused files count as those of the model in their path.
            experiments: only these experiments.
            languages: only these languages.

        Returns:
            The columns of the table `sources`: path, where it belongs, status, reason, message.

        Examples:
            >>> set(warehouse.sources()["status"])
            {'taken'}
        """
        files = self.table("sources").collect().sort("path")
        known = files.select(pl.col(_KEYS).fill_null("")).unique().rows()
        return choose(known, Selection(models, experiments, languages)).of(files)

    def profile(self, name: str | None = None) -> Profile:
        """Find a profile that the warehouse is scored under.

        Args:
            name: as `score` returned it, or a built-in one; by default `spec`, or `reported` if
                there are result files alone.

        Returns:
            The profile: a choice for each scoring rule.

        Examples:
            >>> warehouse.profile("strict").name
            'strict'
        """
        return scored_profile(self.path, self.manifest(), name)

    def profiles(self) -> pl.DataFrame:
        """List the profiles that the warehouse is scored under.

        Returns:
            The table `profiles`: a row for each profile, a column for each rule.

        Examples:
            >>> "spec" in warehouse.profiles()["profile"]
            True
        """
        return self.table("profiles").collect()

    @names_damage
    def tables(self) -> pl.DataFrame:
        """List every table and view.

        Returns:
            `relation`, `kind`, `row_count` and `description`.

        Examples:
            >>> warehouse.tables().filter(relation="leaderboard")["kind"].item()
            'view'
        """
        from orchbench_analytics.views.catalog import list_relations

        return list_relations(self.path, self.manifest())

    def dictionary(self, table: str) -> pl.DataFrame:
        """Explain the columns of a table, a view, or a frame of statistics.

        Args:
            table: its name.

        Returns:
            `column`, `type` and `meaning`.

        Examples:
            >>> warehouse.dictionary("leaderboard").row(0)[0]
            'rank_number'
        """
        from orchbench_analytics.outputs.dictionary import find_entry

        return find_entry(table).columns

    @names_damage
    def table(self, name: str) -> pl.LazyFrame:
        """Read a table or a view.

        Args:
            name: such as steps, scored_steps or confusion_matrix; `tables` lists them.

        Returns:
            A polars LazyFrame with the columns that `dictionary` explains. Of a table only the
            rows and columns that you ask for are read.

        Examples:
            >>> warehouse.table("plan_error_kinds").select("graph").unique().collect().height
            2
        """
        from orchbench_analytics.tables import TABLES

        if name in TABLES:
            return scan_table(self.path, self.manifest(), name)
        from orchbench_analytics.views.catalog import view_frame

        with self.connect(only=[name]) as connection:
            return view_frame(connection, name).lazy()

    # Ask in SQL

    @names_damage
    def connect(self, *, only: Iterable[str] | None = None) -> duckdb.DuckDBPyConnection:
        """Open a DuckDB connection with every table and view; on Spark, Spark computes the views.

        Args:
            only: make just these tables and views, with what they read, which is faster.

        Returns:
            A connection in memory; nothing that is done in it changes the warehouse.

        Examples:
            >>> with warehouse.connect() as connection:
            ...     connection.sql("select count(*) from main.profiles").fetchall()
            [(3,)]
        """
        from orchbench_analytics.views.catalog import connect

        if self._spark is not None:
            from orchbench_analytics.engines.spark.views import connect_answered

            return connect_answered(self._spark, self.path, self.manifest(), only=only)
        return connect(self.path, self.manifest(), only=only)

    @names_damage
    def sql(
        self,
        query: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        profile: str | None = None,
        timeout: float | None = None,
        memory: float | None = None,
        spill: float | None = None,
        unsafe: bool = False,
    ) -> pl.DataFrame:
        """Run a SQL query; it cannot read or write files.

        Args:
            query: one statement that reads, in DuckDB's SQL; tables and views are `main.<name>`.
            parameters: the values of `$name` in the query.
            profile: let tables and views have only the rows under this profile.
            timeout: stop the query after so many seconds, with QueryTimeout. With any limit the
                query runs in a process of its own, which takes about a third of a second to start.
            memory: how many GB it may use; by default half of the machine's memory.
            spill: how many GB of disk it may use for what memory cannot hold; by default 16.
            unsafe: let it read files and load extensions too.

        Returns:
            The rows.

        Examples:
            >>> query = "select count(*) as count from main.leaderboard where model = $model"
            >>> warehouse.sql(query, parameters={"model": "perfect"}).item()
            3
        """
        from orchbench_analytics.views.catalog import Scope

        manifest = self.manifest()
        scope = Scope(None if profile is None else self.profile(profile).name)
        if self._spark is not None:
            from orchbench_analytics.engines.spark.views import ask

            narrowed = scope.narrow(manifest)
            return ask(self._spark, self.path, narrowed, query, parameters=parameters)
        if (timeout, memory, spill) == (None, None, None):
            from orchbench_analytics.views.query import fetch, run_query

            rows = run_query(
                self.path, manifest, query, parameters=parameters, unsafe=unsafe, scope=scope
            )
            return fetch(rows)
        from orchbench_analytics.views.sandbox import Limits, Sandbox

        with Sandbox() as sandbox:
            return sandbox.frame(
                self.path,
                query,
                parameters=parameters,
                unsafe=unsafe,
                limits=Limits(memory) if spill is None else Limits(memory, spill),
                scope=scope,
                timeout=timeout,
            )

    # Look at scores

    @names_damage
    def leaderboard(
        self,
        *,
        profile: str | None = None,
        models: Sequence[str] = (),
        experiments: Sequence[str] = (),
        languages: Sequence[str] = (),
        min_coverage: float = 1.0,
        by: str | None = None,
        beside: Sequence[str] = (),
        intervals: bool = False,
        clusters: str | Path | None = None,
        seed: int = 0,
    ) -> pl.DataFrame:
        """Rank models by their average score.

        Args:
            profile: which rules count.
            models: rank only these. The scenarios of the sweep are still those of all models.
            experiments: only these experiments.
            languages: rank in each of these alone; with intervals, over them together.
            min_coverage: rank models that have this share of the sweep's scenarios.
            by: average over groups of models instead, by this column of `model_tags`.
            beside: headline metrics to show in each language too, in columns such as
                `average_score_en`.
            intervals: with 95 % intervals of the average and of the rank.
            clusters: a CSV file with the columns language, scenario and cluster, if scenarios go
                together that are not translations; such as a family of prompts.
            seed: of the resampling for intervals; the same seed gives the same figures.

        Returns:
            The columns of the view `leaderboard`, of languages those of `language_ranks`; by
            groups the tag, `model_count` and the mean of each metric; with intervals the table
            `rank_intervals`.

        Examples:
            >>> warehouse.leaderboard(profile="strict").select("model", "average_score").row(0)
            ('perfect', 1.0)
            >>> warehouse.leaderboard(intervals=True).select("model", "rank_low").row(0)
            ('perfect', 1)
        """
        from orchbench_analytics.outputs.leaderboard import by_tag, leaderboard, with_languages

        if intervals and by:
            raise SelectionError("intervals and groups do not go together; leave one of them out")
        asked = self._ask(profile, models, experiments, languages)
        if intervals:
            return self._rank_intervals(asked, clusters, min_coverage=min_coverage, seed=seed)
        chosen = asked.chosen
        ranks = Chosen(chosen.contenders).of(self._rows_under(asked.profile, "language_ranks"))
        board = leaderboard(ranks, languages=chosen.languages or (), min_coverage=min_coverage)
        if by is not None:
            return by_tag(board, self._tagged(by), by)
        return with_languages(board, ranks, beside) if beside and not languages else board

    @names_damage
    def standings(self, *, profile: str | None = None, seed: int = 0) -> pl.DataFrame:
        """Show how models stand while their sweep is still running.

        Args:
            profile: which rules count.
            seed: of the resampling; the same seed gives the same figures.

        Returns:
            The table `standings`: the average so far with an interval, and the ranks that are
            still open; both hold however often one looks.

        Examples:
            >>> warehouse.standings().columns[:3]
            ['rank_low', 'rank_high', 'model']
        """
        from orchbench_analytics.stats.standings import standings

        return standings(
            self._terms(self._ask(profile), HEADLINE[:1]),
            clusters=self._clusters(),
            expected=self.table("expected_scenarios").collect(),
            seed=seed,
        )

    def _rank_intervals(
        self,
        asked: Asked,
        clusters: str | Path | None,
        *,
        min_coverage: float,
        seed: int,
    ) -> pl.DataFrame:
        from orchbench_analytics.stats.ranks import (
            rank_intervals,
            refused_files,
            unanswered_models,
        )

        of_languages = Chosen(languages=asked.chosen.languages)
        scores = self._terms(asked._replace(chosen=of_languages), HEADLINE[:1])
        expected = of_languages.of(self.table("expected_scenarios").collect())
        problems = of_languages.of(self.table("model_problems").collect())
        sweep = pl.concat([scores.select(expected.columns), expected.drop_nulls()]).unique()
        unnamed = expected.clear(max(0, expected.height - sweep.height))
        return rank_intervals(
            asked.chosen.of(scores),
            clusters=self._clusters(clusters),
            seed=seed,
            min_coverage=min_coverage,
            expected=pl.concat([sweep, unnamed]),
            refused_files=refused_files(self.table("sources")),
            unanswered=unanswered_models(problems),
        )

    @names_damage
    def intervals(
        self,
        *,
        profile: str | None = None,
        metrics: Sequence[str] = (),
        models: Sequence[str] = (),
        experiments: Sequence[str] = (),
        languages: Sequence[str] = (),
        clusters: str | Path | None = None,
    ) -> pl.DataFrame:
        """Estimate the metrics of every model, with 95 % intervals.

        Args:
            profile: which rules count.
            metrics: their names; by default all.
            models: only these models.
            experiments: only these experiments.
            languages: only these languages.
            clusters: a CSV file with the columns language, scenario and cluster, if scenarios go
                together that are not translations; such as a family of prompts.

        Returns:
            A row for each metric and language, and `mean` over languages: `value`, `low`,
            `high`, `standard_error`, `scenario_count`, `cluster_count`, `coverage`.

        Examples:
            >>> spans = warehouse.intervals(metrics=["average_score"])
            >>> spans.filter(model="perfect", language="mean")["value"].item()
            1.0
        """
        from orchbench_analytics.stats.intervals import intervals

        asked = self._ask(profile, models, experiments, languages)
        of_languages = Chosen(languages=asked.chosen.languages)
        return intervals(
            self._terms(asked),
            metrics=several(metrics) or tuple(METRICS),
            clusters=self._clusters(clusters),
            expected=of_languages.of(self.table("expected_scenarios").collect()),
        )

    @names_damage
    def show(
        self,
        model: str | Contender,
        scenario: str | None = None,
        step: str | None = None,
        *,
        profile: str | None = None,
        experiments: Sequence[str] = (),
        languages: Sequence[str] = (),
        run: str | None = None,
    ) -> pl.DataFrame:
        """List a model's scenarios, or a scenario's steps.

        Args:
            model: its name, `model/experiment`, or a pair of both.
            scenario: list the steps of this scenario.
            step: only this step, in every run that has it; `step_page` shows it whole.
            profile: which rules count.
            experiments: only these experiments.
            languages: only these languages.
            run: only this run, such as "run #2" or "2".

        Returns:
            A row for each scenario, the poorest plans first; or for each step.

        Examples:
            >>> warehouse.show("silent", "1", languages="EN")["answered"].unique().to_list()
            ['failed']
        """
        from orchbench_analytics.outputs.show import named_steps, scenarios_of, steps_of

        asked = self._ask(profile, [model], experiments, languages)
        if scenario is None:
            return scenarios_of(asked.rows("scenario_scores").collect())
        require_answers(asked.profile, "a single step")
        self._refuse_refused(asked.chosen, scenario)
        steps = steps_of(asked.rows("scored_steps"), asked.rows("scored_plans"), scenario, run)
        return steps if step is None else named_steps(steps, step)

    @names_damage
    def step_page(
        self,
        model: str | Contender,
        scenario: str,
        step: str,
        *,
        profile: str | None = None,
        experiments: Sequence[str] = (),
        languages: Sequence[str] = (),
        run: str | None = None,
    ) -> str:
        """Show one step whole: label, answer, how it was read, and what was counted.

        Args:
            model: its name, `model/experiment`, or a pair of both.
            scenario: its name.
            step: its id.
            profile: which rules count.
            experiments: only these experiments.
            languages: only these languages.
            run: only this run; of several runs, the first is shown.

        Returns:
            The page as text.

        Examples:
            >>> print(warehouse.step_page("perfect", "1", "3", languages="EN").splitlines()[0])
            perfect / baseline, EN, scenario 1, run #1, step 3, under spec
        """
        from orchbench_analytics.outputs.show import step_keys
        from orchbench_analytics.outputs.step_page import step_page

        found = self.show(
            model,
            scenario,
            step,
            profile=profile,
            experiments=experiments,
            languages=languages,
            run=run,
        )
        return step_page(self.table, step_keys(found)[0], profile=self.profile(profile))

    @names_damage
    def results(
        self,
        model: str,
        *,
        experiment: str | None = None,
        language: str | None = None,
        profile: str | None = None,
    ) -> dict[str, Any]:
        """Give a model's results in the format of the benchmark's own evaluator.

        Args:
            model: its name.
            experiment: needed if there are several.
            language: needed if there are several.
            profile: which rules count; by default `upstream`, whose figures are the evaluator's
                own, or `reported` if there are result files alone.

        Returns:
            The document: `directory`, `profile`, `overall_statistics` and `detailed_results`.

        Examples:
            >>> document = warehouse.results("perfect", language="EN", profile="spec")
            >>> document["overall_statistics"]["key_metrics"]["Average"]
            1.0
        """
        from orchbench_analytics.outputs.results import result_document

        manifest = self.manifest()
        if profile is None and UPSTREAM.name in profiles_with_rows(manifest):
            profile = UPSTREAM.name
        scored = self.profile(profile)
        result = one_result(manifest, model, experiment, language)
        with self.connect(only=["model_scores", "scenario_scores"]) as connection:
            return result_document(connection, scored, **result._asdict())

    # Tell which differences are real

    @names_damage
    def compare(
        self,
        baseline: str | Contender | None = None,
        candidate: str | Contender | None = None,
        *,
        profile: str | None = None,
        metrics: Sequence[str] = (),
        models: Sequence[str] = (),
        experiments: Sequence[str] = (),
        languages: Sequence[str] = (),
        clusters: str | Path | None = None,
        sequential: bool = False,
        seed: int = 0,
        level: float = 0.95,
    ) -> pl.DataFrame:
        """Compare models over the scenarios that both have: candidate - baseline.

        Args:
            baseline: a model, `model/experiment` or a pair of both; without it, compare all pairs.
            candidate: the other model; without it, all others are compared with the baseline.
            profile: which rules count.
            metrics: their names; by default the headline metrics.
            models: only these are compared.
            experiments: only these experiments.
            languages: compare over these only.
            clusters: a CSV file with the columns language, scenario and cluster, if scenarios go
                together that are not translations; such as a family of prompts.
            sequential: hold at every look at a sweep that still runs; intervals are about 1.6 times
                as wide.
            seed: of the resampling; the same seed gives the same figures.
            level: of the intervals.

        Returns:
            A row for each pair, metric and language: both values, `difference`, its interval,
            p-value, `effect_size` and `verdict`.

        Examples:
            >>> rows = warehouse.compare("silent", "perfect", metrics=["Plan"])
            >>> rows.filter(language="mean").select("difference", "verdict").row(0)
            (1.0, 'better')
        """
        from orchbench_analytics.stats.compare import compare_models

        asked = self._ask(profile, models, experiments, languages, sides=(baseline, candidate))
        return compare_models(
            self._terms(asked, several(metrics) or HEADLINE),
            *asked.sides,
            metrics=several(metrics),
            clusters=self._clusters(clusters),
            is_sequential=sequential,
            seed=seed,
            level=level,
        )

    @names_damage
    def gates(
        self,
        baseline: str | Contender,
        candidate: str | Contender,
        gates: Sequence[str],
        *,
        profile: str | None = None,
        experiments: Sequence[str] = (),
        languages: Sequence[str] = (),
        clusters: str | Path | None = None,
        sequential: bool = False,
        seed: int = 0,
    ) -> list[GateResult]:
        """Check whether a candidate may replace a baseline.

        Args:
            baseline: a model, `model/experiment` or a pair of both.
            candidate: a model, `model/experiment` or a pair of both.
            gates: what candidate - baseline has to be, such as `Plan >= -0.01`; all hold together.
            profile: which rules count.
            experiments: only these experiments.
            languages: only these languages.
            clusters: a CSV file with the columns language, scenario and cluster, if scenarios go
                together that are not translations; such as a family of prompts.
            sequential: hold at every look at a sweep that still runs; intervals are about 1.6 times
                as wide.
            seed: of the resampling; the same seed gives the same figures.

        Returns:
            For each gate its `outcome` (held, crossed or undecided) and a `message`.

        Examples:
            >>> warehouse.gates("perfect", "silent", ["Plan >= -0.01"])[0].outcome
            'crossed'
        """
        from orchbench_analytics.stats.compare import check_gates

        asked = self._ask(profile, (), experiments, languages, sides=(baseline, candidate))
        first, second = asked.named_sides
        return check_gates(
            self._terms(asked),
            first,
            second,
            several(gates),
            clusters=self._clusters(clusters),
            is_sequential=sequential,
            seed=seed,
        )

    @names_damage
    def drivers(
        self,
        baseline: str | Contender,
        candidate: str | Contender,
        *,
        profile: str | None = None,
        metric: str = "average_score",
        experiments: Sequence[str] = (),
        languages: Sequence[str] = (),
    ) -> pl.DataFrame:
        """Find what a difference between two models comes from.

        Args:
            baseline: a model, `model/experiment` or a pair of both.
            candidate: a model, `model/experiment` or a pair of both.
            profile: which rules count.
            metric: the metric whose difference is taken apart.
            experiments: only these experiments.
            languages: only these languages.

        Returns:
            A row for each driver, the largest first: `kind` (scenarios; with answers also agents
            and tools), `driver`, both values and `contribution`. The contributions of scenarios add
            up to the difference.

        Examples:
            >>> rows = warehouse.drivers("silent", "perfect")
            >>> round(rows.filter(kind="scenarios")["contribution"].sum(), 9)
            1.0
        """
        from orchbench_analytics.stats.drivers import all_drivers

        asked = self._ask(profile, (), experiments, languages, sides=(baseline, candidate))
        has_answers = asked.profile.scored_from == "answers"
        steps = asked.rows("scored_steps") if has_answers else None
        first, second = asked.named_sides
        found = all_drivers(self._terms(asked), steps, first, second, metric=metric)
        named = [rows.with_columns(kind=pl.lit(kind)) for kind, rows in found.items()]
        size = pl.col("contribution").abs()
        return pl.concat(named, how="diagonal_relaxed").select("kind", pl.exclude("kind")).sort(
            pl.col("kind").replace_strict({kind: n for n, kind in enumerate(found)}),
            size,
            descending=[False, True],
            nulls_last=True,
            maintain_order=True,
        )  # fmt: skip

    @names_damage
    def trend(
        self,
        tag: str,
        *,
        profile: str | None = None,
        metrics: Sequence[str] = (),
        models: Sequence[str] = (),
        experiments: Sequence[str] = (),
        languages: Sequence[str] = (),
        clusters: str | Path | None = None,
    ) -> pl.DataFrame:
        """Show how metrics change with a numeric tag, such as a checkpoint's step.

        Args:
            tag: a numeric column of `model_tags`.
            profile: which rules count.
            metrics: their names; by default the headline metrics.
            models: only these models.
            experiments: only these experiments.
            languages: only these languages.
            clusters: a CSV file with the columns language, scenario and cluster, if scenarios go
                together that are not translations; such as a family of prompts.

        Returns:
            A row for each metric and language: `slope`, its interval, and a verdict.

        Examples:
            >>> _ = warehouse.tag("sizes.csv")  # of three models
            >>> warehouse.trend("size", metrics=["Plan"]).select("metric", "model_count").row(0)
            ('workflow_similarity', 3)
        """
        from orchbench_analytics.stats.trend import trends

        return trends(
            self._terms(
                self._ask(profile, models, experiments, languages), several(metrics) or HEADLINE
            ),
            self._tagged(tag),
            metrics=several(metrics) or HEADLINE,
            clusters=self._clusters(clusters),
        )

    @names_damage
    def consistency(
        self,
        what: Question = "flips",
        *,
        profile: str | None = None,
        models: Sequence[str] = (),
        experiments: Sequence[str] = (),
        languages: Sequence[str] = (),
        clusters: str | Path | None = None,
    ) -> pl.DataFrame:
        """Measure how steady models are, from run to run and between languages.

        Args:
            what: `flips` (steps not decided alike in all runs), `pass_rates` (pass^k and pass@k),
                `run_noise` (how much scores vary by chance), `spread` (the share of chance in the
                spread of models), or `gaps` (between languages).
            profile: which rules count.
            models: only these models.
            experiments: only these experiments.
            languages: only these languages.
            clusters: a CSV file with the columns language, scenario and cluster, if scenarios go
                together that are not translations; such as a family of prompts.

        Returns:
            The table of that name.

        Examples:
            >>> warehouse.consistency("gaps", models="perfect")["gap"].unique().to_list()
            [0.0]
        """
        from orchbench_analytics.stats.consistency import flips, model_spread, pass_rates, run_noise
        from orchbench_analytics.stats.intervals import language_gaps

        asked = self._ask(profile, models, experiments, languages)
        require_answers(asked.profile, "consistency over runs")
        if what in ("flips", "pass_rates"):
            count = flips if what == "flips" else pass_rates
            some_models = asked.in_batches(_MODELS_AT_ONCE)  # their steps need not be held together
            return pl.concat([count(some.rows("scored_steps")) for some in some_models])
        steps, plans = asked.rows("scored_steps"), asked.rows("scored_plans")
        if what == "run_noise":
            return run_noise(steps, plans)
        if what == "spread":
            return model_spread(run_noise(steps, plans))
        if what == "gaps":
            return language_gaps(self._terms(asked, HEADLINE), clusters=self._clusters(clusters))
        raise SelectionError(f"no consistency {what!r}; there are {', '.join(get_args(Question))}")

    @names_damage
    def costs(
        self,
        *,
        prices: str | Path | None = None,
        profile: str | None = None,
        models: Sequence[str] = (),
        experiments: Sequence[str] = (),
        languages: Sequence[str] = (),
        clusters: str | Path | None = None,
        seed: int = 0,
    ) -> pl.DataFrame:
        """Show what scores cost, and which models no other one beats for the price.

        Args:
            prices: a CSV file with model, input and output, the prices per million tokens, for
                files that state tokens and no cost.
            profile: which rules count.
            models: only these models.
            experiments: only these experiments.
            languages: only these languages.
            clusters: a CSV file with the columns language, scenario and cluster, if scenarios go
                together that are not translations; such as a family of prompts.
            seed: of the correction; the same seed gives the same figures.

        Returns:
            A row for each model, the cheapest first: `run_cost`, `average_score` with its
            interval, and `front`, which says whether no model is at least as good for no more.

        Examples:
            >>> set(warehouse.costs()["cost_basis"])
            {'stated'}
        """
        from orchbench_analytics.stats.costs import NO_PRICES, costs, read_prices

        asked = self._ask(profile, models, experiments, languages)
        return costs(
            self._terms(asked, HEADLINE[:1]),
            asked.chosen.of(self.table("model_usage").collect()),
            prices=NO_PRICES if prices is None else read_prices(local_path(prices)),
            clusters=self._clusters(clusters),
            seed=seed,
        )

    @names_damage
    def power(
        self,
        difference: float = 0.01,
        *,
        profile: str | None = None,
        metric: str = "average_score",
        models: Sequence[str] = (),
        experiments: Sequence[str] = (),
        languages: Sequence[str] = (),
        clusters: str | Path | None = None,
    ) -> SweepPlan:
        """Say how many scenarios and runs it takes to see a difference.

        Args:
            difference: the smallest that should be seen, in scores of 0 to 1.
            profile: which rules count.
            metric: the metric it should be seen in.
            models: take the variances from these only.
            experiments: only these experiments.
            languages: only these languages.
            clusters: a CSV file with the columns language, scenario and cluster, if scenarios go
                together that are not translations; such as a family of prompts.

        Returns:
            Three things: `plans` has a row for each number of runs, with the scenarios and
            answers needed; `variances` is what they come from; `advice` says it in words.

        Examples:
            >>> warehouse.power(0.05).plans["wanted_difference"].unique().item()
            0.05
        """
        from orchbench_analytics.stats.planning import plan_sweep

        asked = self._ask(profile, models, experiments, languages)
        require_answers(asked.profile, "how much runs vary")
        return plan_sweep(
            asked.rows("scored_steps"),
            asked.rows("scored_plans"),
            self._terms(asked),
            metric=metric,
            difference=difference,
            clusters=self._clusters(clusters),
        )

    @names_damage
    def shortlist(
        self,
        scenarios: int = 100,
        *,
        profile: str | None = None,
        metric: str = "average_score",
        models: Sequence[str] = (),
        experiments: Sequence[str] = (),
        languages: Sequence[str] = (),
        seed: int = 0,
    ) -> pl.DataFrame:
        """Choose scenarios that predict a model's score over all of them.

        Args:
            scenarios: how many; each language gets its share.
            profile: which rules count.
            metric: the metric whose prediction is checked.
            models: choose from their scenarios, and check on them only.
            experiments: only these experiments.
            languages: only these languages.
            seed: the same seed gives the same list.

        Returns:
            A row for each scenario of the list. `prediction_error` is the root mean square
            error of predicting each model from the others; `mean_error` that of the score over the
            list as it is.

        Examples:
            >>> warehouse.shortlist(2).select("language").unique().height
            2
        """
        from orchbench_analytics.stats.shortlist import shortlist

        scores = self._terms(self._ask(profile, models, experiments, languages), [metric])
        return shortlist(scores, scenarios, metric=metric, clusters=self._clusters(), seed=seed)

    @names_damage
    def predict(
        self,
        model: str | Contender,
        scenarios: pl.DataFrame | str | Path,
        *,
        profile: str | None = None,
        metric: str = "average_score",
        models: Sequence[str] = (),
        experiments: Sequence[str] = (),
        languages: Sequence[str] = (),
        level: float = 0.95,
    ) -> pl.DataFrame:
        """Predict the score over all scenarios of a model that has those of a list.

        Args:
            model: its name, `model/experiment` or a pair of both.
            scenarios: the list, with the columns `language` and `scenario`, or a file of it.
            profile: which rules count.
            metric: the metric to predict.
            models: learn from these only.
            experiments: only these experiments; the model is looked for among them too.
            languages: predict the score over these only.
            level: of the interval.

        Returns:
            One row: `predicted_score` with its interval, and `list_score`, the score over the
            list. The interval assumes that the model is to the others as they are to each other.

        Examples:
            >>> listed = warehouse.shortlist(2)
            >>> warehouse.predict("perfect", listed).select("model", "list_score").row(0)
            ('perfect', 1.0)
        """
        from orchbench_analytics.outputs.scenario_lists import read_scenarios
        from orchbench_analytics.stats.shortlist import predict

        (wanted,) = self._ask(profile, (), experiments, sides=[model]).named_sides
        asked = self._ask(profile, models, experiments, languages)._replace(sides=(wanted,))
        chosen = asked.chosen
        if chosen.contenders is not None:
            chosen = chosen._replace(contenders=sorted({*chosen.contenders, wanted}))
        scores = self._terms(asked._replace(chosen=chosen), [metric])
        if isinstance(scenarios, pl.DataFrame):
            listed = scenarios
        else:
            listed = read_scenarios(local_path(scenarios))
        if chosen.languages is not None:
            listed = listed.filter(pl.col("language").is_in(chosen.languages))
        return predict(scores, wanted, listed, metric=metric, level=level)

    # Check, and use elsewhere

    @names_damage
    def audit(
        self,
        *,
        models: Sequence[str] = (),
        experiments: Sequence[str] = (),
        jobs: int | None = None,
    ) -> pl.DataFrame:
        """Show what each rule in which `upstream` and `spec` differ changes for every model.

        Args:
            models: only these models.
            experiments: only these experiments.
            jobs: how many processes; by default as many as there are cores.

        Returns:
            `rule`, `model`, `experiment`, the headline metrics under `upstream` with this rule
            of `spec`, and how each changed; `all rules` is all of them together.

        Examples:
            >>> rules = warehouse.audit(models="silent", jobs=1)
            >>> rules["average_score_change"].min() < -0.1
            True
        """
        from orchbench_analytics.outputs.audit import audit

        require_answers(self.profile(), "an audit of scoring rules")
        chosen = choose_in(self.manifest(), Selection(models, experiments))
        with self._running(jobs, is_local=True) as engine:
            return chosen.of(audit(self.path, self.manifest(), engine))

    @names_damage
    def check(self) -> CheckReport:
        """Check that all counts add up, and that an evaluator's reported figures equal ours.

        Returns:
            What was `compared`, in words, and the figures with `differences`.

        Examples:
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
        """Check that every file has the bytes that were written.

        Returns:
            The files that have not, and what is wrong with each.

        Examples:
            >>> warehouse.verify()
            []
        """
        return verify(self.path, self.manifest())

    @names_damage
    def report(
        self,
        output: str | Path,
        *,
        models: Sequence[str] = (),
        profiles: Sequence[str] = (),
        answer_limit: int | None = None,
        with_steps: bool | None = None,
        with_rules: bool = False,
        title: str | None = None,
        jobs: int | None = None,
    ) -> Report:
        """Write a page that works offline, from the leaderboard down to the answers.

        Args:
            output: the file; if the page is too large for one, a directory of that name. Only an
                earlier report is replaced.
            models: only these models.
            profiles: only these; the first is shown first.
            answer_limit: cut answers after so many characters; 0 leaves them out.
            with_steps: whether to include every step and answer; by default up to 300,000 steps.
            with_rules: also show what each scoring rule changes, which takes a while.
            title: of the page.
            jobs: how many processes; by default as many as there are cores.

        Returns:
            The page to open, its size, and how many models it has.

        Examples:
            >>> warehouse.report("perfect.html", models=["perfect"], jobs=1).model_count
            1
        """
        from orchbench_analytics.pages.report import (
            ANSWER_LIMIT,
            TITLE,
            ReportOptions,
            make_report,
        )

        require_parent(local_path(output))
        limit = ANSWER_LIMIT if answer_limit is None else answer_limit
        options = ReportOptions(
            models=several(models),
            profiles=several(profiles),
            answer_limit=limit,
            with_rules=with_rules,
            title=title or TITLE,
            with_steps=with_steps,
        )
        with self._running(jobs, is_local=True) as engine:
            return make_report(self.path, self.manifest(), local_path(output), options, engine)

    @names_damage
    def view(
        self,
        *,
        models: Sequence[str] = (),
        profiles: Sequence[str] = (),
        with_rules: bool = False,
        port: int = 0,
        opens: bool = True,
        announce: Callable[[str], object] = print,
    ) -> None:
        """Serve the page of a report to this machine, with SQL and search, until Ctrl-C.

        Args:
            models: only these models.
            profiles: only these; the first is shown first.
            with_rules: also show what each scoring rule changes, when that is asked for.
            port: by default any that is free.
            opens: open the browser.
            announce: called with the address, which holds a secret token.

        Returns:
            Nothing: it serves until it is interrupted.

        Examples:
            >>> warehouse.view(port=8000)  # doctest: +SKIP
            http://127.0.0.1:8000/Vd0lTfU2pWcYqkq8qWm0JA/
        """
        from orchbench_analytics.pages.report import ReportOptions

        try:
            from orchbench_analytics.pages.explorer import serve
        except ImportError as error:
            raise EngineError(
                "the explorer needs starlette and uvicorn: pip install 'orchbench-analytics[view]'"
            ) from error
        options = ReportOptions(several(models), several(profiles), with_rules=with_rules)
        serve(self.path, options, port=port, announce=announce, opens=opens)

    @names_damage
    def figure(
        self,
        what: FigureName,
        *,
        profile: str | None = None,
        models: Sequence[str] = (),
        experiments: Sequence[str] = (),
        languages: Sequence[str] = (),
        scenario: str | None = None,
        run: str | None = None,
        step: str | None = None,
    ) -> Figure:
        """Draw a figure for a paper, 8 cm wide, that also reads in grey.

        Args:
            what: `leaderboard`, `pairs`, `cost`, `consistency`, or `plan`, which is one plan beside
                its label.
            profile: which rules count.
            models: only these; of a plan, whose it is.
            experiments: only these experiments.
            languages: only these languages.
            scenario: of the plan; by default the one that is furthest from its label.
            run: of the plan, such as "run #2" or "2".
            step: of the plan.

        Returns:
            A picture that notebooks show; `content(".pdf")` gives a file's bytes.

        Examples:
            >>> warehouse.figure("leaderboard").svg[:4]
            '<svg'
        """
        from orchbench_analytics.pages.figures import FIGURES

        try:
            import vl_convert  # noqa: F401 (all figures need it)
        except ImportError as error:
            raise EngineError(
                "figures need altair and vl-convert: pip install 'orchbench-analytics[figures]'"
            ) from error
        selection = Selection(models, experiments, languages)
        if what == "plan":
            return self._plan_figure(profile, selection, scenario, run, step)
        if (scenario, run, step) != (None, None, None):
            raise SelectionError("a scenario, run or step is for the figure of a plan")
        chosen: dict[str, Any] = {"profile": profile, **selection._asdict()}
        frames = {
            "leaderboard": partial(self.leaderboard, intervals=True, **chosen),
            "pairs": partial(self.compare, metrics=HEADLINE[:1], **chosen),
            "cost": partial(self.costs, **chosen),
            "consistency": partial(self.consistency, "flips", **chosen),
        }
        if what not in frames:
            raise SelectionError(f"no figure {what!r}; there are {', '.join((*frames, 'plan'))}")
        return FIGURES[what](frames[what]())

    def _plan_figure(
        self,
        profile: str | None,
        selection: Selection,
        scenario: str | None,
        run: str | None,
        step: str | None,
    ) -> Figure:
        from orchbench_analytics.outputs.show import KEY, StepKey, of_run
        from orchbench_analytics.pages.plan_figure import plan_figure
        from orchbench_analytics.pages.plan_picture import drawn_plan

        asked = self._ask(profile, *selection)
        require_answers(asked.profile, "the figure of a plan")
        plans = asked.rows("scored_plans").collect()
        wanted = plans.filter(pl.col("structure_distance").is_not_null())
        for column, given in (("scenario", scenario), ("step_id", step)):
            if given is not None:
                wanted = wanted.filter(pl.col(column) == given)
        if run is not None:
            wanted = of_run(wanted, run)
        if wanted.is_empty():
            raise SelectionError("no plan that was read fits what was asked for")
        furthest = wanted.sort(
            pl.col("structure_distance") + pl.col("component_distance"), *KEY,
            descending=[True, *(False for _ in KEY)],
        )  # fmt: skip
        key = StepKey(**furthest.select(KEY).row(0, named=True), kind="plan")
        drawn = drawn_plan(self.table, key, asked.profile)
        if drawn is None:
            raise SelectionError("this plan could not be read")
        return plan_figure(drawn.parts)

    @names_damage
    def export(
        self,
        target: str | Path,
        *,
        tables: Sequence[str] = (),
        star: bool = False,
        profile: str | None = None,
        raw: bool = False,
        keys: bool = False,
        partition_by: Sequence[str] = (),
        overwrite: bool = False,
        progress: RowProgress | None = None,
    ) -> ExportSummary:
        """Write tables and views, or a star schema, for other tools.

        Args:
            target: a file or directory whose name says the format, or a Postgres address. If it
                holds an earlier export of the same options, only what changed is written.
            tables: only these tables and views.
            star: facts and dimensions in place of tables and views.
            profile: only the scores under this one.
            raw: leave texts that a spreadsheet would run as formulas as they are.
            keys: declare primary and foreign keys in a DuckDB file, which makes it larger.
            partition_by: columns that become directories.
            overwrite: replace an earlier export made with other options; nothing else is replaced.
            progress: called with a table, how many of its rows are written, and how many it has.

        Returns:
            What was written, and where to.

        Examples:
            >>> len(warehouse.export("board.duckdb", tables=["leaderboard"]).relations)
            1
        """
        from orchbench_analytics.exports.export import export
        from orchbench_analytics.exports.relations import Selection

        selection = Selection(
            tables=tuple(several(tables)),
            is_star=star,
            profile=profile,
            is_raw=raw,
            has_keys=keys,
            partition_by=tuple(several(partition_by)),
        )
        return export(
            self.path,
            self.manifest(),
            str(target),
            selection=selection,
            may_overwrite=overwrite,
            spark=self._spark,
            progress=progress,
        )

    def superset_bundle(
        self, target: str | Path, *, uri: str, profile: str | None = None
    ) -> BundleSummary:
        """Write a ZIP file that Superset imports: a dashboard over an exported star.

        Args:
            target: the file, such as `superset.zip`.
            uri: where Superset finds the star, as SQLAlchemy writes addresses.
            profile: the one that the dashboard shows first; by default `spec`.

        Returns:
            The names of its datasets and charts, and whether it existed already.

        Examples:
            >>> uri = "duckdb:////data/star.duckdb"
            >>> warehouse.superset_bundle("superset.zip", uri=uri).charts[0]
            'Leaderboard'
        """
        from orchbench_analytics.exports.export import export_bundle

        return export_bundle(
            self.path, self.manifest(), local_path(target), uri=uri, profile=profile
        )

    # What the methods share

    @property
    def _spark(self) -> SparkSession | None:
        """The session that answers queries, if the work runs on Spark."""
        return getattr(self.engine, "session", None)

    def _running(
        self, jobs: int | None, *, is_local: bool = False
    ) -> AbstractContextManager[Engine]:
        from orchbench_analytics.engines import Local

        return Local(jobs) if is_local or self.engine is None else nullcontext(self.engine)

    def _ask(
        self,
        profile: str | None = None,
        models: Sequence[str | Contender] = (),
        experiments: Sequence[str] = (),
        languages: Sequence[str] = (),
        *,
        sides: Sequence[str | Contender | None] = (),
    ) -> Asked:
        """What the arguments of a method mean among the models and profiles of the warehouse."""
        selection = Selection(models, experiments, languages)
        return ask(self.path, self.manifest(), profile=profile, selection=selection, sides=sides)

    def _refuse_refused(self, chosen: Chosen, scenario: str) -> None:
        """Refuse a scenario that is not there because its file could not be read."""
        files = chosen.of(self.table("sources").filter(kind="runs", scenario=scenario)).collect()
        for path, reason in files.filter(status="refused").select("path", "reason").rows():
            if "taken" not in files["status"]:
                raise SelectionError(
                    f"scenario {scenario} could not be read ({reason}): {path}; "
                    "see: orchbench sources --status refused"
                )

    def _rows_under(self, profile: Profile, view: str) -> pl.DataFrame:
        """The rows of a view under a profile; nothing of other profiles is read."""
        from orchbench_analytics.views.catalog import Scope, connect, view_frame

        if self._spark is not None:
            return self.table(view).filter(profile=profile.name).collect()
        scope = Scope(profile=profile.name)
        with connect(self.path, self.manifest(), only=[view], scope=scope) as connection:
            return view_frame(connection, view)

    def _terms(self, asked: Asked, metrics: Iterable[str] = METRICS) -> pl.DataFrame:
        """What statistics need of `scenario_scores`: the terms that metrics are made of."""
        from orchbench_analytics.stats.sweep import read_terms

        return read_terms(asked, metrics)

    def _clusters(self, given: str | Path | None = None) -> pl.DataFrame:
        """Which scenarios go together: a scenario, its translations, and what a file says."""
        found = self.table("scenario_clusters").select("language", "scenario", "cluster").collect()
        if given is None:
            return found
        from orchbench_analytics.stats.sweep import join_clusters, read_clusters

        return join_clusters(found, read_clusters(local_path(given)))

    def _tagged(self, tag: str) -> pl.DataFrame:
        from orchbench_analytics.outputs.leaderboard import TAGGED_VIEWS, tagged_models

        with self.connect(only=["model_tags", *TAGGED_VIEWS]) as connection:
            return tagged_models(connection, tag)
