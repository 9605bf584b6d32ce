"""Trees of input files: the same few questions, whether they lie on a disk or in a bucket.

A path is a text. On a disk every question goes to the system. A tree in a bucket is listed when an
ingest starts, and questions are answered from that listing; what lies above the tree is asked for
one directory at a time. An object is read in one request, so its content is that of one moment,
whoever replaces it meanwhile.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, Protocol

from orchbench_analytics.paths import is_address
from orchbench_analytics.store.bucket import Bucket, Entry, address_of_bucket


class DirectoryEntry(Protocol):
    """What a directory lists, as `os.scandir` has it."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def path(self) -> str:
        """Its path."""
        ...

    def is_dir(self) -> bool:
        """Whether it is a directory, or a link to one."""
        ...

    def is_symlink(self) -> bool:
        """Whether it is a link."""
        ...


class _Listed(NamedTuple):
    """A name in a bucket: of an object, or of what would be a directory on a disk."""

    name: str
    path: str
    is_directory: bool

    def is_dir(self) -> bool:
        return self.is_directory

    def is_symlink(self) -> bool:
        return False


class _Listing(NamedTuple):
    """What was listed: objects by address, and what lies in each directory by its name."""

    objects: dict[str, Entry]
    directories: dict[str, dict[str, _Listed]]


_DRIVE = re.compile(r"[A-Za-z]:/")
_trees: dict[str, _Listing] = {}
_levels: dict[str, _Listing] = {}


def absolute(given: str | Path) -> str:
    """A path or address as files below it begin."""
    if is_address(given):
        return Bucket(str(given)).address
    return slashed(os.path.abspath(given))  # noqa: PTH100 (Path keeps `..`: two paths for one)


def slashed(path: str) -> str:
    """A path of this machine with `/` between its names, as sources keep it and layouts read it."""
    return path.replace("\\", "/") if os.sep == "\\" else path


def parts_of(path: str) -> tuple[str, ...]:
    """The root of a path, which is `/`, a drive or a bucket, and the names below it."""
    if not path:
        return ()
    drive = path[:3] if _DRIVE.match(path) else "/"
    root = address_of_bucket(path) if is_address(path) else drive
    return (root, *filter(None, path.removeprefix(root).split("/")))


def is_root(part: str) -> bool:
    """Whether a part of a path is what names begin below: `/`, a drive such as `C:/`, a bucket."""
    return part.endswith("/") or is_address(part)


def joined(parts: tuple[str, ...]) -> str:
    """The path that has these parts."""
    if parts and is_address(parts[0]):
        return "/".join(parts)
    return os.path.join(*parts) if parts else "."  # noqa: PTH118 (as text)


def list_trees(addresses: Iterable[str]) -> None:
    """List what lies in buckets at or below some addresses, and forget earlier listings."""
    _trees.clear()
    _levels.clear()
    for address in map(absolute, addresses):
        _trees[address] = _list_tree(address)


def _list_tree(address: str) -> _Listing:
    bucket = Bucket(address)
    return _listing(bucket, bucket.list_objects())


def files_below(address: str) -> Iterator[str]:
    """The addresses of all objects at or below one, in order."""
    listing = _trees.get(address) or _trees.setdefault(address, _list_tree(address))
    yield from sorted(listing.objects) or filter(exists, [address])


def scandir(directory: str) -> list[DirectoryEntry]:
    """What lies in a directory, in the order of names; raises OSError if it cannot be listed."""
    if is_address(directory):
        found: list[DirectoryEntry] = [*_level(directory).directories.get(directory, {}).values()]
        if not found:
            raise FileNotFoundError(directory)
        return sorted(found, key=attrgetter("name"))
    return sorted(os.scandir(directory), key=attrgetter("name"))


def is_directory(path: str) -> bool:
    """Whether a path leads to a directory."""
    if is_address(path):
        return bool(_level(path).directories.get(path))
    return os.path.isdir(path)  # noqa: PTH112 (plain strings: this runs once per file)


def exists(path: str) -> bool:
    """Whether anything is at a path; a link counts, wherever it leads."""
    if is_address(path):
        return is_directory(path) or object_at(path) is not None
    return os.path.lexists(path)


def object_at(address: str) -> Entry | None:
    """The object at an address as a listing shows it."""
    for root, listing in _trees.items():
        if address.startswith(f"{root}/"):
            return listing.objects.get(address)
    above, _, name = address.rpartition("/")
    return Bucket(above).look(name) if is_address(above) and name else None


def read(address: str, *, most_bytes: int) -> tuple[bytes, int]:
    """An object's bytes, unless it has more than this, and how many there are.

    Raises FileNotFoundError if it is gone.
    """
    above, _, name = address.rpartition("/")
    content = Bucket(above).read(name, most_bytes=most_bytes)
    assert content is not None, "no version was given"
    return content.data, content.byte_count


def _level(directory: str) -> _Listing:
    """The listing that knows a directory."""
    for root, listing in _trees.items():
        if directory == root or directory.startswith(f"{root}/"):
            return listing
    if directory not in _levels:
        bucket = Bucket(directory)
        directories, objects = bucket.list_directory("")
        listing = _listing(bucket, objects)
        here = listing.directories.setdefault(directory, {})
        for name in directories:
            here[name] = _Listed(name, f"{directory}/{name}", is_directory=True)
        _levels[directory] = listing
    return _levels[directory]


def _listing(bucket: Bucket, entries: Iterable[Entry]) -> _Listing:
    listing = _Listing({}, {})
    for entry in entries:
        address = bucket.address_of(entry.name)
        listing.objects[address] = entry
        *above, name = entry.name.split("/")
        directory = bucket.address
        for step in above:
            below = f"{directory}/{step}"
            listing.directories.setdefault(directory, {})[step] = _Listed(step, below, True)
            directory = below
        listing.directories.setdefault(directory, {})[name] = _Listed(name, address, False)
    return listing
