"""Warehouses at an address: in memory, with the rules that every store has."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import msgspec
import pytest
from obstore.store import MemoryStore

from orchbench_analytics import changes, open_warehouse
from orchbench_analytics.errors import PathError, StorageError, Unreachable, WarehouseError
from orchbench_analytics.ingest import update
from orchbench_analytics.ingest.part import Built, Task
from orchbench_analytics.score import group
from orchbench_analytics.store import bucket, mirror
from orchbench_analytics.store.bucket import Bucket, Overtaken, parse_options
from orchbench_analytics.store.directories import mark_unfinished
from orchbench_analytics.store.manifest import (
    Manifest,
    ScoreGroup,
    live_paths,
    named_files,
    save_manifest,
)
from orchbench_analytics.store.mirror import Mirror, bucket_of, root_of
from tests.documents import scenario_path, write
from tests.store.test_verify import flip
from tests.sweep import write_sweep


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> MemoryStore:
    """A store in memory behind every address."""
    memory = MemoryStore()
    monkeypatch.setattr(bucket, "_store", cache(lambda _: memory))
    monkeypatch.setenv("ORCHBENCH_CACHE", str(tmp_path / "cache"))
    return memory


@pytest.fixture
def results(tmp_path: Path) -> Path:
    write_sweep(tmp_path / "sweep", models=2, scenarios=1, runs=1, seed=1, languages=("EN",))
    return tmp_path / "sweep" / "results"


def names_in(store: MemoryStore) -> set[str]:
    return {entry["path"] for page in store.list() for entry in page}


def test_a_put_replaces_what_it_says_and_nothing_else(store: MemoryStore) -> None:
    place = Bucket("s3://bucket/wh/")
    first = place.put("a/b", b"1", replacing="nothing")
    with pytest.raises(Overtaken):
        place.put("a/b", b"2", replacing="nothing")
    second = place.put("a/b", b"2", replacing=first)
    with pytest.raises(Overtaken):
        place.put("a/b", b"3", replacing=first)
    content = place.read("a/b")
    assert content is not None
    assert (content.data, content.version.e_tag) == (b"2", second.e_tag)
    assert place.read("a/b", unless=content.version) is None
    with pytest.raises(FileNotFoundError, match="s3://bucket/wh/c"):
        place.read("c")
    assert names_in(store) == {"wh/a/b"}


def test_a_tree_is_listed_to_its_end(store: MemoryStore) -> None:
    names = [f"{a}/{b}/{c}" for a in "xyz" for b in "12" for c in range(3)] + ["top", "x/middle"]
    for name in names:
        store.put(f"wh/{name}", b"")
    store.put("whale", b"")
    assert [entry.name for entry in Bucket("s3://bucket/wh").list_objects()] == sorted(names)
    directories, objects = Bucket("s3://bucket/wh").list_directory("x")
    assert (sorted(directories), [entry.name for entry in objects]) == (
        ["x/1", "x/2"],
        ["x/middle"],
    )


def test_the_manifest_is_put_after_all_that_it_names(
    store: MemoryStore, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put, saved = Bucket.put, []

    def checked(self: Bucket, name: str, content: bytes, **kwargs: object) -> object:
        if name == "manifest.json":
            manifest = msgspec.json.decode(content, type=Manifest)
            saved.append(len(named_files(manifest)))
            assert {f"wh/{file}" for file in named_files(manifest)} <= names_in(store)
        return put(self, name, content, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(Bucket, "put", checked)
    warehouse = open_warehouse("s3://bucket/wh", create=True)
    for tree in results.iterdir():
        warehouse.ingest(tree, jobs=1)
    assert 0 < saved[0] < saved[1]


def test_a_warehouse_at_an_address_is_read_from_another_cache(
    store: MemoryStore, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse = open_warehouse("s3://bucket/wh", create=True)
    warehouse.ingest(results, jobs=1)
    assert names_in(store) == {
        f"wh/{name}" for name in ("manifest.json", *named_files(warehouse.manifest()))
    }
    monkeypatch.setenv("ORCHBENCH_CACHE", str(tmp_path / "other"))
    other = open_warehouse("s3://bucket/wh")
    assert other.leaderboard().equals(warehouse.leaderboard())
    assert "steps.parquet" not in {path.name for path in (tmp_path / "other").rglob("*")}
    assert "s3://bucket/wh" in repr(other)


@pytest.mark.parametrize("times", [1, 50])
def test_who_is_overtaken_does_it_again(
    store: MemoryStore,
    results: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    times: int,
) -> None:
    mine = open_warehouse("s3://bucket/wh", create=True)
    mine.ingest(results, jobs=1)
    monkeypatch.setenv("ORCHBENCH_CACHE", str(tmp_path / "other"))
    other = open_warehouse("s3://bucket/wh")

    def tags(name: str) -> Path:
        file = tmp_path / f"{name}.csv"
        file.write_text(f"model,size\n{name},1\n", encoding="utf-8")
        return file

    put, others = Bucket.put, iter([f"theirs-{number}" for number in range(times)])
    is_theirs = False

    def put_late(self: Bucket, name: str, *args: object, **kwargs: object) -> object:
        nonlocal is_theirs
        if name == "manifest.json" and not is_theirs and (theirs := next(others, None)):
            is_theirs = True
            other.tag(tags(theirs))
            is_theirs = False
        return put(self, name, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(changes, "_LONGEST_PAUSE", 0)
    monkeypatch.setattr(Bucket, "put", put_late)
    mine.tag(tags("mine"))
    assert next(others, None) is None
    holder = mine.manifest().tables["model_tags"]
    assert holder.row_counts == {"model_tags": 1 + times}


@pytest.fixture
def scored(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of groups of scores that were computed since, one by one."""
    computed: list[str] = []
    score_group = group.score_group

    def counted(task: group.GroupTask) -> list[ScoreGroup]:
        computed.extend(task.group.group_ids.values())
        return score_group(task)

    monkeypatch.setattr(group, "score_group", counted)
    return computed


