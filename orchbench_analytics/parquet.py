"""Rows to Parquet: typed, checked against `tables.py`, and compressed well."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orchbench_analytics.tables import Table, arrow_schema, polars_schema

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


def write_table(table: pa.Table, path: Path) -> None:
    """Write Parquet that compresses repeated texts well and prunes by statistics."""
    import pyarrow.parquet as pq

    pq.write_table(
        table,
        path,
        compression="zstd",
        compression_level=3,
        dictionary_pagesize_limit=64 * 2**20,  # labels repeat: never fall back from dictionaries
        row_group_size=1 << 18,
    )


def to_arrow(table: Table, rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    """Rows as a checked Arrow table.

    By way of polars: Arrow itself would import pandas, if there is one, to look at a list.
    """
    import polars as pl
    import pyarrow as pa

    schema = arrow_schema(table)
    columns = zip(*rows, strict=True) if rows else ([] for _ in schema)
    arrays = [
        pl.Series(values, dtype=kind).to_arrow().cast(field.type)
        for values, kind, field in zip(columns, polars_schema(table).values(), schema, strict=True)
    ]
    return check_nulls(pa.Table.from_arrays(arrays, schema=schema), table)


def from_polars(frame: pl.DataFrame, table: Table) -> pa.Table:
    """A polars frame as a checked Arrow table."""
    return check_nulls(frame.to_arrow(), table).cast(arrow_schema(table))


def check_nulls(data: pa.Table, table: Table) -> pa.Table:
    """The data, if no column that must be filled has a null."""
    for column in table.columns:
        if not column.nullable and data.column(column.name).null_count:
            raise AssertionError(
                f"{table.name}.{column.name} has nulls; tables.py says it has none"
            )
    return data
