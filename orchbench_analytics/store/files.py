"""Files of a warehouse: how they are named, stamped and brought onto the disk.

    DIR/manifest.json                             what is in the warehouse; replaced atomically
    DIR/sources/<id>/sources.parquet        every input file and what became of it
    DIR/tool_parameters/<id>/…              tool schemas from agent cards
    DIR/expected_scenarios/<id>/…           what the whole sweep has, if that was said
    DIR/model_tags/<id>/…                   what is known of models beside their names
    DIR/parts/<part>/<table>.parquet
    DIR/gathered/<id>/<table>.parquet       small tables of many directories in one file each
    DIR/scores/<group>/<table>.parquet
    DIR/staging/…                           directories before they are complete
    DIR/lock, DIR/writer                    who writes the warehouse, one at a time
    DIR/unfinished                          there while an ingest runs, or after it was killed

Each directory of tables is named by what its rows were computed from: inputs, rules and code.

No model, language or profile names a directory: they stand in the files alone, so whatever a
model or a directory above the warehouse is called, the figures are the same.

Names alone do not make a file ours. A directory is a warehouse because of its manifest, or of the
mark that its first ingest puts down before anything else; and only names as this program makes
them up are ever deleted: other files stay, wherever they lie.

Files are stamped, so that damage is seen, and synced, so that they outlive a power loss: what a
manifest names is stamped and on the disk before the manifest is.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import msgspec

from orchbench_analytics.schema import Table

_PACKAGE = "orchbench_analytics"
# How Windows says that somebody has a file open, and how long to wait for its readers.
_IN_USE = (5, 32)
_PAUSES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_AT_ONCE = 8  # a file system writes its journal once for all that wait

MANIFEST = "manifest.json"
LOCK = "lock"
WRITER = "writer"
UNFINISHED = "unfinished"
STAGING = "staging"
STAMPS = "files.json"
NOTE = "note.json"
# What these directories hold is there because a manifest names it.
KEPT = (
    "parts",
    "scores",
    "sources",
    "tool_parameters",
    "expected_scenarios",
    "model_tags",
    "gathered",
)

# What `unfinished` says: where there is no manifest yet, it tells our leftovers from other files.
UNFINISHED_TEXT = "orchbench-analytics is filling this warehouse, or was killed while it did\n"

_OUR_NAMES = {MANIFEST, LOCK, WRITER, UNFINISHED, STAGING, *KEPT}
_STAGED_MANIFEST = re.compile(rf"{re.escape(MANIFEST)}\.[0-9a-f]{{32}}")
_NAMED_DIRECTORY = re.compile(r"[0-9a-f]{20}")
_STAGED_ENTRY = re.compile(r"[0-9a-f]{32}|probe-[0-9a-f]{32}")
_STAGED_FILE = re.compile(r"[a-z_]+\.(?:parquet|json)")
_WRITER_TEXT = re.compile(rb"(?:process [0-9]+\n)?")


def strangers(root: Path) -> list[str]:
    """What lies in a directory without a manifest and was not left there by a first ingest.

    Before its mark an ingest leaves nothing but the files of the lock.
    """
    is_marked = _content(root / UNFINISHED) == UNFINISHED_TEXT.encode()
    return sorted(
        entry.name
        for entry in root.iterdir()
        if not (_is_lock_file(entry) or (is_marked and _is_our_name(entry)))
    )


def _is_lock_file(path: Path) -> bool:
    content = _content(path)
    if content is None:
        return False
    return (
        (path.name == LOCK and content == b"")
        or (path.name == WRITER and _WRITER_TEXT.fullmatch(content) is not None)
        or (path.name == UNFINISHED and UNFINISHED_TEXT.encode().startswith(content))
    )


def _is_our_name(path: Path) -> bool:
    is_known = path.name in _OUR_NAMES or is_staged_manifest(path.name)
    return is_known and not path.is_symlink()


def _content(path: Path) -> bytes | None:
    """The first bytes of a plain file."""
    if path.is_symlink() or not path.is_file():
        return None
    with path.open("rb") as file:
        return file.read(len(UNFINISHED_TEXT) + 1)


def is_staged_manifest(name: str) -> bool:
    """Whether a name is one that a manifest has before it is complete."""
    return _STAGED_MANIFEST.fullmatch(name) is not None


def is_made_up(path: Path) -> bool:
    """Whether an entry of a directory of ours is named as this program names what it writes."""
    name = _STAGED_ENTRY if path.parent.name == STAGING else _NAMED_DIRECTORY
    return name.fullmatch(path.name) is not None and not path.is_symlink()


def is_staged_file(name: str) -> bool:
    """Whether a file below the staging directory is one of those that are written there."""
    return _STAGED_FILE.fullmatch(name) is not None


@cache
def code_fingerprint(*rooms: str, libraries: tuple[str, ...] = ()) -> str:
    """A name for the code of some rooms: it changes with every line of theirs.

    libraries: those whose results are part of what the rooms compute; their versions count too.
    """
    digest = hashlib.sha256()
    for library in libraries:
        digest.update(f"{library} {version(library)}\n".encode())
    for room in rooms:
        for source in _sources(files(_PACKAGE) / room):
            digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()


def name_of(*content: object) -> str:
    """A short name for some content: the same content always has the same name."""
    return hashlib.sha256(repr(content).encode()).hexdigest()[:20]


def columns_id(tables: Iterable[Table]) -> str:
    """A name for the columns that tables declare: names, kinds and which may be null."""
    return name_of([(t.name, [(c.name, c.kind, c.nullable) for c in t.columns]) for t in tables])


def _sources(place: Traversable) -> list[Traversable]:
    if place.is_file():
        return [place]
    found = []
    for entry in sorted(place.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            found += _sources(entry)
        elif entry.name.endswith(".py"):
            found.append(entry)
    return found


# Stamps


class FileStamp(msgspec.Struct, frozen=True, array_like=True):
    """What a file was when it was written."""

    byte_count: int
    sha256: str

    def damage(self, found: FileStamp) -> str | None:
        """What is wrong with a file that has another stamp now, in words."""
        if found.byte_count != self.byte_count:
            return f"is damaged: it has {found.byte_count:,} bytes instead of {self.byte_count:,}"
        return None if found == self else "is damaged: its content has changed"


Stamps = dict[str, FileStamp]


def stamp_of(data: bytes) -> FileStamp:
    """The stamp of a file with this content."""
    return FileStamp(len(data), hashlib.sha256(data).hexdigest())


def stamp_file(path: Path) -> FileStamp:
    """The stamp of a file as it is now."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
        return FileStamp(file.tell(), digest.hexdigest())


def fault_of(path: Path, stamp: FileStamp, *, read: bool) -> str | None:
    """What is wrong with a file, in words; by its size alone, or by every byte of it."""
    try:
        damage = stamp.damage(FileStamp(path.stat().st_size, stamp.sha256))
        return stamp.damage(stamp_file(path)) if read and damage is None else damage
    except FileNotFoundError:
        return "is gone"
    except OSError as error:
        return f"cannot be read: {error.strerror}"


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
    put_in_place(staged, path)
    sync_directory(path.parent)


def put_in_place(staged: Path, path: Path) -> None:
    """Let a staged file replace another; on Windows, once nobody reads the other one."""
    for pause in _PAUSES:
        try:
            staged.replace(path)
        except PermissionError as error:
            if getattr(error, "winerror", None) not in _IN_USE:
                raise
            time.sleep(pause)
        else:
            return
    staged.replace(path)
