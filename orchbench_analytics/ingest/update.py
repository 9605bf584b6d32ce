"""Ingest: bring a warehouse's flat tables up to date with trees of result files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from orchbench_analytics import tables
from orchbench_analytics.engines.engine import Engine
from orchbench_analytics.errors import PathError
from orchbench_analytics.ingest import decode, layouts
from orchbench_analytics.ingest.agent_cards import CardRow, update_cards
from orchbench_analytics.ingest.decode import UnreadableDocument
from orchbench_analytics.ingest.find import (
    OTHER_KIND,
    InputFile,
    Placement,
    discover,
    place_by_content,
)
from orchbench_analytics.ingest.part import Task, build_part, made_by
from orchbench_analytics.ingest.plan import (
    Roots,
    State,
    adopt,
    clean_parts,
    forget_displaced,
    gone_files,
    group_duplicates,
    load_state,
    next_to_read,
    prune_gone,
    read_again,
    settle_unchanged,
    take,
)
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
    """What an ingest did, in files.

    `gone` are files that were read from the paths given, are no longer there, and still count.
    """

    taken: int = 0
    unchanged: int = 0
    ignored: int = 0
    removed: int = 0
    refused: Sequence[Source] = ()
    gone: Sequence[Source] = ()
    is_unusable: bool = False

    @property
    def found(self) -> int:
        """How many input files there are now."""
        return self.taken + self.unchanged + self.ignored + len(self.refused)


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
    agent_cards: Iterable[str | Path] = (),
    prune: bool = False,
    verify: bool = False,
    was_killed: bool = False,
    progress: Progress | None = None,
) -> Updated:
    """Read what is new, changed or damaged at or below `paths`, and cards at `agent_cards`.

    The caller holds the lock. What an ingest that was killed had finished is taken over.
    """
    roots = Roots.of(paths, agent_cards)
    require_whole_sources(root, manifest)
    state = load_state(root, manifest)
    found = _find(state, roots, placement, is_current=manifest.made_by == made_by())
    sound = without_damaged_scores(root, manifest, verify=verify)
    sound = read_again(state, sound, found, verify=verify, prune=prune)
    settle_unchanged(state, found)
    adopted = adopt(state, found) if was_killed else []
    directories.collect_garbage(root, manifest, Manifest(parts=adopted))
    for file in found.values():
        if file.reason is not None:
            state.sources[file.path] = source_of(file)

    claims = group_duplicates(state, found)
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
    gone = [source for source in gone_files(state, roots, found) if source.status == "taken"]
    clean_parts(state)
    cards = [file for file in found.values() if file.kind == "agent_card"]
    card_rows = update_cards(root, sound, state.before, state.sources, cards)
    summary = _summary(state, found, removed, gone)
    return Updated(_next_manifest(state, sound, card_rows), summary)


def _find(
    state: State, roots: Roots, placement: Placement, *, is_current: bool
) -> dict[str, InputFile]:
    """All input files by path; those whose path does not say what they are were looked into.

    What the content of an unchanged file said is known, if the same code looked into it.
    """
    found = {}
    survey = cache(layouts.survey)
    for file in discover(roots.results, placement=placement, without=state.root, survey=survey):
        if not file.is_placed:
            known = state.before.get(file.path) if is_current else None
            file = (known and place_as_before(file, known)) or _look_into(file, survey)
        found[file.path] = file
    for root in roots.cards:
        found |= {file.path: file for file in _find_cards(root, placement, survey)}
    return found


def _find_cards(root: str, placement: Placement, survey: layouts.Survey) -> list[InputFile]:
    """The agent cards at or below a path, and nothing else that lies there.

    Where no directory has the name of one for cards, every file is looked into.
    """
    files = discover([root], placement=Placement(language=placement.language), survey=survey)
    cards = [file for file in files if file.kind == "agent_card"]
    if not cards:
        bare = (InputFile(*file[:5], given=file.given) for file in files if file.reason is None)
        cards = [file for file in map(_look_for_card, bare) if file.kind == "agent_card"]
    if not cards:
        raise PathError(
            f"no agent cards at or below {root}: a card is a JSON file with agent_card and tools"
        )
    return cards


def _look_for_card(file: InputFile) -> InputFile:
    looked = _look_into(file)
    is_broken = looked.kind == "unknown" and looked.reason != OTHER_KIND
    return looked._replace(kind="agent_card") if is_broken else looked


def _look_into(file: InputFile, survey: layouts.Survey = layouts.survey) -> InputFile:
    try:
        data = decode.decompress(decode.read_bytes(file.path), file.path)
        kind, directory = decode.sniff(data)
    except UnreadableDocument as error:
        return file._replace(**error.problem._asdict())
    return place_by_content(file, kind, directory, survey)


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
    is_same_code = manifest.made_by == made_by()
    if state.sources == state.before and manifest.sources is not None and is_same_code:
        return manifest
    generation = manifest.generation + 1
    sources = sorted(state.sources.values(), key=lambda source: source.path)
    parts = sorted(
        state.parts.values(), key=lambda p: (p.model, p.experiment, p.language, p.part_id)
    )
    return msgspec.structs.replace(
        manifest,
        generation=generation,
        made_by=made_by(),
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


def _summary(
    state: State, found: dict[str, InputFile], removed: list[Source], gone: list[Source]
) -> IngestSummary:
    now = [state.sources[path] for path in found]
    unchanged = sum(
        source.status == "taken"
        and source.path in state.before
        and state.before[source.path].content_hash == source.content_hash
        for source in now
    )
    counts = Counter(source.status for source in now)
    results = [source for source in now if source.kind not in ("agent_card", *layouts.NOT_NEEDED)]
    return IngestSummary(
        taken=counts["taken"] - unchanged,
        unchanged=unchanged,
        ignored=counts["ignored"],
        removed=len(removed),
        refused=[source for source in now if source.status == "refused"],
        gone=gone,
        is_unusable=bool(results) and not any(source.has_rows for source in results),
    )
