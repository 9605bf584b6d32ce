"""Directories of tables: they appear complete or not at all, and stay while someone may read them.

Readers hold no lock and leave no trace, so it is not known when the last of them is done. What no
manifest names any more is kept for a time instead, long enough for a query or a notebook.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from orchbench_analytics.errors import WarehouseError
from orchbench_analytics.store.manifest import Manifest, live_paths
from orchbench_analytics.store.parquet import Frame, write_table
from orchbench_analytics.store.paths import (
    KEPT,
    NOTE,
    STAGING,
    STAMPS,
    UNFINISHED,
    UNFINISHED_TEXT,
    is_made_up,
    is_staged_file,
    is_staged_manifest,
    parquet_name,
)
from orchbench_analytics.store.stamps import Stamps, fault_of, read_stamps, write_stamps
from orchbench_analytics.tables import TABLES

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
    _publish(staging, root / directory, write_stamps(staging))
    return row_counts


def _publish(staging: Path, target: Path, stamps: Stamps) -> None:
    """Give a directory its name, unless it is there already with the same tables.

    Names say what is inside, so tables of the same name that differ are damaged: ours replace
    them, one by one. Whatever else lies there stays.
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
            for name in (*stamps, STAMPS):  # the stamps last
                if (staging / name).exists():
                    (staging / name).replace(target / name)
        except FileNotFoundError:  # another process removed the directory
            continue
        shutil.rmtree(staging)
        return


def _staging(root: Path) -> Path:
    return root / STAGING / os.urandom(16).hex()


def mark_unfinished(root: Path) -> bool:
    """Note that an ingest is under way; true if an earlier one never came to its end."""
    mark = root / UNFINISHED
    if mark.is_symlink():
        raise WarehouseError(f"{mark} is a symbolic link; remove it")
    was_there = mark.exists()
    mark.write_text(UNFINISHED_TEXT, encoding="utf-8")
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
    clear_staging(root)
    for path in (path for name in KEPT for path in (root / name).glob("*")):
        name = path.relative_to(root).as_posix()
        if name not in kept and (name in manifest.unreferenced or is_made_up(path)):
            _remove_written(path)


def clear_staging(root: Path) -> None:
    """Delete what killed commands were still writing; the caller holds the lock."""
    for path in (root / STAGING).glob("*"):
        if is_made_up(path):
            _remove_staged(path)
    for stray in root.iterdir():
        if is_staged_manifest(stray.name):
            stray.unlink()


def _remove_written(path: Path) -> None:
    """Remove a table of ours, or what a directory was written with; the rest stays."""
    if not path.is_dir():
        if _is_numbered_table(path):
            path.unlink()
        return
    try:
        names = [*read_stamps(path), STAMPS]
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):  # not written by us
        return
    for name in names:
        if "/" not in name and not (path / name).is_dir():
            (path / name).unlink(missing_ok=True)
    with suppress(OSError):  # something else is in it
        path.rmdir()


def _remove_staged(path: Path) -> None:
    """Remove what was staged; whatever else lies there stays."""
    if not path.is_dir():
        path.unlink(missing_ok=True)
        return
    for entry in list(path.iterdir()):
        if entry.is_dir() and not entry.is_symlink():
            _remove_staged(entry)
        elif is_staged_file(entry.name) and not entry.is_symlink():
            entry.unlink(missing_ok=True)
    with suppress(OSError):  # something else is in it
        path.rmdir()


def write_numbered(root: Path, table: str, generation: int, write: Callable[[Path], object]) -> str:
    """Write a table of all files; returns its name. What others put there is not replaced."""
    name = f"{table}/{generation:06d}.parquet"
    path, staging = root / name, _staging(root)
    if path.is_symlink() or (path.exists() and not _is_numbered_table(path)):
        raise WarehouseError(f"{path} was not written by this program; move it elsewhere")
    staging.mkdir(parents=True)
    path.parent.mkdir(exist_ok=True)
    write(staging / parquet_name(table))
    (staging / parquet_name(table)).replace(path)
    staging.rmdir()
    return name


def _is_numbered_table(path: Path) -> bool:
    """Whether a file has the columns of the table of all files whose directory it is in."""
    try:
        names: list[str] = pq.read_schema(path).names
    except (OSError, pa.ArrowException):
        return False
    table = TABLES.get(path.parent.name)
    if table is None:  # tags have two columns of ours, and those of the user
        return names[:2] == ["model", "experiment"]
    return names == list(table.column_names)
