"""Files on disk: stamped, so that damage is seen, and synced, so that they outlive a power loss.

What a manifest names is stamped and on the disk before the manifest is.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from orchbench_analytics.store.names import STAMPS

_AT_ONCE = 8  # a file system writes its journal once for all that wait


class FileStamp(msgspec.Struct, frozen=True, array_like=True):
    """What a file was when it was written."""

    byte_count: int
    sha256: str


Stamps = dict[str, FileStamp]


def stamp_file(path: Path) -> FileStamp:
    """The stamp of a file as it is now."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        return FileStamp(file.tell(), digest.hexdigest())


def fault_of(path: Path, stamp: FileStamp, *, read: bool) -> str | None:
    """What is wrong with a file, in words; by its size alone, or by every byte of it."""
    try:
        byte_count = path.stat().st_size
        if byte_count != stamp.byte_count:
            return f"is damaged: it has {byte_count:,} bytes instead of {stamp.byte_count:,}"
        if read and stamp_file(path) != stamp:
            return "is damaged: its content has changed"
    except FileNotFoundError:
        return "is gone"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return None


def write_stamps(directory: Path) -> Stamps:
    """Stamp every file of a directory, and note the stamps beside them."""
    stamps = {path.name: stamp_file(path) for path in sorted(directory.iterdir())}
    (directory / STAMPS).write_bytes(msgspec.json.encode(stamps))
    return stamps


def read_stamps(directory: Path) -> Stamps:
    """The stamps noted when a directory was written."""
    return msgspec.json.decode((directory / STAMPS).read_bytes(), type=Stamps)


def is_as_written(directory: Path) -> bool:
    """Whether every byte of a directory is what was written."""
    try:
        stamps = read_stamps(directory)
    except (OSError, msgspec.DecodeError):
        return False
    return all(
        fault_of(directory / name, stamp, read=True) is None for name, stamp in stamps.items()
    )


def sync_files(paths: Iterable[Path], *, root: Path) -> None:
    """Wait until files, and all directories from the root down to them, are on the disk."""
    files = list(paths)
    directories = {
        parent for file in files for parent in file.parents if parent.is_relative_to(root)
    }
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        list(threads.map(_sync_file, files))
        list(threads.map(sync_directory, directories))


def _sync_file(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def sync_directory(path: Path) -> None:
    """Wait until the names in a directory are on the disk; Windows has no such call."""
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file in one step that a power loss either undoes or leaves done."""
    staged = path.with_name(f"{path.name}.{os.urandom(16).hex()}")
    with staged.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    staged.replace(path)
    sync_directory(path.parent)
