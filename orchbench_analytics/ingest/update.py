"""Ingest: bring a warehouse up to date with trees of result files."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import msgspec

from orchbench_analytics import tables
from orchbench_analytics.engines.local import begin, map_unordered, workers
from orchbench_analytics.ingest import decode as read
from orchbench_analytics.ingest.agent_cards import CardRow, update_cards
from orchbench_analytics.ingest.claims import line_up, next_to_read
from orchbench_analytics.ingest.documents import UnreadableDocument
from orchbench_analytics.ingest.find import Found, Placement, discover, place_by_content
from orchbench_analytics.ingest.part import Task, build_part
from orchbench_analytics.ingest.plan import (
    State,
    adopt,
    clean_parts,
    forget_displaced,
    load_state,
    prune_gone,
    settle_unchanged,
    take,
)
from orchbench_analytics.ingest.recover import read_damaged_again
from orchbench_analytics.ingest.sources import (
    Source,
    place_as_before,
    read_index,
    source_of,
    write_index,
)
from orchbench_analytics.schema import Table
from orchbench_analytics.store import directories, parquet
from orchbench_analytics.store import manifest as store
from orchbench_analytics.store.commit import save_manifest
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.store.verify import require_whole_sources, without_damaged_scores

_PART_BYTES = 16 * 2**20
_PART_FILES = 2000
_SMALL_TREE_BYTES = 4 * 2**20
_PACKED_RATIO = 10
_SOURCES_AT_ONCE = 2000

Progress = Callable[[int, int, int], None]


class IngestSummary(NamedTuple):
    """What an ingest did, in files."""

    taken: int
    unchanged: int
    ignored: int
    removed: int
    refused: list[Source]


def ingest(
    root: Path,
    paths: Iterable[str | Path],
    *,
    placement: Placement,
    jobs: int | None,
    prune: bool,
    progress: Progress | None,
    verify: bool = False,
    finish: Callable[[Manifest, Executor | None], Manifest] = lambda manifest, _: manifest,
    finish_needs: tuple[str, ...] = (),
) -> IngestSummary:
    """Read what is new or changed below `paths`, and commit it in one step.

    `finish` completes the manifest (with scores) before it is written, and may need modules that
    take long to import. The caller holds the lock.
    """
    loaded = store.load_or_start(root)
    roots = [os.path.abspath(path) for path in paths]  # noqa: PTH100 (as files are found)
    require_whole_sources(root, loaded)
    state = load_state(root, loaded)
    found = _find(state, roots, placement)
    sound = without_damaged_scores(root, loaded, verify=verify)
    sound = read_damaged_again(state, sound, found, verify=verify, prune=prune)
    was_killed = directories.mark_unfinished(root)
    settle_unchanged(state, found)
    adopted = adopt(state, found) if was_killed else []
    directories.collect_garbage(root, loaded, Manifest(parts=adopted))

    for file in found.values():
        if file.reason is not None:
            state.sources[file.path] = source_of(file)
    claims = line_up(state, found)
    to_read = next_to_read(state, claims)
    unread_bytes = sum(file.byte_count for file in to_read)
    with workers(jobs, is_worth_it=unread_bytes > _SMALL_TREE_BYTES) as pool:
        if pool is not None:  # workers are not there at once, and we only wait for them
            Thread(target=_import, args=finish_needs, daemon=True).start()
        while to_read:
            for _, built in map_unordered(pool, build_part, _tasks(state, to_read)):
                take(state, built)
                done: list[Source | Found] = [*built.sources, *built.unchanged]
                if progress is not None:
                    progress(len(done), sum(file.byte_count for file in done), unread_bytes)
            to_read = next_to_read(state, claims)
        removed = prune_gone(state, roots, found) if prune else []
        forget_displaced(state)
        clean_parts(state)
        cards = [file for file in found.values() if file.kind == "agent_card"]
        card_rows = update_cards(root, sound, state.before, state.sources, cards)
        new, written = _next_manifest(state, sound, card_rows, pool)
        manifest = finish(new, pool)
        written.result()
    if manifest is not loaded:
        save_manifest(root, manifest)
    directories.mark_finished(root)
    return _summary(state, found, removed)


def _import(*modules: str) -> None:
    for module in modules:
        import_module(module)


def _find(state: State, roots: list[str], placement: Placement) -> dict[str, Found]:
    """All input files by path; those whose path does not say what they are were looked into."""
    found = {}
    for file in discover(roots, placement=placement, without=state.root):
        if not file.is_placed:
            known = state.before.get(file.path)
            file = (known and place_as_before(file, known)) or _look_into(file)
        found[file.path] = file
    return found


def _look_into(file: Found) -> Found:
    try:
        data = read.decompress(read.read_bytes(file.path), file.path)
        kind, directory = read.sniff(data)
    except UnreadableDocument as error:
        return file._replace(**error.trouble._asdict())
    return place_by_content(file, kind, directory)


def _tasks(state: State, files: list[Found]) -> Iterator[Task]:
    """Files of one model, experiment and language together, up to the size of a part."""
    groups: dict[tuple[str | None, ...], list[Found]] = {}
    for file in files:
        groups.setdefault((file.model, file.experiment, file.language), []).append(file)
    for group in groups.values():
        batch: list[Found] = []
        size = 0
        for file in group:
            weight = file.byte_count * (1 if file.path.endswith(".json") else _PACKED_RATIO)
            if batch and (size + weight > _PART_BYTES or len(batch) >= _PART_FILES):
                yield _task(state, batch)
                batch, size = [], 0
            batch.append(file)
            size += weight
        yield _task(state, batch)


def _task(state: State, files: list[Found]) -> Task:
    known = ((file, state.sources.get(file.path)) for file in files)
    hashes = {f.path: s.content_hash for f, s in known if s and s.content_hash and s.key == f.key}
    return Task(state.root, files, hashes)


def _next_manifest(
    state: State, manifest: Manifest, card_rows: list[CardRow], pool: Executor | None
) -> tuple[Manifest, Future[None]]:
    """The manifest of the new state, and when its `sources` are written."""
    if state.sources == state.before and manifest.sources is not None:
        return manifest, begin(None, lambda: None)
    generation = manifest.generation + 1
    sources = sorted(state.sources.values(), key=lambda source: source.path)
    live = sorted(
        state.parts.values(), key=lambda p: (p.model, p.experiment, p.language, p.part_id)
    )
    new = msgspec.structs.replace(
        manifest,
        generation=generation,
        sources=f"sources/{generation:06d}.parquet",
        source_count=len(sources),
        tool_parameters=f"tool_parameters/{generation:06d}.parquet",
        tool_parameter_count=len(card_rows),
        parts=live,
    )
    tool_parameters = state.root / str(new.tool_parameters)
    begin(pool, _write_rows, tables.TOOL_PARAMETERS, card_rows, tool_parameters).result()
    write_index(state.root, str(new.sources), sources)
    return new, begin(pool, _write_sources, state.root, str(new.sources))


def _write_sources(root: Path, file: str) -> None:
    """Write `sources` from its index; rows make room as they become columns."""
    import pyarrow as pa

    rows = read_index(root, file)
    pieces = [parquet.to_arrow(tables.SOURCES, [])]
    while rows:
        pieces.append(parquet.to_arrow(tables.SOURCES, rows[-_SOURCES_AT_ONCE:]))
        del rows[-_SOURCES_AT_ONCE:]
    parquet.write_table(pa.concat_tables(reversed(pieces)), root / file)


def _write_rows(table: Table, rows: Sequence[tuple[Any, ...]], path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    parquet.write_table(parquet.to_arrow(table, rows), path)


def _summary(state: State, found: dict[str, Found], removed: list[Source]) -> IngestSummary:
    now = [state.sources[path] for path in found]
    unchanged = sum(
        source.status == "taken"
        and source.path in state.before
        and state.before[source.path].content_hash == source.content_hash
        for source in now
    )
    counts = Counter(source.status for source in now)
    return IngestSummary(
        taken=counts["taken"] - unchanged,
        unchanged=unchanged,
        ignored=counts["ignored"],
        removed=len(removed),
        refused=[source for source in now if source.status == "refused"],
    )
