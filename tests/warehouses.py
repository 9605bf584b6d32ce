"""Warehouses in tests: made without scores, and compared by what is in them."""

from pathlib import Path
from typing import Any

import msgspec
import polars as pl
from polars.testing import assert_frame_equal

from orchbench_analytics import open_warehouse
from orchbench_analytics.ingest.update import IngestSummary
from orchbench_analytics.store.files import write_stamps
from orchbench_analytics.store.manifest import load_manifest, save_manifest
from orchbench_analytics.tables import RAW_TABLES

COMPARED = ("sources", "tool_parameters", *(table.name for table in RAW_TABLES))
# What differs between two ingests of the same state: when they were made, and in how many steps.
PASSING = ("file_stamp", "part_id")


def ingest(warehouse: Path, *paths: Path, **options: Any) -> IngestSummary:
    return open_warehouse(warehouse, create=True).ingest(*paths, **{"score": False, **options})


def save_as_it_is(warehouse: Path, **changes: Any) -> None:
    """Save a manifest that believes its score files as they are now, and the changes given."""
    manifest = load_manifest(warehouse)
    for group in manifest.scores:
        (warehouse / group.directory / "files.json").unlink()
        write_stamps(warehouse / group.directory)
    scores = [msgspec.structs.replace(group, stamps={}) for group in manifest.scores]
    changed = {"scores": scores, "gathered": [], **changes}  # what was gathered is not theirs
    save_manifest(warehouse, msgspec.structs.replace(manifest, **changed))


def rows(warehouse: Path, table: str) -> pl.DataFrame:
    """A table with its rows in a fixed order."""
    frame = open_warehouse(warehouse).table(table).drop(PASSING, strict=False).collect()
    return frame.sort(frame.columns, nulls_last=True)


def contents(warehouse: Path) -> dict[str, pl.DataFrame]:
    return {table: rows(warehouse, table) for table in COMPARED}


def assert_same_contents(warehouse: Path, expected: dict[str, pl.DataFrame]) -> None:
    for table, frame in contents(warehouse).items():
        assert_frame_equal(frame, expected[table])


def fresh_contents(scratch: Path, *paths: Path, **options: Any) -> dict[str, pl.DataFrame]:
    """What an ingest of the same files into a new warehouse gives."""
    ingest(scratch, *paths, **options)
    return contents(scratch)


def source(warehouse: Path, path: Path) -> dict[str, Any]:
    """The row of `sources` of one file."""
    found = open_warehouse(warehouse).table("sources").filter(pl.col("path") == str(path))
    return found.collect().row(0, named=True)


def refusals(warehouse: Path) -> dict[str, str]:
    """The reasons of refused files, by their names."""
    refused = rows(warehouse, "sources").filter(pl.col("status") == "refused")
    return {Path(path).name: reason for path, reason in refused.select("path", "reason").rows()}
