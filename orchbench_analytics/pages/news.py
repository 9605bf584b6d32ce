"""What happened since a warehouse was read: a new manifest, and result files not yet ingested."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from orchbench_analytics.ingest.layouts import is_input_name
from orchbench_analytics.store.manifest import Manifest, scan_table

# A new directory may hold anything; so many directories below known ones are looked into.
_MOST_DIRECTORIES = 2_000


class _Listing(NamedTuple):
    """The input files of a directory, and its directories, when it was last changed."""

    changed_at: int
    files: list[str]
    directories: list[str]


class SourceTree:
    """The directories that input files came from, and which of their files were never seen.

    A directory is listed again only when its modification time changed.
    """

    def __init__(self, root: Path, manifest: Manifest) -> None:
        rows = scan_table(root, manifest, "sources").select("path", "kind").collect()
        self._known = set(rows["path"])
        self._warehouse = os.fspath(root.absolute())
        # Cards mostly lie in a tree of their own, and beside both trees lies anything.
        cards = set(rows.filter(kind="agent_card")["path"])
        self._directories = _directories_of(self._known - cards) | _directories_of(cards)
        self._listed: dict[str, _Listing] = {}

    def new_files(self) -> list[str]:
        """Paths of files beside the known ones, and in new directories, that no ingest has read."""
        found = {path for directory in self._reached() for path in self._list(directory).files}
        return sorted(found - self._known)

    def _reached(self) -> Iterator[str]:
        yield from self._directories
        waiting = [new for known in self._directories for new in self._directories_in(known)]
        for _ in range(_MOST_DIRECTORIES):
            if not waiting:
                return
            directory = waiting.pop()
            yield directory
            waiting += self._directories_in(directory)

    def _directories_in(self, directory: str) -> list[str]:
        known = {*self._directories, self._warehouse}
        return [path for path in self._list(directory).directories if path not in known]

    def _list(self, directory: str) -> _Listing:
        try:
            changed_at = os.stat(directory).st_mtime_ns  # noqa: PTH116 (plain strings: it is often)
            found = self._listed.get(directory)
            if found is None or found.changed_at != changed_at:
                found = _Listing(changed_at, [], [])
                with os.scandir(directory) as entries:
                    for entry in entries:
                        if entry.is_dir(follow_symlinks=False):
                            found.directories.append(entry.path)
                        elif is_input_name(entry.name):
                            found.files.append(entry.path)
                self._listed[directory] = found
        except OSError:  # a directory that is gone, or closed, has nothing new
            return _Listing(0, [], [])
        return found


def _directories_of(paths: set[str]) -> set[str]:
    """The directories of files, and those between them and the one that all files share."""
    own = {os.path.dirname(path) for path in paths}  # noqa: PTH120 (plain strings)
    if not own:
        return set()
    top = os.path.commonpath(own)
    between: set[str] = set()
    for directory in own:
        while directory not in between:
            between.add(directory)
            if directory == top:
                break
            directory = os.path.dirname(directory)  # noqa: PTH120 (plain strings)
    return between
