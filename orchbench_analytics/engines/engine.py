"""What an engine is: the place where work runs. Nothing in `ingest/` or `score/` knows which."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import polars as pl

from orchbench_analytics.store.parquet import scan_files, write_whole

Task = TypeVar("Task")
Result = TypeVar("Result")
# Rows in; the same rows out, in their order, with more columns.
RowFunction = Callable[[pl.DataFrame], pl.DataFrame]

_ROWS_OF_A_TASK = 250


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
        """Give each distinct row of Parquet files to a function once; this process finds them."""
        rows = scan_files([*files]).unique().collect() if files else pl.DataFrame()
        if rows.is_empty():
            return
        made = pl.concat(self.run(function, _slices(rows.sort(rows.columns)), is_small=is_small))
        for file in files:
            own = scan_files([file]).collect(engine="in-memory")
            write_whole(own.join(made, on=rows.columns, how="left"), file.with_name(output))

    def require_reach(self, root: Path, paths: Iterable[Path]) -> None:
        """Processes of this machine see what this one sees."""


def _slices(rows: pl.DataFrame) -> Iterator[pl.DataFrame]:
    return (rows[start : start + _ROWS_OF_A_TASK] for start in range(0, len(rows), _ROWS_OF_A_TASK))
