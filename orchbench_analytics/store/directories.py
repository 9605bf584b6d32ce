"""Directories of tables: they appear complete or not at all, and stay while someone may read them.

Readers hold no lock and leave no trace, so nobody knows when the last of them is done. What no
manifest names any more is kept for a time instead, long enough for a query or a notebook.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from orchbench_analytics.store.manifest import Manifest, live_paths
from orchbench_analytics.store.parquet import Frame, write_table
from orchbench_analytics.store.paths import (
    KEPT,
    MANIFEST,
    NOTE,
    STAGING,
    UNFINISHED,
    parquet_name,
)
from orchbench_analytics.store.stamps import Stamps, fault_of, write_stamps

GRACE_SECONDS = 3600
_ATTEMPTS = 10


def write_directory(
    root: Path,
    directory: str,
    tables: Iterable[tuple[str, pa.Table | Frame]],
    *,
    note: bytes | None = None,
) -> dict[str, int]:
    """Write tables and a note into a directory that appears complete or not at all.

    Each table is written as soon as it is there. Returns their row counts.
    """
    staging = _staging(root)
    staging.mkdir(parents=True)
    row_counts = {}
    for name, table in tables:
        row_counts[name] = write_table(table, staging / parquet_name(name))
    if note is not None:
        (staging / NOTE).write_bytes(note)
    _publish(root, staging, root / directory, write_stamps(staging))
    return row_counts


def _publish(root: Path, staging: Path, target: Path, stamps: Stamps) -> None:
    """Give a directory its name, unless it is there already with the same tables.

    Names say what is inside, so tables of the same name that differ are damaged: ours replace them.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    tables = {name: stamp for name, stamp in stamps.items() if name != NOTE}
    for attempt in range(_ATTEMPTS):  # others may do the same at the same time
        try:
            staging.rename(target)
            return
        except OSError:
            if attempt + 1 == _ATTEMPTS:
                raise
        if all(fault_of(target / name, tables[name], read=True) is None for name in tables):
            shutil.rmtree(staging)
            return
        try:
            target.rename(_staging(root))
        except FileNotFoundError:  # somebody else took it away
            continue


def _staging(root: Path) -> Path:
    return root / STAGING / os.urandom(16).hex()


def mark_unfinished(root: Path) -> bool:
    """Note that an ingest is under way; true if an earlier one never came to its end."""
    was_there = (root / UNFINISHED).exists()
    (root / UNFINISHED).touch()
    return was_there


def mark_finished(root: Path) -> None:
    """Note that the ingest came to its end."""
    (root / UNFINISHED).unlink(missing_ok=True)


def collect_garbage(
    root: Path, manifest: Manifest, *others: Manifest, grace_seconds: int = GRACE_SECONDS
) -> None:
    """Delete what no given manifest names, unless the first one named it until a while ago."""
    now = time.time()
    kept = {name for name, since in manifest.unreferenced.items() if now - since < grace_seconds}
    kept = kept.union(*map(live_paths, (manifest, *others)))
    shutil.rmtree(root / STAGING, ignore_errors=True)
    for path in (path for name in KEPT for path in (root / name).glob("*")):
        if path.relative_to(root).as_posix() in kept:
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    for stray in root.glob(f"{MANIFEST}.*"):
        stray.unlink()
