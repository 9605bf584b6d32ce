"""Files that outlive a power loss: what a manifest names is on the disk before the manifest is."""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_AT_ONCE = 8  # a file system writes its journal once for all that wait


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
