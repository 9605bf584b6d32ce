"""What a report asks of a warehouse."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import duckdb
import polars as pl

from orchbench_analytics.profiles import Profile
from orchbench_analytics.store.manifest import Manifest


class Sweep(Protocol):
    """A warehouse, as far as a report needs it."""

    @property
    def path(self) -> Path:
        """Where it lies."""
        ...

    def manifest(self) -> Manifest:
        """What is in it now."""
        ...

    def profile(self, name: str) -> Profile:
        """A profile it was scored under."""
        ...

    def connect(self) -> duckdb.DuckDBPyConnection:
        """A connection with every table and view."""
        ...

    def rank_intervals(self, profile: str) -> pl.DataFrame:
        """Models by rank, with intervals."""
        ...

    def intervals(self, profile: str, *, metrics: Sequence[str]) -> pl.DataFrame:
        """Metrics of every model with intervals."""
        ...

    def consistency(self, profile: str) -> dict[str, pl.DataFrame]:
        """How steady models are."""
        ...

    def compare(self, *, profile: str, metrics: Sequence[str]) -> pl.DataFrame:
        """All pairs of models in one metric."""
        ...

    def audit(self) -> pl.DataFrame:
        """What each scoring rule does."""
        ...
