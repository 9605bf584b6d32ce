"""Distinct rows of many files, brought together in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from orchbench_analytics.store.parquet import scan_files, write_whole

if TYPE_CHECKING:
    from orchbench_analytics.engines.engine import Engine

# Rows in; the same rows out, in their order, with more columns.
RowFunction = Callable[[pl.DataFrame], pl.DataFrame]

_ROWS_OF_A_TASK = 250


def gather_distinct(
    engine: Engine, function: RowFunction, files: Sequence[Path], output: str, *, is_small: bool
) -> None:
    """Run a function over the distinct rows of all files, and write each file's share beside it."""
    rows = scan_files([*files]).unique().collect() if files else pl.DataFrame()
    if rows.is_empty():
        return
    made = pl.concat(engine.run(function, _slices(rows.sort(rows.columns)), is_small=is_small))
    for file in files:
        own = scan_files([file]).collect(engine="in-memory")
        write_whole(own.join(made, on=rows.columns, how="left"), file.with_name(output))


def _slices(rows: pl.DataFrame) -> Iterator[pl.DataFrame]:
    return (rows[start : start + _ROWS_OF_A_TASK] for start in range(0, len(rows), _ROWS_OF_A_TASK))
