"""Files and directories that appear whole: written beside their place, then renamed into it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from orchbench_analytics.errors import PathError
from orchbench_analytics.store.durable import sync_directory, sync_files


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield a path to write a file to; afterwards it replaces the one at `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    staged = _beside(path, "part")
    _remove_leftovers(path)
    try:
        yield staged
        sync_files([staged], root=staged.parent)
        if path.is_dir():
            shutil.rmtree(path)
        staged.replace(path)
        sync_directory(path.parent)
    finally:
        _remove_leftovers(path)  # an unfinished DuckDB file has a log beside it


@contextmanager
def new_directory(path: Path) -> Iterator[Path]:
    """Yield a directory to write into; afterwards it replaces the one at `path`.

    The old one is renamed first, so for a moment there is none; there is never half of one.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    staged, old = _beside(path, "part"), _beside(path, "old")
    _remove_leftovers(path)
    staged.mkdir()
    try:
        yield staged
        sync_files((file for file in staged.rglob("*") if file.is_file()), root=staged)
        _swap(staged, path, old)
        sync_directory(path.parent)
    finally:
        _remove(staged)
        _remove(old)


def _beside(path: Path, kind: str) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.{kind}")


def _remove_leftovers(path: Path) -> None:
    """Remove what killed exports to this path left behind, but not what a running one writes.

    Names hold process ids. One with our id is from an earlier process that had the same id: a
    database would take its journal for ours.
    """
    name = re.compile(rf"\.{re.escape(path.name)}\.(\d+)\.(part|old).*")
    for beside in path.parent.iterdir():
        match = name.fullmatch(beside.name)
        if match and (int(match[1]) == os.getpid() or not _is_running(int(match[1]))):
            _remove(beside)


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


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


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


def refuse(path: Path) -> PathError:
    """The error for a target that is not an earlier export."""
    return PathError(
        f"{path} is there already and is not an earlier export; "
        "name another, or replace it with --overwrite"
    )


def is_empty(path: Path) -> bool:
    """Whether nothing is there yet, or an empty directory."""
    return not path.exists() or (path.is_dir() and not any(path.iterdir()))
