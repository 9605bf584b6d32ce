"""A sweep that is still running: files come slowly and in pieces, and none is refused for it."""

from __future__ import annotations

import os
import pty
import random
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import pytest
from polars.testing import assert_frame_equal

from orchbench_analytics import open_warehouse
from tests.services.buckets import Server, upload
from tests.sweep import write_sweep

FILES_A_SECOND = 50


@contextmanager
def slow_writer(source: Path, target: Path, *, files_a_second: int, seed: int) -> Iterator[dict]:
    """Write the files of a tree one after another, each in pieces with pauses in between."""
    ended: dict[str, float] = {}

    def write_slowly(path: Path, delays: list[float]) -> None:
        data = path.read_bytes()
        place = target / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        size = len(data) // len(delays) + 1
        with place.open("wb", buffering=0) as file:
            for number, delay in enumerate(delays):
                file.write(data[number * size : (number + 1) * size])
                if number + 1 < len(delays):
                    time.sleep(delay)
        ended[str(place)] = time.time()

    def write_all() -> None:
        draw = random.Random(seed)
        threads = []
        for path in sorted(source.rglob("*.json")):
            # Some writers pause for longer than a file must stand still.
            delays = [draw.uniform(0.0, 0.2) for _ in range(draw.randint(1, 5))]
            if draw.random() < 0.1:
                delays = [1.5, 0.1]
            threads.append(Thread(target=write_slowly, args=(path, delays)))
            threads[-1].start()
            time.sleep(1 / files_a_second)
        for thread in threads:
            thread.join()

    thread = Thread(target=write_all)
    thread.start()
    yield ended
    thread.join()


@pytest.mark.long
def test_files_that_come_in_pieces_are_taken_soon_and_never_refused(tmp_path: Path) -> None:
    write_sweep(tmp_path / "sweep", models=12, scenarios=12, runs=1, seed=4)
    results, arriving = tmp_path / "sweep" / "results", tmp_path / "arriving"
    arriving.mkdir()
    expected_files = len(list(results.rglob("*.json")))
    warehouse = open_warehouse(tmp_path / "watched", create=True)
    delays: list[float] = []
    waits: list[float] = []  # until the ingest that took it began
    durations: list[float] = []
    refused = 0
    with slow_writer(results, arriving, files_a_second=FILES_A_SECOND, seed=1) as ended:
        known: set[str] = set()
        start = time.time()
        for look in warehouse.watch(arriving, jobs=1, every=5):
            now = time.time()
            refused += len(look.summary.refused)
            if look.summary.taken:
                paths = set(warehouse.sources()["path"])
                delays += [now - ended[path] for path in paths - known if path in ended]
                waits += [start - ended[path] for path in paths - known if path in ended]
                known = paths
                durations.append(now - start)
            start = time.time()
            if len(known) == expected_files:
                break
    assert refused == 0
    print(
        f"{expected_files} files at {FILES_A_SECOND} a second; from the last byte to the table: "
        f"median {statistics.median(delays):.2f} s, longest {max(delays):.2f} s; until its ingest "
        f"began: median {statistics.median(waits):.2f} s, longest {max(waits):.2f} s; an ingest "
        f"took median {statistics.median(durations):.2f} s, longest {max(durations):.2f} s"
    )
    whole = open_warehouse(tmp_path / "whole", create=True)
    whole.ingest(arriving, jobs=1)
    for name in ("scenario_scores", "steps", "plans", "leaderboard"):
        frames = [w.table(name).collect() for w in (warehouse, whole)]
        keys = [c for c in frames[0].columns if frames[0][c].dtype.is_integer() or c in KEYS]
        assert_frame_equal(*(frame.sort(keys) for frame in frames), check_exact=True)


KEYS = ("profile", "model", "experiment", "language", "scenario")


def test_a_bucket_is_watched_by_listing_it(bucket: str, s3: Server, demo_directory: Path) -> None:
    upload(s3, demo_directory / "results" / "perfect", f"{bucket}/results/perfect")
    warehouse = open_warehouse(f"{bucket}/wh", create=True)
    looks = warehouse.watch(f"{bucket}/results", jobs=1, every=0.2)
    first = next(looks).summary
    upload(s3, demo_directory / "results" / "silent", f"{bucket}/results/silent")
    second = next(look.summary for look in looks if look.summary.taken)
    assert first.taken > 0
    assert second.unchanged == first.taken
    assert set(warehouse.models()["model"]) == {"perfect", "silent"}


def test_a_terminal_shows_one_table_that_stays_in_its_place(
    tmp_path: Path, demo_directory: Path
) -> None:
    program = [sys.executable, "-m", "orchbench_analytics", "ingest"]
    arriving = demo_directory / "results"
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [*program, str(arriving), "--into", str(tmp_path / "wh"), "--watch"],
        stdout=terminal,
        stderr=subprocess.PIPE,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "40", "NO_COLOR": "1"},
    )
    os.close(terminal)
    shown = b""
    while b"scenario files" not in shown or b"perfect" not in shown:
        shown += os.read(controller, 65536)
    process.send_signal(signal.SIGINT)
    while process.poll() is None:
        with suppress(OSError):  # the other end is closed
            os.read(controller, 65536)
    os.close(controller)
    assert process.stderr is not None
    said = process.stderr.read().decode()
    process.stderr.close()
    assert process.returncode == 130
    assert "what was finished before is kept" in said
    for words in ("rank  rank", "low  high", "Average", "scenario files"):
        assert words in shown.decode()


def test_on_a_pipe_there_is_a_line_for_each_change_and_ctrl_c_leaves_a_whole_warehouse(
    tmp_path: Path, demo_directory: Path
) -> None:
    root, arriving = tmp_path / "wh", tmp_path / "results"
    source = demo_directory / "results"
    arriving.mkdir()
    (arriving / "perfect").symlink_to(source / "perfect")
    program = [sys.executable, "-m", "orchbench_analytics", "ingest", str(arriving)]
    process = subprocess.Popen(
        [*program, "--into", str(root), "--watch", "--every", "1s", "--expect", "100"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    (arriving / "silent").symlink_to(source / "silent")
    second = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert "of 100 scenario files" in first
    assert "of 200 scenario files" in second
    assert "ranks certain" in second
    assert process.returncode == 130
    assert "what was finished before is kept" in errors
    warehouse = open_warehouse(root)
    assert warehouse.verify() == []
    assert set(warehouse.models()["model"]) == {"perfect", "silent"}
