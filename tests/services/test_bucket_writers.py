"""Writers without a lock: nothing is lost, whoever is faster, killed, or cut off from the store."""

from __future__ import annotations

import random
import time
from pathlib import Path

import msgspec
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import StorageError
from orchbench_analytics.store.bucket import Bucket, Overtaken, Version
from orchbench_analytics.store.manifest import (
    Manifest,
    live_paths,
    load_manifest,
    named_files,
    save_manifest,
)
from orchbench_analytics.store.mirror import sweep
from tests.services.buckets import Server, forget_stores, objects
from tests.services.proxy import LATE_SECONDS, running_proxy
from tests.services.writers import start_writer, tagged
from tests.sweep import write_sweep


@pytest.fixture
def root(bucket: str, tmp_path: Path) -> str:
    """A small warehouse in a bucket."""
    write_sweep(tmp_path / "sweep", models=2, scenarios=1, runs=1, seed=1, languages=("EN",))
    address = f"{bucket}/wh"
    open_warehouse(address, create=True).ingest(tmp_path / "sweep" / "results", jobs=1)
    return address


def collect_all(root: str) -> list[str]:
    """Collect garbage of any age."""
    warehouse = open_warehouse(root)
    manifest = warehouse.manifest()
    return sweep(
        warehouse.path,
        live=live_paths(manifest),
        unreferenced=manifest.unreferenced,
        grace_seconds=-60,
        left_behind_seconds=-60,
        is_thorough=True,
    )


@pytest.mark.long
def test_eight_writers_lose_nothing(root: str, tmp_path: Path) -> None:
    started = time.monotonic()
    names = [f"writer{number}" for number in range(8)]
    writers = [start_writer(root, name, 25, tmp_path / name) for name in names]
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * 8
    assert tagged(root) == {f"{name}-{number}" for name in names for number in range(25)}
    waited = sum((tmp_path / name / "stderr").read_text().count("another writer") for name in names)
    print(f"8 x 25 commits in {time.monotonic() - started:.0f} s; {waited} were overtaken at first")


@pytest.mark.long
def test_killed_writers_lose_nothing_and_their_garbage_is_collected(
    root: str, s3: Server, tmp_path: Path
) -> None:
    board = open_warehouse(root).leaderboard()
    draw = random.Random(5)
    kills = survived = 0
    writers = []
    while kills < 200:
        while len(writers) < 4:
            number = kills + len(writers) + survived
            place = tmp_path / "writers" / str(number)
            process = start_writer(root, f"w{number}", 10_000, place)
            writers.append((process, place, time.monotonic() + draw.uniform(0.05, 1.5)))
        time.sleep(0.02)
        for writer in list(writers):
            process, _, end = writer
            if time.monotonic() > end:
                process.kill()
                process.join()
                assert process.exitcode == -9
                writers.remove(writer)
                kills += 1
    for process, _, _ in writers:
        process.kill()
        process.join()
        kills += 1
    done = {
        name
        for file in (tmp_path / "writers").glob("*/done")
        for name in file.read_text(encoding="utf-8").split()
    }
    assert done <= tagged(root)
    assert open_warehouse(root).leaderboard().equals(board)
    before = len(objects(s3, root))
    collected = collect_all(root)
    manifest = open_warehouse(root).manifest()
    assert set(objects(s3, root)) == {"manifest.json", *named_files(manifest)}
    assert open_warehouse(root).leaderboard().equals(board)
    print(f"{kills} kills, {len(done)} commits done, {len(collected)} of {before} objects garbage")


