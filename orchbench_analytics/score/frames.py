"""Frames from rows that have lists in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl
import pyarrow as pa
from polars._typing import PolarsDataType


def frame_of(rows: Sequence[Sequence[Any]], schema: Mapping[str, PolarsDataType]) -> pl.DataFrame:
    """Rows as a polars frame, by way of Arrow: it takes lists ten times as fast as polars does."""
    empty = pl.DataFrame(schema=schema)
    if not rows:
        return empty
    fields = empty.to_arrow(compat_level=pl.CompatLevel.oldest()).schema
    columns = zip(*rows, strict=True)
    arrays = [
        pa.array(column, type=field.type) for column, field in zip(columns, fields, strict=True)
    ]
    frame = pl.from_arrow(pa.Table.from_arrays(arrays, schema=fields))
    assert isinstance(frame, pl.DataFrame)
    return frame.cast(pl.Schema(schema))
