"""Parquet: one file, or a directory with one for each relation; descriptions in the metadata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from orchbench_analytics.errors import SelectionError, suggest
from orchbench_analytics.exports.relations import Contents, Relation, parts_of
from orchbench_analytics.exports.sink import DirectorySink, FileSink, Outgoing, gathered
from orchbench_analytics.schema import arrow_schema
from orchbench_analytics.store.replace import new_file
from orchbench_analytics.views.catalog import quoted_name, silent_duckdb

_MANIFEST_KEY = b"orchbench_export"
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


class ParquetDirectory(DirectorySink):
    """A directory of Parquet files, or of directories by partition."""

    takes_partitions = True

    def __init__(self, path: Path, partition_by: Sequence[str] = ()) -> None:
        super().__init__(path)
        self.partition_by = partition_by

    def check(self, outgoing: Outgoing) -> None:
        """Refuse a column to split by that no relation has, or whose values cannot be names."""
        known = sorted({name for r in outgoing.relations for name in r.table.column_names})
        for name in self.partition_by:
            if name not in known:
                hint = suggest(name, known)
                raise SelectionError(f"no table to export has a column {name!r}; {hint}")
            for relation in outgoing.relations:
                if name in relation.table.column_names:
                    _require_names(outgoing, relation, name)

    def file_name(self, relation: str) -> str:
        """The name of a relation's file, or of its directory of partitions."""
        return relation if self.partition_by else f"{relation}.parquet"

    def write_file(self, outgoing: Outgoing, relation: Relation, path: Path) -> None:
        """Write the rows of one relation."""
        if self.partition_by:
            _write_partitions(outgoing, relation, path, self.partition_by)
        else:
            write_parquet(outgoing, relation, path)


class ParquetFile(FileSink):
    """One relation as one Parquet file, with the manifest in its metadata."""

    unreadable = (KeyError, OSError, pa.ArrowInvalid, msgspec.DecodeError)

    def check(self, outgoing: Outgoing) -> None:
        """Refuse more than one relation."""
        if len(outgoing.relations) != 1:
            raise SelectionError(
                f"{self.path} is one file: choose one table with --table, or name a directory"
            )

    def read(self) -> Contents | None:
        """The manifest, from the file's metadata."""
        metadata = pq.read_schema(self.path).metadata or {}
        return msgspec.json.decode(metadata[_MANIFEST_KEY], type=Contents)

    def damaged(self, stored: Contents) -> set[str]:
        """The table, if its rows are not, by their hash, those that were exported."""
        with silent_duckdb() as connection:
            connection.register("held", ds.dataset(str(self.path), format="parquet"))
            return {
                name
                for name, content in stored.relations.items()
                if parts_of(connection, "held", content) != content.parts
            }

    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Write the file again."""
        (relation,) = outgoing.relations
        with new_file(self.path) as staged:
            manifest = {_MANIFEST_KEY: msgspec.json.encode(outgoing.contents)}
            write_parquet(outgoing, relation, staged, metadata=manifest)


def write_parquet(
    outgoing: Outgoing, relation: Relation, path: Path, *, metadata: Mapping[bytes, bytes] = {}
) -> None:
    """Write one relation in batches, with more metadata than its descriptions."""
    schema = arrow_schema(relation.table)
    schema = schema.with_metadata({**schema.metadata, **metadata})
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for table in gathered(outgoing.rows(relation)):
            writer.write_table(table.cast(schema))


def _require_names(outgoing: Outgoing, relation: Relation, column: str) -> None:
    """Refuse values that readers of partitions take for none: an empty text, and Hive's name."""
    query = (
        f"select count(*) from main.{relation.name} "
        f"where cast({quoted_name(column)} as varchar) in ('', $none)"
    )
    found = outgoing.connection.execute(query, {"none": _NO_VALUE}).fetchall()
    if found[0][0]:
        raise SelectionError(
            f"{relation.name} has a {column} named '' or {_NO_VALUE}, which readers of partitions "
            "take for none; split by other columns"
        )


def _write_partitions(
    outgoing: Outgoing, relation: Relation, path: Path, partition_by: Sequence[str]
) -> None:
    """Write one relation as a directory, by those of the columns that it has."""
    schema = arrow_schema(relation.table)
    keys = [key for key in partition_by if key in relation.table.column_names]
    fields = pa.schema([schema.field(key).remove_metadata() for key in keys])
    partitioning = ds.partitioning(fields, flavor="hive")
    ds.write_dataset(outgoing.rows(relation), path, format="parquet", partitioning=partitioning)
