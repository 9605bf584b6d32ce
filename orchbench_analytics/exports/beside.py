"""Files and directories that appear whole: written beside their place, then renamed into it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from orchbench_analytics.errors import PathError
from orchbench_analytics.exports.contents import Contents
from orchbench_analytics.store.durable import sync_directory, sync_files

MANIFEST_FILE = "manifest.json"


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """A place for a new file; when it is written it takes the place of the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    staged = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield staged
        sync_files([staged], root=staged.parent)
        if path.is_dir():
            shutil.rmtree(path)
        staged.replace(path)
        sync_directory(path.parent)
    finally:
        staged.unlink(missing_ok=True)


@contextmanager
def new_directory(path: Path) -> Iterator[Path]:
    """A place for a new directory; when it is written it takes the place of the old one.

    The old one is first renamed, so for a moment there is none; there is never half of one.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    staged, old = (path.with_name(f".{path.name}.{os.getpid()}.{kind}") for kind in ("part", "old"))
    staged.mkdir()
    try:
        yield staged
        sync_files((file for file in staged.rglob("*") if file.is_file()), root=staged)
        _swap(staged, path, old)
        sync_directory(path.parent)
    finally:
        for leftover in (staged, old):
            if leftover.is_dir():
                shutil.rmtree(leftover)
            else:
                leftover.unlink(missing_ok=True)


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
    """What to say of a target that somebody else made."""
    return PathError(
        f"{path} is there already and is not an earlier export; "
        "name another, or replace it with --overwrite"
    )


def read_directory(path: Path, *, may_overwrite: bool) -> Contents | None:
    """The manifest of a directory of files; null where there is nothing to go by."""
    try:
        content = (path / MANIFEST_FILE).read_bytes()
        manifest = msgspec.json.decode(content, type=Contents)
    except (OSError, msgspec.DecodeError, msgspec.ValidationError):
        is_empty = not path.exists() or (path.is_dir() and not any(path.iterdir()))
        if not is_empty and not may_overwrite:
            raise refuse(path) from None
        return None
    if path.is_symlink():
        raise PathError(f"{path} is a symbolic link; name the directory itself")
    return manifest


def write_directory_manifest(directory: Path, contents: Contents) -> None:
    """Write the manifest, as the last file."""
    content = msgspec.json.format(msgspec.json.encode(contents), indent=1)
    (directory / MANIFEST_FILE).write_bytes(content)


def refuse_strangers(path: Path, ours: set[str]) -> None:
    """Refuse a directory in which somebody put something: it would be gone with the old export."""
    strangers = sorted({entry.name for entry in path.iterdir()} - ours - {MANIFEST_FILE})
    if strangers:
        raise PathError(
            f"{path} holds other things ({', '.join(strangers[:3])}); move them out, "
            "or drop them with --overwrite"
        )