def test_writers_that_ingest_at_the_same_time_lose_nothing(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from concurrent.futures import ThreadPoolExecutor

    write_sweep(tmp_path, models=6, scenarios=2, runs=1, seed=2, languages=("EN",))
    trees = sorted((tmp_path / "results").iterdir())
    roots = []
    for tree in trees:
        monkeypatch.setenv("ORCHBENCH_CACHE", str(tmp_path / "caches" / tree.name))
        roots.append(open_warehouse(f"{bucket}/wh", create=True))
    with ThreadPoolExecutor(len(trees)) as threads:
        list(
            threads.map(
                lambda pair: pair[0].ingest(pair[1], jobs=1), zip(roots, trees, strict=True)
            )
        )
    whole = open_warehouse(tmp_path / "whole", create=True)
    for tree in trees:
        whole.ingest(tree, jobs=1)
    assert roots[0].leaderboard().equals(whole.leaderboard())


@pytest.mark.long
def test_a_bad_network_gives_no_wrong_figure(
    root: str, s3: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = open_warehouse(root).leaderboard()
    done, failed, reads, turn = set[str](), 0, 0, 0
    with running_proxy(s3.port, fault_rate=0.25, seed=4) as proxy, monkeypatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        while sum(proxy.requests.values()) < 500:
            turn += 1
            patch.setenv("ORCHBENCH_CACHE", str(tmp_path / "caches" / str(turn)))
            options = {"timeout": f"{LATE_SECONDS / 2}s"}
            try:
                warehouse = open_warehouse(root, storage_options=options)
                assert warehouse.leaderboard().equals(board)
                reads += 1
                file = tmp_path / "tags.csv"
                file.write_text(f"model,turn\nt{turn},{turn}\n", encoding="utf-8")
                warehouse.tag(file)
                done.add(f"t{turn}")
            except StorageError:
                failed += 1
        requests, faults = sum(proxy.requests.values()), dict(proxy.faults)
    forget_stores()
    assert done <= tagged(root)
    assert open_warehouse(root).leaderboard().equals(board)
    print(f"{requests} requests, {faults}; {reads} reads, {len(done)} commits, {failed} errors")
    assert reads > 10
    assert done


def next_generation(manifest: Manifest) -> Manifest:
    return msgspec.structs.replace(manifest, generation=manifest.generation + 1)


def test_a_manifest_is_replaced_only_if_it_is_the_one_that_was_read(
    root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = open_warehouse(root)
    stale = mine.manifest()
    monkeypatch.setenv("ORCHBENCH_CACHE", str(tmp_path / "other"))
    other = open_warehouse(root)
    file = tmp_path / "tags.csv"
    file.write_text("model,size\na,1\n", encoding="utf-8")
    other.tag(file)
    with pytest.raises(Overtaken):
        save_manifest(mine.path, next_generation(stale))
    assert tagged(root) == {"a"}


def test_an_answer_that_is_lost_after_the_commit_is_a_commit(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = Bucket.put

    def put_and_lose(self: Bucket, name: str, *args: object, **kwargs: object) -> Version:
        version = put(self, name, *args, **kwargs)  # type: ignore[arg-type]
        if name == "manifest.json":
            raise StorageError("the answer was lost")
        return version

    monkeypatch.setattr(Bucket, "put", put_and_lose)
    warehouse = open_warehouse(root)
    manifest = load_manifest(warehouse.path)
    saved = save_manifest(warehouse.path, next_generation(manifest))
    assert warehouse.manifest().checksum == saved.checksum


def test_a_writer_that_is_always_overtaken_says_so(
    root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from orchbench_analytics import changes
    from orchbench_analytics.errors import WarehouseError

    def overtaken(*_: object) -> None:
        raise Overtaken("manifest.json")

    monkeypatch.setattr(changes, "save_manifest", overtaken)
    monkeypatch.setattr(changes, "_ATTEMPTS", 3)
    file = tmp_path / "tags.csv"
    file.write_text("model,size\na,1\n", encoding="utf-8")
    with pytest.raises(WarehouseError, match="by other writers 3 times"):
        open_warehouse(root).tag(file)


def test_garbage_is_collected_by_age(root: str, s3: Server, tmp_path: Path) -> None:
    client, name = s3.client(), root.removeprefix("s3://").partition("/")[0]
    left = "parts/0123456789abcdef0123/steps.parquet"
    for key in (left, "parts/notes.txt", "parts/0123456789abcdef0123/my notes.txt"):
        client.put_object(Bucket=name, Key=f"wh/{key}", Body=b"x")
    file = tmp_path / "tags.csv"
    warehouse = open_warehouse(root)
    for number in range(2):
        file.write_text(f"model,size\na,{number}\n", encoding="utf-8")
        warehouse.tag(file)
    manifest = warehouse.manifest()
    assert manifest.unreferenced
    old = {"live": live_paths(manifest), "unreferenced": manifest.unreferenced}
    assert sweep(warehouse.path, **old, grace_seconds=3600, is_thorough=True) == []
    assert left in collect_all(root)
    there = set(objects(s3, root))
    assert {"parts/notes.txt", "parts/0123456789abcdef0123/my notes.txt"} <= there
    assert left not in there


def test_damage_in_the_bucket_is_named_and_repaired(
    root: str, s3: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from orchbench_analytics.errors import WarehouseError

    client, name = s3.client(), root.removeprefix("s3://").partition("/")[0]
    warehouse = open_warehouse(root)
    board = warehouse.leaderboard()
    files = named_files(warehouse.manifest())
    damaged = [next(f for f in files if f.startswith(k) and "sc" in f) for k in ("parts", "scores")]
    for file in damaged:
        content = bytearray(objects(s3, root)[file])
        content[len(content) // 2] ^= 1
        client.put_object(Bucket=name, Key=f"wh/{file}", Body=bytes(content))
    monkeypatch.setenv("ORCHBENCH_CACHE", str(tmp_path / "other"))
    other = open_warehouse(root)
    assert {finding.name for finding in other.verify()} == set(damaged)
    with pytest.raises(
        WarehouseError, match=rf"{root}/.* is damaged: .*; build it again with: .*{root}"
    ):
        other.table("scenarios").collect()
    other.ingest(tmp_path / "sweep" / "results", jobs=1, verify=True)
    assert other.verify() == []
    assert other.leaderboard().equals(board)
