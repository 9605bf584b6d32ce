"""The warehouse on disk: immutable parts, and a manifest that is written last.

    DIR/manifest.json                             what is in the warehouse; replaced atomically
    DIR/sources/<generation>.parquet              every input file and what became of it
    DIR/tool_parameters/<generation>.parquet      tool schemas from agent cards
    DIR/model_tags/<generation>.parquet           what is known of models beside their names
    DIR/parts/<part>/<table>.parquet
    DIR/gathered/<parts>/<table>.parquet          small tables of all parts in one file each
    DIR/scores/<group>/<table>.parquet
    DIR/unfinished                                there while an ingest runs, or after it was killed

No model, language or profile names a directory: they stand in the files alone, so whatever a
model or a directory above the warehouse is called, the figures are the same.

A reader goes by the manifest, so it sees the last complete state. Files of the state before are
kept until the next ingest, for readers that are still at it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from orchbench_analytics.errors import WarehouseError
from orchbench_analytics.store.parquet import Frame, write_table

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT_VERSION = 3
_MANIFEST = "manifest.json"
_UNFINISHED = "unfinished"
_LOCK = "lock"


class Holder(msgspec.Struct, frozen=True, kw_only=True):
    """A directory with a Parquet file for each table it has rows of."""

    directory: str
    row_counts: dict[str, int]


class Part(Holder, frozen=True, kw_only=True):
    """Rows of some files of one model, experiment and language, written once."""

    part_id: str
    model: str
    experiment: str
    language: str


class ScoreGroup(Holder, frozen=True, kw_only=True):
    """Scores of some parts under one profile, written once."""

    group_id: str
    profile: str
    part_ids: list[str]


class Gathered(Holder, frozen=True, kw_only=True):
    """The rows of small tables of all parts, once more in one file each, for quick reading."""

    parts_id: str


class Manifest(msgspec.Struct):
    """Everything a reader needs to know: which files make up which table."""

    format_version: int = FORMAT_VERSION
    generation: int = 0
    sources: str | None = None
    source_count: int = 0
    tool_parameters: str | None = None
    tool_parameter_count: int = 0
    model_tags: str | None = None
    parts: list[Part] = []
    gathered: Gathered | None = None
    profiles: dict[str, dict[str, str | float]] = {}
    scores: list[ScoreGroup] = []


def load_manifest(root: Path) -> Manifest:
    """The manifest of an existing warehouse."""
    try:
        manifest = msgspec.json.decode((root / _MANIFEST).read_bytes(), type=Manifest)
    except FileNotFoundError as error:
        what = "no warehouse (it has no manifest.json)" if root.is_dir() else "not there"
        raise WarehouseError(
            f"{root} is {what}; make one with: orchbench ingest PATH --into {root}"
        ) from error
    except (msgspec.DecodeError, OSError) as error:
        raise WarehouseError(f"{root / _MANIFEST} cannot be read: {error}") from error
    if manifest.format_version != FORMAT_VERSION:
        raise WarehouseError(
            f"{root} has format {manifest.format_version}, this version reads {FORMAT_VERSION}; "
            "ingest anew into another directory"
        )
    return manifest


def load_or_start(root: Path) -> Manifest:
    """The manifest of a warehouse, or an empty one where there is none yet."""
    if (root / _MANIFEST).exists():
        return load_manifest(root)
    if root.exists() and not root.is_dir():
        raise WarehouseError(f"{root} is a file; a warehouse is a directory")
    there = [entry.name for entry in root.iterdir()] if root.exists() else []
    strangers = [n for n in there if n not in _OUR_NAMES and not n.startswith(f"{_MANIFEST}.")]
    if strangers:
        raise WarehouseError(
            f"{root} holds other things ({', '.join(sorted(strangers)[:3])}); "
            "name a new or empty directory"
        )
    return Manifest()


_OUR_NAMES = {
    _MANIFEST, _UNFINISHED, _LOCK, "parts", "scores", "sources", "tool_parameters",
    "model_tags", "gathered", "staging",
}  # fmt: skip


def save_manifest(root: Path, manifest: Manifest) -> None:
    """Replace the manifest in one step; from here on readers see the new state."""
    staged = root / f"{_MANIFEST}.{os.getpid()}"
    with staged.open("wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(manifest), indent=1))
        file.flush()
        os.fsync(file.fileno())
    staged.replace(root / _MANIFEST)


@contextmanager
def hold(root: Path, *, wait: bool, on_wait: Callable[[str], None]) -> Iterator[None]:
    """Be the only writer of the warehouse; the lock ends with the process, however it ends."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        lock = (root / _LOCK).open("a+")
    except OSError as error:
        raise WarehouseError(f"{root} cannot be written: {error.strerror}") from error
    with lock as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            holder = file.read().strip() or "another process"
            if not wait:
                raise WarehouseError(f"{root} is being written by {holder}; try again") from None
            on_wait(f"{root} is being written by {holder}; waiting")
            fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate(0)
        file.write(f"process {os.getpid()}\n")
        file.flush()
        yield