def test_who_is_overtaken_reads_and_scores_nothing_again(
    store: MemoryStore,
    results: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    scored: list[str],
) -> None:
    first, second = sorted(results.iterdir())
    mine = open_warehouse("s3://bucket/wh", create=True)
    monkeypatch.setenv("ORCHBENCH_CACHE", str(tmp_path / "other"))
    other = open_warehouse("s3://bucket/wh", create=True)
    put, is_first = Bucket.put, True

    def put_late(self: Bucket, name: str, *args: object, **kwargs: object) -> object:
        nonlocal is_first
        if name == "manifest.json" and is_first:
            is_first = False
            other.ingest(second, jobs=1)
        return put(self, name, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(Bucket, "put", put_late)
    read: list[str] = []
    build_part = update.build_part

    def counted(task: Task) -> Built:
        read.extend(file.path for file in task.files)
        return build_part(task)

    monkeypatch.setattr(update, "build_part", counted)
    mine.ingest(first, jobs=1)
    assert not is_first
    assert sorted(read) == sorted(map(str, results.rglob("*.json")))
    assert {part.model for part in mine.manifest().parts} == {first.name, second.name}
    assert len(scored) == len(set(scored))
    assert set(scored) == {group.group_id for group in mine.manifest().scores}
    assert mine.verify() == []


def test_scores_that_a_killed_ingest_had_finished_are_taken_over(
    results: Path, tmp_path: Path, scored: list[str]
) -> None:
    warehouse = open_warehouse(tmp_path / "wh", create=True)
    warehouse.ingest(results, jobs=1)
    before, board = warehouse.manifest(), warehouse.leaderboard()
    lost, damaged, *_ = before.scores
    shutil.rmtree(warehouse.path / lost.directory)
    flip(warehouse.path / damaged.directory / "scenario_scores.parquet", 300)
    (warehouse.path / "manifest.json").unlink()
    mark_unfinished(warehouse.path)
    scored.clear()

    again = open_warehouse(tmp_path / "wh", create=True)
    again.ingest(results, jobs=1)

    assert sorted(scored) == sorted([lost.group_id, damaged.group_id])
    assert again.manifest().scores == before.scores
    assert again.leaderboard().equals(board)
    assert again.verify() == []


def test_a_file_of_the_same_rows_in_other_bytes_is_taken_as_it_is(
    store: MemoryStore, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pyarrow.parquet as pq

    first = open_warehouse("s3://bucket/first", create=True)
    first.ingest(results, jobs=1)
    other = {}
    for name in named_files(first.manifest()):
        if name.startswith(("parts/", "scores/")):
            path = tmp_path / "other.parquet"
            pq.write_table(pq.ParquetFile(first.path / name).read(), path, compression="gzip")
            other[name] = path.read_bytes()
            store.put(f"second/{name}", other[name])
    second = open_warehouse("s3://bucket/second", create=True)
    second.ingest(results, jobs=1)
    for name, content in other.items():
        assert bytes(store.get(f"second/{name}").bytes()) == content
    assert second.verify() == []
    monkeypatch.setenv("ORCHBENCH_CACHE", str(tmp_path / "fresh"))
    assert open_warehouse("s3://bucket/second").leaderboard().equals(first.leaderboard())


def test_what_an_earlier_manifest_named_is_put_again_before_it_is_named_anew(
    store: MemoryStore, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse = open_warehouse("s3://bucket/wh", create=True)
    warehouse.ingest(results, jobs=1)
    model = warehouse.models()["model"][0]
    parts = {part.directory for part in warehouse.manifest().parts}
    warehouse.remove(models=[model], jobs=1)
    (removed,) = parts & warehouse.manifest().unreferenced.keys()
    replaced = []
    put = Bucket.put

    def noted(self: Bucket, name: str, *args: object, **kwargs: object) -> object:
        if kwargs["replacing"] == "anything":
            replaced.append(name)
        return put(self, name, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(Bucket, "put", noted)
    warehouse.ingest(results, jobs=1)
    assert {name.rpartition("/")[0] for name in replaced} >= {removed}


def test_input_files_may_lie_at_an_address(store: MemoryStore, results: Path) -> None:
    for path in results.rglob("*.json"):
        store.put(f"in/{path.relative_to(results).as_posix()}", path.read_bytes())
    warehouse = open_warehouse("s3://bucket/in/wh", create=True)
    taken = warehouse.ingest("s3://bucket/in", jobs=1)
    again = warehouse.ingest("s3://bucket/in/", jobs=1)
    assert taken.taken == again.unchanged == len(list(results.rglob("*.json")))
    assert set(warehouse.sources()["path"].str.slice(0, 15)) == {"s3://bucket/in/"}
    with pytest.raises(PathError, match=r"lies in the warehouse s3://bucket/in/wh"):
        warehouse.ingest("s3://bucket/in/wh/parts", jobs=1)
    with pytest.raises(PathError, match="no such file or directory: s3://bucket/nothing"):
        warehouse.ingest("s3://bucket/nothing", jobs=1)


def test_an_address_and_a_directory_place_files_alike(store: MemoryStore, tmp_path: Path) -> None:
    tree = tmp_path / "bucket"
    for model in ("org/a", "b"):
        path = scenario_path(tree, model=model)
        write(path)
        store.put(path.relative_to(tree).as_posix(), path.read_bytes())
    places = []
    for root, given in ((tmp_path / "disk", tree), (tmp_path / "far", "s3://bucket")):
        warehouse = open_warehouse(root, create=True)
        warehouse.ingest(given, jobs=1)
        places.append(warehouse.sources().select("model", "experiment", "language", "scenario"))
    assert places[0].equals(places[1])


def test_garbage_is_what_no_manifest_names_and_is_old(store: MemoryStore, results: Path) -> None:
    warehouse = open_warehouse("s3://bucket/wh", create=True)
    warehouse.ingest(results, jobs=1)
    left = "parts/0123456789abcdef0123/steps.parquet"
    for name in (left, "parts/mine.txt", "notes/0123456789abcdef0123/steps.parquet"):
        store.put(f"wh/{name}", b"")
    known = {"live": live_paths(warehouse.manifest()), "unreferenced": {}, "is_thorough": True}
    assert mirror.sweep(warehouse.path, grace_seconds=0, **known) == []
    found = mirror.sweep(warehouse.path, grace_seconds=0, left_behind_seconds=-9, **known)
    assert found == [left]
    assert warehouse.verify() == []


def test_a_mirror_is_shown_as_its_address(store: MemoryStore) -> None:
    root = root_of("s3://bucket/wh/")
    assert isinstance(root, Mirror)
    assert f"{root / 'parts' / 'x'}" == "s3://bucket/wh/parts/x"
    assert Path(root).is_absolute()
    known = bucket_of(Path(root))
    assert known is not None
    assert known.address == "s3://bucket/wh"


def test_a_manifest_that_was_not_read_from_the_bucket_replaces_nothing(
    store: MemoryStore, results: Path
) -> None:
    warehouse = open_warehouse("s3://bucket/wh", create=True)
    warehouse.ingest(results, jobs=1)
    manifest = msgspec.structs.replace(warehouse.manifest(), checksum="")
    with pytest.raises(Overtaken):
        save_manifest(warehouse.path, manifest)


def test_a_wrong_option_is_named_without_its_value() -> None:
    assert parse_options(["Endpoint=http://a=b"]) == {"endpoint": "http://a=b"}
    with pytest.raises(PathError, match="NAME=VALUE") as raised:
        parse_options(["secret"])
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("option", ["endpoint", "timeout", "hush"])
def test_an_option_of_the_wrong_kind_is_a_sentence_without_its_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.setenv("ORCHBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(bucket, "_options", {})
    monkeypatch.setenv(bucket.OPTIONS_VARIABLE, "")
    with pytest.raises((PathError, StorageError), match=r"s3://strange: .*(option|URL)") as raised:
        open_warehouse("s3://strange/wh", storage_options={option: "my secret"})
    assert "secret" not in str(raised.value)


def test_an_address_with_credentials_in_it_is_refused_and_not_repeated(
    store: MemoryStore, tmp_path: Path
) -> None:
    with pytest.raises(PathError, match="no credentials in it") as raised:
        open_warehouse("s3://key:hush@bucket/wh", create=True)
    assert "hush" not in str(raised.value)
    assert not (tmp_path / "cache").exists()
    with pytest.raises(PathError, match="s3:// is not the address of a bucket"):
        open_warehouse("s3://")


def test_a_wrong_size_of_the_cache_is_a_sentence(
    store: MemoryStore, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORCHBENCH_CACHE_SIZE", "much")
    with pytest.raises(WarehouseError, match="ORCHBENCH_CACHE_SIZE is 'much'"):
        mirror.make_room(root_of("s3://bucket/wh"))


def test_a_store_that_cannot_be_reached_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORCHBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(bucket, "_RETRIES", {"max_retries": 0})
    monkeypatch.setattr(bucket, "_ATTEMPTS", 1)
    options = {"endpoint": "http://127.0.0.1:1", "access_key_id": "k", "secret_access_key": "hush"}
    with pytest.raises(Unreachable, match="cannot be reached") as raised:
        open_warehouse("s3://unreachable/wh", storage_options=options)
    assert "hush" not in str(raised.value)


def test_without_the_extra_an_address_says_what_to_install(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['obstore'] = None\n"
        "from orchbench_analytics.__main__ import main\n"
        "sys.argv = ['orchbench', 'leaderboard', 's3://bucket/wh']; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "ORCHBENCH_CACHE": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "pip install 'orchbench-analytics[cloud]'" in done.stderr
    assert "Traceback" not in done.stderr
