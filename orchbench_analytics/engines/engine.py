"""What an engine is: the place where work runs. Nothing in `ingest/` or `score/` knows which."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol, TypeVar
from uuid import uuid4

from orchbench_analytics.errors import EngineError

Task = TypeVar("Task")
Result = TypeVar("Result")
_PROBE_COUNT = 64


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
