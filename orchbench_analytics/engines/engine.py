"""What an engine is: the place where work runs. Nothing in `ingest/` or `score/` knows which."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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


class Here:
    """The engine that runs every task in this process, one after another."""

    def run(
        self, function: Callable[[Task], Result], tasks: Iterable[Task], *, is_small: bool = False
    ) -> Iterator[Result]:
        """The result of each task, in order."""
        return map(function, tasks)
