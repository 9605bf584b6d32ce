"""A manifest of many parts: gathered tables stand for their parts, and damage is still named."""

from functools import partial
from pathlib import Path

import pytest

from orchbench_analytics.errors import WarehouseError
from orchbench_analytics.profiles import BUILT_IN
from orchbench_analytics.store.manifest import narrow, table_files
from tests.benchmarks.spark import simulated_manifest, write_gathered
from tests.documents import scenario_path, write
from tests.store.roots import Root
from tests.warehouses import assert_same_contents, fresh_contents

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


def test_what_was_gathered_stands_for_its_directories_until_one_of_them_goes(
    root: Root, tmp_path: Path
) -> None:
    """One more model is read from its own files; without one of them all are read so."""
    trees = [write(scenario_path(tmp_path / "tree", f"model-{n:02}")) for n in range(11)]
    made = root.open()
    for tree in trees[:-1]:
        made.ingest(tree, jobs=1)
    files = partial(table_files, made.path, table="scenario_scores")

    def gathered_and_own(profile: str) -> tuple[int, int]:
        names = [
            path.parent.parent.name for path in files(narrow(made.manifest(), profile=profile))
        ]
        return names.count("gathered"), names.count("scores")

    assert {gathered_and_own(name) for name in BUILT_IN} == {(1, 1)}
    before = [gathered.directory for gathered in made.manifest().gathered]
    made.ingest(trees[-1], jobs=1)
    assert {gathered_and_own(name) for name in BUILT_IN} == {(1, 2)}
    assert [gathered.directory for gathered in made.manifest().gathered] == before
    assert_same_contents(made.path, fresh_contents(tmp_path / "fresh", *trees))

    two = narrow(made.manifest(), profile="spec", contenders=[("model-01", "exp")])
    assert [path.parent.parent.name for path in files(two)] == ["scores"]
    made.remove(models=["model-01"])
    assert "model-01" not in made.table("scenario_scores").collect()["model"]
    assert made.leaderboard().height == len(trees) - 1
