"""Exports: chosen tables and views as flat Parquet files, or everything as one DuckDB file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import duckdb
import msgspec
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from orchbench_analytics.errors import PathError, SelectionError
from orchbench_analytics.schema import Table, arrow_schema
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.tables import TABLES
from orchbench_analytics.views.catalog import all_relations, connect, describe, populate, views
from orchbench_analytics.views.descriptions import describe_view

_BATCH_ROWS = 100_000


class Exported(NamedTuple):
    """One exported relation: its name, file or directory, and rows."""

    relation: str
    path: str
    row_count: int


def export(
    root: Path,
    manifest: Manifest,
    output: Path,
    *,
    relations: Sequence[str] = (),
    partition_by: Sequence[str] = (),
) -> list[Exported]:
    """Write tables and views to what the output's name says: a DuckDB file, or a directory."""
    if output.suffix == ".duckdb":
        return export_duckdb(root, manifest, output)
    return export_parquet(root, manifest, output, relations=relations, partition_by=partition_by)


def export_duckdb(root: Path, manifest: Manifest, output: Path) -> list[Exported]:
    """One file with all tables, views and comments, for any DuckDB client in any directory."""
    _refuse_to_overwrite(output)
    staged = output.with_name(f"{output.name}.part")
    staged.unlink(missing_ok=True)
    with duckdb.connect(str(staged)) as connection:
        populate(connection, root, manifest, kind="table", names=all_relations())
        describe(connection, kind="table")
        exported = [
            Exported(name, str(output), _count(connection, name)) for name in (*TABLES, *views())
        ]
    staged.replace(output)
    return exported


def export_parquet(
    root: Path,
    manifest: Manifest,
    output: Path,
    *,
    relations: Sequence[str] = (),
    partition_by: Sequence[str] = (),
) -> list[Exported]:
    """A Parquet file for each table or view, or a directory of them by partition.

    Descriptions travel in the Parquet metadata. A manifest is written last, so a directory without
    one is unfinished.
    """
    names = list(relations) or [*TABLES, *views()]
    unknown = [name for name in names if name not in TABLES and name not in views()]
    if unknown:
        known = ", ".join([*TABLES, *views()])
        raise SelectionError(f"no table or view named {unknown[0]!r}; there are {known}")
    _refuse_to_overwrite(output)
    output.mkdir(parents=True, exist_ok=True)
    exported = []
    with connect(root, manifest) as connection:
        for name in names:
            table = TABLES.get(name) or describe_view(connection, views()[name])
            exported.append(_write(connection, table, output, partition_by))
    content = {
        "generation": manifest.generation,
        "relations": {e.relation: {"path": e.path, "row_count": e.row_count} for e in exported},
    }
    (output / "manifest.json").write_bytes(
        msgspec.json.format(msgspec.json.encode(content), indent=1)
    )
    return exported


def _write(
    connection: duckdb.DuckDBPyConnection, table: Table, output: Path, partition_by: Sequence[str]
) -> Exported:
    """Write one relation in batches, so that memory stays flat."""
    schema = arrow_schema(table)
    rows = connection.sql(f"select * from main.{table.name}").to_arrow_reader(_BATCH_ROWS)
    keys = [key for key in partition_by if key in table.column_names]
    if keys:
        path = table.name
        partitioning = ds.partitioning(_subset(schema, keys), flavor="hive")
        ds.write_dataset(
            rows.cast(schema), output / path, format="parquet", partitioning=partitioning
        )
    else:
        path = f"{table.name}.parquet"
        with pq.ParquetWriter(output / path, schema, compression="zstd") as writer:
            for batch in rows.cast(schema):
                writer.write_batch(batch)
    return Exported(table.name, path, _count(connection, table.name))


def _subset(schema: pa.Schema, keys: Sequence[str]) -> pa.Schema:
    return pa.schema([schema.field(key).remove_metadata() for key in keys])


def _refuse_to_overwrite(output: Path) -> None:
    if output.is_dir() and not any(output.iterdir()):
        return
    if output.exists():
        raise PathError(f"{output} is there already; name another, or remove it first")
    output.parent.mkdir(parents=True, exist_ok=True)


def _count(connection: duckdb.DuckDBPyConnection, name: str) -> int:
    ((count,),) = connection.execute(f"select count(*) from main.{name}").fetchall()
    return int(count)
