"""What happened since a warehouse was read: a new manifest, and result files not yet ingested."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from orchbench_analytics.ingest.layouts import is_input_name
from orchbench_analytics.store.manifest import Manifest, scan_table

# A new directory may hold anything; so many directories below known ones are looked into.
_MOST_DIRECTORIES = 2_000


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
        self._listed: dict[str, tuple[int, list[str]]] = {}

    def new_files(self) -> list[str]:
        """Paths of files beside the known ones, and in new directories, that no ingest has read."""
        return sorted(
            path
            for directory in self._reached()
            for path in self._files_in(directory)
            if path not in self._known
        )

    def _reached(self) -> Iterator[str]:
        yield from self._directories
        waiting = [new for known in self._directories for new in self._directories_in(known)]
        for _ in range(_MOST_DIRECTORIES):
            if not waiting:
                return
            directory = waiting.pop()
            yield directory
            waiting += self._directories_in(directory)

    def _files_in(self, directory: str) -> list[str]:
        return [path for path in self._list(directory) if not path.endswith(os.sep)]

    def _directories_in(self, directory: str) -> list[str]:
        inner = (path.rstrip(os.sep) for path in self._list(directory) if path.endswith(os.sep))
        return [path for path in inner if path not in {*self._directories, self._warehouse}]

    def _list(self, directory: str) -> list[str]:
        """The input files of a directory, and its directories, which end in a separator."""
        try:
            changed_at = os.stat(directory).st_mtime_ns  # noqa: PTH116 (plain strings: it is often)
            before, found = self._listed.get(directory, (-1, []))
            if before == changed_at:
                return found
            with os.scandir(directory) as entries:
                found = [
                    entry.path + os.sep if entry.is_dir(follow_symlinks=False) else entry.path
                    for entry in entries
                    if is_input_name(entry.name) or entry.is_dir(follow_symlinks=False)
                ]
        except OSError:  # a directory that is gone, or closed, has nothing new
            return []
        self._listed[directory] = (changed_at, found)
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
