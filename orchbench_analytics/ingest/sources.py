"""The rows of `sources`: what became of every input file, and how an unchanged one is known."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from orchbench_analytics.ingest.decode import Problem
from orchbench_analytics.ingest.find import InputFile, Key
from orchbench_analytics.ingest.layouts import NOT_NEEDED
from orchbench_analytics.ingest.trees import exists
from orchbench_analytics.paths import is_address
from orchbench_analytics.store.directories import read_rows
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.tables import SOURCES

DUPLICATE = "duplicate"

# A file changed this shortly before it was read may change again within the same clock tick.
_TICK_NS = 2_000_000_000
_RECENT = "~"


class Source(NamedTuple):
    """A row of `sources`."""

    status: str
    path: str
    kind: str
    reason: str | None = None
    message: str | None = None
    place: str | None = None
    model: str | None = None
    language: str | None = None
    scenario: str | None = None
    run: str | None = None
    agent_id: str | None = None
    experiment: str | None = None
    client_model: str | None = None
    byte_count: int = 0
    content_hash: str | None = None
    file_stamp: str | None = None
    part_id: str | None = None

    @property
    def key(self) -> Key:
        """What the file is about; two files about the same are duplicates."""
        return (self.kind, self.model, self.experiment, self.language, self.scenario, self.run)

    @property
    def has_rows(self) -> bool:
        """Its rows lie in a part; those of agent cards do not, they make a table of their own."""
        return self.status == "taken" and self.kind != "agent_card"


def source_of(file: InputFile) -> Source:
    """The row of a file as far as its path tells: taken, unless its path is problem enough."""
    is_recent = time.time_ns() - file.changed_at_ns < _TICK_NS
    status = "taken" if file.reason is None else "refused"
    return Source(
        status="ignored" if file.kind in NOT_NEEDED else status,
        path=file.path,
        kind=file.kind,
        reason=file.reason,
        message=file.message,
        place=file.place,
        model=file.model,
        language=file.language,
        scenario=file.scenario,
        run=file.run,
        experiment=file.experiment,
        client_model=file.client_model,
        byte_count=file.byte_count,
        file_stamp=file.file_stamp + _RECENT if is_recent else file.file_stamp,
    )


def refused(source: Source, problem: Problem) -> Source:
    """The row of a file that could not be used, with its reason."""
    return noted(source, problem)._replace(status="refused")


def refused_as_duplicate(source: Source, owner: str) -> Source:
    """The row of a file about the same as another, which was there first."""
    words = f"about the same as {owner}; remove one, or tell them apart with --experiment"
    return refused(source, Problem(DUPLICATE, words))


def noted(source: Source, problem: Problem | None) -> Source:
    """The row of a file, with what had to be mended or left out, if anything."""
    if problem is None:
        return source
    return source._replace(reason=problem.reason, place=problem.place, message=problem.message)


def is_same_file(source: Source, file: InputFile, *, trust_recent: bool = False) -> bool:
    """The row's file is the one found now, by its stamp and where it belongs."""
    stamp = source.file_stamp or ""
    if trust_recent:
        stamp = stamp.removesuffix(_RECENT)
    return stamp == file.file_stamp and source.key == file.key


def place_as_before(file: InputFile, source: Source) -> InputFile | None:
    """The file placed as its content said when it was read; none if it may have changed."""
    if source.file_stamp != file.file_stamp:
        return None
    placed = place_as(file, source)
    if source.model is not None or source.kind == "agent_card":
        return placed
    return placed._replace(reason=source.reason, place=source.place, message=source.message)


def place_as(file: InputFile, source: Source) -> InputFile:
    """The file, placed where the row says it belongs."""
    return file._replace(
        kind=source.kind,
        model=source.model,
        client_model=source.client_model,
        experiment=source.experiment,
        language=source.language,
        scenario=source.scenario,
        run=source.run,
    )


def is_elsewhere(path: str, files: Iterable[InputFile]) -> bool:
    """The path is still there, and none of the files found is the same file by another path."""
    if is_address(path):
        return exists(path) and all(path != file.path for file in files)
    try:
        return not any(Path(path).samefile(file.path) for file in files)
    except OSError:  # gone, or gone just now
        return False


def load_sources(root: Path, manifest: Manifest) -> dict[str, Source]:
    """The rows of `sources` by path."""
    rows = map(Source._make, read_rows(root, manifest, SOURCES))
    return {source.path: source for source in rows}
