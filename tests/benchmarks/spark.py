"""Spark against local worker processes, and a manifest of many parts.

Every row is measured in a process of its own. CPU time stands beside wall time, since executors on
one machine share its cores with whatever else runs there.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import msgspec
import polars as pl

from orchbench_analytics.store.files import FileStamp, columns_id
from orchbench_analytics.store.manifest import (
    Gathered,
    Manifest,
    Part,
    ScoreGroup,
    encode_manifest,
    load_manifest,
    table_files,
)
from orchbench_analytics.tables import RAW_TABLES
from tests.benchmarks.data import benchmark_tree, replicate
from tests.benchmarks.measure import seconds

_PROFILES = ("spec", "strict", "upstream")
_PARTS_OF_A_GROUP = 20
_START = """
import json, os, sys, time
import psutil
from orchbench_analytics import open_warehouse

workers, name, warehouse, answer, *tree = sys.argv[1:]

def cpu_seconds():
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    return sum(sum(process.cpu_times()[:4]) for process in processes)

def mark():
    marks.append((time.perf_counter(), cpu_seconds()))

marks, engine = [], None
mark()
if name == "spark":
    from orchbench_analytics.engines.spark import SparkEngine
    from orchbench_analytics.engines.spark.session import start_session

    brief = {"spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1"}
    session = start_session(f"local-cluster[{workers},1,1024]", brief)
    session.sparkContext.setLogLevel("OFF")
    engine = SparkEngine(session)
    list(engine.run(abs, range(4 * int(workers))))
mark()
opened = open_warehouse(warehouse, create=bool(tree), engine=engine)
"""
_INGEST = """
opened.ingest(*tree, jobs=int(workers))
mark()
"""
_ASK = """
opened.leaderboard(profile="spec")
mark()
"""
_END = """
walls, cpus = ([b - a for a, b in zip(times, times[1:])] for times in zip(*marks))
with open(answer, "w") as file:
    json.dump([*walls, *cpus[1:], os.getloadavg()[0]], file)
