"""What a table is made of: its name, its grain and its columns, and the schemas they give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:  # a call for help does not wait for these
    import polars as pl
    import pyarrow as pa

Kind = Literal["text", "int", "float", "bool", "timestamp"]
DUCKDB_TYPES: dict[Kind, str] = {
    "text": "varchar",
    "int": "bigint",
    "float": "double",
    "bool": "boolean",
    "timestamp": "timestamp",
}


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name, kind, one-line description, and whether it may be null.

    Its place among the columns of its table is its place wherever rows are shown. Label and unit
    are declared only where those that its name gives would mislead; see `shown_as` in
    `queries.py`.
    """

    name: str
    kind: Kind
    description: str
    nullable: bool = False
    label: str | None = None
    unit: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """One table: its name, what one row is, and its columns in order."""

    name: str
    grain: str
    columns: tuple[Column, ...]

    @property
    def column_names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)


def text(name: str, description: str, *, label: str | None = None) -> Column:
    """A text that is always there."""
    return Column(name, "text", description, label=label)


def maybe_text(name: str, description: str, *, label: str | None = None) -> Column:
    """A text that may be null."""
    return Column(name, "text", description, nullable=True, label=label)


def count(name: str, description: str, *, label: str | None = None) -> Column:
    """An integer that is always there."""
    return Column(name, "int", description, label=label)


def maybe_count(name: str, description: str, *, label: str | None = None) -> Column:
    """An integer that may be null."""
    return Column(name, "int", description, nullable=True, label=label)


def maybe_number(name: str, description: str, *, label: str | None = None) -> Column:
    """A float that may be null."""
    return Column(name, "float", description, nullable=True, label=label)


def flag(name: str, description: str, *, label: str | None = None) -> Column:
    """A boolean that is always there."""
    return Column(name, "bool", description, label=label)


def arrow_schema(table: Table) -> pa.Schema:
    """The Parquet schema: types, nullability and descriptions as field metadata."""
    import pyarrow as pa

    types: dict[Kind, pa.DataType] = {
        "text": pa.large_string(),  # as polars has it; a column may hold more than 2 GiB
        "int": pa.int64(),
        "float": pa.float64(),
        "bool": pa.bool_(),
        "timestamp": pa.timestamp("us"),  # UTC
    }
    fields = [
        pa.field(c.name, types[c.kind], c.nullable, {"description": c.description})
        for c in table.columns
    ]
    return pa.schema(fields, {"grain": f"one row per {table.grain}"})


def polars_schema(table: Table) -> dict[str, pl.DataType]:
    """The polars schema, for typed empty frames and casts."""
    import polars as pl

    types: dict[Kind, pl.DataType] = {
        "text": pl.String(),
        "int": pl.Int64(),
        "float": pl.Float64(),
        "bool": pl.Boolean(),
        "timestamp": pl.Datetime("us"),
    }
    return {c.name: types[c.kind] for c in table.columns}


def frame(table: Table, *blocks: pl.DataFrame) -> pl.DataFrame:
    """The rows of all blocks, with the table's columns and types; NaN turns into null."""
    import polars as pl

    schema = polars_schema(table)
    rows = pl.concat(blocks) if blocks else pl.DataFrame()
    if not rows.width:
        return pl.DataFrame(schema=schema)
    typed = rows.select(pl.col(name).cast(dtype) for name, dtype in schema.items())
    return typed.fill_nan(None)
