"""What an engine is: the place where work runs. Nothing in `ingest/` or `score/` knows which."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Protocol, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


class Engine(Protocol):
    """Runs pure functions over tasks that carry paths and plain values."""

    def run(
        self, function: Callable[[Task], Result], tasks: Iterable[Task], *, is_small: bool = False
    ) -> Iterator[Result]:
        """The result of each task, in any order; small work is not worth starting anything."""
        ...

    def require_reach(self, root: Path, paths: Iterable[Path]) -> None:
        """Raise an error unless tasks can write below a root and see the paths."""
        ...


class Here:
    """The engine that runs every task in this process, one after another."""

    def run(
        self, function: Callable[[Task], Result], tasks: Iterable[Task], *, is_small: bool = False
    ) -> Iterator[Result]:
        """The result of each task, in order."""
        return map(function, tasks)

    def require_reach(self, root: Path, paths: Iterable[Path]) -> None:
        """Processes of this machine see what this one sees."""
