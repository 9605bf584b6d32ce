"""Damage: which files of a warehouse are gone or cut short, so that an error can name them."""

from __future__ import annotations

import os
from pathlib import Path

from orchbench_analytics.errors import WarehouseError
from orchbench_analytics.store import manifest as store

_MAGIC = b"PAR1"  # how every Parquet file begins and ends
_LEAST_BYTES = 12


def damaged_files(root: Path) -> list[Path]:
    """The tables of a warehouse that cannot be read any more; none where there is no warehouse."""
    try:
        manifest = store.load_manifest(root)
    except WarehouseError:
        return []
    holders = [*manifest.parts, *manifest.scores, manifest.gathered]
    tables = [f"{h.directory}/{name}.parquet" for h in holders if h for name in h.row_counts]
    tables += filter(None, (manifest.sources, manifest.tool_parameters, manifest.model_tags))
    return [root / table for table in tables if not _is_whole(root / table)]


def _is_whole(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            start = file.read(len(_MAGIC))
            end_at = file.seek(-len(_MAGIC), os.SEEK_END)
            is_long_enough = end_at + len(_MAGIC) >= _LEAST_BYTES
            return is_long_enough and start == file.read() == _MAGIC
    except OSError:
        return False
