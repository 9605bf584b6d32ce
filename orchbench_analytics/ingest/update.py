"""Ingest: bring a warehouse's flat tables up to date with trees of result files."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from orchbench_analytics import tables
from orchbench_analytics.engines.engine import Engine
from orchbench_analytics.ingest import decode
from orchbench_analytics.ingest.agent_cards import CardRow, update_cards
from orchbench_analytics.ingest.documents import UnreadableDocument
from orchbench_analytics.ingest.find import InputFile, Placement, discover, place_by_content
from orchbench_analytics.ingest.part import Task, build_part
from orchbench_analytics.ingest.plan import (
    State,
    adopt,
    clean_parts,
    forget_displaced,
    line_up,
    load_state,
    next_to_read,
    prune_gone,
    settle_unchanged,
    take,
)
from orchbench_analytics.ingest.recover import read_damaged_again
from orchbench_analytics.ingest.sources import Source, place_as_before, source_of
from orchbench_analytics.schema import Table
from orchbench_analytics.store import directories, parquet
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.store.verify import require_whole_sources, without_damaged_scores

_PART_BYTES = 16 * 2**20
_PART_FILES = 2000
_SMALL_TREE_BYTES = 4 * 2**20
_PACKED_RATIO = 10

Progress = Callable[[int, int, int], None]  # files and bytes just read, and bytes to read in all


class IngestSummary(NamedTuple):
    """What an ingest did, in files."""

    taken: int
    unchanged: int
    ignored: int
    removed: int
    refused: list[Source]


class Updated(NamedTuple):
    """The manifest of the new state, which is yet to be saved, and what was done."""

    manifest: Manifest
    summary: IngestSummary


def update(
    root: Path,
    manifest: Manifest,
    paths: Iterable[str | Path],
    engine: Engine,
    *,
    placement: Placement,
    prune: bool = False,
    verify: bool = False,
    was_killed: bool = False,
    progress: Progress | None = None,
) -> Updated:
    """Read what is new, changed or damaged at or below `paths`. The caller holds the lock.

    What an ingest that was killed had finished is taken over.
    """
    roots = [os.path.abspath(path) for path in paths]  # noqa: PTH100 (as files are found)
    require_whole_sources(root, manifest)
    state = load_state(root, manifest)
    found = _find(state, roots, placement)
    sound = without_damaged_scores(root, manifest, verify=verify)
    sound = read_damaged_again(state, sound, found, verify=verify, prune=prune)
    settle_unchanged(state, found)
    adopted = adopt(state, found) if was_killed else []
    directories.collect_garbage(root, manifest, Manifest(parts=adopted))
    for file in found.values():
        if file.reason is not None:
            state.sources[file.path] = source_of(file)

    claims = line_up(state, found)
    to_read = next_to_read(state, claims)
    unread_bytes = sum(file.byte_count for file in to_read)
    while to_read:
        is_small = unread_bytes < _SMALL_TREE_BYTES
        for built in engine.run(build_part, _tasks(state, to_read), is_small=is_small):
            take(state, built)
            done: list[Source | InputFile] = [*built.sources, *built.unchanged]
            if progress is not None:
                progress(len(done), sum(file.byte_count for file in done), unread_bytes)
        to_read = next_to_read(state, claims)

    removed = prune_gone(state, roots, found) if prune else []
    forget_displaced(state)
    clean_parts(state)
    cards = [file for file in found.values() if file.kind == "agent_card"]
    card_rows = update_cards(root, sound, state.before, state.sources, cards)
    return Updated(_next_manifest(state, sound, card_rows), _summary(state, found, removed))


def _find(state: State, roots: list[str], placement: Placement) -> dict[str, InputFile]:
    """All input files by path; those whose path does not say what they are were looked into."""
    found = {}
    for file in discover(roots, placement=placement, without=state.root):
        if not file.is_placed:
            known = state.before.get(file.path)
            file = (known and place_as_before(file, known)) or _look_into(file)
        found[file.path] = file
    return found


def _look_into(file: InputFile) -> InputFile:
    try:
        data = decode.decompress(decode.read_bytes(file.path), file.path)
        kind, directory = decode.sniff(data)
    except UnreadableDocument as error:
        return file._replace(**error.problem._asdict())
    return place_by_content(file, kind, directory)


def _tasks(state: State, files: list[InputFile]) -> Iterator[Task]:
    """Files of one model, experiment and language together, up to the size of a part."""
    groups: dict[tuple[str | None, ...], list[InputFile]] = {}
    for file in files:
        groups.setdefault((file.model, file.experiment, file.language), []).append(file)
    for group in groups.values():
        batch: list[InputFile] = []
        size = 0
        for file in group:
            weight = file.byte_count * (1 if file.path.endswith(".json") else _PACKED_RATIO)
            if batch and (size + weight > _PART_BYTES or len(batch) >= _PART_FILES):
                yield _task(state, batch)
                batch, size = [], 0
            batch.append(file)
            size += weight
        yield _task(state, batch)


def _task(state: State, files: list[InputFile]) -> Task:
    known = ((file, state.sources.get(file.path)) for file in files)
    hashes = {f.path: s.content_hash for f, s in known if s and s.content_hash and s.key == f.key}
    return Task(state.root, files, hashes)


def _next_manifest(state: State, manifest: Manifest, card_rows: list[CardRow]) -> Manifest:
    """The manifest of the new state, its tables of all files written."""
    if state.sources == state.before and manifest.sources is not None:
        return manifest
    generation = manifest.generation + 1
    sources = sorted(state.sources.values(), key=lambda source: source.path)
    parts = sorted(
        state.parts.values(), key=lambda p: (p.model, p.experiment, p.language, p.part_id)
    )
    return msgspec.structs.replace(
        manifest,
        generation=generation,
        sources=write_rows(state.root, generation, tables.SOURCES, sources),
        source_count=len(sources),
        tool_parameters=write_rows(state.root, generation, tables.TOOL_PARAMETERS, card_rows),
        tool_parameter_count=len(card_rows),
        parts=parts,
    )


def write_rows(root: Path, generation: int, table: Table, rows: Sequence[tuple[Any, ...]]) -> str:
    """Write the rows of a table of all files; returns the name of its file."""
    write = partial(parquet.write_table, parquet.to_arrow(table, rows))
    return directories.write_numbered(root, table.name, generation, write)


def _summary(state: State, found: dict[str, InputFile], removed: list[Source]) -> IngestSummary:
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
