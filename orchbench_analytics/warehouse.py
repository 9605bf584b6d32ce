"""The warehouse as people hold it in Python: one object, one method for each thing it can do."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING

from orchbench_analytics import store
from orchbench_analytics.discover import Placement, compile_pattern
from orchbench_analytics.errors import PathError, SelectionError
from orchbench_analytics.ingest import IngestSummary, Progress, ingest
from orchbench_analytics.pool import workers
from orchbench_analytics.profiles import BUILT_IN, Profile, load_profile, profile_of
from orchbench_analytics.store import Manifest
from orchbench_analytics.tables import TABLES, polars_schema

if TYPE_CHECKING:
    import duckdb
    import polars as pl

_FEW_PLANS = 2_000


def open_warehouse(path: str | Path) -> Warehouse:
    """A warehouse at `path`; one that is not there yet comes into being with its first ingest."""
    return Warehouse(Path(path))


class Warehouse:
    """A directory of Parquet tables made from result files."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __repr__(self) -> str:
        return f"open_warehouse({str(self.path)!r})"

    def manifest(self) -> Manifest:
        """What is in the warehouse now."""
        return store.load_manifest(self.path)

    def ingest(
        self,
        *paths: str | Path,
        model: str | None = None,
        experiment: str | None = None,
        language: str | None = None,
        pattern: str | None = None,
        agent_cards: Sequence[str | Path] = (),
        prune: bool = False,
        jobs: int | None = None,
        wait: bool = True,
        progress: Progress | None = None,
    ) -> IngestSummary:
        """Take in what is new or changed at or below `paths`."""
        expression = compile_pattern(pattern) if pattern else None
        placement = Placement(model, experiment, language, expression)
        for path in (*paths, *agent_cards):
            if not Path(path).exists():
                raise PathError(f"no such file or directory: {path}")
        store.load_or_start(self.path)
        with store.hold(self.path, wait=wait, on_wait=_say):
            return ingest(
                self.path,
                [*paths, *agent_cards],
                placement=placement,
                jobs=jobs,
                prune=prune,
                progress=progress,
                finish=self._score_known,
            )

    def score(self, profile: Profile | str, *, jobs: int | None = None, wait: bool = True) -> None:
        """Score everything under a profile, from Parquet alone; later ingests keep it current."""
        from orchbench_analytics.score.pipeline import score

        chosen = load_profile(profile) if isinstance(profile, str) else profile
        with store.hold(self.path, wait=wait, on_wait=_say):
            manifest = self.manifest()
            is_large = store.row_count(manifest, "plans") > _FEW_PLANS
            with workers(jobs, is_worth_it=is_large) as pool:
                scored = score(self.path, manifest, [chosen], pool=pool)
            if scored is not manifest:
                store.save_manifest(self.path, scored)

    def _score_known(self, manifest: Manifest, pool: Executor | None) -> Manifest:
        """Scores under the built-in profiles and every other that was ever asked for."""
        from orchbench_analytics.score.pipeline import score

        known = [profile_of(rules) for rules in manifest.profiles.values()]
        profiles = {profile.name: profile for profile in (*known, *BUILT_IN.values())}
        return score(self.path, manifest, list(profiles.values()), pool=pool)

    def connect(self) -> duckdb.DuckDBPyConnection:
        """A DuckDB connection with every table and view of the warehouse."""
        from orchbench_analytics.marts import connect

        return connect(self.path, self.manifest())

    def view(self, name: str) -> pl.DataFrame:
        """A view of `sql/` as a polars DataFrame."""
        from orchbench_analytics.marts import views

        if name not in views():
            raise SelectionError(f"no view named {name!r}; there are {', '.join(views())}")
        with self.connect() as connection:
            frame: pl.DataFrame = connection.sql(f"select * from main.{name} order by all").pl()
            return frame

    def table(self, name: str) -> pl.LazyFrame:
        """A table as a polars LazyFrame."""
        import polars as pl

        if name not in TABLES:
            raise SelectionError(f"no table named {name!r}; there are {', '.join(TABLES)}")
        files = store.table_files(self.path, self.manifest(), name)
        schema = polars_schema(TABLES[name])
        if not files:
            return pl.LazyFrame(schema=schema)
        return pl.scan_parquet(files, schema=schema)


def _say(text: str) -> None:
    print(text, file=sys.stderr)
