"""A directory with a file for each relation: what Parquet and CSV exports share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from orchbench_analytics.exports.beside import (
    new_directory,
    read_directory,
    refuse_strangers,
    write_directory_manifest,
)
from orchbench_analytics.exports.contents import Contents
from orchbench_analytics.exports.relations import Relation
from orchbench_analytics.exports.sink import Outgoing

FileName = Callable[[str], str]
WriteFile = Callable[[Outgoing, Relation, Path], None]


def stored_in(path: Path, file_name: FileName, *, may_overwrite: bool) -> Contents | None:
    """What the directory holds from an earlier export; a file that is gone is not held."""
    stored = read_directory(path, may_overwrite=may_overwrite)
    if stored is None or may_overwrite:
        return stored
    refuse_strangers(path, {"metrics.yaml", *map(file_name, stored.relations)})
    return stored


def write_directory(
    path: Path,
    outgoing: Outgoing,
    stored: Contents | None,
    *,
    file_name: FileName,
    write_file: WriteFile,
) -> None:
    """Write the changed files beside links to the unchanged ones, then swap the directories."""
    with new_directory(path) as staged:
        for relation in outgoing.relations:
            name = file_name(relation.name)
            is_same = stored is not None and not outgoing.changed(relation, stored)
            if is_same and (path / name).exists():
                _link(path / name, staged / name)
            else:
                write_file(outgoing, relation, staged / name)
        for name, text in outgoing.documents.items():
            (staged / name).write_text(text, encoding="utf-8")
        write_directory_manifest(staged, outgoing.contents)


def _link(source: Path, target: Path) -> None:
    """The same file in another directory, or a copy where the file system has no links."""
    if source.is_dir():
        shutil.copytree(source, target, copy_function=_link_file)
    else:
        _link_file(str(source), str(target))


def _link_file(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