def mark_unfinished(root: Path) -> bool:
    """Note that an ingest is under way; true if an earlier one never came to its end."""
    was_there = (root / _UNFINISHED).exists()
    (root / _UNFINISHED).touch()
    return was_there


def mark_finished(root: Path) -> None:
    """Note that the ingest came to its end."""
    (root / _UNFINISHED).unlink(missing_ok=True)


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
    staging = root / "staging" / os.urandom(16).hex()
    staging.mkdir(parents=True)
    row_counts = {}
    for name, table in tables:
        row_counts[name] = write_table(table, staging / f"{name}.parquet")
    if note is not None:
        (staging / "part.json").write_bytes(note)
    target = root / directory
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():  # same name, same content: names are hashes of what is inside
        shutil.rmtree(staging)
    else:
        staging.rename(target)
    return row_counts


def table_files(root: Path, manifest: Manifest, table: str) -> list[Path]:
    """The Parquet files that make up a table."""
    if table in ("sources", "tool_parameters"):
        name = getattr(manifest, table)
        return [root / name] if name else []
    gathered = manifest.gathered
    if gathered and table in gathered.row_counts and gathered.parts_id == parts_id(manifest):
        return [root / gathered.directory / f"{table}.parquet"]
    return part_files(root, manifest, table)


def part_files(root: Path, manifest: Manifest, table: str) -> list[Path]:
    """The files of a table in parts and score groups, one for each that has rows of it."""
    holders: list[Holder] = [*manifest.parts, *manifest.scores]
    return [
        root / holder.directory / f"{table}.parquet"
        for holder in holders
        if holder.row_counts.get(table)
    ]


def parts_id(manifest: Manifest) -> str:
    """A name for the set of parts."""
    ids = "\n".join(sorted(part.part_id for part in manifest.parts))
    return hashlib.sha256(ids.encode()).hexdigest()[:20]


def tag_files(root: Path, manifest: Manifest) -> list[Path]:
    """The file of model tags, if there is one."""
    return [root / manifest.model_tags] if manifest.model_tags else []


def row_count(manifest: Manifest, table: str) -> int:
    """How many rows a table has, by the manifest."""
    if table in ("sources", "tool_parameters"):
        return int(getattr(manifest, f"{table.removesuffix('s')}_count"))
    holders: list[Holder] = [*manifest.parts, *manifest.scores]
    return sum(holder.row_counts.get(table, 0) for holder in holders)


def collect_garbage(root: Path, *manifests: Manifest) -> None:
    """Delete whatever no given manifest knows."""
    live = {
        holder.directory
        for m in manifests
        for holder in (*m.parts, *m.scores, m.gathered)
        if holder is not None
    }
    live |= {
        name for m in manifests for name in (m.sources, m.tool_parameters, m.model_tags) if name
    }
    shutil.rmtree(root / "staging", ignore_errors=True)
    for pattern in (
        "parts/*",
        "scores/*",
        "sources/*",
        "tool_parameters/*",
        "model_tags/*",
        "gathered/*",
    ):
        for path in root.glob(pattern):
            if path.relative_to(root).as_posix() in live:
                continue
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
    for stray in root.glob(f"{_MANIFEST}.*"):
        stray.unlink()
