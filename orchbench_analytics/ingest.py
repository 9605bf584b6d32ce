"""Ingest: bring a warehouse up to date with trees of result files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from orchbench_analytics import read, store, tables
from orchbench_analytics.cards import merge_cards, read_cards
from orchbench_analytics.discover import Found, Placement, discover, place_by_content
from orchbench_analytics.errors import WarehouseError
from orchbench_analytics.parts import Built, PartNote, Task, build_part, rewrite_parts
from orchbench_analytics.pool import map_unordered, workers
from orchbench_analytics.sources import Source, SourceKey, is_same_file, load_sources, source_of
from orchbench_analytics.store import Manifest, Part

_PART_BYTES = 16 * 2**20
_PART_FILES = 2000
_SMALL_TREE_BYTES = 4 * 2**20
_MOST_PARTS_OF_A_MODEL = 8

Progress = Callable[[int, int, int], None]


class IngestSummary(NamedTuple):
    """What an ingest did, in files."""

    taken: int
    unchanged: int
    ignored: int
    removed: int
    refused: list[Source]


class _State(NamedTuple):
    """The warehouse as it is being brought up to date."""

    root: Path
    sources: dict[str, Source]
    parts: dict[str, Part]


def ingest(
    root: Path,
    paths: Iterable[str | Path],
    *,
    placement: Placement,
    jobs: int | None,
    prune: bool,
    progress: Progress | None,
    finish: Callable[[Manifest, Executor | None], Manifest] = lambda manifest, _: manifest,
) -> IngestSummary:
    """Read what is new or changed below `paths`, and commit it in one step.

    `finish` completes the manifest (with scores) before it is written. The caller holds the lock.
    """
    manifest = store.load_or_start(root)
    roots = [str(Path(p).absolute()) for p in paths]
    found = {file.path: file for file in map(_place_fully, discover(roots, placement=placement))}
    was_killed = store.mark_unfinished(root)
    state = _State(root, load_sources(root, manifest), {p.part_id: p for p in manifest.parts})
    before = dict(state.sources)
    adopted = _adopt(state, found) if was_killed else []
    store.collect_garbage(root, manifest, Manifest(parts=adopted))

    waiting = [f for f in found.values() if not _is_known(state, f)]
    settled, to_read = _settle_without_reading(state, waiting, found)
    unread_bytes = sum(f.byte_count for f in to_read)
    with workers(jobs, is_worth_it=unread_bytes > _SMALL_TREE_BYTES) as pool:
        while to_read:
            for task, built in map_unordered(pool, build_part, _tasks(state, to_read)):
                _take(state, built)
                if progress is not None:
                    progress(len(task.files), sum(f.byte_count for f in task.files), unread_bytes)
            # A duplicate of a file that turned out to be unreadable is the one to take after all.
            to_read = _released(state, settled)
        removed = _prune(state, roots, found) if prune else []
        _clean_parts(state, before, removed)
        cards = [f for f in found.values() if f.kind == "agent_card"]
        manifest = finish(_next_manifest(state, manifest, before, cards), pool)
    if manifest.generation != _generation_on_disk(root) or was_killed:
        store.save_manifest(root, manifest)
    store.mark_finished(root)
    return _summary(state, before, found, removed)


def _place_fully(file: Found) -> Found:
    """Look into files whose path does not say what they are."""
    if file.reason is not None or (file.kind != "unknown" and file.model is not None):
        return file
    if file.kind in ("agent_card", "evaluator_summary"):
        return file
    try:
        data = read.decompress(read.read_bytes(file.path), file.path)
        kind, directory = read.sniff(data)
    except read.UnreadableDocument as trouble:
        return file._replace(reason=trouble.reason, message=trouble.message)
    if kind == "unknown" or (kind == "judge_log" and file.run is None):
        return file._replace(
            reason="other_kind",
            message="JSON, but no run, result or judge log of this benchmark that can be placed",
        )
    if kind == "agent_card":
        return file._replace(kind=kind, language=file.language or "unknown")
    return place_by_content(file, kind, directory)


def _is_known(state: _State, file: Found) -> bool:
    source = state.sources.get(file.path)
    return source is not None and is_same_file(source, file)


def _settle_without_reading(
    state: _State, files: list[Found], found: dict[str, Found]
) -> tuple[dict[str, Found], list[Found]]:
    """Put aside what need not or must not be read; return duplicates by path, and the rest."""
    owners: dict[SourceKey, str] = {
        s.key: s.path
        for s in state.sources.values()
        if s.status == "taken" and (s.path in found or Path(s.path).exists())
    }
    duplicates: dict[str, Found] = {}
    to_read = []
    for file in files:
        source = source_of(file)
        if file.reason is not None:
            status = "ignored" if file.kind == "evaluator_summary" else "refused"
            state.sources[file.path] = source._replace(status=status)
        elif file.kind == "agent_card":
            state.sources[file.path] = source
        elif owners.setdefault(source.key, file.path) != file.path:
            duplicates[file.path] = file
            state.sources[file.path] = source._replace(
                status="refused",
                reason="duplicate",
                message=f"same model, experiment, language and scenario as {owners[source.key]}",
            )
        else:
            to_read.append(file)
    return duplicates, to_read


def _released(state: _State, duplicates: dict[str, Found]) -> list[Found]:
    """Duplicates whose first file gave no rows, one for each key."""
    taken = {s.key for s in state.sources.values() if s.status == "taken"}
    released: dict[SourceKey, Found] = {}
    for file in duplicates.values():
        key = file.key
        if key not in taken:
            released.setdefault(key, file)
    for file in released.values():
        del duplicates[file.path]
    return list(released.values())


def _tasks(state: _State, files: list[Found]) -> Iterator[Task]:
    """Files of one model, experiment and language together, up to the size of a part."""
    groups: dict[tuple[str | None, ...], list[Found]] = {}
    for file in files:
        groups.setdefault((file.model, file.experiment, file.language), []).append(file)
    for group in groups.values():
        batch: list[Found] = []
        size = 0
        for file in group:
            if batch and (size + file.byte_count > _PART_BYTES or len(batch) >= _PART_FILES):
                yield _task(state, batch)
                batch, size = [], 0
            batch.append(file)
            size += file.byte_count
        yield _task(state, batch)


def _task(state: _State, files: list[Found]) -> Task:
    known = {}
    for file in files:
        source = state.sources.get(file.path)
        if source and source.content_hash and source.key == file.key:
            known[file.path] = source.content_hash
    return Task(state.root, files, known)


def _take(state: _State, built: Built) -> None:
    if built.part is not None:
        state.parts[built.part.part_id] = built.part
    for source in built.sources:
        state.sources[source.path] = source
    for file in built.unchanged:  # touched, but its content is the same
        known = state.sources[file.path]
        state.sources[file.path] = known._replace(file_stamp=source_of(file).file_stamp)


def _adopt(state: _State, found: dict[str, Found]) -> list[Part]:
    """Take over the parts that a killed ingest had finished, if their files are still the same."""
    adopted = []
    for note_path in sorted(state.root.glob("parts/*/*/*/part.json")):
        if note_path.parent.name in state.parts:
            continue
        note = msgspec.json.decode(note_path.read_bytes(), type=PartNote)
        fresh = [s for s in note.sources if s.path in found]
        if len(fresh) == len(note.sources) and all(
            is_same_file(s, found[s.path], trust_recent=True) for s in fresh
        ):
            _take(state, Built(note.part, note.sources, []))
            adopted.append(note.part)
    return adopted


def _prune(state: _State, roots: list[str], found: dict[str, Found]) -> list[Source]:
    """Forget files that were once below the given roots and are gone."""
    prefixes = tuple(root.rstrip("/") + "/" for root in roots)
    gone = [
        s
        for s in state.sources.values()
        if s.path not in found and (s.path in roots or s.path.startswith(prefixes))
    ]
    for source in gone:
        del state.sources[source.path]
    return gone


def _clean_parts(state: _State, before: dict[str, Source], removed: list[Source]) -> None:
    """Take the rows of replaced and removed files out of their old parts, and join small parts."""
    moved = {s.key: s for s in state.sources.values() if s.status == "taken"}
    dropped: dict[str, list[Source]] = {}
    for old in before.values():
        if old.part_id is None:
            continue
        now = state.sources.get(old.path)
        if now is None or now.part_id != old.part_id:
            dropped.setdefault(old.part_id, []).append(old)
        elif moved[old.key].path != old.path:  # another path has taken its place
            dropped.setdefault(old.part_id, []).append(old)
            del state.sources[old.path]
    for part_id, gone in dropped.items():
        _replace_parts(state, [state.parts[part_id]], gone)
    groups: dict[tuple[str, str, str], list[Part]] = {}
    for part in state.parts.values():
        groups.setdefault((part.model, part.experiment, part.language), []).append(part)
    for group in groups.values():
        small = [p for p in group if sum(p.row_counts.values()) < 20_000]
        if len(small) > _MOST_PARTS_OF_A_MODEL:
            _replace_parts(state, sorted(small, key=lambda p: p.part_id), [])


def _replace_parts(state: _State, old: list[Part], dropped: list[Source]) -> None:
    new = rewrite_parts(state.root, old, dropped)
    old_ids = {part.part_id for part in old}
    for part_id in old_ids:
        del state.parts[part_id]
    if new is not None:
        state.parts[new.part_id] = new
    for path, source in state.sources.items():
        if source.part_id in old_ids:
            state.sources[path] = source._replace(part_id=new.part_id if new else None)


def _next_manifest(
    state: _State, manifest: Manifest, before: dict[str, Source], cards: list[Found]
) -> Manifest:
    """The manifest of the new state, with `sources` and `tool_parameters` written anew."""
    card_rows, card_sources = read_cards(cards)
    state.sources.update((s.path, s) for s in card_sources)
    if state.sources == before and manifest.sources is not None:
        return manifest
    generation = manifest.generation + 1
    changes: dict[str, Any] = {}
    for table, rows in (
        (tables.SOURCES, sorted(state.sources.values(), key=lambda s: s.path)),
        (tables.TOOL_PARAMETERS, merge_cards(state.root, manifest, card_rows)),
    ):
        file = f"{table.name}/{generation:06d}.parquet"
        (state.root / table.name).mkdir(exist_ok=True)
        store.write_table(store.to_arrow(table, rows), state.root / file)
        changes |= {table.name: file, f"{table.name.removesuffix('s')}_count": len(rows)}
    live = sorted(
        state.parts.values(), key=lambda p: (p.model, p.experiment, p.language, p.part_id)
    )
    return msgspec.structs.replace(manifest, generation=generation, parts=live, **changes)


def _generation_on_disk(root: Path) -> int:
    try:
        return store.load_manifest(root).generation
    except WarehouseError:
        return -1


def _summary(
    state: _State, before: dict[str, Source], found: dict[str, Found], removed: list[Source]
) -> IngestSummary:
    now = [state.sources[path] for path in found if path in state.sources]
    unchanged = sum(
        s.status == "taken" and s.path in before and before[s.path].content_hash == s.content_hash
        for s in now
    )
    counts = Counter(s.status for s in now)
    return IngestSummary(
        taken=counts["taken"] - unchanged,
        unchanged=unchanged,
        ignored=counts["ignored"],
        removed=len(removed),
        refused=[s for s in now if s.status == "refused"],
    )
