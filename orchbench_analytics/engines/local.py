"""Worker processes for the work that Python itself has to do."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing import parent_process
from multiprocessing.context import ForkServerContext, ForkServerProcess
from multiprocessing.forkserver import ensure_running
from threading import Thread
from types import ModuleType
from typing import Any, TypeVar

from orchbench_analytics.errors import OrchbenchError

Task = TypeVar("Task")
Result = TypeVar("Result")

_TASKS_AHEAD = 2
_RARE_COLLECTIONS = (200_000, 20, 100)
_WORKER_ENVIRONMENT = {
    "PYTHONSAFEPATH": "1",  # or workers import what happens to lie in our directory
    "OPENBLAS_NUM_THREADS": "1",  # numpy's threads would spin on the cores that workers need
}
_PRELOADED = ["orchbench_analytics.preload"]


def core_count() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def workers(jobs: int | None, *, is_worth_it: bool) -> Iterator[Executor | None]:
    """A pool of worker processes, or none where one process does it as well."""
    count = jobs or core_count()
    if count < 2 or not is_worth_it:
        yield None
        return
    try:
        with ProcessPoolExecutor(count, mp_context=_Context(), initializer=_start_worker) as pool:
            yield pool
    except BrokenProcessPool as error:
        raise OrchbenchError(
            "a worker process was killed, perhaps for want of memory; try --jobs 1"
        ) from error


def warm_up() -> None:
    """Start the server that workers are forked from, so that it imports while we do."""
    _Context().set_forkserver_preload(_PRELOADED)
    given = {name: os.environ.get(name) for name in _WORKER_ENVIRONMENT}
    os.environ.update(_WORKER_ENVIRONMENT)
    try:
        ensure_running()
    finally:
        for name, value in given.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def rare_collections() -> Iterator[None]:
    """Look for garbage cycles rarely: rows and decoded documents are many, and hold none."""
    usual = gc.get_threshold()
    gc.set_threshold(*_RARE_COLLECTIONS)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


def _start_worker() -> None:
    """A worker ends when the process that wants its work is gone, however that one went."""
    gc.set_threshold(*_RARE_COLLECTIONS)
    Thread(target=_exit_after_parent, daemon=True).start()


def _exit_after_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class _Worker(ForkServerProcess):
    """A worker that does not run the caller's script again, so that scripts need no main guard."""

    def start(self) -> None:
        """Start the process, with the caller's main module out of sight."""
        warm_up()
        script = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            super().start()
        finally:
            sys.modules["__main__"] = script


class _Context(ForkServerContext):
    """Forks from a server of its own: forking a process whose threads hold locks can deadlock."""

    Process = _Worker


def begin(
    pool: Executor | None, function: Callable[..., Result], *arguments: Any
) -> Future[Result]:
    """Let a worker run a function, as it has imported what takes its time; or run it here."""
    if pool is not None:
        return pool.submit(function, *arguments)
    done: Future[Result] = Future()
    done.set_result(function(*arguments))
    return done


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
