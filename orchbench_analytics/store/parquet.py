"""Rows to Parquet: typed, checked against `tables.py`, and compressed well."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from orchbench_analytics.schema import Table, arrow_schema

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from polars._typing import PolarsDataType


_LEVEL = 1
_PRUNED_BY = ("profile", "model", "experiment", "language")
_DIGITS = bytes.maketrans(b"\0\1", b"01")


class Frame(NamedTuple):
    """A polars frame to write; the rows of a table, or whatever it is."""

    rows: pl.DataFrame
    table: Table | None = None


def scan_files(
    files: list[Path], schema: Mapping[str, PolarsDataType] | None = None
) -> pl.LazyFrame:
    """Parquet files as one frame, by the schema given: paths are literal and add no column."""
    import polars as pl

    if not files:
        return pl.LazyFrame(schema=schema)
    return pl.scan_parquet(files, schema=schema, glob=False, hive_partitioning=False)


def write_table(data: pa.Table | Frame, path: Path) -> int:
    """Write Parquet that compresses repeated texts well; returns the number of rows."""
    if isinstance(data, Frame):
        schema = None
        if data.table is not None:
            _check_nulls(data.table, data.rows.null_count().row(0, named=True))
            schema = arrow_schema(data.table)
        data.rows.write_parquet(path, compression_level=_LEVEL, arrow_schema=schema)
        return len(data.rows)
    import pyarrow.parquet as pq

    pq.write_table(
        data,
        path,
        compression="zstd",
        compression_level=_LEVEL,
        dictionary_pagesize_limit=64 * 2**20,  # labels repeat: never fall back from dictionaries
        row_group_size=1 << 18,
        # Of the columns that tell one file from another; all would take a third of the time.
        write_statistics=[name for name in _PRUNED_BY if name in data.column_names],
    )
    return len(data)


def to_arrow(table: Table, rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    """Rows as a checked Arrow table."""
    import pyarrow as pa

    schema = pa.schema(arrow_schema(table))
    columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
    arrays = [_to_array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    nulls = zip(schema.names, (array.null_count for array in arrays), strict=True)
    _check_nulls(table, dict(nulls))
    return pa.Table.from_arrays(arrays, schema=schema)


def _to_array(values: Sequence[Any], type_: pa.DataType) -> pa.Array:
    """Values as an Arrow array, from its buffers.

    Arrow's own way from a list imports pandas, wherever there is one, and polars' way imports
    polars: either would take a good part of the time that reading a sweep does.
    """
    import pyarrow as pa

    has_nulls = None in values
    is_there = _bitmap([value is not None for value in values]) if has_nulls else None
    if pa.types.is_large_string(type_):
        buffers = [is_there, *_text_buffers(values)]
    else:
        filled = [0 if value is None else value for value in values] if has_nulls else values
        if pa.types.is_boolean(type_):
            buffers = [is_there, _bitmap(filled)]
        else:
            buffers = [is_there, _packed("q" if pa.types.is_integer(type_) else "d", filled)]
    arrow_buffers = [buffer if buffer is None else pa.py_buffer(buffer) for buffer in buffers]
    return pa.Array.from_buffers(type_, len(values), arrow_buffers)


def _text_buffers(texts: Sequence[str | None]) -> tuple[bytes, bytes]:
    """Where each text begins and the last one ends, and all texts as UTF-8."""
    encoded = {text: b"" if text is None else text.encode() for text in set(texts)}
    if len(encoded) == 1:  # such as the model, in all rows of a part
        (piece,) = encoded.values()
        offsets = [len(piece) * number for number in range(len(texts) + 1)]
        return _packed("q", offsets), piece * len(texts)
    pieces = [encoded[text] for text in texts]
    offsets = list(accumulate(map(len, pieces), initial=0))
    return _packed("q", offsets), b"".join(pieces)


def _packed(code: str, values: Sequence[Any]) -> bytes:
    """Numbers as 64 bits each; `array` takes twice as long."""
    return struct.pack(f"={len(values)}{code}", *values)


def _bitmap(flags: Sequence[int]) -> bytes:
    """One bit per flag, the first one lowest."""
    digits = bytes(flags)[::-1].translate(_DIGITS)
    return int(digits or b"0", 2).to_bytes((len(digits) + 7) // 8, "little")


def _check_nulls(table: Table, counts: Mapping[str, int]) -> None:
    for column in table.columns:
        if not column.nullable and counts[column.name]:
            raise AssertionError(
                f"{table.name}.{column.name} has nulls; tables.py says it has none"
            )
