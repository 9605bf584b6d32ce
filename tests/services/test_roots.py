"""What a store promises, on both kinds of root: a directory, and a place in a bucket."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import PathError, SelectionError, WarehouseError
from orchbench_analytics.store.manifest import (
    FORMAT_VERSION,
    Manifest,
    checksum_of,
    encode_manifest,
    named_files,
    save_manifest,
)
from orchbench_analytics.warehouse import Warehouse
from tests.services.buckets import Server, objects
from tests.sweep import write_sweep


class Place(NamedTuple):
    """A root, and how to meddle with what lies there."""

    root: str
    write: Callable[[str, bytes], object]
    delete: Callable[[str], object]
    contents: Callable[[], dict[str, bytes]]
    fresh: Callable[[], Warehouse]  # as another machine would open it


@pytest.fixture(params=["disk", "bucket"])
def place(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Place]:
    if request.param == "disk":
        yield _on_disk(tmp_path / "wh")
        return
    server: Server = request.getfixturevalue("s3")
    address: str = request.getfixturevalue("bucket")
    root, name = f"{address}/wh", address.removeprefix("s3://")
    client = server.client()

    def fresh() -> Warehouse:
        monkeypatch.setenv("ORCHBENCH_CACHE", str(tmp_path / os.urandom(4).hex()))
        return open_warehouse(root)

    yield Place(
        root,
        lambda file, data: client.put_object(Bucket=name, Key=f"wh/{file}", Body=data),
        lambda file: client.delete_object(Bucket=name, Key=f"wh/{file}"),
        lambda: objects(server, root),
        fresh,
    )


def _on_disk(root: Path) -> Place:
    def write(name: str, data: bytes) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)

    def contents() -> dict[str, bytes]:
        files = (path for path in root.rglob("*") if path.is_file())
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}

    return Place(
        str(root),
        write,
        lambda name: (root / name).unlink(),
        contents,
        lambda: open_warehouse(root),
    )


@pytest.fixture
def results(tmp_path: Path) -> Path:
    write_sweep(tmp_path / "sweep", models=10, scenarios=2, runs=1, seed=5, languages=("EN",))
    return tmp_path / "sweep" / "results"


def filled(place: Place, results: Path) -> Warehouse:
    warehouse = open_warehouse(place.root, create=True)
    warehouse.ingest(results, jobs=1)
    return warehouse


def test_a_new_warehouse_holds_what_its_manifest_names(place: Place, results: Path) -> None:
    warehouse = filled(place, results)
    assert named_files(warehouse.manifest()).keys() <= place.contents().keys()
    assert place.fresh().verify() == []
    assert place.fresh().leaderboard().equals(warehouse.leaderboard())


def test_nothing_new_changes_nothing(place: Place, results: Path) -> None:
    filled(place, results)
    time.sleep(2.1)  # what changed just now may change again within a tick of the clock
    place.fresh().ingest(results, jobs=1)
    before = place.contents()["manifest.json"]
    place.fresh().ingest(results, jobs=1)
    assert place.contents()["manifest.json"] == before


def test_changes_of_every_kind_are_seen_elsewhere(place: Place, results: Path) -> None:
    warehouse = filled(place, results)
    tags = results.parent / "tags.csv"
    tags.write_text("model,size\nperfect,7\n", encoding="utf-8")
    place.fresh().tag(tags)
    place.fresh().score(profile="strict", jobs=1)
    first = warehouse.models()["model"][0]
    place.fresh().remove(models=[first], jobs=1)
    seen = place.fresh()
    assert first not in seen.models()["model"]
    assert seen.table("model_tags").collect()["size"].drop_nulls().len() <= 1
    assert seen.verify() == []
    shutil.rmtree(results / sorted(path.name for path in results.iterdir())[-1])
    pruned = place.fresh().ingest(results, jobs=1, prune=True)
    assert pruned.removed > 0
    with pytest.raises(SelectionError):
        place.fresh().leaderboard(models=["nobody"])


def test_a_reader_sees_one_state_while_a_writer_works(place: Place, results: Path) -> None:
    trees = sorted(results.iterdir())
    warehouse = open_warehouse(place.root, create=True)
    warehouse.ingest(trees[0], jobs=1)
    known = {1}

    def read(_: int) -> None:
        manifest = warehouse.manifest()
        models = {part.model for part in manifest.parts}
        counts = warehouse.sql("select count(distinct model) from scenario_scores").item()
        assert len(models) in (counts, counts - 1, counts + 1)

    with ThreadPoolExecutor(3) as threads:
        reading = [threads.submit(read, number) for number in range(6)]
        for tree in trees[1:4]:
            open_warehouse(place.root).ingest(tree, jobs=1)
            known.add(len(known) + 1)
        for done in reading:
            done.result()
    assert warehouse.models()["model"].n_unique() == 4


@pytest.mark.parametrize("kind", ["parts", "scores", "gathered", "sources"])
def test_damage_is_named_and_rebuilt(place: Place, results: Path, kind: str) -> None:
    warehouse = filled(place, results)
    board = warehouse.leaderboard()
    name = next(name for name in named_files(warehouse.manifest()) if name.startswith(kind))
    content = bytearray(place.contents()[name])
    content[len(content) // 2] ^= 1
    place.write(name, bytes(content))
    assert [finding.name for finding in place.fresh().verify()] == [name]
    if kind == "sources":
        with pytest.raises(WarehouseError, match="ingest again into another directory"):
            place.fresh().ingest(results, jobs=1, verify=True)
        return
    place.fresh().ingest(results, jobs=1, verify=True)
    assert place.fresh().verify() == []
    assert place.fresh().leaderboard().equals(board)


def test_a_file_that_is_gone_is_named_and_rebuilt(place: Place, results: Path) -> None:
    board = filled(place, results).leaderboard()
    manifest = place.fresh().manifest()
    group = next(group for group in manifest.scores if group.profile == "spec")
    name = f"{group.directory}/scenario_scores.parquet"
    place.delete(name)
    with pytest.raises(WarehouseError, match=f"{place.root}/{name} is gone; build it again with"):
        place.fresh().leaderboard()
    place.fresh().ingest(results, jobs=1, verify=True)
    assert place.fresh().leaderboard().equals(board)


@pytest.mark.parametrize("step", [-1, 1])
def test_another_release_is_named(place: Place, results: Path, step: int) -> None:
    warehouse = filled(place, results)
    manifest = msgspec.structs.replace(warehouse.manifest(), format_version=FORMAT_VERSION + step)
    place.write("manifest.json", encode_manifest(manifest))
    release = "older" if step < 0 else "newer"
    with pytest.raises(WarehouseError, match=rf"{place.root} has format .* {release} release"):
        place.fresh()
    with pytest.raises(WarehouseError, match=release):
        open_warehouse(place.root, create=True).ingest(results, jobs=1)


def test_a_damaged_manifest_is_named(place: Place, results: Path) -> None:
    filled(place, results)
    content = place.contents()["manifest.json"].replace(b'"generation": ', b'"generation": 1')
    place.write("manifest.json", content)
    with pytest.raises(WarehouseError, match=r"manifest.json is damaged: its checksum is wrong"):
        place.fresh()


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", "parts/../../x"])
def test_a_manifest_cannot_name_what_lies_elsewhere(place: Place, results: Path, name: str) -> None:
    warehouse = filled(place, results)
    manifest = msgspec.structs.replace(warehouse.manifest(), unreferenced={name: 0})
    place.write("manifest.json", encode_manifest(manifest))
    with pytest.raises(WarehouseError, match="not a path inside the warehouse"):
        place.fresh()


def test_other_things_are_not_made_a_warehouse(place: Place, results: Path) -> None:
    place.write("notes.txt", b"mine")
    with pytest.raises(WarehouseError, match="holds other things"):
        open_warehouse(place.root, create=True).ingest(results, jobs=1)
    assert place.contents() == {"notes.txt": b"mine"}


def test_files_of_others_are_never_removed(place: Place, results: Path) -> None:
    warehouse = filled(place, results)
    mine = {"parts/notes.txt": b"1", "mine/0123456789abcdef0123/steps.parquet": b"2"}
    for name, content in mine.items():
        place.write(name, content)
    warehouse.remove(models=[warehouse.models()["model"][0]], jobs=1)
    place.fresh().ingest(results, jobs=1)
    assert mine.items() <= place.contents().items()


def test_nothing_is_made_of_nothing(place: Place, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    summary = open_warehouse(place.root, create=True).ingest(tmp_path / "empty", jobs=1)
    assert summary.found == 0
    assert place.contents() == {}
    with pytest.raises(PathError, match="no such file"):
        open_warehouse(place.root, create=True).ingest(tmp_path / "nothing")


def test_a_saved_manifest_says_since_when_directories_are_not_named(
    place: Place, results: Path
) -> None:
    warehouse = filled(place, results)
    manifest = warehouse.manifest()
    dropped = manifest.parts[0].directory
    changed = msgspec.structs.replace(manifest, parts=manifest.parts[1:], generation=99)
    saved = save_manifest(warehouse.path, changed)
    assert dropped in saved.unreferenced
    assert warehouse.manifest() == saved
    assert isinstance(saved, Manifest)


def test_the_command_line_shows_the_place_as_it_was_typed(
    place: Place, results: Path, tmp_path: Path
) -> None:
    program = [sys.executable, "-m", "orchbench_analytics"]
    ingest = [*program, "ingest", str(results), "--into", place.root]
    done = subprocess.run(ingest, capture_output=True, text=True, check=True)
    assert done.stderr.startswith(f"{place.root}: ")
    assert str(tmp_path / "cache") not in done.stderr


def test_a_missing_warehouse_says_how_to_make_one(place: Place) -> None:
    with pytest.raises(WarehouseError, match=f"orchbench ingest PATH --into {place.root}"):
        open_warehouse(place.root)


def test_readers_change_nothing(place: Place, results: Path) -> None:
    filled(place, results)
    before = place.contents()
    reader = place.fresh()
    reader.leaderboard()
    reader.sql("select count(*) from steps")
    reader.verify()
    assert place.contents() == before


def test_what_a_reader_goes_by_stays_while_others_write(place: Place, results: Path) -> None:
    reader = filled(place, results)
    manifest = reader.manifest()
    for model in reader.models()["model"][:2]:
        place.fresh().remove(models=[model], jobs=1)
    place.fresh().ingest(results, jobs=1)
    assert named_files(manifest).keys() <= place.contents().keys()


def test_what_was_removed_is_removed_again_and_a_typing_error_is_not(
    place: Place, results: Path
) -> None:
    first = filled(place, results).models()["model"][0]
    for _ in range(2):
        place.fresh().remove(models=[first], jobs=1)
    with pytest.raises(SelectionError, match="nothing-like-it"):
        place.fresh().remove(models=["nothing-like-it"], jobs=1)


def test_rows_of_files_that_are_gone_stay(place: Place, results: Path) -> None:
    known = filled(place, results).models()
    shutil.rmtree(min(results.iterdir()))
    summary = place.fresh().ingest(results, jobs=1)
    assert summary.gone
    assert place.fresh().models().equals(known)


def test_tags_that_cannot_be_rebuilt_are_given_again(place: Place, results: Path) -> None:
    filled(place, results)
    tags = results.parent / "tags.csv"
    tags.write_text("model,size\nperfect,7\n", encoding="utf-8")
    place.fresh().tag(tags)
    name = next(name for name in place.contents() if name.startswith("model_tags/"))
    place.write(name, place.contents()[name][:-1])
    with pytest.raises(WarehouseError, match=f"orchbench tag {place.root} FILE --replace"):
        place.fresh().tag(tags)
    place.fresh().tag(tags, replace=True)
    assert place.fresh().verify() == []


def test_a_part_that_cannot_be_rebuilt_is_still_named(place: Place, results: Path) -> None:
    manifest = filled(place, results).manifest()
    part = min(manifest.parts, key=lambda part: part.model)
    name = f"{part.directory}/steps.parquet"
    place.write(name, place.contents()[name][:-1])
    shutil.rmtree(min(results.iterdir()))
    place.fresh().ingest(results, jobs=1, verify=True)
    assert [finding.name for finding in place.fresh().verify()] == [name]


@pytest.mark.parametrize("table", ["scenario_scores", "scored_steps"])
def test_a_file_of_another_size_is_never_opened(place: Place, results: Path, table: str) -> None:
    manifest = filled(place, results).manifest()
    name = f"{manifest.scores[0].directory}/{table}.parquet"
    place.write(name, place.contents()[name][:-1])
    with pytest.raises(WarehouseError, match=f"{name} is damaged"):
        place.fresh().sql(f"select count(*) from {table}")


def test_a_manifest_with_a_field_of_another_release_is_whole(place: Place, results: Path) -> None:
    board = filled(place, results).leaderboard()
    document = msgspec.json.decode(place.contents()["manifest.json"])
    bare = msgspec.json.format(msgspec.json.encode(document | {"checksum": "", "later": 1}))
    checksum = f'"checksum": "{checksum_of(bare)}"'.encode()
    place.write("manifest.json", bare.replace(b'"checksum": ""', checksum, 1))
    assert place.fresh().leaderboard().equals(board)


def test_a_reader_of_a_removed_warehouse_is_told(place: Place, results: Path) -> None:
    warehouse = filled(place, results)
    for name in place.contents():
        place.delete(name)
    with pytest.raises(WarehouseError, match="orchbench ingest"):
        warehouse.leaderboard()


@pytest.mark.parametrize("below", ["", "/parts"])
def test_a_warehouse_is_not_its_own_source(place: Place, results: Path, below: str) -> None:
    warehouse = filled(place, results)
    with pytest.raises(PathError, match="lies in the warehouse"):
        warehouse.ingest(f"{place.root}{below}", jobs=1)


def test_names_of_models_stand_in_files_alone(place: Place, results: Path) -> None:
    models = filled(place, results).models()["model"].unique()
    assert not [name for name in place.contents() for model in models if model in name]
