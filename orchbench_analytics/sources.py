"""The rows of `sources`: what became of every input file, and how an unchanged one is known."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

from orchbench_analytics.discover import Found
from orchbench_analytics.read import UnreadableDocument
from orchbench_analytics.store import Manifest

# A file changed this shortly before it was read may change again within the same clock tick.
_TICK_NS = 2_000_000_000
_RECENT = "~"

SourceKey = tuple[str, str | None, str | None, str | None, str | None, str | None]


class Source(NamedTuple):
    """A row of `sources`."""

    path: str
    kind: str
    model: str | None
    experiment: str | None
    language: str | None
    scenario: str | None
    run: str | None
    status: str
    reason: str | None = None
    place: str | None = None
    message: str | None = None
    byte_count: int = 0
    content_hash: str | None = None
    file_stamp: str | None = None
    part_id: str | None = None

    @property
    def key(self) -> SourceKey:
        """What the file is about; two files about the same are duplicates."""
        return (self.kind, self.model, self.experiment, self.language, self.scenario, self.run)


def source_of(file: Found) -> Source:
    """The row of a file that is taken, as far as its path tells."""
    is_recent = time.time_ns() - file.changed_at_ns < _TICK_NS
    return Source(
        file.path,
        file.kind,
        file.model,
        file.experiment,
        file.language,
        file.scenario,
        file.run,
        "taken",
        reason=file.reason,
        message=file.message,
        byte_count=file.byte_count,
        file_stamp=file.file_stamp + _RECENT if is_recent else file.file_stamp,
    )


def refused(source: Source, trouble: UnreadableDocument) -> Source:
    """The row of a file that could not be used, with its reason."""
    return source._replace(
        status="refused", reason=trouble.reason, place=trouble.place, message=trouble.message
    )


def is_same_file(source: Source, file: Found, *, trust_recent: bool = False) -> bool:
    """The row's file is the one found now, by its stamp and where it belongs."""
    stamp = source.file_stamp or ""
    if trust_recent:
        stamp = stamp.removesuffix(_RECENT)
    return stamp == file.file_stamp and source.key == file.key


def load_sources(root: Path, manifest: Manifest) -> dict[str, Source]:
    """The rows of `sources` by path."""
    if manifest.sources is None:
        return {}
    import pyarrow.parquet as pq

    columns = pq.ParquetFile(root / manifest.sources).read().to_pydict()
    rows = zip(*(columns[name] for name in Source._fields), strict=True)
    return {row[0]: Source(*row) for row in rows}
