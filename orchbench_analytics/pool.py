"""Worker processes for the work that Python itself has to do."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from multiprocessing.context import ForkServerContext, ForkServerProcess
from types import ModuleType
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")

_TASKS_AHEAD = 2
_PRELOADED = [
    "orchbench_analytics.parts",
    "orchbench_analytics.score.plan_pairs",
    "pyarrow.parquet",
]


def core_count() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def workers(jobs: int | None, *, is_worth_it: bool) -> AbstractContextManager[Executor | None]:
    """A pool of worker processes, or none where one process does it as well."""
    count = jobs or core_count()
    if count < 2 or not is_worth_it:
        return nullcontext()
    context = _Context()
    context.set_forkserver_preload(_PRELOADED)
    return ProcessPoolExecutor(count, mp_context=context)


class _Worker(ForkServerProcess):
    """A worker that does not run the caller's script again, so that scripts need no main guard."""

    def start(self) -> None:
        """Start the process, with the caller's main module out of sight."""
        script = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            super().start()
        finally:
            sys.modules["__main__"] = script


class _Context(ForkServerContext):
    """Forks from a server of its own: forking a process whose threads hold locks can deadlock."""

    Process = _Worker


def map_unordered(
    pool: Executor | None, function: Callable[[Task], Result], tasks: Iterable[Task]
) -> Iterator[tuple[Task, Result]]:
    """Each task with its result, in the order in which they get done, few tasks ahead."""
    if pool is None:
        for task in tasks:
            yield task, function(task)
        return
    remaining = iter(tasks)
    running: dict[Future[Result], Task] = {}
    most = core_count() + _TASKS_AHEAD
    while True:
        for task in islice(remaining, most - len(running)):
            running[pool.submit(function, task)] = task
        if not running:
            return
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            yield running.pop(future), future.result()
