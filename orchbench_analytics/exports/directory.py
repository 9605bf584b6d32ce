"""A directory with a file for each relation: what Parquet and CSV exports share."""

from __future__ import annotations

import os
import shutil
from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path

import msgspec

from orchbench_analytics.errors import PathError
from orchbench_analytics.exports.contents import Contents
from orchbench_analytics.exports.relations import Relation
from orchbench_analytics.exports.sink import Outgoing, Sink
from orchbench_analytics.store.replace import MADE_BY, is_empty, new_directory, refuse
from orchbench_analytics.store.stamps import FileStamp, Stamps, fault_of, stamp_file

_MANIFEST_FILE = "manifest.json"


class _Manifest(Contents, frozen=True, kw_only=True):
    """The manifest of a directory: whose it is, and every other file with its size and hash."""

    made_by: str
    files: Stamps


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

    def stored(self) -> Contents | None:
        """The manifest in the directory, if all that lies there is of an earlier export."""
        if self.path.resolve() == Path.cwd():  # it would be gone for whoever works in it
            raise PathError(f"{self.path} is the current directory; name another place")
        if is_empty(self.path):
            return None
        manifest = self._manifest()
        if manifest is None:
            raise refuse(self.path, "an export")
        ours = {_MANIFEST_FILE, *manifest.files}
        ours |= {str(above) for name in manifest.files for above in Path(name).parents}
        strangers = sorted(name for name in _names(self.path) if name not in ours)
        if strangers:
            raise PathError(
                f"{self.path} holds other things ({', '.join(strangers[:3])}); "
                "move them out, or name another place"
            )
        return manifest

    def damaged(self, stored: Contents) -> set[str]:
        """The files that are gone or not as they were written; a relation's by its name."""
        files = stored.files if isinstance(stored, _Manifest) else {}
        names = {self.file_name(relation): relation for relation in stored.relations}
        faulty = {n for n, stamp in files.items() if fault_of(self.path / n, stamp, read=True)}
        return {names.get(name.split("/")[0], name) for name in faulty}

    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Write the changed files beside links to the unchanged ones, then swap the directories."""
        held = stored.files if isinstance(stored, _Manifest) else {}
        files: dict[str, FileStamp] = {}
        with new_directory(self.path) as staged:
            for relation in outgoing.relations:
                name = self.file_name(relation.name)
                of_relation = {n: stamp for n, stamp in held.items() if n.split("/")[0] == name}
                is_held = stored is not None and relation.name in stored.relations
                if is_held and of_relation and not outgoing.changed(relation, stored):
                    for file in of_relation:
                        _link(self.path / file, staged / file)
                    files |= of_relation
                else:
                    self.write_file(outgoing, relation, staged / name)
            for name, text in outgoing.documents.items():
                (staged / name).write_text(text, encoding="utf-8")
            written = {n: staged / n for n in _names(staged) if (staged / n).is_file()}
            files |= {n: stamp_file(path) for n, path in written.items() if n not in files}
            known = {name: getattr(outgoing.contents, name) for name in Contents.__struct_fields__}
            manifest = _Manifest(made_by=MADE_BY, files=files, **known)
            content = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
            (staged / _MANIFEST_FILE).write_bytes(content)

    def _manifest(self) -> _Manifest | None:
        try:
            content = (self.path / _MANIFEST_FILE).read_bytes()
            manifest = msgspec.json.decode(content, type=_Manifest)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None
        return manifest if manifest.made_by == MADE_BY else None


def _names(directory: Path) -> Iterator[str]:
    """Everything below a directory by its path; a link has its target in its name."""
    for path in directory.rglob("*"):
        name = path.relative_to(directory).as_posix()
        yield f"{name} -> {path.readlink()}" if path.is_symlink() else name


def _link(source: Path, target: Path) -> None:
    """The same file in another directory, or a copy where the file system has no links."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
