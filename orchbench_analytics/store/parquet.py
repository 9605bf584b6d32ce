"""Rows to Parquet: typed, checked against `tables`, and compressed well."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from orchbench_analytics.schema import Table, arrow_schema, polars_schema

_LEVEL = 1
_ROW_GROUP = 1 << 16  # also how many rows are held at once
_PRUNED_BY = ("profile", "model", "experiment", "language")


class Frame(NamedTuple):
    """A polars frame to write, in some order; the rows of a table, or whatever it is."""

    rows: pl.DataFrame
    table: Table | None = None
    sort_by: str | None = None


def scan_files(files: list[Path], table: Table | None = None) -> pl.LazyFrame:
    """Parquet files as one frame, of the columns of a table: paths are literal and add none."""
    schema = None if table is None else polars_schema(table)
    if not files:
        return pl.LazyFrame(schema=schema)
    return pl.scan_parquet(files, schema=schema, glob=False, hive_partitioning=False)


def count_rows(files: list[Path]) -> int | None:
    """The rows of all files, by their last bytes alone; null if one is not Parquet any more.

    It takes a sixth of a millisecond a file.
    """
    try:
        return int(scan_files(files).select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return None


def write_table(data: pa.Table | Frame, path: Path) -> int:
    """Write Parquet that compresses repeated texts well; returns the number of rows.

    Each page has a checksum, which pyarrow can verify; polars and DuckDB do not look at it.
    """
    if isinstance(data, Frame):
        return _write_frame(*data, path)
    with _writer(path, data.schema) as writer:
        writer.write_table(data, row_group_size=_ROW_GROUP)
    return len(data)


def _write_frame(rows: pl.DataFrame, table: Table | None, sort_by: str | None, path: Path) -> int:
    """Write a frame; it is never sorted, or in the form that pyarrow needs, all at once."""
    if table is not None:
        _check_nulls(table, rows)
        rows = rows.select(table.column_names)
    order = rows[sort_by].arg_sort() if sort_by is not None else None

    def as_arrow(first: int, count: int) -> pa.Table:
        part = rows[order.slice(first, count)] if order is not None else rows.slice(first, count)
        data = part.to_arrow(compat_level=pl.CompatLevel.oldest())
        return data if table is None else data.cast(arrow_schema(table))

    with _writer(path, as_arrow(0, 0).schema) as writer:
        for first in range(0, len(rows), _ROW_GROUP):
            writer.write_table(as_arrow(first, _ROW_GROUP))
    return len(rows)


def join_files(files: Sequence[Path], path: Path) -> int:
    """Write the rows of many files as one, without holding all of them; returns their number."""
    held: list[pa.Table] = []
    count = 0
    with _writer(path, pq.read_schema(files[0])) as writer:
        for number, file in enumerate(files, start=1):
            held.append(pq.ParquetFile(file).read())
            if number == len(files) or sum(map(len, held)) >= _ROW_GROUP:
                count += sum(map(len, held))
                writer.write_table(pa.concat_tables(held), row_group_size=_ROW_GROUP)
                held.clear()
    return count


def _writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    return pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        compression_level=_LEVEL,
        dictionary_pagesize_limit=64 * 2**20,  # labels repeat: never fall back from dictionaries
        # Of the columns that tell one file from another; all would take a third of the time.
        write_statistics=[name for name in _PRUNED_BY if name in schema.names],
        write_page_checksum=True,
    )


def to_arrow(table: Table, rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    """Rows, each in the order of the table's columns, as a checked Arrow table."""
    values = zip(*rows, strict=True) if rows else ([] for _ in table.columns)
    return _checked(table, values)


def named_to_arrow(table: Table, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Rows, each a value by the name of its column, as a checked Arrow table."""
    for row in rows[:1]:
        if odd := row.keys() ^ set(table.column_names):
            raise AssertionError(f"rows of {table.name} differ from it in: {', '.join(odd)}")
    return _checked(table, ([row[name] for row in rows] for name in table.column_names))


def _checked(table: Table, columns: Iterable[Sequence[Any]]) -> pa.Table:
    """Values as an Arrow table; polars takes a third of the time that pyarrow does."""
    types = polars_schema(table)
    series = (
        pl.Series(name, values, dtype=dtype)
        for (name, dtype), values in zip(types.items(), columns, strict=True)
    )
    frame = pl.DataFrame(list(series))
    _check_nulls(table, frame)
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(arrow_schema(table))


def _check_nulls(table: Table, frame: pl.DataFrame) -> None:
    counts = frame.null_count().row(0, named=True)
    for column in table.columns:
        if not column.nullable and counts[column.name]:
            raise AssertionError(
                f"{table.name}.{column.name} has nulls; its table says it has none"
            )
