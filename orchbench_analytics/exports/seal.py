"""ZIP files that say by themselves whether they are still what we wrote: workbooks and bundles.

The comment of the archive holds a hash of its entries. A program that saves the file again, or adds
to it, drops the comment or makes it wrong: then the file is somebody's work, and not ours.
"""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

from orchbench_analytics.store.replace import MADE_BY


def seal(path: Path) -> None:
    """Put the mark on an archive that was just written."""
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = _seal_of(archive)


def is_sealed(path: Path) -> bool:
    """Whether an archive is, entry by entry and byte by byte, what we wrote."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.comment == _seal_of(archive) and archive.testzip() is None
    except (OSError, zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, EOFError):
        return False


def _seal_of(archive: zipfile.ZipFile) -> bytes:
    entries = [(e.filename, e.CRC, e.file_size, e.date_time) for e in archive.infolist()]
    return f"{MADE_BY} {hashlib.sha256(repr(entries).encode()).hexdigest()}".encode()
