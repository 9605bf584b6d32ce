"""What commands write outside of a warehouse: it appears whole, and replaces nothing but our own.

A command replaces what carries its mark (the manifest of an export, the first lines of a report)
and nothing else, whatever its options. An empty file or directory holds nothing to lose, so it
counts as absent. A link stays a link: what it points to is what is written.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from orchbench_analytics.errors import PathError
from orchbench_analytics.paths import is_address
from orchbench_analytics.store.files import put_in_place, replace_file, sync_directory, sync_files
from orchbench_analytics.store.manifest import Manifest, scan_table, warehouse_around

MADE_BY = "orchbench-analytics"
_MARK = ".orchbench"  # in a directory of many files that come and go one by one
_STAGED = re.compile(r"\.orchbench-[0-9a-f]{32}\.part")
_STAGED_BY = re.compile(rf"written by {MADE_BY}, process ([0-9]+)\n")
_SEAL = re.compile(rf"[^\n]*{MADE_BY} sha256 ([0-9a-f]{{64}})[^\n]*\n\Z".encode())
_LONGEST_SEAL = 200
_MARKED_WITHIN = 60  # seconds in which a running command writes the mark of its directory
_under_way: set[str] = set()


class _Mark(msgspec.Struct):
    made_by: str
    names: list[str]


def place_for(path: Path, *, root: Path | None = None, manifest: Manifest | None = None) -> Path:
    """Where a path leads, links followed, if it is apart from warehouses and their result files.

    root and manifest: the warehouse at hand. A directory that holds the warehouse beside its
    result files is where people work, so it takes other files too.
    """
    try:
        is_indirect = path.is_symlink() or path.name in ("", "..")
        place = path.resolve() if is_indirect else path
        real = place.resolve()
        outer = warehouse_around(real)
    except (OSError, RuntimeError) as error:  # a loop of links
        raise PathError(f"{path} cannot be written: {error}") from error
    if outer is not None:
        where = "is a warehouse" if real == outer else f"lies in the warehouse {outer}"
        raise PathError(f"{path} {where}; name a place outside of it")
    if root is None or manifest is None:
        return place
    above = root.resolve().parents
    if real in above:
        raise PathError(f"{path} holds the warehouse {root}; name a place outside of it")
    for directory in _source_directories(root, manifest):
        if real in (directory, *directory.parents):
            raise PathError(f"{path} holds result files of {root}; name a place outside of them")
        if directory in real.parents and directory not in above:
            raise PathError(
                f"{path} lies among the result files of {root}, in {directory}; "
                "name a place outside of them"
            )
    return place


def _source_directories(root: Path, manifest: Manifest) -> list[Path]:
    """The directories that hold the input files of a warehouse, links followed."""
    import polars as pl  # not every command that writes needs it

    directory = pl.col("path").str.replace("/[^/]*$", "").unique()
    found = scan_table(root, manifest, "sources").select(directory).collect()["path"]
    return [Path(os.path.realpath(name or "/")) for name in found if not is_address(name)]


def is_empty(path: Path) -> bool:
    """Whether nothing is there yet, or an empty file or directory."""
    if path.is_dir():
        return not any(path.iterdir())
    return not path.exists() or (path.is_file() and path.stat().st_size == 0)


def refuse(path: Path, kind: str) -> PathError:
    """The error for a place that holds something a command may not replace."""
    return PathError(
        f"{path} already exists and is not {kind} that orchbench wrote; name another place"
    )


def mark_directory(path: Path, names: set[str]) -> None:
    """Say in a directory that it is ours, and by which names what we write in it goes."""
    path.mkdir(parents=True, exist_ok=True)
    replace_file(path / _MARK, msgspec.json.encode(_Mark(MADE_BY, sorted(names - {_MARK}))))


def marked_names(path: Path) -> set[str] | None:
    """The names that a directory is marked with, and the mark's own; null if it has no mark."""
    try:
        mark = msgspec.json.decode((path / _MARK).read_bytes(), type=_Mark)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    return {_MARK, *mark.names} if mark.made_by == MADE_BY else None


def sealed(text: str, *, comment: str) -> bytes:
    """A text with a last line that says it is ours and whole: the hash of all before it."""
    content = text.encode()
    seal = f"{MADE_BY} sha256 {hashlib.sha256(content).hexdigest()}"
    return content + f"{comment.format(seal)}\n".encode()


def is_sealed(path: Path) -> bool:
    """Whether a plain file is still as `sealed` made it."""
    if path.is_symlink() or not path.is_file():
        return False
    content = path.read_bytes()
    found = _SEAL.search(content[-_LONGEST_SEAL:])
    if found is None:
        return False
    whole = content[: len(content) - len(found[0])]
    return hashlib.sha256(whole).hexdigest().encode() == found[1]


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield a path to write a file to; afterwards it replaces the one at `path`."""
    with staging_beside(path) as staging:
        staged = staging / path.name
        yield staged
        sync_files([staged], root=staging)
        put_in_place(staged, path)
        sync_directory(path.parent)


@contextmanager
def new_directory(path: Path) -> Iterator[Path]:
    """Yield a directory to write into; afterwards it replaces the one at `path`.

    The old one is renamed first, so for a moment there is none; there is never half of one.
    """
    with staging_beside(path) as staging:
        staged, old = staging / "new", staging / "old"
        staged.mkdir()
        yield staged
        sync_files((file for file in staged.rglob("*") if file.is_file()), root=staged)
        _swap(staged, path, old)
        sync_directory(path.parent)


def _swap(staged: Path, path: Path, old: Path) -> None:
    """Put the new directory in the place of the old one, or leave the old one where it is."""
    if path.exists():
        path.rename(old)
    try:
        staged.rename(path)
    except OSError:
        if old.exists():
            old.rename(path)
        raise


@contextmanager
def staging_beside(path: Path) -> Iterator[Path]:
    """Yield a directory of ours beside a path, and remove it; it goes first what was killed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(path.parent)
    staging = path.parent / f".orchbench-{os.urandom(16).hex()}.part"
    staging.mkdir()
    _under_way.add(staging.name)
    try:
        said = f"written by {MADE_BY}, process {os.getpid()}\n"
        (staging / _MARK).write_text(said, encoding="utf-8")
        yield staging
    finally:
        _under_way.discard(staging.name)
        shutil.rmtree(staging, ignore_errors=True)


def _remove_leftovers(directory: Path) -> None:
    """Remove what killed commands left in a directory, but not what a running one writes.

    A leftover has a name that we make up and our mark inside, or nothing at all. One of a process
    with our id is from an earlier process that had the same id.
    """
    for beside in directory.iterdir():
        if _STAGED.fullmatch(beside.name) is None or beside.name in _under_way:
            continue
        if beside.is_symlink() or not beside.is_dir():
            continue
        try:
            said = _STAGED_BY.fullmatch((beside / _MARK).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError):
            with suppress(OSError):
                if time.time() - beside.stat().st_mtime > _MARKED_WITHIN:
                    beside.rmdir()
            continue
        if said and (int(said[1]) == os.getpid() or not _is_running(int(said[1]))):
            shutil.rmtree(beside, ignore_errors=True)


def _is_running(pid: int) -> bool:
    if os.name == "nt":  # there `os.kill` ends the process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # it belongs to another user
        return True
    return True
