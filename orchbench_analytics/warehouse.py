"""The warehouse as people hold it in Python: one object, one method for each thing it can do."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from orchbench_analytics import store
from orchbench_analytics.discover import Placement, compile_pattern
from orchbench_analytics.errors import PathError, SelectionError
from orchbench_analytics.ingest import IngestSummary, Progress, ingest
from orchbench_analytics.store import Manifest
from orchbench_analytics.tables import TABLES, polars_schema

if TYPE_CHECKING:
    import polars as pl


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
        with store.hold(self.path, wait=wait, on_wait=lambda text: print(text, file=sys.stderr)):
            return ingest(
                self.path,
                [*paths, *agent_cards],
                placement=placement,
                jobs=jobs,
                prune=prune,
                progress=progress,
            )

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
