"""Writers without a lock: nothing is lost, whoever is faster, killed, or cut off from the store."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from multiprocessing.process import BaseProcess
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
from tests.documents import scenario_path, write
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


def trees_in(directory: Path, count: int) -> list[Path]:
    """Small trees of result files, of one model each."""
    return [write(scenario_path(directory, f"m{n}", "1")).parent for n in range(count)]


def profiles_in(directory: Path, count: int) -> list[Path]:
    """Profiles whose rules differ, so that none shares its scores with another."""
    directory.mkdir()
    files = [directory / f"p{number}.toml" for number in range(count)]
    for number, file in enumerate(files):
        text = f'base = "strict"\nsilence = "call"\nagent_weight = 0.{number + 1}\n'
        file.write_text(text, encoding="utf-8")
    return files


def same_tables(root: str, trees: Path, place: Path, profiles: Sequence[Path] = ()) -> bool:
    """Whether a warehouse has the tables that undisturbed work on all trees gives."""
    whole = open_warehouse(place, create=True)
    whole.ingest(trees, jobs=1)
    for profile in profiles:
        whole.score(profile=profile, jobs=1)
    for name in ("scenario_scores", "scored_steps", "scored_plans", "steps", "plans"):
        frames = [w.table(name).collect() for w in (open_warehouse(root), whole)]
        ours, theirs = (frame.sort(frame.columns) for frame in frames)
        if not ours.equals(theirs):
            return False
    return True


def models_in(root: str) -> set[str]:
    return {part.model for part in open_warehouse(root).manifest().parts}


@pytest.mark.long
def test_eight_writers_lose_nothing(bucket: str, tmp_path: Path) -> None:
    root = f"{bucket}/wh"
    trees = trees_in(tmp_path / "trees", 41)
    open_warehouse(root, create=True).ingest(trees.pop(), jobs=1)
    started = time.monotonic()
    tags = {f"w{number}": [f"w{number}-{n}" for n in range(20)] for number in range(8)}
    writers = []
    for number, (name, own) in enumerate(tags.items()):
        commits: list[str | Path] = [*own, *trees[number * 5 : number * 5 + 5]]
        random.Random(number).shuffle(commits)
        writers.append(start_writer(root, commits, tmp_path / name))
    for writer in writers:
        writer.join()
    said = {name: (tmp_path / name / "stderr").read_text(encoding="utf-8") for name in tags}
    assert [writer.exitcode for writer in writers] == [0] * 8, said
    assert tagged(root) == {tag for own in tags.values() for tag in own}
    assert same_tables(root, tmp_path / "trees", tmp_path / "whole")
    waited = sum(text.count("another writer") for text in said.values())
    print(f"8 x 25 commits in {time.monotonic() - started:.0f} s; {waited} were overtaken at first")


@pytest.mark.long
def test_killed_writers_lose_nothing_and_their_garbage_is_collected(
    bucket: str, s3: Server, tmp_path: Path
) -> None:
    root = f"{bucket}/wh"
    trees = trees_in(tmp_path / "trees", 400)
    profiles = profiles_in(tmp_path / "profiles", 4)
    tags = [f"tagged-{number}" for number in range(100)]
    open_warehouse(root, create=True).ingest(trees[0], jobs=1)
    started = time.monotonic()
    start_writer(root, trees[1:3], tmp_path / "writers" / "first").join()
    longest = 2 * (time.monotonic() - started)  # some ingests come to their end, others do not
    start_writer(root, [tags[0], profiles[0]], tmp_path / "writers" / "first").join()
    draw = random.Random(5)
    places = [tmp_path / "writers" / str(number) for number in range(4)]
    running: dict[Path, tuple[BaseProcess, float]] = {}
    kills = 0

    def done() -> set[str]:
        noted = (tmp_path / "writers").glob("*/done")
        return {name for file in noted for name in file.read_text(encoding="utf-8").split()}

    while kills < 200:
        for place in places:  # whoever was killed goes on where it was, with the same cache
            if place not in running:
                known = done()
                commits: list[str | Path] = [tag for tag in tags if tag not in known]
                commits += [tree for tree in trees if tree.name not in known]
                draw.shuffle(commits)
                # To score under a profile anew is the longest work, so each writer may begin so.
                scoring = draw.sample(profiles, draw.randint(0, 1))
                process = start_writer(root, [*scoring, *commits], place)
                life = draw.uniform(0.05, 3 * longest if scoring else longest)
                running[place] = process, time.monotonic() + life
        time.sleep(0.02)
        for place, (process, end) in list(running.items()):
            assert process.exitcode in (None, 0), (place / "stderr").read_text(encoding="utf-8")
            if time.monotonic() > end:
                process.kill()
                process.join()
                kills += process.exitcode == -9
                del running[place]
    for process, _ in running.values():
        process.kill()
        process.join()
    reported, opened = done(), open_warehouse(root)
    there = models_in(root) | tagged(root) | {f"{name}.toml" for name in opened.manifest().profiles}
    assert reported <= there
    kinds = [reported & {*tags}, reported & {tree.name for tree in trees}]
    kinds.append(reported & {profile.name for profile in profiles})
    assert all(kinds)
    summary = opened.ingest(tmp_path / "trees", jobs=1)
    assert summary.found == len(trees)
    for profile in profiles:
        opened.score(profile=profile, jobs=1)
    assert same_tables(root, tmp_path / "trees", tmp_path / "whole", profiles)
    before = len(objects(s3, root))
    collected = collect_all(root)
    manifest = open_warehouse(root).manifest()
    assert set(objects(s3, root)) == {"manifest.json", *named_files(manifest)}
    assert same_tables(root, tmp_path / "trees", tmp_path / "whole")
    print(
        f"{kills} kills; {', '.join(str(len(kind)) for kind in kinds)} tags, ingests and profiles "
        f"reported; {len(collected)} of {before} objects garbage"
    )


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
    assert failed < turn / 2


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
    monkeypatch.setattr(changes, "_PATIENCE_SECONDS", 0)
    file = tmp_path / "tags.csv"
    file.write_text("model,size\na,1\n", encoding="utf-8")
    with pytest.raises(WarehouseError, match="by other writers each time"):
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
