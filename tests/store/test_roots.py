"""What a warehouse promises wherever it lies: in a directory, or at an address of a bucket."""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import PathError, SelectionError, WarehouseError
from orchbench_analytics.store.files import MANIFEST
from orchbench_analytics.store.manifest import named_files
from tests.store.roots import Root
from tests.sweep import write_sweep


@pytest.fixture
def results(tmp_path: Path) -> Path:
    write_sweep(tmp_path / "sweep", models=4, scenarios=2, runs=1, seed=5, languages=("EN",))
    return tmp_path / "sweep" / "results"


@pytest.fixture
def filled(root: Root, results: Path) -> Root:
    """The place of a warehouse of four models."""
    root.open().ingest(results, jobs=1)
    return root


def test_it_holds_what_its_manifest_names(filled: Root) -> None:
    opened, fresh = filled.open(), filled.fresh()
    assert named_files(opened.manifest()).keys() <= filled.contents().keys()
    assert fresh.verify() == []
    assert fresh.leaderboard().equals(opened.leaderboard())


def test_nothing_new_changes_nothing(root: Root, results: Path) -> None:
    for path in results.rglob("*.json"):
        os.utime(path, (0, 0))  # what changed just now may change again within a tick of the clock
    root.open().ingest(results, jobs=1)
    before = root.read(MANIFEST)
    root.fresh().ingest(results, jobs=1)
    assert root.read(MANIFEST) == before


def test_changes_of_every_kind_are_seen_elsewhere(filled: Root, results: Path) -> None:
    first, second, *_ = filled.fresh().models()["model"].unique().sort()
    tags = results.parent / "tags.csv"
    tags.write_text(f"model,size\n{second},7\n", encoding="utf-8")
    profile = results.parent / "mine.toml"
    profile.write_text('base = "spec"\nsilence = "call"\n', encoding="utf-8")
    filled.fresh().tag(tags)
    filled.fresh().score(profile=profile, jobs=1)
    filled.fresh().remove(models=[first], jobs=1)
    seen = filled.fresh()
    assert first not in seen.models()["model"]
    assert seen.table("model_tags").collect()["size"].drop_nulls().to_list() == [7]
    assert seen.leaderboard(profile="mine").height == 3
    assert seen.verify() == []
    with pytest.raises(SelectionError):
        seen.leaderboard(models=[first])


def test_who_has_read_a_model_may_remove_it_and_take_it_in_again(
    filled: Root, results: Path
) -> None:
    opened = filled.fresh()
    board = opened.leaderboard()
    for table in ("steps", "plans", "scenarios"):
        opened.table(table).collect()
    opened.remove(models=[opened.models()["model"][0]], jobs=1)
    opened.ingest(results, jobs=1)
    assert filled.fresh().leaderboard().equals(board)
    assert filled.fresh().verify() == []


def test_a_query_sees_one_state_while_others_write(root: Root, results: Path) -> None:
    first, *others = sorted(results.iterdir())
    reader = root.open()
    reader.ingest(first, jobs=1)
    count = "(select count(distinct model) from main.{})"
    query = f"select {count.format('steps')} as raw, {count.format('scored_steps')} as scored"
    with ThreadPoolExecutor(3) as threads:
        asked = [threads.submit(reader.sql, query) for _ in range(9)]
        for tree in others:
            root.open().ingest(tree, jobs=1)
        for raw, scored in (answer.result().row(0) for answer in asked):
            assert raw == scored
    assert reader.sql(query).row(0) == (4, 4)


def test_a_directory_above_a_warehouse_says_where_it_is(filled: Root) -> None:
    above, _, name = filled.address.rpartition("/")
    with pytest.raises(
        WarehouseError, match=rf"is not a warehouse .*; did you mean {above}/{name}"
    ):
        open_warehouse(above)


def test_other_things_are_not_made_a_warehouse(root: Root, results: Path) -> None:
    root.write("notes.txt", b"mine")
    with pytest.raises(WarehouseError, match=rf"{root.address} holds other things \(notes.txt\)"):
        root.open().ingest(results, jobs=1)
    assert root.contents() == {"notes.txt": b"mine"}


def test_nothing_is_made_of_nothing(root: Root, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert root.open().ingest(tmp_path / "empty", jobs=1).found == 0
    with pytest.raises(PathError, match="no such file"):
        root.open().ingest(tmp_path / "nothing")
    assert root.contents() == {}


def test_the_command_line_shows_the_place_as_it_was_typed(
    orchbench, root: Root, results: Path
) -> None:
    done = orchbench("ingest", results, "--into", root.address)
    assert done.returncode == 0
    assert done.stderr.startswith(f"{root.address}: ")
    assert "cache" not in done.stderr


def test_rows_of_files_that_are_gone_stay_until_they_are_pruned(
    filled: Root, results: Path
) -> None:
    known = filled.fresh().models()
    shutil.rmtree(min(results.iterdir()))
    assert filled.fresh().ingest(results, jobs=1).gone
    assert filled.fresh().models().equals(known)
    assert filled.fresh().ingest(results, jobs=1, prune=True).removed > 0
    assert filled.fresh().models().height == known.height - 1


@pytest.mark.parametrize("below", ["", "/parts"])
def test_a_warehouse_is_not_its_own_source(filled: Root, below: str) -> None:
    with pytest.raises(PathError, match="lies in the warehouse"):
        filled.fresh().ingest(f"{filled.address}{below}", jobs=1)
