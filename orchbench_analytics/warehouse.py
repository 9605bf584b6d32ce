"""The warehouse as people hold it in Python: one object, one method for each thing it can do."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from orchbench_analytics.analysis import Analysis
from orchbench_analytics.engines.local import begin, warm_up, workers
from orchbench_analytics.errors import PathError, SelectionError
from orchbench_analytics.profiles import BUILT_IN, Profile, load_profile, profile_of, rules_of
from orchbench_analytics.score.groups import find_open_groups, is_worth_workers
from orchbench_analytics.store import manifest as store
from orchbench_analytics.store.commit import save_manifest
from orchbench_analytics.store.compact import gather
from orchbench_analytics.store.lock import hold
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.store.verify import names_damage

if TYPE_CHECKING:
    import duckdb
    import polars as pl

    from orchbench_analytics.exports.files import Exported
    from orchbench_analytics.ingest.update import IngestSummary, Progress

_SCORING = ("orchbench_analytics.score.pipeline",)  # takes long to import


def open_warehouse(path: str | Path) -> Warehouse:
    """A warehouse at `path`; one that is not there yet comes into being with its first ingest."""
    return Warehouse(Path(path))


class Warehouse(Analysis):
    """A directory of Parquet tables made from result files."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __repr__(self) -> str:
        return f"open_warehouse({str(self.path)!r})"

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
        score: bool = True,
        verify: bool = False,
        jobs: int | None = None,
        wait: bool = True,
        progress: Progress | None = None,
    ) -> IngestSummary:
        """Take in what is new or changed at or below `paths`.

        Damaged parts are read again from their files; `verify` looks for them in every byte.
        """
        for path in (*paths, *agent_cards):
            if not Path(path).exists():
                raise PathError(f"no such file or directory: {path}")
        if not store.load_or_start(self.path).parts and jobs != 1:
            warm_up()
        from orchbench_analytics.ingest.find import Placement, compile_pattern
        from orchbench_analytics.ingest.update import ingest

        expression = compile_pattern(pattern) if pattern else None
        placement = Placement(model, experiment, language, expression)
        with hold(self.path, wait=wait, on_wait=_say):
            return ingest(
                self.path,
                [*paths, *agent_cards],
                placement=placement,
                jobs=jobs,
                prune=prune,
                progress=progress,
                verify=verify,
                finish=self._score_and_gather if score else self._gather,
                finish_needs=_SCORING if score else (),
            )

    @names_damage
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

    @names_damage
    def score(self, profile: Profile | str, *, jobs: int | None = None, wait: bool = True) -> str:
        """Score everything under a profile, from Parquet alone; later ingests keep it current.

        Returns the name under which its scores are found.
        """
        chosen = load_profile(profile) if isinstance(profile, str) else profile
        with hold(self.path, wait=wait, on_wait=_say):
            manifest = self.manifest()
            with workers(jobs, is_worth_it=is_worth_workers(manifest)) as pool:
                scored = self._score_open(manifest, [chosen], pool)
            if scored is not manifest:
                save_manifest(self.path, scored)
        return chosen.name

    def _gather(self, manifest: Manifest, pool: Executor | None) -> Manifest:
        return begin(pool, gather, self.path, manifest).result()

    def _score_and_gather(self, manifest: Manifest, pool: Executor | None) -> Manifest:
        gathering = begin(pool, gather, self.path, manifest)  # while workers wait for plans
        scored = self._score_known(manifest, pool)
        gathered = gathering.result().gathered
        is_current = gathered == scored.gathered
        return scored if is_current else msgspec.structs.replace(scored, gathered=gathered)

    def _score_known(self, manifest: Manifest, pool: Executor | None) -> Manifest:
        """Scores under the built-in profiles and every other that was ever asked for."""
        known = [profile_of(rules) for rules in manifest.profiles.values()]
        profiles = {profile.name: profile for profile in (*known, *BUILT_IN.values())}
        return self._score_open(manifest, list(profiles.values()), pool)

    def _score_open(
        self, manifest: Manifest, profiles: list[Profile], pool: Executor | None
    ) -> Manifest:
        """Score what has no scores yet; where nothing is open, nothing heavy is imported."""
        coverage = find_open_groups(self.path, manifest, profiles)
        is_known = all(manifest.profiles.get(p.name) == rules_of(p) for p in profiles)
        if is_known and not coverage.open_groups and len(coverage.scores) == len(manifest.scores):
            return manifest
        from orchbench_analytics.score.pipeline import score

        return score(self.path, manifest, profiles, coverage, pool=pool)

    @names_damage
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

    @names_damage
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
        with hold(self.path, wait=True, on_wait=_say):
            manifest = self.manifest()
            generation = manifest.generation + 1
            file = f"model_tags/{generation:06d}.parquet"
            (self.path / "model_tags").mkdir(exist_ok=True)
            tags.write_parquet(self.path / file)
            save_manifest(
                self.path,
                msgspec.structs.replace(manifest, generation=generation, model_tags=file),
            )
        return tags

    @names_damage
    def view(self, name: str) -> pl.DataFrame:
        """A view of `sql/` as a polars DataFrame."""
        from orchbench_analytics.views.catalog import frame_of, views

        if name not in views():
            raise SelectionError(f"no view named {name!r}; there are {', '.join(views())}")
        with self.connect(view=name) as connection:
            return frame_of(connection.sql(f"select * from main.{name} order by all"))


def _say(text: str) -> None:
    print(text, file=sys.stderr)
