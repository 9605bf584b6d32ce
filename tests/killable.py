"""An ingest in a process of its own that can be killed, cut into many small steps."""

import os
import signal
import sys
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

import orchbench_analytics.ingest.update
from orchbench_analytics import open_warehouse

CHANGES_ON_DISK = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree")


class Running(NamedTuple):
    """An ingest under way; it says when it has started to work."""

    process: BaseProcess
    started: Connection


def start_ingest(
    warehouse: Path, tree: Path, *, jobs: int = 1, killed_at_change: int | None = None
) -> Running:
    """Start an ingest that writes a part for every few files.

    With `killed_at_change` it kills itself right before that many-th change of a directory.
    """
    context = get_context("forkserver")
    context.set_forkserver_preload(["tests.killable", "pyarrow.parquet"])
    started, start = context.Pipe(duplex=False)
    arguments = (warehouse, tree, jobs, killed_at_change, start)
    process = context.Process(target=ingest_in_small_steps, args=arguments)
    process.start()
    start.close()
    return Running(process, started)


def ingest_in_small_steps(
    warehouse: Path, tree: Path, jobs: int, killed_at_change: int | None, start: Connection
) -> None:
    orchbench_analytics.ingest.update._PART_BYTES = 10_000
    orchbench_analytics.ingest.update._SMALL_TREE_BYTES = 0
    if killed_at_change is not None:
        kill_at_change(killed_at_change)
    start.send("go")
    open_warehouse(warehouse, create=True).ingest(tree, jobs=jobs, prune=True, score=False)


def kill_at_change(number: int) -> None:
    """Kill this process right before it changes a directory for the many-th time."""
    changes = 0

    def count(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal changes
        is_writing = event == "open" and isinstance(arguments[1], str) and "r" not in arguments[1]
        if is_writing or event in CHANGES_ON_DISK:
            changes += 1
            if changes == number:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
