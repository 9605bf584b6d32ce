"""One text for all that a warehouse or an export says, whatever the order of rows."""

import hashlib
from pathlib import Path

import polars as pl

from orchbench_analytics import open_warehouse
from orchbench_analytics.store.manifest import naming_damage
from orchbench_analytics.tables import TABLES
from orchbench_analytics.views.catalog import frame_of
from tests.warehouses import PASSING

VIEWS = ("leaderboard", "scenario_scores", "tool_scores", "plan_error_kinds", "judge_usage")
EXPORTED = ("leaderboard", "steps", "scored_steps")


def digest_of(warehouse: Path) -> dict[str, str]:
    """A hash of every table, of views that read all of them, and of tags."""
    names = (*TABLES, "model_tags", "profiles", *VIEWS)
    with naming_damage(warehouse), open_warehouse(warehouse).connect() as connection:
        return {name: _hash(frame_of(connection.sql(f"from main.{name}"))) for name in names}


def digest_of_tables(warehouse: Path) -> dict[str, str]:
    """A hash of every table and of the leaderboard, at a tenth of the cost."""
    opened = open_warehouse(warehouse)
    with naming_damage(warehouse):
        frames = {name: opened.table(name).collect() for name in TABLES}
    frames["leaderboard"] = opened.table("leaderboard").collect()
    return {name: _hash(frame) for name, frame in frames.items()}


def digest_of_export(directory: Path) -> dict[str, str]:
    """A hash of every table that was exported to a directory of Parquet files."""
    frames = {name: pl.read_parquet(directory / f"{name}.parquet") for name in EXPORTED}
    return {f"exported {name}": _hash(frame) for name, frame in frames.items()}


def _hash(frame: pl.DataFrame) -> str:
    bare = frame.drop(PASSING, strict=False)
    ordered = bare.sort(bare.columns, nulls_last=True)
    return hashlib.sha256(ordered.write_ndjson().encode()).hexdigest()


def differences(found: dict[str, str], expected: dict[str, str]) -> list[str]:
    """The names of what is not as expected."""
    return sorted(name for name in expected if found.get(name) != expected[name])
