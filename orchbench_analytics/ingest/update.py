"""Ingest: bring a warehouse's flat tables up to date with trees of result files.

`update` is the whole of it. What follows it decides what to read, and which of several files about
one scenario counts.

A sweep may have half a million files, most of them as they were. What is known of all of them is
kept in columns. Models whose files and parts are as they were are passed over there; the others are
decided in batches, and only the files of one batch are objects.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import polars as pl

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
    KEY,
    OTHER_KIND,
    InputFile,
    Key,
    Placement,
    Source,
    columns_of,
    discover,
    first_of_each,
    is_elsewhere,
    is_same_file,
    load_sources,
    place_as,
    place_as_before,
    place_by_content,
    refused_as_duplicate,
    rows_of,
    source_of,
    stat_file,
)
from orchbench_analytics.store.directories import read_notes, with_table
from orchbench_analytics.store.files import NOTE
from orchbench_analytics.store.manifest import (
    Manifest,
    Part,
    columns_now,
    is_damaged,
    without_damaged_scores,
)
from orchbench_analytics.store.parquet import Frame, to_arrow
from orchbench_analytics.tables import SOURCES, TOOL_PARAMETERS

_PART_BYTES = 16 * 2**20
_PART_FILES = 2000
_SMALL_TREE_BYTES = 4 * 2**20
_PACKED_RATIO = 10
_BATCH_FILES = 20_000
_MOST_SMALL_PARTS = 8
_ROWS_OF_A_SMALL_PART = 20_000
_NOT_RESULTS = ("agent_card", *layouts.NOT_NEEDED)
_COMMON = ""  # the group of files that are not about one model, such as cards
_GROUP = (
    pl.when(pl.col("model").is_null())
    .then(pl.lit(_COMMON))
    .otherwise(pl.concat_str("model", "experiment", separator="\0", ignore_nulls=True))
    .cast(pl.Categorical)
)
_NUMBERS: dict[str, Any] = {"group": pl.Categorical, "batch": pl.Int64}

Progress = Callable[[int, int, int], None]  # files and bytes just read, and bytes to read in all
Claims = dict[Key, list[InputFile]]  # files about one scenario, preferred first


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
    before = load_sources(root, manifest)
    is_current = manifest.made_by == made_by()
    found, waiting = _find(root, before, roots, placement, is_current=is_current, settling=settling)
    sound = without_damaged_scores(root, manifest, verify=verify)
    damaged = {p.part_id for p in manifest.parts if is_damaged(root, p, read=verify)}
    divided = divide(found, before, manifest.parts, roots, damaged=damaged)
    finished = finished_parts(root, manifest) if was_killed else {}
    closed = found.filter(reason=CLOSED_DIRECTORY)["path"].to_list()
    is_small = divided.unread_bytes < _SMALL_TREE_BYTES
    del found, before

    sources = [divided.resting]
    parts = divided.parts.get(None, [])
    tallies = [_tally_of_resting(divided)]
    card_rows: list[CardRow] = []
    for number in range(divided.batch_count):
        state = load_state(root, divided, number, waiting=waiting, closed=closed)
        if number == 0:  # where all cards are
            sound = read_cards_again(state, sound, prune=prune)
        read_again(state, damaged, prune=prune)
        settle_unchanged(state)
        adopt(state, finished)
        for file in state.found.values():
            if file.reason is not None:
                state.sources[file.path] = source_of(file)

        claims = group_duplicates(state)
        while to_read := next_to_read(state, claims):
            for built in engine.run(build_part, _tasks(state, to_read), is_small=is_small):
                if settling is not None:
                    built = _without_moving(state, claims, built, settling)
                take(state, built)
                done: list[Source | InputFile] = [*built.sources, *built.unchanged]
                if progress is not None:
                    byte_count = sum(file.byte_count for file in done)
                    progress(len(done), byte_count, divided.unread_bytes)

        removed = prune_gone(state, roots) if prune else []
        forget_displaced(state)
        gone = [source for source in gone_files(state, roots) if source.status == "taken"]
        clean_parts(state)
        if number == 0:
            cards = [file for file in state.found.values() if file.kind == "agent_card"]
            card_rows = update_cards(root, sound, state.before, state.sources, cards)
        tallies.append(_tally(state, removed, gone))
        sources.append(columns_of(Source, list(state.sources.values())))
        parts += state.parts.values()
    del divided
    is_changed = any(tally.is_changed for tally in tallies)
    if is_changed or not is_current or SOURCES.name not in sound.tables:
        sound = _next_manifest(root, sound, pl.concat(sources), parts, card_rows)
    return Updated(sound, _summary(tallies))


def _find(
    root: Path,
    before: pl.DataFrame,
    roots: Roots,
    placement: Placement,
    *,
    is_current: bool,
    settling: Settling | None = None,
) -> tuple[pl.DataFrame, set[str]]:
    """All input files; those whose path does not say what they are were looked into.

    What the content of an unchanged file said is known, if the same code looked into it. Also the
    paths of files that are still settling, which are not among them.
    """
    survey = cache(layouts.survey)
    found = discover(roots.results, placement=placement, without=root, survey=survey)
    waiting: set[str] = set()
    if settling is not None:
        waiting = {file.path for file in rows_of(InputFile, found) if settling.waits(file)}
        found = found.filter(~pl.col("path").is_in(waiting))
    is_placed = (
        pl.col("reason").is_not_null()
        | pl.col("kind").is_in(["agent_card", *layouts.NOT_NEEDED])
        | ((pl.col("kind") != "unknown") & pl.col("model").is_not_null())
    )
    unplaced = rows_of(InputFile, found.filter(~is_placed))
    paths = [file.path for file in unplaced] if is_current else []
    known = {s.path: s for s in rows_of(Source, before.filter(pl.col("path").is_in(paths)))}
    looked = [
        (file.path in known and place_as_before(file, known[file.path])) or _look_into(file, survey)
        for file in unplaced
    ]
    cards = [card for given in roots.cards for card in _find_cards(given, placement, survey)]
    if unplaced:
        found = pl.concat([found.filter(is_placed), columns_of(InputFile, looked)])
    if cards:
        found = first_of_each(pl.concat([columns_of(InputFile, cards), found]))
    return found, waiting


def _without_moving(state: State, claims: Claims, built: Built, settling: Settling) -> Built:
    """What was read, without files that could not be and have changed since they were found."""
    refused = [source.path for source in built.sources if source.status == "refused"]
    found = state.found
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
    placed = discover([root], placement=Placement(language=placement.language), survey=survey)
    files = rows_of(InputFile, placed)
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


def _next_manifest(
    root: Path,
    manifest: Manifest,
    sources: pl.DataFrame,
    parts: list[Part],
    card_rows: list[CardRow],
) -> Manifest:
    """The manifest of the new state, its tables of all files written."""
    parts = sorted(parts, key=lambda p: (p.model, p.experiment, p.language, p.part_id))
    manifest = msgspec.structs.replace(manifest, made_by=made_by(), parts=parts)
    manifest = with_table(root, manifest, SOURCES.name, Frame(sources, SOURCES, sort_by="path"))
    cards = to_arrow(TOOL_PARAMETERS, card_rows)
    return with_table(root, manifest, TOOL_PARAMETERS.name, cards)


class _Tally(NamedTuple):
    """What was done with the files of a batch; cards and files not needed are not results."""

    is_changed: bool
    unchanged: int
    counts: Counter[str]
    removed: list[Source]
    refused: list[Source]
    gone: list[Source]
    results: int
    results_with_rows: int


def _tally(state: State, removed: list[Source], gone: list[Source]) -> _Tally:
    now = [state.sources[path] for path in state.found]
    unchanged = sum(
        source.status == "taken"
        and source.path in state.before
        and state.before[source.path].content_hash == source.content_hash
        for source in now
    )
    results = [source for source in now if source.kind not in _NOT_RESULTS]
    return _Tally(
        state.sources != state.before,
        unchanged,
        Counter(source.status for source in now),
        removed,
        [source for source in now if source.status == "refused"],
        gone,
        len(results),
        sum(source.has_rows for source in results),
    )


def _tally_of_resting(divided: Divided) -> _Tally:
    now = divided.resting.filter(divided.is_found)
    statuses = dict(now["status"].value_counts().rows())
    results = now.filter(~pl.col("kind").is_in(_NOT_RESULTS))
    return _Tally(
        False,
        statuses.get("taken", 0),
        Counter(statuses),
        [],
        rows_of(Source, now.filter(status="refused")),
        [],
        len(results),
        int((results["status"] == "taken").sum()),
    )


def _summary(tallies: list[_Tally]) -> IngestSummary:
    counts = sum((tally.counts for tally in tallies), Counter[str]())
    unchanged = sum(tally.unchanged for tally in tallies)
    has_results = any(tally.results for tally in tallies)
    return IngestSummary(
        taken=counts["taken"] - unchanged,
        unchanged=unchanged,
        ignored=counts["ignored"],
        removed=sum(len(tally.removed) for tally in tallies),
        refused=sorted((s for t in tallies for s in t.refused), key=lambda source: source.path),
        gone=sorted((s for t in tallies for s in t.gone), key=lambda source: source.path),
        is_unusable=has_results and not any(tally.results_with_rows for tally in tallies),
    )


class Roots(NamedTuple):
    """The absolute paths at or below which an ingest looks: for results, and for agent cards."""

    results: list[str]
    cards: list[str]

    @classmethod
    def of(cls, results: Iterable[str | Path], cards: Iterable[str | Path] = ()) -> Roots:
        """The roots of paths as a caller gives them."""
        return cls(*([trees.absolute(p) for p in paths] for paths in (results, cards)))


class Divided(NamedTuple):
    """What is known of all files, and in which batch each is decided.

    `resting` are files of models that all is well with, as they were before, and `is_found` says
    which of them were found again. Parts that are in no batch are theirs.
    """

    resting: pl.DataFrame
    is_found: pl.Series
    found: dict[int | None, pl.DataFrame]
    before: dict[int | None, pl.DataFrame]
    parts: dict[int | None, list[Part]]
    batch_count: int
    unread_bytes: int


def divide(
    found: pl.DataFrame,
    before: pl.DataFrame,
    parts: Sequence[Part],
    roots: Roots,
    *,
    damaged: Collection[str],
) -> Divided:
    """Tell models whose files and parts are as they were from those to decide about.

    Files are duplicates only within one model and experiment, so these are decided one by one. All
    cards, files that nothing places, and models between which a file has moved are in one batch.
    """
    found, before = (files.with_columns(group=_GROUP) for files in (found, before))
    rows = before.select("path").with_row_index("row")
    row = found.select("path").join(rows, on="path", how="left", maintain_order="left")["row"]

    def was(name: str) -> pl.Series:  # column by column: side by side they would be copied
        return before[name].gather(row)

    is_new = was("reason").eq_missing(DUPLICATE)
    is_new |= found["reason"].is_not_null() & found["reason"].ne_missing(was("reason"))
    for name in ("file_stamp", *KEY):
        is_new |= found[name].ne_missing(was(name))
    groups = pl.DataFrame({"now": found["group"], "before": was("group")})
    moved = groups.filter(pl.col("now") != pl.col("before"))
    common = {_COMMON, *moved["now"].unique(), *moved["before"].unique()}
    is_found = rows["row"].is_in(row.drop_nulls().implode())
    below = [(pl.col("path") + "/").str.starts_with(f"{r.rstrip('/')}/") for r in roots.results]
    is_gone = ~is_found & before.select(pl.any_horizontal(pl.lit(False), *below)).to_series()
    unsound = {
        _group_of(part)
        for part in parts
        if part.part_id in damaged
        or part.made_by != made_by()
        or part.columns_id != columns_now(part)
    }
    changed = {*groups["now"].filter(is_new).unique(), *before["group"].filter(is_gone).unique()}
    batches = _batches(changed | unsound, common, found["group"])
    parts_of: dict[int | None, list[Part]] = {}
    for part in parts:
        parts_of.setdefault(batches.get(_group_of(part)), []).append(part)
    numbers = pl.DataFrame(list(batches.items()), schema=_NUMBERS, orient="row")

    def by_batch(files: pl.DataFrame) -> dict[int | None, pl.DataFrame]:
        numbered = files.join(numbers, on="group", how="left", maintain_order="left")
        divided = numbered.drop("group").partition_by("batch", as_dict=True, include_key=False)
        return {None: files.clear(), **{batch: rows for (batch,), rows in divided.items()}}

    is_read = is_new & found["reason"].is_null() & (found["kind"] != "agent_card")
    to_read = found.select("byte_count", key=pl.struct(KEY).hash()).filter(is_read)
    found_by_batch = by_batch(found)
    del found_by_batch[None]  # they are as `before` has them
    before_by_batch = by_batch(before.with_columns(is_found=is_found))
    resting = before_by_batch.pop(None)
    return Divided(
        resting.select(Source._fields),
        resting["is_found"],
        found_by_batch,
        before_by_batch,
        parts_of,
        batch_count=max(batches.values()) + 1,
        unread_bytes=int(to_read["byte_count"].filter(to_read["key"].is_first_distinct()).sum()),
    )


def _batches(groups: set[str], common: set[str], files: pl.Series) -> dict[str, int]:
    """In which batch each group is decided; those in common are in the first one.

    files: the group of each file that was found.
    """
    sizes: dict[str, int] = dict(files.value_counts().rows())
    batches = dict.fromkeys(common, 0)
    size = sum(sizes.get(group, 0) for group in common)
    for group in sorted(groups - common):
        batches[group] = size // _BATCH_FILES
        size += sizes.get(group, 0)
    return batches


def _group_of(part: Part) -> str:
    return f"{part.model}\0{part.experiment}"


class State(NamedTuple):
    """What is known of every file of a batch, and the parts that hold their rows.

    `found` are input files by path; `before` is as the last manifest has it; `settled` are paths
    that are decided; `held` are all sources that have rows in some part, whether the
    rows still count or not; `waiting` are paths of files that are still being written, `closed`
    directories that could not be entered, of all batches.
    """

    root: Path
    found: dict[str, InputFile]
    before: dict[str, Source]
    sources: dict[str, Source]
    parts: dict[str, Part]
    settled: set[str]
    held: list[Source]
    waiting: set[str]
    closed: list[str]


def load_state(
    root: Path, divided: Divided, batch: int, *, waiting: set[str], closed: list[str]
) -> State:
    """The state of a batch as the last manifest describes it, with nothing settled yet.

    Its files are taken out of what is divided, so that they are not held twice until the end.
    """
    files = divided.found.pop(batch, columns_of(InputFile, [])).sort("path")
    found = {file.path: file for file in rows_of(InputFile, files)}
    known = divided.before.pop(batch, columns_of(Source, []))
    before = {source.path: source for source in rows_of(Source, known)}
    parts = {part.part_id: part for part in divided.parts.get(batch, [])}
    held = list(before.values())
    return State(root, found, before, dict(before), parts, set(), held, waiting, closed)


def read_again(state: State, damaged: Collection[str], *, prune: bool) -> None:
    """Mark files as changed if their rows are damaged or were made by other code.

    Files outside the paths given are found where they were. Rows of files that are gone stay as
    they are; but a damaged part is given up only as a whole, so it stays if one of its files is
    gone, unless files that are gone are to be forgotten.
    """
    by_part: dict[str | None, list[Source]] = {}
    for source in state.before.values():
        by_part.setdefault(source.part_id, []).append(source)
    for part in list(state.parts.values()):
        of_part = by_part.get(part.part_id, [])
        if part.part_id in damaged:
            if _all_are_there(of_part, state, prune=prune):
                del state.parts[part.part_id]
                _forget_reading(state, of_part)
                _forget_rows(state, of_part)
        elif part.made_by != made_by():
            gone = _find_again(of_part, state.found)
            if not gone or not lacks_values(state.root, part):
                _forget_reading(state, [s for s in of_part if s.path not in gone])


def read_cards_again(state: State, manifest: Manifest, *, prune: bool) -> Manifest:
    """The same for agent cards, whose rows are a table of their own."""
    cards = [s for s in state.before.values() if s.kind == "agent_card" and s.status == "taken"]
    written = manifest.tables.get(TOOL_PARAMETERS.name)
    if written is not None and is_damaged(state.root, written, read=True):
        if _all_are_there(cards, state, prune=prune):
            _forget_reading(state, cards)
            tables = {n: t for n, t in manifest.tables.items() if t is not written}
            return msgspec.structs.replace(manifest, tables=tables)
    elif manifest.made_by != made_by():
        gone = _find_again(cards, state.found)
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


def _all_are_there(sources: list[Source], state: State, *, prune: bool) -> bool:
    """Find the files of some sources, or forget those that are gone."""
    gone = _find_again(sources, state.found)
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


def settle_unchanged(state: State) -> None:
    """Settle files that are as they were; a duplicate without a content hash was never read."""
    for path, file in state.found.items():
        source = state.before.get(path)
        if source is not None and source.reason != DUPLICATE and is_same_file(source, file):
            state.settled.add(path)


def group_duplicates(state: State) -> Claims:
    """The files about one scenario, preferred first, by what they are about.

    The file that was taken before comes first, the others follow by path. If that file was not
    found now but still exists, the others are refused as its duplicates.
    """
    owners = {s.key: s.path for s in state.before.values() if s.has_rows}
    claims: Claims = {}
    for file in state.found.values():
        if file.reason is None and file.kind != "agent_card":
            claims.setdefault(file.key, []).append(file)
    for key, line in list(claims.items()):
        owner = owners.get(key)
        line.sort(key=lambda file: (file.path != owner, file.path))
        if owner is not None and owner not in state.found and is_elsewhere(owner, line):
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


class _Finished(msgspec.Struct):
    """Of the note beside a part, what it takes to find the part."""

    part: Part


def finished_parts(root: Path, manifest: Manifest) -> dict[str, list[str]]:
    """The directories of parts that a killed ingest had finished, by model and experiment."""
    live = {part.directory for part in manifest.parts}
    finished: dict[str, list[str]] = {}
    for directory, note in read_notes(root, "parts", _Finished, without=live):
        if note.part.made_by == made_by() and note.part.directory == directory:
            finished.setdefault(_group_of(note.part), []).append(directory)
    return finished


def adopt(state: State, finished: dict[str, list[str]]) -> None:
    """Take over parts that a killed ingest had finished, if all their files are still the same."""
    models = (
        dict.fromkeys(f"{f.model}\0{f.experiment}" for f in state.found.values())
        if finished
        else ()
    )
    for directory in (directory for model in models for directory in finished.get(model, [])):
        note = msgspec.json.decode((state.root / directory / NOTE).read_bytes(), type=PartNote)
        is_current = all(
            s.path in state.found
            and s.path not in state.settled
            and is_same_file(s, state.found[s.path], trust_recent=True)
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


def gone_files(state: State, roots: Roots) -> list[Source]:
    """Files that were once at or below the roots and are gone; of roots of cards, only cards."""
    below, below_cards = (tuple(r.rstrip("/") + "/" for r in some) for some in roots)
    closed = tuple(f"{directory}/" for directory in state.closed)
    return [
        source
        for path, source in state.sources.items()
        if path not in state.found
        and path not in state.waiting
        and not path.startswith(closed)
        and (
            f"{path}/".startswith(below)
            or (source.kind == "agent_card" and f"{path}/".startswith(below_cards))
        )
    ]


def prune_gone(state: State, roots: Roots) -> list[Source]:
    """Forget files that were once at or below the roots and are gone."""
    gone = gone_files(state, roots)
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
