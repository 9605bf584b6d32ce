"""A manifest of many parts: gathered tables stand for their parts, and damage is still named."""

from pathlib import Path

import pytest

from orchbench_analytics.errors import WarehouseError
from orchbench_analytics.store.manifest import table_files
from tests.benchmarks.spark import simulated_manifest, write_gathered

PARTS = 2_000


def test_the_scenarios_of_many_parts_are_one_file_and_no_part_is_looked_at(tmp_path: Path) -> None:
    manifest = simulated_manifest(PARTS)
    write_gathered(tmp_path, manifest)
    files = table_files(tmp_path, manifest, "scenarios")
    assert files == [tmp_path / "gathered" / "all" / "scenarios.parquet"]


def test_the_first_file_that_is_gone_is_named_among_many(tmp_path: Path) -> None:
    manifest = simulated_manifest(PARTS)
    with pytest.raises(
        WarehouseError, match=f"{manifest.parts[0].directory}/steps.parquet is gone"
    ):
        table_files(tmp_path, manifest, "steps")
