"""The size and hash of a file as it was written, and whether the file still is as it was."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from orchbench_analytics.store.paths import STAMPS


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
