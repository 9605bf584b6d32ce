"""Parquet: one file, or a directory with one for each relation; descriptions in the metadata."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.exports.beside import new_file, refuse
from orchbench_analytics.exports.contents import Contents
from orchbench_analytics.exports.directory import stored_in, write_directory
from orchbench_analytics.exports.relations import Relation
from orchbench_analytics.exports.sink import Outgoing, gathered
from orchbench_analytics.exports.values import Rule
from orchbench_analytics.schema import arrow_schema

_MANIFEST_KEY = b"orchbench_export"


class ParquetDirectory:
    """A directory of Parquet files, or of directories by partition."""

    def __init__(self, path: Path, partition_by: Sequence[str] = ()) -> None:
        self.path = path
        self.partition_by = partition_by

    def rules(self, *, is_raw: bool) -> Sequence[Rule]:
        """Parquet carries every value."""
        return ()

    def check(self, outgoing: Outgoing) -> None:
        """Parquet holds any number of rows; a column to split by has to be in some relation."""
        known = {name for r in outgoing.relations for name in r.table.column_names}
        unknown = [name for name in self.partition_by if name not in known]
        if unknown:
            raise SelectionError(f"no table to export has a column {unknown[0]!r} to split by")

    def stored(self, *, may_overwrite: bool) -> Contents | None:
        """The manifest in the directory."""
        return stored_in(self.path, self._name, may_overwrite=may_overwrite)

    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Write the files that changed."""
        write = partial(write_parquet, partition_by=self.partition_by)
        write_directory(self.path, outgoing, stored, file_name=self._name, write_file=write)

    def _name(self, relation: str) -> str:
        return relation if self.partition_by else f"{relation}.parquet"


class ParquetFile:
    """One relation as one Parquet file, with the manifest in its metadata."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def rules(self, *, is_raw: bool) -> Sequence[Rule]:
        """Parquet carries every value."""
        return ()

    def check(self, outgoing: Outgoing) -> None:
        """Refuse more than one relation."""
        if len(outgoing.relations) != 1:
            raise SelectionError(
                f"{self.path} is one file: choose one table with --table, or name a directory"
            )

    def stored(self, *, may_overwrite: bool) -> Contents | None:
        """The manifest in the file's metadata."""
        if not self.path.exists():
            return None
        try:
            metadata = pq.read_schema(self.path).metadata or {}
            return msgspec.json.decode(metadata[_MANIFEST_KEY], type=Contents)
        except (KeyError, OSError, pa.ArrowInvalid, msgspec.DecodeError):
            if not may_overwrite:
                raise refuse(self.path) from None
            return None

    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Write the file anew."""
        (relation,) = outgoing.relations
        with new_file(self.path) as staged:
            write_parquet(outgoing, relation, staged, is_alone=True)


def write_parquet(
    outgoing: Outgoing,
    relation: Relation,
    path: Path,
    *,
    partition_by: Sequence[str] = (),
    is_alone: bool = False,
) -> None:
    """Write one relation in batches."""
    schema = arrow_schema(relation.table)
    if is_alone:
        manifest = {_MANIFEST_KEY: msgspec.json.encode(outgoing.contents)}
        schema = schema.with_metadata({**(schema.metadata or {}), **manifest})
    rows = outgoing.rows(relation)
    keys = [key for key in partition_by if key in relation.table.column_names]
    if partition_by:
        fields = pa.schema([schema.field(key).remove_metadata() for key in keys])
        partitioning = ds.partitioning(fields, flavor="hive")
        ds.write_dataset(rows, path, format="parquet", partitioning=partitioning)
        return
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for table in gathered(rows):
            writer.write_table(table.cast(schema))
