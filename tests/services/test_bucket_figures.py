"""A warehouse in a bucket has the tables and figures of one on disk, and costs few requests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import StorageError
from orchbench_analytics.store.mirror import make_room
from orchbench_analytics.tables import TABLES
from orchbench_analytics.warehouse import Warehouse
from tests.services.buckets import KEY, SECRET, Server, environment, forget_stores, objects, upload
from tests.services.proxy import running_proxy
from tests.sweep import write_sweep

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VIEWS = ("leaderboard", "model_scores", "confusion_matrix", "model_tags", "profiles")
# What a row of `sources` says of its file beside its content: where it lies, and since when.
PLACES = ("path", "file_stamp", "part_id", "message")


def assert_same_tables(found: Warehouse, expected: Warehouse, *, is_moved: bool = False) -> None:
    for name in (*TABLES, *VIEWS):
        hidden = [c for c in PLACES if is_moved and name == "sources"]
        hidden += ["file_stamp"] if name == "sources" and not is_moved else []
        frames = [w.table(name).collect().drop(hidden) for w in (found, expected)]
        frames = [frame.sort(pl.all()) for frame in frames]
        assert_frame_equal(*frames, check_exact=True)


def new_cache(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.setenv("ORCHBENCH_CACHE", str(path))


def test_the_demo_has_the_same_bytes_and_figures_as_on_disk(
    bucket: str, s3: Server, demo_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results, cards = demo_directory / "results", demo_directory / "agent_cards"
    local = open_warehouse(tmp_path / "wh", create=True)
    for warehouse in (local, open_warehouse(f"{bucket}/wh", create=True)):
        warehouse.ingest(results, agent_cards=cards, jobs=1)

    there = objects(s3, f"{bucket}/wh")
    for holder in (*local.manifest().parts, *local.manifest().scores):
        for table in holder.row_counts:
            name = f"{holder.directory}/{table}.parquet"
            assert there[name] == (local.path / name).read_bytes()
    new_cache(monkeypatch, tmp_path / "other")
    assert_same_tables(open_warehouse(f"{bucket}/wh"), local)


def test_input_files_may_lie_in_the_bucket_too(
    bucket: str, s3: Server, demo_directory: Path
) -> None:
    upload(s3, demo_directory / "results", f"{bucket}/sweep/results")
    upload(s3, demo_directory / "agent_cards", f"{bucket}/sweep/agent_cards")
    warehouse = open_warehouse(f"{bucket}/sweep/wh", create=True)
    warehouse.ingest(f"{bucket}/sweep/results", agent_cards=f"{bucket}/sweep/agent_cards", jobs=1)
    assert_same_tables(warehouse, open_warehouse(demo_directory / "warehouse"), is_moved=True)
    again = warehouse.ingest(f"{bucket}/sweep", jobs=1)
    assert (again.taken, again.refused) == (0, [])


def test_the_conformance_pack_has_the_same_figures_as_on_disk(
    bucket: str, conformance_pack: Path, pack_warehouse: Path
) -> None:
    warehouse = open_warehouse(f"{bucket}/wh", create=True)
    results, cards = conformance_pack / "results", conformance_pack / "agent_cards"
    warehouse.ingest(results, agent_cards=[cards])
    assert_same_tables(warehouse, open_warehouse(pack_warehouse), is_moved=True)


def test_a_second_look_fetches_the_manifest_alone(
    bucket: str, s3: Server, demo_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_warehouse(f"{bucket}/wh", create=True).ingest(demo_directory / "results", jobs=1)
    new_cache(monkeypatch, tmp_path / "other")
    with running_proxy(s3.port) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        forget_stores()
        warehouse = open_warehouse(f"{bucket}/wh")
        first = warehouse.leaderboard()
        fetched = [path for path in proxy.gets if not path.endswith("manifest.json")]
        assert not [path for path in fetched if "steps" in path or "plans" in path]
        proxy.forget()
        assert warehouse.leaderboard().equals(first)
        assert {path.rpartition("/")[2] for path in proxy.gets} == {"manifest.json"}
        assert set(proxy.requests) == {"GET"}


@pytest.mark.long
def test_a_leaderboard_of_200_models_takes_few_requests_however_many_runs(
    s3: Server, tmp_path: Path, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Small groups, so that runs make more of them, as they do in a large sweep.
    monkeypatch.setattr("orchbench_analytics.score.group._GROUP_ROWS", 1_000)
    counts, groups = [], []
    for runs in (1, 4):
        tree = tmp_path / f"sweep-{runs}"
        write_sweep(tree, models=200, scenarios=2, runs=runs, seed=3)
        root = f"{bucket}/wh-{runs}"
        warehouse = open_warehouse(root, create=True)
        warehouse.ingest(tree / "results")
        groups.append(len(warehouse.manifest().scores))
        with running_proxy(s3.port) as proxy, monkeypatch.context() as patch:
            patch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
            patch.setenv("ORCHBENCH_CACHE", str(tmp_path / f"cold-{runs}"))
            forget_stores()
            board = open_warehouse(root).leaderboard()
            assert len(board) >= 200
            counts.append(dict(proxy.requests))
        forget_stores()
    print("requests of a leaderboard of 200 models, cold, with 1 and 4 runs:", counts, groups)
    assert groups[1] > 2 * groups[0]
    # Of each table one gathered file, and at most eight that are not gathered yet.
    assert max(count["GET"] for count in counts) <= 20


def test_unchanged_objects_are_known_without_reading_them(
    bucket: str, s3: Server, demo_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upload(s3, demo_directory / "results" / "perfect", f"{bucket}/results/perfect")
    with running_proxy(s3.port) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.endpoint)
        forget_stores()
        warehouse = open_warehouse(f"{bucket}/wh", create=True)
        taken = warehouse.ingest(f"{bucket}/results", jobs=1).taken
        proxy.forget()
        again = warehouse.ingest(f"{bucket}/results", jobs=1)
        assert (again.taken, again.unchanged) == (0, taken)
        assert not [path for path in proxy.gets if "/results/" in path]
        assert "PUT" not in proxy.requests


def test_a_changed_object_is_read_again_and_a_deleted_one_can_be_forgotten(
    bucket: str, s3: Server, demo_directory: Path
) -> None:
    upload(s3, demo_directory / "results" / "perfect", f"{bucket}/results/perfect")
    warehouse = open_warehouse(f"{bucket}/wh", create=True)
    warehouse.ingest(f"{bucket}/results", jobs=1)
    first, second, *_ = warehouse.sources().filter(kind="runs")["path"]
    client, name = s3.client(), bucket.removeprefix("s3://")
    keys = [path.removeprefix(f"{bucket}/") for path in (first, second)]
    data = client.get_object(Bucket=name, Key=keys[0])["Body"].read()
    client.put_object(Bucket=name, Key=keys[0], Body=data + b"\n")
    client.delete_object(Bucket=name, Key=keys[1])
    summary = warehouse.ingest(f"{bucket}/results", jobs=1)
    assert (summary.taken, [source.path for source in summary.gone]) == (1, [second])
    assert warehouse.ingest(f"{bucket}/results", jobs=1, prune=True).removed == 1


def test_names_of_any_kind_are_read(bucket: str, s3: Server, demo_directory: Path) -> None:
    name = "모델 100% #1 & co"
    upload(s3, demo_directory / "results" / "perfect", f"{bucket}/results/{name}")
    warehouse = open_warehouse(f"{bucket}/wh", create=True)
    assert warehouse.ingest(f"{bucket}/results", jobs=1).refused == []
    assert warehouse.models()["model"].unique().to_list() == [name]


def run(*words: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "orchbench_analytics", *words],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )


def test_no_output_manifest_or_cache_has_a_key_in_it(
    s3: Server, demo_directory: Path, tmp_path: Path
) -> None:
    bucket = f"s3://{s3.new_bucket()}"
    upload(s3, demo_directory / "results" / "perfect", f"{bucket}/results/perfect")
    cache = tmp_path / "cache"
    options = {
        "endpoint": s3.endpoint,
        "access_key_id": KEY,
        "secret_access_key": SECRET,
        "region": "us-east-1",
    }
    given = [word for n, v in options.items() for word in ("--storage-option", f"{n}={v}")]
    env = {"ORCHBENCH_CACHE": str(cache)}
    root = f"{bucket}/wh"
    calls = [
        ("ingest", f"{bucket}/results", "--into", root),
        ("leaderboard", root),
        ("sql", root, "select count(*) as steps from steps"),
        ("leaderboard", root, "--profile", "nothing"),
        ("leaderboard", f"{bucket}/nothing"),
        ("leaderboard", "s3://no-such-bucket/wh"),
        ("ingest", f"{bucket}/nothing", "--into", root),
        ("check", root),
    ]
    said = [run(*words, *given, env=env) for words in calls]
    wrong = run("leaderboard", root, *given, "--storage-option", f"nonsense={SECRET}", env=env)
    unlike = run("leaderboard", root, *given, "--storage-option", SECRET, env=env)
    lost = run(
        "leaderboard", root, *given, "--storage-option", "endpoint=http://127.0.0.1:1", env=env
    )
    assert [done.returncode for done in said] == [0, 0, 0, 2, 2, 2, 2, 0]
    assert (wrong.returncode, unlike.returncode, lost.returncode) == (2, 2, 74)
    for done in (*said, wrong, unlike, lost):
        assert SECRET not in done.stdout + done.stderr
        assert KEY not in done.stdout + done.stderr
        assert str(cache) not in done.stdout + done.stderr
    contents = [path.read_bytes() for path in cache.rglob("*") if path.is_file()]
    for content in (*contents, *objects(s3, root).values()):
        assert SECRET.encode() not in content
        assert KEY.encode() not in content


def test_options_may_stand_in_the_file_of_settings(
    s3: Server, demo_directory: Path, tmp_path: Path
) -> None:
    bucket = f"s3://{s3.new_bucket()}"
    (tmp_path / "orchbench.toml").write_text(
        f'warehouse = "{bucket}/wh"\n[storage]\nendpoint = "{s3.endpoint}"\n', encoding="utf-8"
    )
    keys = {k: v for k, v in environment(s3).items() if k != "AWS_ENDPOINT_URL"}
    env = {**os.environ, **keys, "ORCHBENCH_CACHE": str(tmp_path / "cache")}
    program = [sys.executable, "-m", "orchbench_analytics"]
    results = str(demo_directory / "results" / "perfect")
    subprocess.run([*program, "ingest", results], cwd=tmp_path, env=env, check=True)
    subprocess.run([*program, "leaderboard"], cwd=tmp_path, env=env, check=True)


def test_credentials_of_a_profile_are_found(
    bucket: str, s3: Server, demo_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    file = tmp_path / "credentials"
    keys = f"aws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n"
    file.write_text(f"[lab]\n{keys}", encoding="utf-8")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    monkeypatch.setenv("AWS_PROFILE", "lab")
    warehouse = open_warehouse(f"{bucket}/wh", create=True)
    warehouse.ingest(demo_directory / "results" / "perfect", jobs=1)
    assert len(warehouse.leaderboard()) == 1


def test_a_bucket_that_is_not_there_is_named(bucket: str) -> None:
    with pytest.raises(StorageError, match="there is no bucket"):
        open_warehouse("s3://no-such-bucket/wh")


def test_the_cache_is_bounded_and_what_it_lost_comes_again(
    bucket: str, demo_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse = open_warehouse(f"{bucket}/wh", create=True)
    warehouse.ingest(demo_directory / "results", jobs=1)
    board = warehouse.leaderboard()
    files = list((tmp_path / "cache").rglob("*.parquet"))
    monkeypatch.setenv("ORCHBENCH_CACHE_SIZE", "100KB")
    make_room(warehouse.path)
    assert all(file.exists() for file in files), "they were used just now"
    for file in files:
        os.utime(file, (0, 0))
    make_room(warehouse.path)
    assert sum(f.stat().st_size for f in files if f.exists()) <= 100_000
    assert warehouse.leaderboard().equals(board)


def test_processes_that_share_a_cache_do_not_disturb_each_other(
    bucket: str, s3: Server, demo_directory: Path, tmp_path: Path
) -> None:
    root = f"{bucket}/wh"
    open_warehouse(root, create=True).ingest(demo_directory / "results", jobs=1)
    env = {"ORCHBENCH_CACHE": str(tmp_path / "shared"), **environment(s3)}
    call = ("leaderboard", root, "--format", "csv")
    with ThreadPoolExecutor(6) as threads:
        done = list(threads.map(lambda _: run(*call, env=env), range(6)))
    assert {(one.returncode, one.stderr) for one in done} == {(0, "")}
    assert len({one.stdout for one in done}) == 1
    assert not list((tmp_path / "shared").glob("*/incoming/*"))


def test_a_damaged_copy_in_the_cache_is_fetched_again(
    bucket: str, demo_directory: Path, tmp_path: Path
) -> None:
    warehouse = open_warehouse(f"{bucket}/wh", create=True)
    warehouse.ingest(demo_directory / "results", jobs=1)
    board = warehouse.leaderboard()
    for file in (tmp_path / "cache").rglob("scenario_scores.parquet"):
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
    assert warehouse.leaderboard().equals(board)


def test_the_marker_of_a_mirror_says_the_address_alone(
    bucket: str, demo_directory: Path, tmp_path: Path
) -> None:
    open_warehouse(f"{bucket}/wh", create=True).ingest(
        demo_directory / "results" / "perfect", jobs=1
    )
    (mark,) = (tmp_path / "cache").glob("*/bucket.json")
    assert json.loads(mark.read_bytes()) == {
        "made_by": "orchbench-analytics",
        "address": f"{bucket}/wh",
    }


def test_spark_takes_a_warehouse_in_a_bucket(
    bucket: str, demo_directory: Path, tmp_path: Path, session: SparkSession
) -> None:
    from orchbench_analytics.engines.spark import SparkEngine

    engine = SparkEngine(session)
    results = demo_directory / "results" / "perfect"
    spark = open_warehouse(f"{bucket}/wh", create=True, engine=engine)
    spark.ingest(results)
    local = open_warehouse(tmp_path / "wh", create=True)
    local.ingest(results, jobs=1)
    assert_same_tables(open_warehouse(f"{bucket}/wh"), local)
    query = "select profile, average_score from leaderboard order by profile"
    assert spark.sql(query).equals(local.sql(query))
