"""The warehouse as people hold it in Python: one object, one method for each thing it can do."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from orchbench_analytics.analysis import Analysis
from orchbench_analytics.errors import PathError, SelectionError
from orchbench_analytics.profiles import BUILT_IN, Profile, load_profile, profile_of
from orchbench_analytics.store import manifest as store
from orchbench_analytics.store.manifest import Manifest

if TYPE_CHECKING:
    import duckdb
    import polars as pl

    from orchbench_analytics.engines import Engine
    from orchbench_analytics.exports.files import Exported
    from orchbench_analytics.ingest.update import IngestSummary, Progress
    from orchbench_analytics.pages.report import Report


def open_warehouse(path: str | Path, *, engine: Engine | None = None) -> Warehouse:
    """A warehouse at `path`; one that is not there yet comes into being with its first ingest.

    `engine` is where its work runs; by default that is this machine, with all its cores.
    """
    return Warehouse(Path(path), engine)


class Warehouse(Analysis):
    """A directory of Parquet tables made from result files."""

    def __init__(self, path: Path, engine: Engine | None = None) -> None:
        self.path = path
        self.engine = engine

    def __repr__(self) -> str:
        return f"open_warehouse({str(self.path)!r})"

    def ingest(
        self,
        *paths: str | Path,
        model: str | None = None,
        experiment: str | None = None,
        language: str | None = None,
        pattern: str | None = None,
        agent_cards: Sequence[str | Path] = (),
        prune: bool = False,
        score: bool = True,
        jobs: int | None = None,
        wait: bool = True,
        progress: Progress | None = None,
    ) -> IngestSummary:
        """Take in what is new or changed at or below `paths`."""
        from orchbench_analytics.ingest.find import Placement, compile_pattern
        from orchbench_analytics.ingest.update import update
        from orchbench_analytics.store.compact import compact

        for path in (*paths, *agent_cards):
            if not Path(path).exists():
                raise PathError(f"no such file or directory: {path}")
        store.load_or_start(self.path)  # a directory of other things is not even locked
        expression = compile_pattern(pattern) if pattern else None
        placement = Placement(model, experiment, language, expression)
        with store.hold(self.path, wait=wait, on_wait=_say), self._running(jobs) as engine:
            before = store.load_or_start(self.path)
            manifest, summary = update(
                self.path,
                before,
                [*paths, *agent_cards],
                engine,
                placement=placement,
                prune=prune,
                progress=progress,
            )
            if score:
                manifest = self._scored(manifest, _known_profiles(manifest), engine)
            manifest = compact(self.path, manifest)
            if manifest is not before:
                store.save_manifest(self.path, manifest)
            store.mark_finished(self.path)
        return summary

    def export(
        self,
        output: str | Path,
        *,
        relations: Sequence[str] = (),
        partition_by: Sequence[str] = (),
    ) -> list[Exported]:
        """Write tables and views for other tools: one `.duckdb` file, or a directory of Parquet."""
        from orchbench_analytics.exports.files import export_duckdb, export_parquet

        target = Path(output)
        if target.suffix == ".duckdb":
            return export_duckdb(self.path, self.manifest(), target)
        return export_parquet(
            self.path, self.manifest(), target, relations=relations, partition_by=partition_by
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
        with self._running(jobs) as engine:
            return make_report(self, Path(output), options, engine)

    def score(self, profile: Profile | str, *, jobs: int | None = None, wait: bool = True) -> str:
        """Score everything under a profile, from Parquet alone; later ingests keep it current.

        Returns the name under which its scores are found.
        """
        chosen = load_profile(profile) if isinstance(profile, str) else profile
        with store.hold(self.path, wait=wait, on_wait=_say), self._running(jobs) as engine:
            manifest = self.manifest()
            scored = self._scored(manifest, [chosen], engine)
            if scored is not manifest:
                store.save_manifest(self.path, scored)
        return chosen.name

    def _running(self, jobs: int | None) -> AbstractContextManager[Engine]:
        from orchbench_analytics.engines import Local

        return Local(jobs) if self.engine is None else nullcontext(self.engine)

    def _scored(self, manifest: Manifest, profiles: Sequence[Profile], engine: Engine) -> Manifest:
        from orchbench_analytics.score.unscored import is_scored

        if is_scored(self.path, manifest, profiles):
            return manifest
        from orchbench_analytics.score.pipeline import score

        return score(self.path, manifest, profiles, engine)

    def sql(
        self,
        query: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        unsafe: bool = False,
    ) -> duckdb.DuckDBPyRelation:
        """The rows of a query as a DuckDB relation; only the warehouse is in its reach."""
        from orchbench_analytics.views.catalog import connect_sealed
        from orchbench_analytics.views.query import run_query

        connection = self.connect() if unsafe else connect_sealed(self.path, self.manifest())
        return run_query(connection, query, parameters=parameters, unsafe=unsafe)

    def relations(self) -> pl.DataFrame:
        """Every table and view: name, kind, rows, and what one row is."""
        import polars as pl

        from orchbench_analytics.views.query import list_relations

        columns = ["relation", "kind", "row_count", "description"]
        return pl.DataFrame(
            list_relations(self.path, self.manifest()), schema=columns, orient="row"
        )

    def tag(self, path: str | Path) -> pl.DataFrame:
        """Take in what is known of models beside their names; replaces earlier tags."""
        from orchbench_analytics.outputs.tags import read_tags

        tags = read_tags(Path(path))
        with store.hold(self.path, wait=True, on_wait=_say):
            manifest = self.manifest()
            generation = manifest.generation + 1
            file = f"model_tags/{generation:06d}.parquet"
            (self.path / "model_tags").mkdir(exist_ok=True)
            tags.write_parquet(self.path / file)
            store.save_manifest(
                self.path,
                msgspec.structs.replace(manifest, generation=generation, model_tags=file),
            )
        return tags

    def view(self, name: str) -> pl.DataFrame:
        """A view of `sql/` as a polars DataFrame."""
        from orchbench_analytics.views.catalog import frame_of, views

        if name not in views():
            raise SelectionError(f"no view named {name!r}; there are {', '.join(views())}")
        with self.connect(view=name) as connection:
            return frame_of(connection.sql(f"select * from main.{name} order by all"))


def _known_profiles(manifest: Manifest) -> list[Profile]:
    """The built-in profiles, and every other that was ever asked for."""
    known = [profile_of(rules) for rules in manifest.profiles.values()]
    return list({profile.name: profile for profile in (*known, *BUILT_IN.values())}.values())


def _say(text: str) -> None:
    print(text, file=sys.stderr)
