"""The warehouse as people hold it in Python: one object, one method for each thing it can do.

Each method imports the room that does the work, so that a command waits only for what it needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.profiles import Profile, load_profile
from orchbench_analytics.schema import polars_schema
from orchbench_analytics.store.manifest import Manifest, load_manifest, table_files
from orchbench_analytics.store.verify import Finding, names_damage, verify
from orchbench_analytics.tables import TABLES

if TYPE_CHECKING:
    import duckdb
    import polars as pl
    from pyspark.sql import SparkSession

    from orchbench_analytics.engines import Engine
    from orchbench_analytics.exports.export import ExportSummary
    from orchbench_analytics.ingest.update import IngestSummary, Progress
    from orchbench_analytics.outputs.check import CheckReport
    from orchbench_analytics.pages.report import Report
    from orchbench_analytics.stats import SweepPlan

Contender = str | tuple[str, str]  # a model, or a model and its experiment


def open_warehouse(
    path: str | Path, *, create: bool = False, engine: Engine | None = None
) -> Warehouse:
    """The warehouse at `path`; with `create` it may come into being with its first ingest.

    `engine` is where its work runs; by default that is this machine, with all its cores.

    >>> warehouse = open_warehouse("orchbench-demo/warehouse")
    >>> warehouse.leaderboard("strict").select("rank_number", "model", "average_score").row(0)
    (1, 'perfect', 1.0)
    """
    if not create:
        load_manifest(Path(path))
    return Warehouse(Path(path), engine)


class Warehouse:
    """A directory of Parquet tables made from result files."""

    def __init__(self, path: Path, engine: Engine | None = None) -> None:
        # Workers elsewhere have a working directory of their own.
        self.path = path if engine is None else path.absolute()
        self.engine = engine

    def __repr__(self) -> str:
        from orchbench_analytics.outputs.portrait import as_text

        return as_text(self.path)

    def _repr_html_(self) -> str:
        from orchbench_analytics.outputs.portrait import as_html

        return as_html(self.path)

    # Changing it

    @names_damage
    def ingest(
        self,
        *paths: str | Path,
        model: str | None = None,
        experiment: str | None = None,
        language: str | None = None,
        pattern: str | None = None,
        agent_cards: Sequence[str | Path] = (),
        prune: bool = False,
        verify: bool = False,
        score: bool = True,
        jobs: int | None = None,
        wait: bool = True,
        progress: Progress | None = None,
    ) -> IngestSummary:
        """Take in what is new or changed at or below `paths`.

        Damaged parts are read again from their files; `verify` looks for them in every byte.
        """
        from orchbench_analytics.changes import ingest
        from orchbench_analytics.ingest.find import Placement, compile_pattern

        expression = compile_pattern(pattern) if pattern else None
        with self._running(jobs) as engine:
            return ingest(
                self.path,
                [*paths, *agent_cards],
                engine,
                placement=Placement(model, experiment, language, expression),
                prune=prune,
                verify=verify,
                is_scoring=score,
                wait=wait,
                progress=progress,
            )

    def report(
        self,
        output: str | Path,
        *,
        models: Sequence[str] = (),
        profiles: Sequence[str] = (),
        answer_limit: int | None = None,
        with_rules: bool = False,
        title: str | None = None,
        jobs: int | None = None,
    ) -> Report:
        """Write a page that works offline, from the leaderboard down to the answers.

        `answer_limit` cuts answers after so many characters, 0 leaves them out. `with_rules` adds
        what each scoring rule does.
        """
        from orchbench_analytics.pages.report import (
            ANSWER_LIMIT,
            TITLE,
            ReportOptions,
            make_report,
        )

        limit = ANSWER_LIMIT if answer_limit is None else answer_limit
        options = ReportOptions(models, profiles, limit, with_rules, title or TITLE)
        with self._running(jobs, is_local=True) as engine:
            return make_report(self, Path(output), options, engine)

    @names_damage
    def score(self, profile: Profile | str, *, jobs: int | None = None, wait: bool = True) -> str:
        """Score everything under a profile, from Parquet alone; later ingests keep it current.

        Returns the name under which its scores are found.
        """
        from orchbench_analytics.changes import score

        chosen = load_profile(profile) if isinstance(profile, str) else profile
        with self._running(jobs) as engine:
            score(self.path, chosen, engine, wait=wait)
        return chosen.name

    def tag(self, path: str | Path, *, replace: bool = False) -> pl.DataFrame:
        """Take in what a CSV or TOML file says of models; returns what it says.

        Earlier tags stay where the file says nothing else, unless it replaces them.
        """
        from orchbench_analytics.changes import tag

        return tag(self.path, Path(path), replace=replace)

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
        """Remove models and experiments (by pattern), profiles or tags; returns their names."""
        from orchbench_analytics.changes import Leaving, remove
        from orchbench_analytics.outputs.leaving import models_of, profiles_of

        manifest = self.manifest()
        pairs = models_of(manifest, models, experiments) if models or experiments else []
        leaving = Leaving(pairs, profiles_of(manifest, profiles), tags)
        with self._running(jobs) as engine:
            remove(self.path, leaving, engine)
        return [*map("/".join, pairs), *profiles, *(["all tags"] if tags else [])]

    # Asking for rows

    def manifest(self) -> Manifest:
        """What is in the warehouse now."""
        return load_manifest(self.path)

    def profile(self, name: str) -> Profile:
        """A profile that the warehouse was scored under."""
        from orchbench_analytics.views.select import scored_profile

        return scored_profile(self.path, self.manifest(), name)

    def table(self, name: str) -> pl.LazyFrame:
        """A table as a polars LazyFrame, such as `table("steps")`; see also `relations`."""
        from orchbench_analytics.store.parquet import scan_files
        from orchbench_analytics.views.catalog import view_frame
        from orchbench_analytics.views.described import KEPT_TABLES
        from orchbench_analytics.views.files import views

        kept = [table.name for table in KEPT_TABLES]
        if name in kept:
            with self.connect() as connection:
                return view_frame(connection, name).lazy()
        if name in views():
            raise SelectionError(f"{name!r} is a view, not a table; ask for view({name!r})")
        if name not in TABLES:
            known = ", ".join([*TABLES, *kept])
            raise SelectionError(f"no table named {name!r}; there are {known}")
        files = table_files(self.path, self.manifest(), name)
        return scan_files(files, polars_schema(TABLES[name]))

    @names_damage
    def view(self, name: str) -> pl.DataFrame:
        """A view of `sql/` as a polars DataFrame."""
        from orchbench_analytics.views.catalog import require_view, view_frame

        require_view(name)
        with self.connect(view=name) as connection:
            return view_frame(connection, name)

    @names_damage
    def connect(self, *, view: str | None = None) -> duckdb.DuckDBPyConnection:
        """A DuckDB connection with every table and view (Spark's rows), or what one view needs."""
        from orchbench_analytics.views.catalog import connect

        if self._spark is not None:
            from orchbench_analytics.views.spark import connect_answered

            return connect_answered(self._spark, self.path, self.manifest(), view=view)
        return connect(self.path, self.manifest(), view=view)

    @names_damage
    def sql(
        self, query: str, *, parameters: Mapping[str, Any] | None = None, unsafe: bool = False
    ) -> duckdb.DuckDBPyRelation:
        """The rows of a query as a DuckDB relation; only the warehouse is in its reach."""
        from orchbench_analytics.views.catalog import connect_sealed
        from orchbench_analytics.views.query import run_query

        if self._spark is not None:
            from orchbench_analytics.views.spark import ask, relation_of

            rows = ask(self._spark, self.path, self.manifest(), query, parameters=parameters)
            return relation_of(rows)
        connection = self.connect() if unsafe else connect_sealed(self.path, self.manifest())
        return run_query(connection, query, parameters=parameters, unsafe=unsafe)

    @names_damage
    def relations(self) -> pl.DataFrame:
        """Every table and view: name, kind, rows, and what one row is."""
        from orchbench_analytics.views.query import list_relations

        return list_relations(self.path, self.manifest())

    @names_damage
    def sources(self) -> pl.DataFrame:
        """Every input file and what became of it: status, reason, message, and where it belongs."""
        return self.table("sources").collect()

    @names_damage
    def models(self) -> pl.DataFrame:
        """Every model, experiment and language that there are scenarios of, and how many."""
        import polars as pl

        keys = ("model", "experiment", "language")
        counted = self.table("scenarios").group_by(keys).agg(pl.len().alias("scenario_count"))
        return counted.sort(keys).collect()

    # Asking for scores

    def leaderboard(
        self, profile: str = "spec", *, by: str | None = None, min_coverage: float = 1.0
    ) -> pl.DataFrame:
        """Models by rank under a profile; or groups of models, by a column of `model_tags`.

        Models that have less than `min_coverage` of the sweep's scenarios are not ranked.
        """
        from orchbench_analytics.outputs.leaderboard import by_tag, in_order, ranked_from

        board = self._rows("leaderboard", profile)
        if min_coverage < 1:
            board = ranked_from(board, min_coverage)
        board = in_order(board)
        return board if by is None else by_tag(board, self._tagged(by), by)

    def scenario_scores(self, profile: str = "spec") -> pl.DataFrame:
        """Every scenario of every model under a profile, with counts and scores."""
        return self._rows("scenario_scores", profile)

    def scored(self, profile: str = "spec") -> dict[str, pl.LazyFrame]:
        """What was scored under a profile: `steps` (decisions and calls) and `plans`."""
        return {what: self._scored(what, profile) for what in ("steps", "plans")}

    @names_damage
    def results(
        self,
        model: str,
        *,
        experiment: str | None = None,
        language: str | None = None,
        profile: str = "spec",
    ) -> dict[str, Any]:
        """A model's results in the format of the benchmark's own evaluator."""
        from orchbench_analytics.outputs.results import result_document
        from orchbench_analytics.views.select import one_result

        scored, chosen = self.profile(profile), self.manifest()
        result = one_result(chosen, model, experiment, language)
        with self.connect(view="model_scores") as connection:
            return result_document(connection, scored, **result._asdict())

    @names_damage
    def check(self) -> CheckReport:
        """Whether all counts add up, and an evaluator's reported figures agree with ours."""
        from orchbench_analytics.outputs.check import check

        with self.connect() as connection:
            return check(connection)

    def verify(self) -> list[Finding]:
        """The files whose bytes are not what was written, and what is wrong with each."""
        return verify(self.path, self.manifest())

    @names_damage
    def audit(self, *, jobs: int | None = None) -> pl.DataFrame:
        """What each rule in which `upstream` and `spec` differ does to every model's metrics."""
        from orchbench_analytics.outputs.audit import audit

        with self._running(jobs, is_local=True) as engine:
            return audit(self.path, self.manifest(), engine)

    @names_damage
    def export(
        self,
        target: str | Path,
        *,
        relations: Sequence[str] = (),
        star: bool = False,
        profile: str | None = None,
        raw: bool = False,
        partition_by: Sequence[str] = (),
        overwrite: bool = False,
    ) -> ExportSummary:
        """Write tables and views, or a star schema, to what the target's name says.

        A target that holds an earlier export of the same options gets only what changed.
        """
        from orchbench_analytics.exports.contents import Selection
        from orchbench_analytics.exports.export import export

        selection = Selection(
            tables=tuple(relations),
            is_star=star,
            profile=profile,
            is_raw=raw,
            partition_by=tuple(partition_by),
        )
        return export(
            self.path,
            self.manifest(),
            str(target),
            selection=selection,
            may_overwrite=overwrite,
            spark=self._spark,
        )

    # Asking which differences are real

    def rank_intervals(
        self, profile: str = "spec", *, seed: int = 0, min_coverage: float = 1.0
    ) -> pl.DataFrame:
        """Models by rank, with 95 % intervals of score and rank, tiers and coverage."""
        from orchbench_analytics.stats import rank_intervals
        from orchbench_analytics.views.select import refused_files

        return rank_intervals(
            self._rows("scenario_scores", profile),
            seed=seed,
            min_coverage=min_coverage,
            refused_files=refused_files(self.table("sources")),
        )

    def intervals(
        self, profile: str = "spec", *, metrics: Sequence[str] | None = None, seed: int = 0
    ) -> pl.DataFrame:
        """Every metric of every model with its 95 % interval."""
        from orchbench_analytics.stats import METRICS, intervals

        scores = self._rows("scenario_scores", profile)
        return intervals(scores, metrics=metrics or tuple(METRICS), seed=seed)

    def compare(
        self,
        baseline: Contender | None = None,
        candidate: Contender | None = None,
        *,
        profile: str = "spec",
        metrics: Sequence[str] = (),
        seed: int = 0,
        level: float = 0.95,
    ) -> pl.DataFrame:
        """Candidate - baseline over common scenarios, with intervals and verdicts.

        Without a candidate everyone else is compared with the baseline, without either all pairs.
        """
        from orchbench_analytics.stats import compare_models

        scores = self._rows("scenario_scores", profile)
        return compare_models(scores, baseline, candidate, metrics=metrics, seed=seed, level=level)

    @names_damage
    def drivers(
        self,
        baseline: Contender,
        candidate: Contender,
        *,
        profile: str = "spec",
        metric: str = "average_score",
    ) -> dict[str, pl.DataFrame]:
        """What carries a difference: its `scenarios`, `agents` and `tools`."""
        from orchbench_analytics.stats import all_drivers

        scores, steps = self._rows("scenario_scores", profile), self._scored("steps", profile)
        return all_drivers(scores, steps, baseline, candidate, metric=metric)

    def trends(
        self, tag: str, *, profile: str = "spec", metrics: Sequence[str] | None = None
    ) -> pl.DataFrame:
        """How metrics move with a numeric column of `model_tags`, such as a checkpoint's step."""
        from orchbench_analytics.stats import HEADLINE, trends

        scores = self._rows("scenario_scores", profile)
        return trends(scores, self._tagged(tag), metrics=metrics or HEADLINE)

    @names_damage
    def consistency(self, profile: str = "spec") -> dict[str, pl.DataFrame]:
        """How steady models are: `flips`, `pass_rates`, `run_noise`, `spread`, `gaps`."""
        from orchbench_analytics.stats import consistency

        steps, plans = (self._scored(what, profile) for what in ("steps", "plans"))
        return consistency(steps, plans, self._rows("scenario_scores", profile))

    def plan(
        self, difference: float = 0.01, *, profile: str = "spec", metric: str = "average_score"
    ) -> SweepPlan:
        """How many scenarios and runs it takes to see a difference, and which are worth more."""
        from orchbench_analytics.stats import plan_sweep

        steps, plans = (self._scored(what, profile) for what in ("steps", "plans"))
        return plan_sweep(steps, plans, metric=metric, difference=difference)

    # Between the rooms

    @property
    def _spark(self) -> SparkSession | None:
        """The session that answers queries, if the work runs on Spark."""
        return getattr(self.engine, "session", None)

    def _running(
        self, jobs: int | None, *, is_local: bool = False
    ) -> AbstractContextManager[Engine]:
        from orchbench_analytics.engines import Local

        return Local(jobs) if is_local or self.engine is None else nullcontext(self.engine)

    @names_damage
    def _rows(self, view: str, profile: str) -> pl.DataFrame:
        from orchbench_analytics.views.select import rows_under

        with self.connect(view=view) as connection:
            return rows_under(connection, view, self.profile(profile))

    def _scored(self, what: str, profile: str) -> pl.LazyFrame:
        return self.table(f"scored_{what}").filter(profile=self.profile(profile).name)

    def _tagged(self, tag: str) -> pl.DataFrame:
        from orchbench_analytics.views.select import tagged_models

        with self.connect() as connection:
            return tagged_models(connection, tag)
