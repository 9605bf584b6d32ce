"""Files of a sweep that is still running: which can be read, and when to look again.

A file counts once its size and times have stood still for a moment. A writer may pause for longer
in the middle of a file, so one that cannot be read is not refused at once: it waits until it can,
or until it has stood still for so long that it will not change any more. An object in a bucket
appears whole and never waits.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from orchbench_analytics.ingest.decode import UnreadableDocument, decompress, read_bytes, read_with
from orchbench_analytics.ingest.sources import InputFile, stat_file
from orchbench_analytics.paths import is_address

if TYPE_CHECKING:
    from orchbench_analytics.ingest.update import IngestSummary

QUIET_SECONDS = 0.5
PATIENCE_SECONDS = 60.0
_TICK_SECONDS = 0.25  # how soon a change is noticed


class Look(NamedTuple):
    """What a look at a sweep that is still running took in, and how many files still wait."""

    summary: IngestSummary
    waiting: int


class Settling:
    """What is known of the files that others may still be writing, from one look to the next."""

    def __init__(
        self, quiet_seconds: float = QUIET_SECONDS, patience_seconds: float = PATIENCE_SECONDS
    ) -> None:
        self.waiting: set[str] = set()
        self._quiet, self._patience = quiet_seconds, patience_seconds
        self._since: dict[str, tuple[str, float]] = {}
        self._whole: dict[str, str] = {}

    def waits(self, file: InputFile) -> bool:
        """Whether a file that was found is to be passed over for now."""
        is_waiting = self._is_waiting(file)
        (self.waiting.add if is_waiting else self.waiting.discard)(file.path)
        return is_waiting

    def _is_waiting(self, file: InputFile) -> bool:
        if file.reason is not None or is_address(file.path):
            return False
        if self._whole.get(file.path) == file.file_stamp:
            return False
        still = self._still_for(file)
        if still < self._quiet:
            return True
        if still < self._patience and not _is_whole(file.path):
            return True
        self._whole[file.path] = file.file_stamp
        return False

    def _still_for(self, file: InputFile) -> float:
        """For how many seconds a file has not changed, as we saw it or by its own times.

        The clock of another machine may have set these times, but a file that counts too early is
        still read to its end first.
        """
        now = time.monotonic()
        stamp, since = self._since.get(file.path, ("", now))
        if stamp != file.file_stamp:
            self._since[file.path] = (file.file_stamp, now)
            since = now
        return max(now - since, time.time() - file.changed_at_ns / 1e9)

    def has_changed(self, file: InputFile) -> bool:
        """Whether a file is no longer as it was found, so that what was read may be half of it."""
        has_changed = not file.file_stamp.startswith(stat_file(file.path).file_stamp or "\0")
        if has_changed:
            self._whole.pop(file.path, None)
            self.waiting.add(file.path)
        return has_changed


def _is_whole(path: str) -> bool:
    """Whether a document can be read to its end; logs are lines, and each says something."""
    if path.endswith(".log"):
        return True
    try:
        read_with(msgspec.json.decode, decompress(read_bytes(path), path))
    except UnreadableDocument:
        return False
    return True


def looks(paths: Sequence[str | Path], settling: Settling, *, every: float) -> Iterator[None]:
    """Yield whenever it is time to look at some trees again.

    That is after something changed in them, while files wait, and every few seconds in any case: a
    bucket and a shared file system do not report changes.
    """
    local = [path for path in paths if not is_address(path)]
    ticks = _ticks(local) if local else _pauses(every)
    looked = -every
    is_due = True
    for has_changed in ticks:
        is_due = is_due or has_changed or bool(settling.waiting)
        if is_due or time.monotonic() - looked >= every:
            yield
            looked = time.monotonic()
            is_due = False


def _ticks(paths: Sequence[str | Path]) -> Iterator[bool]:
    """Several times a second: whether anything changed at or below some paths."""
    import watchfiles

    milliseconds = int(_TICK_SECONDS * 1000)
    yield True
    try:
        for changes in watchfiles.watch(
            *paths,
            watch_filter=None,
            debounce=milliseconds,
            step=50,
            rust_timeout=milliseconds,
            yield_on_timeout=True,
            raise_interrupt=True,
        ):
            yield bool(changes)
    except (OSError, RuntimeError):  # such as a limit of the system on watched directories
        yield from _pauses(_TICK_SECONDS * 4)


def _pauses(seconds: float) -> Iterator[bool]:
    while True:
        yield True
        time.sleep(seconds)
