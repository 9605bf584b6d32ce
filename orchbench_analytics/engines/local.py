"""What an engine is, and those of this machine: this process alone, or with worker processes.

An engine is the place where work runs. Nothing in `ingest/` or `score/` knows which.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import active_children, parent_process
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from threading import Thread, current_thread, main_thread
from types import ModuleType, TracebackType
from typing import Protocol, TypeVar
from uuid import uuid4

from orchbench_analytics.errors import EngineError, OrchbenchError

Task = TypeVar("Task")
Result = TypeVar("Result")
_PROBE_COUNT = 64
# Tasks hold many rows and no cycles; looking for them again and again took an eighth of an ingest.
_OBJECTS_BETWEEN_COLLECTIONS = 100_000
_SHARING = {
    "POLARS_MAX_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",  # numpy's threads wait by running
    "ARROW_DEFAULT_MEMORY_POOL": "system",  # pyarrow's own gives less back
    "_RJEM_MALLOC_CONF": "dirty_decay_ms:100,muzzy_decay_ms:0",  # polars' allocator
}


class Engine(Protocol):
    """Runs pure functions over tasks that carry paths and plain values."""

    def run(
        self, function: Callable[[Task], Result], tasks: Iterable[Task], *, is_small: bool = False
    ) -> Iterator[Result]:
        """The result of each task, in any order; small work starts no worker processes."""
        ...


class Here:
    """The engine that runs every task in this process, one after another."""

    def run(
        self, function: Callable[[Task], Result], tasks: Iterable[Task], *, is_small: bool = False
    ) -> Iterator[Result]:
        """The result of each task, in order."""
        return map(function, tasks)


def require_reach(engine: Engine, root: Path, paths: Iterable[Path]) -> None:
    """Raise an error unless the tasks of an engine see the warehouse's files and these paths."""
    staging = root / "staging"
    staging.mkdir(parents=True, exist_ok=True)
    probe = staging / f"probe-{uuid4().hex}"
    probe.touch()
    wanted = [str(probe), *(str(path.absolute()) for path in paths)]
    try:
        tasks = [wanted] * _PROBE_COUNT
        unseen = {path for found in engine.run(_unseen, tasks, is_small=True) for path in found}
    finally:
        probe.unlink(missing_ok=True)
    for path in wanted:
        if path in unseen:
            shown = root if path == str(probe) else path
            raise EngineError(
                f"the executors cannot see {shown}; "
                "use a directory on a file system that all nodes share, under the same path"
            )


def _unseen(paths: list[str]) -> list[str]:
    return [path for path in paths if not os.path.exists(path)]  # noqa: PTH110 (as given)


def core_count() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Local(Here):
    """An engine of as many processes as jobs, of which this one is the first.

    The others start with the first work that is worth it. Each of them imports what the work needs,
    and holds it in memory, so a process that only hands out work would cost as much as a core's.
    """

    def __init__(self, jobs: int | None = None) -> None:
        self.jobs = jobs or core_count()
        self._pool: Executor | None = None
        self._thresholds = gc.get_threshold()

    def __enter__(self) -> Local:
        gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        gc.set_threshold(*self._thresholds)
        is_interrupted = error is not None and not isinstance(error, Exception)
        if is_interrupted or isinstance(error, BrokenProcessPool):
            _kill_workers()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        if isinstance(error, BrokenProcessPool):
            raise OrchbenchError(
                "a worker process was killed, perhaps for want of memory; try --jobs 1"
            ) from error

    def run(
        self, function: Callable[[Task], Result], tasks: Iterable[Task], *, is_small: bool = False
    ) -> Iterator[Result]:
        """The result of each task as soon as it is there; only a few tasks are under way.

        While the workers have enough to do, this process runs a task itself.
        """
        pool = None if is_small or self.jobs == 1 else self._start()
        if pool is None:
            yield from map(function, tasks)
            return
        workers = self.jobs - 1
        remaining = iter(tasks)
        running: set[Future[Result]] = set()
        while True:
            running |= _submitted(pool, function, islice(remaining, max(0, workers - len(running))))
            own = list(islice(remaining, 1))
            if own:  # what the workers go on with while this process is busy
                running |= _submitted(pool, function, islice(remaining, 2 * workers - len(running)))
            yield from map(function, own)
            if not running:
                return
            done = wait(running, timeout=0 if own else None, return_when=FIRST_COMPLETED).done
            running -= done
            for future in done:
                yield future.result()

    def _start(self) -> Executor | None:
        """The worker processes; none where the system has no semaphores, as without /dev/shm."""
        if self._pool is None:
            try:
                self._pool = ProcessPoolExecutor(
                    self.jobs - 1, mp_context=_Context(), initializer=_set_up_worker
                )
            except (OSError, ImportError, NotImplementedError):
                self.jobs = 1
        return self._pool


def _submitted(
    pool: Executor, function: Callable[[Task], Result], tasks: Iterable[Task]
) -> set[Future[Result]]:
    try:
        return {pool.submit(function, task) for task in tasks}
    except OSError as error:  # a pool that has just broken closes its pipe
        raise BrokenProcessPool from error


def _kill_workers() -> None:
    """End every worker: a pool that broke while one was starting waits for that one forever."""
    for worker in active_children():
        if isinstance(worker, _Worker):
            worker.kill()


def share_machine() -> None:
    """Let libraries that are imported from here on use one core, and give memory back at once.

    The other cores and the rest of the memory are for the processes beside this one.
    """
    for name, value in _SHARING.items():
        os.environ.setdefault(name, value)


def _set_up_worker() -> None:
    """Give this worker one core, and let it end when the process that wants its work is gone."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    share_machine()
    Thread(target=_exit_after_parent, daemon=True).start()


def _exit_after_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class _Worker(SpawnProcess):
    """A worker that does not run the caller's script again, so that scripts need no main guard.

    It ignores Ctrl-C, which a terminal sends to every process: it would print a traceback, and the
    process that wants its work ends it anyway.
    """

    def start(self) -> None:
        """Start the process, with the caller's main module out of sight."""
        script = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        is_main_thread = current_thread() is main_thread()
        handler = signal.signal(signal.SIGINT, signal.SIG_IGN) if is_main_thread else None
        try:
            super().start()
        finally:
            sys.modules["__main__"] = script
            if is_main_thread:
                signal.signal(signal.SIGINT, handler)


class _Context(SpawnContext):
    """Starts fresh processes: forking one whose threads hold locks can deadlock."""

    Process = _Worker
