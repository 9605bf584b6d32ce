"""Asking a warehouse for rows: tables, views, and whatever SQL can say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.profiles import Profile
from orchbench_analytics.schema import polars_schema
from orchbench_analytics.store.manifest import Manifest, load_manifest, table_files
from orchbench_analytics.store.verify import names_damage
from orchbench_analytics.tables import TABLES

if TYPE_CHECKING:
    import duckdb
    from pyspark.sql import SparkSession

    from orchbench_analytics.engines import Engine


class Rows:
    """The rows of a warehouse."""

    path: Path
    engine: Engine | None

    def manifest(self) -> Manifest:
        """What is in the warehouse now.

        Returns the manifest: its parts, scores, profiles, and how many input files there are.

        >>> sorted(warehouse.manifest().profiles)
        ['reported', 'spec', 'strict', 'upstream']
        """
        return load_manifest(self.path)

    def profile(self, name: str | None = None) -> Profile:
        """A profile that the warehouse was scored under.

        name: as `score` returned it, or a built-in one; by default `spec`, or `reported` if there
            are result files alone.

        Returns the profile, a set of rules by name.

        >>> warehouse.profile("strict").name
        'strict'
        """
        from orchbench_analytics.views.select import scored_profile

        return scored_profile(self.path, self.manifest(), name)

    def table(self, name: str) -> pl.LazyFrame:
        """A table as a polars LazyFrame.

        name: such as steps, plans or scored_steps; `relations` lists them.

        Returns the columns that `orchbench dictionary NAME` describes.

        >>> warehouse.table("scenarios").select("run_count").unique().collect().height
        1
        """
        from orchbench_analytics.queries import views
        from orchbench_analytics.store.parquet import scan_files
        from orchbench_analytics.views.catalog import view_frame
        from orchbench_analytics.views.profiles_and_tags import PROFILES_AND_TAGS

        kept = [table.name for table in PROFILES_AND_TAGS]
        if name in kept:
            with self.connect(only=[name]) as connection:
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
        """A view of `sql/` as a polars DataFrame.

        name: such as model_scores or confusion_matrix; `relations` lists them.

        Returns the columns that `orchbench dictionary NAME` describes.

        >>> sorted(set(warehouse.view("plan_error_kinds")["graph"]))
        ['component', 'structure']
        """
        from orchbench_analytics.views.catalog import require_view, view_frame

        require_view(name)
        with self.connect(only=[name]) as connection:
            return view_frame(connection, name)

    @names_damage
    def connect(self, *, only: Iterable[str] | None = None) -> duckdb.DuckDBPyConnection:
        """A DuckDB connection with every table and view; on Spark, Spark makes the views' rows.

        only: just these tables and views are made, with what they read, which is faster.

        Returns a connection in memory; what is done in it never reaches the warehouse.

        >>> with warehouse.connect() as connection:
        ...     connection.sql("select count(*) from main.profiles").fetchall()
        [(4,)]
        """
        from orchbench_analytics.views.catalog import connect

        if self._spark is not None:
            from orchbench_analytics.views.spark import connect_answered

            return connect_answered(self._spark, self.path, self.manifest(), only=only)
        return connect(self.path, self.manifest(), only=only)

    @names_damage
    def sql(
        self, query: str, *, parameters: Mapping[str, Any] | None = None, unsafe: bool = False
    ) -> duckdb.DuckDBPyRelation:
        """The rows of a query; only the warehouse is in its reach.

        It takes at most half of the machine's memory, and puts on the disk what does not fit.

        query: one statement that reads, in DuckDB's SQL; tables and views are `main.<name>`.
        parameters: the values of `$name` in the query.
        unsafe: let it read files and load extensions too.

        Returns a DuckDB relation; `.pl()` makes it a polars frame.

        >>> query = "select count(*) from main.leaderboard where model = $model"
        >>> warehouse.sql(query, parameters={"model": "perfect"}).fetchall()
        [(3,)]
        """
        from orchbench_analytics.views.query import connect_for_queries, run_query

        if self._spark is not None:
            from orchbench_analytics.views.spark import ask, relation_of

            rows = ask(self._spark, self.path, self.manifest(), query, parameters=parameters)
            return relation_of(rows)
        connection = connect_for_queries(self.path, self.manifest(), query=query, unsafe=unsafe)
        return run_query(connection, query, parameters=parameters, unsafe=unsafe)

    @names_damage
    def relations(self) -> pl.DataFrame:
        """Every table and view there is to ask.

        Returns `relation`, `kind`, `row_count` and `description`.

        >>> warehouse.relations().filter(relation="leaderboard")["kind"].item()
        'view'
        """
        from orchbench_analytics.views.query import list_relations

        return list_relations(self.path, self.manifest())

    @names_damage
    def sources(self) -> pl.DataFrame:
        """Every input file and what became of it.

        Returns the columns of the table `sources`: path, where it belongs, status, reason, message.

        >>> set(warehouse.sources()["status"])
        {'taken'}
        """
        return self.table("sources").collect()

    @names_damage
    def models(self) -> pl.DataFrame:
        """Every model, experiment and language that there are scenarios of.

        Returns `model`, `experiment`, `language`, `scenario_count`, and whether there are `answers`
        or an evaluator's `results` alone.

        >>> warehouse.models().filter(model="perfect")["language"].to_list()
        ['EN', 'KO']
        """
        keys = ("model", "experiment", "language")
        answers = self.table("scenarios").select(*keys, "scenario", scored_from=pl.lit("answers"))
        results = (
            self.table("reported_scenarios")
            .select(*keys, "scenario", scored_from=pl.lit("results"))
            .unique()
            .join(answers, on=keys, how="anti")
        )
        counted = pl.concat([answers, results]).group_by(*keys, "scored_from")
        models = counted.agg(pl.len().cast(pl.Int64).alias("scenario_count"))
        return models.select(*keys, "scenario_count", "scored_from").sort(keys).collect()

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
    def _rows(self, view: str, profile: str | None) -> pl.DataFrame:
        from orchbench_analytics.views.select import rows_under

        with self.connect(only=[view]) as connection:
            return rows_under(connection, view, self.profile(profile))

    def _scored(self, what: str, profile: str | None, *, asked: str) -> pl.LazyFrame:
        from orchbench_analytics.views.select import require_answers

        chosen = self.profile(profile)
        require_answers(chosen, asked)
        return self.table(f"scored_{what}").filter(profile=chosen.name)

    def _tagged(self, tag: str) -> pl.DataFrame:
        from orchbench_analytics.views.select import TAGGED_VIEWS, tagged_models

        with self.connect(only=["model_tags", *TAGGED_VIEWS]) as connection:
            return tagged_models(connection, tag)


def several(given: Any) -> list[Any]:
    """All that was given; a single text or path is one, not a sequence of letters."""
    return [given] if isinstance(given, str | Path) else [*given]
