"""What an engine is: the place where work runs. Nothing in `ingest/` or `score/` knows which."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from orchbench_analytics.engines.distinct import RowFunction, gather_distinct

Task = TypeVar("Task")
Result = TypeVar("Result")


class Engine(Protocol):
    """Runs pure functions over tasks that carry paths and plain values."""

    def run(
        self, function: Callable[[Task], Result], tasks: Iterable[Task], *, is_small: bool = False
    ) -> Iterator[Result]:
        """The result of each task, in any order; small work is not worth starting anything."""
        ...

    def run_distinct(
        self, function: RowFunction, files: Sequence[Path], output: str, *, is_small: bool = False
    ) -> None:
        """Give each distinct row of Parquet files to a function once.

        Beside each file that has rows, another is written: its rows with the columns added. Tasks
        know nothing of each other, so only an engine can find the rows that several of them have.
        """
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

    def run_distinct(
        self, function: RowFunction, files: Sequence[Path], output: str, *, is_small: bool = False
    ) -> None:
        """Give each distinct row of Parquet files to a function once, in this process."""
        gather_distinct(self, function, files, output, is_small=is_small)

    def require_reach(self, root: Path, paths: Iterable[Path]) -> None:
        """This process sees what it sees."""
