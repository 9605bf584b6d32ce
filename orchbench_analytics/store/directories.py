"""Directories of tables: they appear complete or not at all, and stay while someone may read them.

Readers hold no lock and leave no trace, so it is not known when the last of them is done. What no
manifest names any more is kept for a time instead, long enough for a query or a notebook.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import polars as pl
import pyarrow as pa

from orchbench_analytics.errors import StorageError, WarehouseError
from orchbench_analytics.schema import Table, polars_schema
from orchbench_analytics.store.files import (
    KEPT,
    NOTE,
    STAGING,
    STAMPS,
    UNFINISHED,
    UNFINISHED_TEXT,
    Stamps,
    columns_id,
    fault_of,
    is_as_written,
    is_made_up,
    is_staged_file,
    is_staged_manifest,
    name_of,
    read_stamps,
    write_stamps,
)
from orchbench_analytics.store.manifest import (
    Gathered,
    Holder,
    Manifest,
    files_of,
    live_paths,
    parquet_name,
    require_whole,
)
from orchbench_analytics.store.mirror import bucket_of, sweep
from orchbench_analytics.store.parquet import Frame, join_files, write_table
from orchbench_analytics.tables import (
    JUDGEMENTS,
    RAW_TABLES,
    REPORTED_MODELS,
    REPORTED_SCENARIOS,
    SCENARIO_SCORES,
    SCENARIOS,
    SCORED_TABLES,
    TABLES,
)

GRACE_SECONDS = 3600
# Tables that are small and read often, of parts and of scores.
_GATHERED_OF_PARTS = (SCENARIOS, JUDGEMENTS, REPORTED_SCENARIOS, REPORTED_MODELS)
_GATHERED_OF_SCORES = (SCENARIO_SCORES,)
_FEW_FILES = 8
_ATTEMPTS = 10

Note = TypeVar("Note")


def write_directory(
    root: Path,
    directory: str,
    tables: Iterable[tuple[str, pa.Table | Frame | list[Path]]],
    *,
    note: bytes | None = None,
) -> dict[str, int]:
    """Write tables and a note into a directory that appears complete or not at all.

    Each table is written as soon as it is there; of files, their rows are. Returns row counts.
    """
    staging, row_counts = _stage(root, tables)
    if note is not None:
        (staging / NOTE).write_bytes(note)
    _publish(staging, root / directory, write_stamps(staging))
    return row_counts


def _stage(
    root: Path, tables: Iterable[tuple[str, pa.Table | Frame | list[Path]]]
) -> tuple[Path, dict[str, int]]:
    staging = root / STAGING / os.urandom(16).hex()
    staging.mkdir(parents=True)
    row_counts = {}
    for name, table in tables:
        path = staging / parquet_name(name)
        if isinstance(table, list):
            row_counts[name] = join_files(table, path)
        else:
            row_counts[name] = write_table(table, path)
    return staging, row_counts


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
        is_whole = all(fault_of(target / n, tables[n], read=True) is None for n in tables)
        if is_whole and (target / STAMPS).exists():  # a mirror may have fetched tables alone
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


def read_notes(
    root: Path, kind: str, type_: type[Note], *, without: Collection[str]
) -> Iterator[tuple[str, Note]]:
    """The notes in directories of a kind that are whole, by the paths of their directories.

    A command that was killed, or overtaken by another writer, leaves what it had finished.
    without: the directories that the manifest names.
    """
    for path in sorted((root / kind).glob("*")):
        directory = path.relative_to(root).as_posix()
        if directory not in without:
            with suppress(OSError, msgspec.DecodeError):  # it has no note, or is not ours
                note = msgspec.json.decode((path / NOTE).read_bytes(), type=type_)
                if is_as_written(path):
                    yield directory, note


def with_table(root: Path, manifest: Manifest, name: str, rows: pa.Table | Frame) -> Manifest:
    """The next generation of a manifest, with these rows of a table that is written as a whole."""
    generation = manifest.generation + 1
    staging, row_counts = _stage(root, [(name, rows)])
    stamps = write_stamps(staging)
    # In a bucket two writers may make the same generation of different rows.
    directory = f"{name}/{name_of(name, generation, stamps[parquet_name(name)].sha256)}"
    _publish(staging, root / directory, stamps)
    declared = columns_id([TABLES[name]] if name in TABLES else [])  # tags declare none
    holder = Holder(directory=directory, row_counts=row_counts, columns_id=declared)
    return msgspec.structs.replace(
        manifest, generation=generation, tables=manifest.tables | {name: holder}
    )


def read_table(
    root: Path,
    manifest: Manifest,
    table: Table,
    *,
    types: Mapping[str, type[pl.DataType]] | None = None,
) -> pl.DataFrame:
    """The rows of a table that is written as a whole, after a look at every byte of it.

    types: those of its columns, if others than declared. Columns that an older release did not
    have are null.
    """
    wanted = types or polars_schema(table)
    if table.name not in manifest.tables:
        return pl.DataFrame(schema=wanted)
    holder = manifest.tables[table.name]
    file = holder.file_of(table.name)
    require_whole(root, {file: holder.stamps.get(table.name)}, read=True)
    there = pl.read_parquet_schema(root / file)
    columns = []
    for name, type_ in wanted.items():  # one by one: as plain texts they take far more memory
        if name in there:
            column = pl.read_parquet(root / file, columns=[name], glob=False).to_series()
        else:
            column = pl.Series(name, [None] * holder.row_counts[table.name])
        columns.append(column.cast(type_))
    return pl.DataFrame(columns)


def read_rows(root: Path, manifest: Manifest, table: Table) -> list[tuple[Any, ...]]:
    """The same rows as tuples."""
    return read_table(root, manifest, table).rows()


def compact(root: Path, manifest: Manifest) -> Manifest:
    """The manifest with the rows of small tables in one file each, beside those in directories.

    A leaderboard of a thousand models then opens a few files instead of thousands. A few
    directories stay as they are, so that one more model does not cost as much as all of them.
    """
    kinds: dict[str | None, list[Holder]] = {None: [*manifest.parts]}
    for group in manifest.scores:
        kinds.setdefault(group.profile, []).append(group)
    before = {gathered.profile: gathered for gathered in manifest.gathered}
    now = (_gather(root, kind, of, before.get(kind)) for kind, of in kinds.items())
    gathered = [one for one in now if one is not None]
    if gathered == manifest.gathered:
        return manifest
    return msgspec.structs.replace(manifest, gathered=gathered)


def _gather(
    root: Path, profile: str | None, holders: Sequence[Holder], before: Gathered | None
) -> Gathered | None:
    """The small tables of some directories, or what was gathered before if that will do."""
    there = {holder.directory for holder in holders}
    covered = {*before.covers} if before and there.issuperset(before.covers) else set()
    if len(there - covered) <= _FEW_FILES:
        return before if covered else None
    tables = _GATHERED_OF_PARTS if profile is None else _GATHERED_OF_SCORES
    files = ((table.name, files_of(root, holders, table.name)) for table in tables)
    covers = sorted(there)
    directory = f"gathered/{name_of(profile, covers)}"
    return Gathered(
        directory=directory,
        row_counts=write_directory(root, directory, ((n, paths) for n, paths in files if paths)),
        columns_id=columns_id(RAW_TABLES if profile is None else SCORED_TABLES),
        profile=profile,
        covers=covers,
    )


def mark_unfinished(root: Path) -> bool:
    """Note that an ingest is under way; true if an earlier one was not finished."""
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
    """Delete what no given manifest names, unless the first one named it until a while ago.

    In the mirror of a bucket, what is young stays too: a reader may have fetched it by a manifest
    that is newer than these.
    """
    now = time.time()
    is_mirror = bucket_of(root) is not None
    kept = {name for name, since in manifest.unreferenced.items() if now - since < grace_seconds}
    kept = kept.union(*map(live_paths, (manifest, *others)))
    clear_staging(root)
    for path in (path for name in KEPT for path in (root / name).glob("*")):
        name = path.relative_to(root).as_posix()
        if is_mirror and now - path.stat().st_mtime < grace_seconds:
            continue
        if name not in kept and (name in manifest.unreferenced or is_made_up(path)):
            _remove_written(path)


def collect_objects(root: Path, manifest: Manifest, *, grace_seconds: int = GRACE_SECONDS) -> None:
    """Delete from a bucket what its manifest does not name; what fails now, the next one does."""
    if bucket_of(root) is not None:
        with suppress(StorageError):
            sweep(
                root,
                live=live_paths(manifest),
                unreferenced=manifest.unreferenced,
                grace_seconds=grace_seconds,
            )


def clear_staging(root: Path) -> None:
    """Delete what killed commands were still writing; the caller holds the lock."""
    for path in (root / STAGING).glob("*"):
        if is_made_up(path):
            _remove_staged(path)
    for stray in root.iterdir():
        if is_staged_manifest(stray.name):
            stray.unlink()


def _remove_written(directory: Path) -> None:
    """Remove the files that a directory was written with."""
    with suppress(OSError, msgspec.DecodeError, UnicodeDecodeError):  # not written by us
        _remove_files(directory, [*read_stamps(directory), STAMPS])


def _remove_staged(path: Path) -> None:
    """Remove what a killed command had staged, or its probe of a shared file system."""
    if path.is_dir():
        entries = [entry for entry in path.iterdir() if not entry.is_symlink()]
        _remove_files(path, [e.name for e in entries if is_staged_file(e.name)])
    else:
        path.unlink(missing_ok=True)


def _remove_files(directory: Path, names: Iterable[str]) -> None:
    """Remove files of ours; the directory stays if anything else lies in it."""
    for path in (directory / name for name in names if "/" not in name):
        if not path.is_dir():
            path.unlink(missing_ok=True)
    with suppress(OSError):
        directory.rmdir()
