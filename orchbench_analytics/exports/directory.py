"""A directory with a file for each relation: what Parquet and CSV exports share."""

from __future__ import annotations

import os
import shutil
from abc import abstractmethod
from pathlib import Path

import msgspec

from orchbench_analytics.errors import PathError
from orchbench_analytics.exports.atomic import is_empty, new_directory, refuse
from orchbench_analytics.exports.contents import Contents
from orchbench_analytics.exports.relations import Relation
from orchbench_analytics.exports.sink import Outgoing, Sink

_MANIFEST_FILE = "manifest.json"


class DirectorySink(Sink):
    """A directory whose files are written one by one; unchanged ones are linked, not written."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @abstractmethod
    def file_name(self, relation: str) -> str:
        """The name of a relation's file."""

    @abstractmethod
    def write_file(self, outgoing: Outgoing, relation: Relation, path: Path) -> None:
        """Write the rows of one relation."""

    def stored(self, *, may_overwrite: bool) -> Contents | None:
        """The manifest in the directory."""
        try:
            content = (self.path / _MANIFEST_FILE).read_bytes()
            manifest = msgspec.json.decode(content, type=Contents)
        except (OSError, msgspec.DecodeError):
            if not is_empty(self.path) and not may_overwrite:
                raise refuse(self.path) from None
            return None
        if self.path.is_symlink():
            raise PathError(f"{self.path} is a symbolic link; name the directory itself")
        if not may_overwrite:
            self._refuse_strangers(manifest)
        return manifest

    def _refuse_strangers(self, manifest: Contents) -> None:
        """Refuse a directory that others put something in: it would be gone with the old export."""
        ours = {_MANIFEST_FILE, "metrics.yaml", *map(self.file_name, manifest.relations)}
        strangers = sorted({entry.name for entry in self.path.iterdir()} - ours)
        if strangers:
            raise PathError(
                f"{self.path} holds other things ({', '.join(strangers[:3])}); move them out, "
                "or drop them with --overwrite"
            )

    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Write the changed files beside links to the unchanged ones, then swap the directories."""
        with new_directory(self.path) as staged:
            for relation in outgoing.relations:
                name = self.file_name(relation.name)
                is_same = stored is not None and not outgoing.changed(relation, stored)
                if is_same and (self.path / name).exists():
                    _link(self.path / name, staged / name)
                else:
                    self.write_file(outgoing, relation, staged / name)
            for name, text in outgoing.documents.items():
                (staged / name).write_text(text, encoding="utf-8")
            content = msgspec.json.format(msgspec.json.encode(outgoing.contents), indent=1)
            (staged / _MANIFEST_FILE).write_bytes(content)


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
