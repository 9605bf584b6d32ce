"""Compacting: small tables of all parts in one file each, for a sweep of many models."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from orchbench_analytics.store.directories import write_directory
from orchbench_analytics.store.fingerprint import columns_id
from orchbench_analytics.store.manifest import Gathered, Manifest, part_files, parts_id
from orchbench_analytics.tables import (
    JUDGEMENTS,
    RAW_TABLES,
    REPORTED_MODELS,
    REPORTED_SCENARIOS,
    SCENARIOS,
)

GATHERED_TABLES = (SCENARIOS, JUDGEMENTS, REPORTED_SCENARIOS, REPORTED_MODELS)
_FEW_FILES = 8


def compact(root: Path, manifest: Manifest) -> Manifest:
    """The manifest with the rows of small tables in one file each, beside those in the parts."""
    current = parts_id(manifest)
    is_current = manifest.gathered is not None and manifest.gathered.parts_id == current
    if is_current or len(manifest.parts) <= _FEW_FILES:
        return manifest
    files = {table.name: part_files(root, manifest, table.name) for table in GATHERED_TABLES}
    directory = f"gathered/{current}"
    row_counts = write_directory(
        root,
        directory,
        (
            (name, pa.concat_tables([pq.ParquetFile(path).read() for path in paths]))
            for name, paths in files.items()
            if paths
        ),
    )
    gathered = Gathered(
        directory=directory,
        row_counts=row_counts,
        columns_id=columns_id(RAW_TABLES),
        parts_id=current,
    )
    return msgspec.structs.replace(manifest, gathered=gathered)