"""


class EngineRow(NamedTuple):
    """What an ingest with scoring and then two leaderboards took, and the start-up before them.

    The load is the machine's, over the last minute of the row.
    """

    engine: str
    workers: int
    megabytes: float
    start_seconds: float
    ingest_seconds: float
    leaderboard_seconds: float
    second_leaderboard_seconds: float
    ingest_cpu_seconds: float
    leaderboard_cpu_seconds: float
    second_leaderboard_cpu_seconds: float
    load: float


class ManifestRow(NamedTuple):
    """What a manifest of so many parts weighs, and how many files a leaderboard reads.

    They are the gathered scenarios, and the scored steps and plans of each group of parts.
    """

    part_count: int
    megabytes: float
    load_cpu_seconds: float
    file_count: int


def engine_rows(
    room: Path, tree: Path, *, workers: Sequence[int], times: Sequence[int]
) -> Iterator[EngineRow]:
    """Rows for both engines, each number of workers, and the tree so many times over."""
    for factor in times:
        data = tree if factor == 1 else replicate(tree, room / f"times{factor}", factor)
        size = sum(file.stat().st_size for file in data.rglob("*.json")) / 1e6
        for count in workers:
            for engine in ("local", "spark"):
                yield EngineRow(engine, count, size, *_measure(room, data, engine, count))


def _measure(room: Path, tree: Path, engine: str, workers: int) -> list[float]:
    with tempfile.TemporaryDirectory(dir=room) as place:
        code = _START + _INGEST + _ASK + _ASK + _END
        return _run(room, code, workers, engine, Path(place) / "warehouse", tree)


def answered(room: Path, warehouse: Path, engine: str, *, workers: int = 2) -> list[float]:
    """Seconds of starting and of a leaderboard, its CPU time, and the load of the machine."""
    return _run(room, _START + _ASK + _END, workers, engine, warehouse)


def _run(
    room: Path, code: str, workers: int, engine: str, warehouse: Path, *tree: Path
) -> list[float]:
    (spark_home,) = find_spec("pyspark").submodule_search_locations
    os.environ["SPARK_HOME"] = spark_home  # where `local-cluster` finds what it starts
    os.environ["SPARK_WORKER_DIR"] = str(room / "work")
    answer = room / "answer.json"
    seconds(code, workers, engine, warehouse, answer, *tree)
    return list(json.loads(answer.read_text(encoding="utf-8")))


def manifest_rows(
    room: Path, *, part_counts: Sequence[int] = (1_000, 10_000, 100_000)
) -> list[ManifestRow]:
    """Rows for simulated manifests; of the files they name only one is there and looked at."""
    rows = []
    for count in part_counts:
        manifest = simulated_manifest(count)
        content = encode_manifest(manifest)
        (room / "manifest.json").write_bytes(content)
        write_gathered(room, manifest)
        started = time.process_time()
        loaded = load_manifest(room)
        taken = time.process_time() - started
        board = [*table_files(room, loaded, "scenarios"), *loaded.scores, *loaded.scores]
        rows.append(ManifestRow(count, len(content) / 1e6, taken, len(board)))
    return rows


def simulated_manifest(part_count: int) -> Manifest:
    """A manifest as a large sweep gives: parts, groups of parts under each profile, and stamps.

    Gathered tables have no stamp; `write_gathered` writes the only file that is looked at.
    """
    parts = [
        Part(
            directory=f"parts/{number:020x}",
            row_counts={"scenarios": 50, "steps": 1_500, "plans": 500},
            stamps=_stamps(number, "scenarios", "steps", "plans"),
            part_id=f"{number:020x}",
            model=f"model-{number // 10}",
            experiment="baseline",
            language="EN",
        )
        for number in range(part_count)
    ]
    tables = ("scored_steps", "scored_arguments", "scored_plans", "plan_edits")
    scores = [
        ScoreGroup(
            directory=f"scores/{profile}{start:014x}",
            row_counts=dict.fromkeys(tables, 30_000),
            stamps=_stamps(start, *tables),
            group_id=f"{profile}{start:014x}",
            profile=profile,
            part_ids=[part.part_id for part in parts[start : start + _PARTS_OF_A_GROUP]],
        )
        for profile in _PROFILES
        for start in range(0, part_count, _PARTS_OF_A_GROUP)
    ]
    manifest = Manifest(generation=1, parts=parts, scores=scores)
    gathered = Gathered(
        directory="gathered/all",
        row_counts={"scenarios": 50 * part_count},
        columns_id=columns_id(RAW_TABLES),
        covers=[part.directory for part in manifest.parts],
    )
    return msgspec.structs.replace(manifest, gathered=[gathered])


def write_gathered(root: Path, manifest: Manifest) -> None:
    """Write the one file of a simulated manifest that tells all scenarios, as many rows as said."""
    (gathered,) = manifest.gathered
    directory = root / gathered.directory
    directory.mkdir(parents=True, exist_ok=True)
    rows = pl.DataFrame({"scenario": range(gathered.row_counts["scenarios"])})
    rows.write_parquet(directory / "scenarios.parquet")


def _stamps(number: int, *tables: str) -> dict[str, FileStamp]:
    return {table: FileStamp(123_456, f"{number:064x}") for table in tables}


def main(workers: Sequence[int] = (1, 2, 4), times: Sequence[int] = (1, 4, 16)) -> None:
    """Print all rows."""
    with tempfile.TemporaryDirectory(prefix="orchbench-spark-") as scratch:
        room = Path(scratch)
        simulated = room / "simulated"  # a warehouse, so no other may lie in it
        simulated.mkdir()
        for manifest_row in manifest_rows(simulated):
            print(manifest_row, flush=True)
        tree = benchmark_tree(room / "data")
        for engine_row in engine_rows(room, tree, workers=workers, times=times):
            print(engine_row, flush=True)


if __name__ == "__main__":
    main(*(tuple(map(int, given.split(","))) for given in sys.argv[1:]))
