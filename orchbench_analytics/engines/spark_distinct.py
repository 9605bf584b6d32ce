"""Distinct rows of many files, brought together by a shuffle of Spark.

Executors read the files, measure and write: the driver knows the names of files and no row.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa

from orchbench_analytics.engines.engine import RowFunction
from orchbench_analytics.store.parquet import scan_files, write_whole

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_TASKS_OF_A_CORE = 8  # some rows take a thousand times as long as others
_FILE = "file_number"
_TYPES = {pl.String: "string", pl.Int64: "bigint", pl.Float64: "double", pl.Boolean: "boolean"}


def shuffle_distinct(
    session: SparkSession, function: RowFunction, files: Sequence[Path], output: str
) -> None:
    """Run a function over the distinct rows of all files, and write each file's share beside it."""
    from pyspark.sql.functions import collect_list

    tasks = _TASKS_OF_A_CORE * session.sparkContext.defaultParallelism
    no_rows = pl.DataFrame(schema=scan_files([files[0]]).collect_schema())
    rows, made = _columns(no_rows), _columns(function(no_rows))
    number = f"{_FILE} bigint"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of pandas, which is not used here
        written = (
            session.range(0, len(files), 1, min(len(files), tasks))
            .mapInArrow(partial(_read, files), f"{rows}, {number}")
            .repartition(tasks, *no_rows.columns)  # a number of tasks that Spark keeps to
            .groupBy(*no_rows.columns)
            .agg(collect_list(_FILE).alias(_FILE))
            .mapInArrow(partial(_make, function), f"{made}, {number}")
            .groupBy(_FILE)
            .applyInArrow(lambda share: _write(files, output, share), number)
        )
    written.collect()


def _read(files: Sequence[Path], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of the files that have the numbers given, each with the number of its file."""
    for number in (number for batch in batches for number in batch["id"].to_pylist()):
        rows = scan_files([files[number]]).with_columns(pl.lit(number, pl.Int64).alias(_FILE))
        yield from _batches(rows.collect(engine="in-memory"))


def _make(function: RowFunction, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What the function makes of each row, once for every file that has the row."""
    for batch in batches:
        rows = pl.DataFrame(batch)
        made = function(rows.drop(_FILE)).with_columns(rows[_FILE])
        yield from _batches(made.explode(_FILE))


def _write(files: Sequence[Path], output: str, rows: pa.Table) -> pa.Table:
    """Write all rows of one file; returns its number."""
    number = rows[_FILE][0].as_py()
    write_whole(pl.DataFrame(rows.drop_columns(_FILE)), files[number].with_name(output))
    return pa.table({_FILE: [number]})


def _batches(rows: pl.DataFrame) -> Iterator[pa.RecordBatch]:
    yield from rows.to_arrow(compat_level=pl.CompatLevel.oldest()).to_batches()


def _columns(rows: pl.DataFrame) -> str:
    return ", ".join(f"{name} {_TYPES[type(dtype)]}" for name, dtype in rows.schema.items())
