"""Ingest: bring a warehouse's flat tables up to date with trees of result files.

`update` is the whole of it. What follows it decides what to read, and which of several files about
one scenario counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from orchbench_analytics.engines.local import Engine
from orchbench_analytics.errors import PathError
from orchbench_analytics.ingest import decode, layouts, trees
from orchbench_analytics.ingest.agent_cards import CardRow, update_cards
from orchbench_analytics.ingest.decode import UnreadableDocument
from orchbench_analytics.ingest.part import (
    Built,
    PartNote,
    Task,
    build_part,
    lacks_values,
    made_by,
    rewrite_parts,
)
from orchbench_analytics.ingest.settle import Settling
from orchbench_analytics.ingest.sources import (
    CLOSED_DIRECTORY,
    DUPLICATE,
    OTHER_KIND,
    InputFile,
    Key,
    Placement,
    Source,
    discover,
    is_elsewhere,
    is_same_file,
    load_sources,
    place_as,
    place_as_before,
    place_by_content,
    refused_as_duplicate,
    source_of,
    stat_file,
)
from orchbench_analytics.store.directories import read_notes, with_table
from orchbench_analytics.store.manifest import Manifest, Part, columns_now
from orchbench_analytics.store.parquet import to_arrow
from orchbench_analytics.store.verify import is_damaged, without_damaged_scores
from orchbench_analytics.tables import SOURCES, TOOL_PARAMETERS

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
    settling: Settling | None = None,
    progress: Progress | None = None,
) -> Updated:
    """Read what is new, changed or damaged at or below `paths`, and cards at `agent_cards`.

    The caller holds the lock. What an ingest that was killed had finished is taken over. Files that
    are still settling are passed over, as if nothing had been looked at where they are.
    """
    roots = Roots.of(paths, agent_cards)
    state = load_state(root, manifest)
    is_current = manifest.made_by == made_by()
    found = _find(state, roots, placement, is_current=is_current, settling=settling)
    sound = without_damaged_scores(root, manifest, verify=verify)
    sound = read_again(state, sound, found, verify=verify, prune=prune)
    settle_unchanged(state, found)
    if was_killed:
        adopt(state, found)
    for file in found.values():
        if file.reason is not None:
            state.sources[file.path] = source_of(file)

    claims = group_duplicates(state, found)
    to_read = next_to_read(state, claims)
    unread_bytes = sum(file.byte_count for file in to_read)
    while to_read:
        is_small = unread_bytes < _SMALL_TREE_BYTES
        for built in engine.run(build_part, _tasks(state, to_read), is_small=is_small):
            if settling is not None:
                built = _without_moving(state, found, claims, built, settling)
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
    state: State,
    roots: Roots,
    placement: Placement,
    *,
    is_current: bool,
    settling: Settling | None = None,
) -> dict[str, InputFile]:
    """All input files by path; those whose path does not say what they are were looked into.

    What the content of an unchanged file said is known, if the same code looked into it.
    """
    found = {}
    survey = cache(layouts.survey)
    for file in discover(roots.results, placement=placement, without=state.root, survey=survey):
        if settling is not None and settling.waits(file):
            state.waiting.add(file.path)
            continue
        if not file.is_placed:
            known = state.before.get(file.path) if is_current else None
            file = (known and place_as_before(file, known)) or _look_into(file, survey)
        found[file.path] = file
    for root in roots.cards:
        found |= {file.path: file for file in _find_cards(root, placement, survey)}
    return found


def _without_moving(
    state: State,
    found: dict[str, InputFile],
    claims: Claims,
    built: Built,
    settling: Settling,
) -> Built:
    """What was read, without files that could not be and have changed since they were found."""
    refused = [source.path for source in built.sources if source.status == "refused"]
    moving = {path for path in refused if path in found and settling.has_changed(found[path])}
    for path in moving:
        claims[found[path].key].remove(found[path])
        del found[path]
    state.waiting.update(moving)
    return built._replace(sources=[s for s in built.sources if s.path not in moving])


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
    if state.sources == state.before and SOURCES.name in manifest.tables and is_same_code:
        return manifest
    sources = sorted(state.sources.values(), key=lambda source: source.path)
    parts = sorted(
        state.parts.values(), key=lambda p: (p.model, p.experiment, p.language, p.part_id)
    )
    manifest = msgspec.structs.replace(manifest, made_by=made_by(), parts=parts)
    for table, rows in ((SOURCES, sources), (TOOL_PARAMETERS, card_rows)):
        manifest = with_table(state.root, manifest, table.name, to_arrow(table, rows))
    return manifest


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


_MOST_SMALL_PARTS = 8
_ROWS_OF_A_SMALL_PART = 20_000


# Files about one scenario, preferred first, by what they are about.
Claims = dict[Key, list[InputFile]]


class Roots(NamedTuple):
    """The absolute paths at or below which an ingest looks: for results, and for agent cards."""

    results: list[str]
    cards: list[str]

    @classmethod
    def of(cls, results: Iterable[str | Path], cards: Iterable[str | Path] = ()) -> Roots:
        """The roots of paths as a caller gives them."""
        return cls(*([trees.absolute(p) for p in paths] for paths in (results, cards)))


class State(NamedTuple):
    """What is known of every input file, and the parts that hold their rows.

    `before` is as the last manifest has it; `settled` are paths that it has decided on;
    `held` are all sources that have rows in some part, whether the rows still count or not;
    `waiting` are paths of files that are still being written.
    """

    root: Path
    before: dict[str, Source]
    sources: dict[str, Source]
    parts: dict[str, Part]
    settled: set[str]
    held: list[Source]
    waiting: set[str]


def load_state(root: Path, manifest: Manifest) -> State:
    """The state that the last manifest describes, with nothing settled yet."""
    before = load_sources(root, manifest)
    parts = {part.part_id: part for part in manifest.parts}
    return State(root, before, dict(before), parts, set(), list(before.values()), set())


def read_again(
    state: State,
    manifest: Manifest,
    found: dict[str, InputFile],
    *,
    verify: bool,
    prune: bool,
) -> Manifest:
    """Let files count as changed whose rows are damaged, or were made by other code.

    Files outside the paths given are found where they were. Rows of files that are gone stay as
    they are; but a damaged part is given up only as a whole, so it stays if one of its files is
    gone, unless files that are gone are to be forgotten.
    """
    by_part: dict[str | None, list[Source]] = {}
    for source in state.before.values():
        by_part.setdefault(source.part_id, []).append(source)
    for part in list(state.parts.values()):
        of_part = by_part.get(part.part_id, [])
        if is_damaged(state.root, part, read=verify):
            if _all_are_there(of_part, state, found, prune=prune):
                del state.parts[part.part_id]
                _forget_reading(state, of_part)
                _forget_rows(state, of_part)
        elif part.made_by != made_by():
            gone = _find_again(of_part, found)
            if not gone or not lacks_values(state.root, part):
                _forget_reading(state, [s for s in of_part if s.path not in gone])
    cards = [s for s in state.before.values() if s.kind == "agent_card" and s.status == "taken"]
    written = manifest.tables.get(TOOL_PARAMETERS.name)
    if written is not None and is_damaged(state.root, written, read=True):
        if _all_are_there(cards, state, found, prune=prune):
            _forget_reading(state, cards)
            tables = {n: t for n, t in manifest.tables.items() if t is not written}
            return msgspec.structs.replace(manifest, tables=tables)
    elif manifest.made_by != made_by():
        gone = _find_again(cards, found)
        _forget_reading(state, [card for card in cards if card.path not in gone])
    return manifest


def _find_again(sources: list[Source], found: dict[str, InputFile]) -> set[str]:
    """Find files of sources where they were; returns the paths of those that are gone."""
    gone = set()
    for source in sources:
        if source.path not in found:
            file = place_as(stat_file(source.path), source)
            if file.reason is None:
                found[source.path] = file
            else:
                gone.add(source.path)
    return gone


def _all_are_there(
    sources: list[Source], state: State, found: dict[str, InputFile], *, prune: bool
) -> bool:
    """Find the files of some sources, or forget those that are gone."""
    gone = _find_again(sources, found)
    if gone and not prune:
        return False
    for path in gone:
        del state.sources[path]
    return True


def _forget_reading(state: State, sources: list[Source]) -> None:
    """Keep where files belong and where their rows are, but not what was read."""
    for source in sources:
        unread = source._replace(content_hash=None, file_stamp=None)
        state.before[source.path] = unread
        if source.path in state.sources:
            state.sources[source.path] = unread


def _forget_rows(state: State, sources: list[Source]) -> None:
    """Forget where the rows of files are: their part is given up."""
    for known in (state.before, state.sources):
        for source in sources:
            if source.path in known:
                known[source.path] = known[source.path]._replace(part_id=None)
    given_up = {source.path for source in sources}
    state.held[:] = [source for source in state.held if source.path not in given_up]


def settle_unchanged(state: State, found: dict[str, InputFile]) -> None:
    """Settle files that are as they were; a duplicate without a content hash was never read."""
    for path, file in found.items():
        source = state.before.get(path)
        if source is not None and source.reason != DUPLICATE and is_same_file(source, file):
            state.settled.add(path)


def group_duplicates(state: State, found: dict[str, InputFile]) -> Claims:
    """The files about one scenario, preferred first, by what they are about.

    The file that was taken before comes first, the others follow by path. If that file was not
    found now but still exists, the others are refused as its duplicates.
    """
    owners = {s.key: s.path for s in state.before.values() if s.has_rows}
    claims: Claims = {}
    for file in found.values():
        if file.reason is None and file.kind != "agent_card":
            claims.setdefault(file.key, []).append(file)
    for key, line in list(claims.items()):
        owner = owners.get(key)
        line.sort(key=lambda file: (file.path != owner, file.path))
        if owner is not None and owner not in found and is_elsewhere(owner, line):
            _refuse(state, claims.pop(key), owner)
    return claims


def next_to_read(state: State, claims: Claims) -> list[InputFile]:
    """The next file to read for each scenario that is still undecided."""
    to_read = []
    for key, line in list(claims.items()):
        while line and line[0].path in state.settled and not state.sources[line[0].path].has_rows:
            line.pop(0)
        if line and line[0].path not in state.settled:
            to_read.append(line[0])
            continue
        _refuse(state, line[1:], line[0].path if line else "")
        del claims[key]
    return to_read


def _refuse(state: State, files: Iterable[InputFile], owner: str) -> None:
    for file in files:
        state.sources[file.path] = refused_as_duplicate(source_of(file), owner)
        state.settled.add(file.path)


def take(state: State, built: Built) -> None:
    """Take what was read: a part, and the rows of `sources` of its files."""
    if built.part is not None:
        state.parts[built.part.part_id] = built.part
    for source in built.sources:
        state.settled.add(source.path)
        known = state.sources.get(source.path)
        if source.reason == "vanished" and known is not None and known.has_rows:
            continue  # it was removed, and a removed file's rows stay
        state.sources[source.path] = source
        state.held.append(source)
    for file in built.unchanged:  # touched, but its content is the same
        state.settled.add(file.path)
        stamp = source_of(file).file_stamp
        state.sources[file.path] = state.sources[file.path]._replace(file_stamp=stamp)


def adopt(state: State, found: dict[str, InputFile]) -> None:
    """Take over parts that a killed ingest had finished, if all their files are still the same."""
    live = {part.directory for part in state.parts.values()}
    for directory, note in read_notes(state.root, "parts", PartNote, without=live):
        if note.part.made_by != made_by() or note.part.directory != directory:
            continue
        is_current = all(
            s.path in found
            and s.path not in state.settled
            and is_same_file(s, found[s.path], trust_recent=True)
            for s in note.sources
        )
        is_news = any(not _is_same_content(state.before.get(s.path), s) for s in note.sources)
        if is_current and is_news:
            take(state, Built(note.part, note.sources))


def _is_same_content(known: Source | None, source: Source) -> bool:
    return known is not None and (known.key, known.content_hash) == (
        source.key,
        source.content_hash,
    )


def gone_files(state: State, roots: Roots, found: dict[str, InputFile]) -> list[Source]:
    """Files that were once at or below the roots and are gone; of roots of cards, only cards."""
    below, below_cards = (tuple(r.rstrip("/") + "/" for r in some) for some in roots)
    closed = tuple(f"{f.path}/" for f in found.values() if f.reason == CLOSED_DIRECTORY)
    return [
        source
        for path, source in state.sources.items()
        if path not in found
        and path not in state.waiting
        and not path.startswith(closed)
        and (
            f"{path}/".startswith(below)
            or (source.kind == "agent_card" and f"{path}/".startswith(below_cards))
        )
    ]


def prune_gone(state: State, roots: Roots, found: dict[str, InputFile]) -> list[Source]:
    """Forget files that were once at or below the roots and are gone."""
    gone = gone_files(state, roots, found)
    for source in gone:
        del state.sources[source.path]
    return gone


def forget_displaced(state: State) -> None:
    """Forget files that are gone or were not looked at, where another has taken their place."""
    settled = (state.sources[path] for path in state.settled if path in state.sources)
    owners = {s.key: s.path for s in settled if s.has_rows}
    for path, source in list(state.sources.items()):
        if source.has_rows and owners.get(source.key, path) != path:
            del state.sources[path]


def clean_parts(state: State) -> None:
    """Take the rows of files that no longer count out of their parts, and join small parts.

    Parts of other columns than this release declares get those.
    """
    dropped: dict[str, list[Source]] = {}
    for source in state.held:
        now = state.sources.get(source.path)
        if source.part_id is not None and (now is None or now.part_id != source.part_id):
            dropped.setdefault(source.part_id, []).append(source)
    in_use = {source.part_id for source in state.sources.values()}
    _replace(state, [([id_], gone if id_ in in_use else None) for id_, gone in dropped.items()])
    others = [p for p in state.parts.values() if p.columns_id != columns_now(p)]
    _replace(state, [([p.part_id], []) for p in others if not lacks_values(state.root, p)])
    groups: dict[tuple[str, ...], list[str]] = {}
    for part in state.parts.values():
        if sum(part.row_counts.values()) < _ROWS_OF_A_SMALL_PART:
            key = (part.model, part.experiment, part.language, part.made_by)
            groups.setdefault(key, []).append(part.part_id)
    many = [sorted(ids) for ids in groups.values() if len(ids) > _MOST_SMALL_PARTS]
    _replace(state, [(ids, []) for ids in many])


def _replace(state: State, changes: list[tuple[list[str], list[Source] | None]]) -> None:
    """Replace parts by one without the rows of the sources given, or (null) by none at all."""
    new_ids: dict[str | None, str | None] = {}
    for old_ids, gone in changes:
        old = [state.parts.pop(part_id) for part_id in old_ids]
        new = rewrite_parts(state.root, old, gone) if gone is not None else None
        if new is not None:
            state.parts[new.part_id] = new
        new_ids |= dict.fromkeys(old_ids, new.part_id if new is not None else None)
    for path, source in state.sources.items():
        if source.part_id in new_ids:
            state.sources[path] = source._replace(part_id=new_ids[source.part_id])
