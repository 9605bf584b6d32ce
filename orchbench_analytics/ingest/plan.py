"""What to read, and which of several files about the same scenario counts."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from orchbench_analytics.ingest.find import CLOSED_DIRECTORY, InputFile, Key, stat_file
from orchbench_analytics.ingest.part import (
    Built,
    PartNote,
    lacks_values,
    made_by,
    rewrite_parts,
)
from orchbench_analytics.ingest.sources import (
    DUPLICATE,
    Source,
    is_elsewhere,
    is_same_file,
    load_sources,
    place_as,
    refused_as_duplicate,
    source_of,
)
from orchbench_analytics.store.manifest import Manifest, Part, columns_now
from orchbench_analytics.store.stamps import fault_of, is_as_written
from orchbench_analytics.store.verify import is_damaged

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
        return cls(*([os.path.abspath(p) for p in paths] for paths in (results, cards)))  # noqa: PTH100 (as files are found)


class State(NamedTuple):
    """What is known of every input file, and the parts that hold their rows.

    `before` is as the last manifest has it; `settled` are paths of which no more is to be learnt;
    `held` are all sources that have rows in some part, whether the rows still count or not.
    """

    root: Path
    before: dict[str, Source]
    sources: dict[str, Source]
    parts: dict[str, Part]
    settled: set[str]
    held: list[Source]


def load_state(root: Path, manifest: Manifest) -> State:
    """The state that the last manifest describes, with nothing settled yet."""
    before = load_sources(root, manifest)
    parts = {part.part_id: part for part in manifest.parts}
    return State(root, before, dict(before), parts, set(), list(before.values()))


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
    stamp = manifest.single_files.get(manifest.tool_parameters or "")
    file = state.root / (manifest.tool_parameters or "")
    if stamp is not None and fault_of(file, stamp, read=True) is not None:
        if _all_are_there(cards, state, found, prune=prune):
            _forget_reading(state, cards)
            return msgspec.structs.replace(manifest, tool_parameters=None, tool_parameter_count=0)
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


def adopt(state: State, found: dict[str, InputFile]) -> list[Part]:
    """Take over parts that a killed ingest had finished, if all their files are still the same."""
    adopted = []
    for path in sorted(state.root.glob("parts/*/part.json")):
        try:
            note = msgspec.json.decode(path.read_bytes(), type=PartNote)
        except (OSError, msgspec.DecodeError):  # not finished after all
            continue
        is_named = note.part.directory == path.parent.relative_to(state.root).as_posix()
        if note.part.made_by != made_by() or not is_named or not is_as_written(path.parent):
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
            adopted.append(note.part)
    return adopted


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
