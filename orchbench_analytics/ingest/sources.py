"""Input files: finding them, placing each, and the row of `sources` that says what became of it.

A file is placed by its kind, model, experiment, language, scenario and run. The row also tells an
unchanged file when it is found again. There may be half a million of either, so they are kept in
columns, and made into objects only while something is decided about them.
"""

from __future__ import annotations

import os
import re
import stat
import time
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple, TypeVar

import polars as pl

from orchbench_analytics.errors import PathError
from orchbench_analytics.ingest import layouts, trees
from orchbench_analytics.ingest.decode import Problem
from orchbench_analytics.ingest.layouts import NOT_NEEDED, Place
from orchbench_analytics.paths import is_address
from orchbench_analytics.store.directories import read_table
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.store.mirror import bucket_of
from orchbench_analytics.tables import SOURCES, UNKNOWN_LANGUAGE

DEFAULT_EXPERIMENT = "default"
CLOSED_DIRECTORY = "closed_directory"
OTHER_KIND = "other_kind"

_KERNEL_FILES = ("/proc/", "/sys/", "/dev/")  # some, such as /proc/kmsg, never end
_PLACED_KINDS = ("agent_card", *NOT_NEEDED)  # wherever files of these lie
_RUNS_SUFFIX = "_out.json"
_OF_A_FILE = ("path", "byte_count", "file_stamp", "changed_at_ns", "given", "is_linked")
_PATTERN_PARTS = ("model", "experiment", "language", "scenario", "run")

Key = tuple[str, str | None, str | None, str | None, str | None, str | None]
DUPLICATE = "duplicate"
# A file changed this shortly before it was read may change again within the same clock tick.
_TICK_NS = 2_000_000_000
_RECENT = "~"
_AT_ONCE = 10_000  # files made into columns together


class InputFile(NamedTuple):
    """A file that was found, and where it belongs; null is what its path does not say.

    `given` is the path below which it was found, `is_linked` that a link led there.
    """

    path: str
    kind: str = "unknown"
    byte_count: int = 0
    file_stamp: str = ""
    changed_at_ns: int = 0
    model: str | None = None
    experiment: str | None = None
    language: str | None = None
    scenario: str | None = None
    run: str | None = None
    reason: str | None = None
    place: str | None = None
    message: str | None = None
    client_model: str | None = None
    given: str = ""
    is_linked: bool = False

    @property
    def key(self) -> Key:
        """What the file is about; two files about the same are duplicates."""
        return (self.kind, self.model, self.experiment, self.language, self.scenario, self.run)

    @property
    def is_placed(self) -> bool:
        """Its path and the caller say everything, so its content is not needed to place it."""
        if self.reason is not None or self.kind in _PLACED_KINDS:
            return True
        return self.kind != "unknown" and self.model is not None


class Placement(NamedTuple):
    """What the caller says about where files belong; it goes before what paths say."""

    model: str | None = None
    experiment: str | None = None
    language: str | None = None
    pattern: re.Pattern[str] | None = None


def compile_pattern(template: str) -> re.Pattern[str]:
    """Turn `{model}/{language}/{scenario}.json` into a regular expression for the end of a path."""
    pieces = re.split(r"\{(\w+)\}", template)
    names = pieces[1::2]
    unknown = [name for name in names if name not in _PATTERN_PARTS]
    if unknown or not names or len(set(names)) != len(names):
        raise PathError(
            f"pattern {template!r}: expected each of some of "
            f"{', '.join('{' + part + '}' for part in _PATTERN_PARTS)} once"
        )
    expression = "".join(
        f"(?P<{piece}>[^/]+)" if index % 2 else re.escape(piece)
        for index, piece in enumerate(pieces)
    )
    return re.compile(rf"(?:.*/)?{expression}", re.DOTALL)


def discover(
    paths: Iterable[str | Path],
    *,
    placement: Placement = Placement(),  # noqa: B008 (immutable)
    without: Path | None = None,
    survey: layouts.Survey | None = None,
) -> pl.DataFrame:
    """All input files at or below `paths`, each once.

    What lies in the directory `without`, such as the warehouse, is passed over.
    """
    look = survey or cache(layouts.survey)
    batches = _batches(_walk_all(paths, without))
    frames = (frame for batch in batches for frame in _columns_found(batch, placement, look))
    found = pl.concat([columns_of(InputFile, []), *frames])
    return _without_second_names(first_of_each(found))


def _columns_found(
    found: Sequence[Listed | InputFile], placement: Placement, survey: layouts.Survey
) -> Iterator[pl.DataFrame]:
    """Files, placed, in columns; those that a directory places come without an object each."""
    listed = [one for one in found if isinstance(one, Listed)]
    others = [one for one in found if isinstance(one, InputFile)]
    if listed:
        files = _columns_listed(listed, placement, survey)
        scenario = pl.col("scenario").cast(pl.String)
        is_named = pl.col("path").str.ends_with(_RUNS_SUFFIX) & (scenario != "")
        is_placed = (pl.col("kind") == "runs") & pl.col("model").is_not_null()
        is_beside = is_named & is_placed & ~scenario.str.contains("_out", literal=True)
        is_beside &= placement.pattern is None
        beside, alone = files.filter(is_beside), files.filter(~is_beside)
        yield beside
        others += [InputFile(**row) for row in alone.select(_OF_A_FILE).iter_rows(named=True)]
    yield columns_of(InputFile, [place(file, placement, survey) for file in others])


def _columns_listed(
    listed: Sequence[Listed], placement: Placement, survey: layouts.Survey
) -> pl.DataFrame:
    """Files of directories, as if all were runs: then those of one differ only in the scenario."""
    shared = [
        place(InputFile(f"{d.prefix}1{_RUNS_SUFFIX}", given=d.given), placement, survey)._replace(
            path=d.prefix, is_linked=d.is_linked
        )
        for d in listed
    ]
    numbers = [number for number, d in enumerate(listed) for _ in d.names]
    names = pl.Series([name for d in listed for name in d.names], dtype=pl.String)
    statuses = [status for d in listed for status in d.statuses]
    times = {
        "byte_count": [status.st_size for status in statuses],
        "changed_at_ns": [status.st_ctime_ns for status in statuses],
        "modified_at_ns": [status.st_mtime_ns for status in statuses],
    }
    stamp = pl.concat_str("byte_count", "modified_at_ns", "changed_at_ns", separator=":")
    return (
        columns_of(InputFile, shared)[numbers]
        .with_columns(pl.Series(name, values, pl.Int64) for name, values in times.items())
        .with_columns(
            path=pl.col("path") + names,
            file_stamp=stamp,
            scenario=names.str.strip_suffix(_RUNS_SUFFIX).cast(pl.Categorical),
        )
        .drop("modified_at_ns")
    )


def first_of_each(files: pl.DataFrame) -> pl.DataFrame:
    """The files, each once: trees that a caller names may lie in one another."""
    is_first = files["path"].is_first_distinct()
    return files if is_first.all() else files.filter(is_first)


def _batches(found: Iterable[Listed | InputFile]) -> Iterator[Sequence[Listed | InputFile]]:
    batch: list[Listed | InputFile] = []
    count = 0
    for one in found:
        batch.append(one)
        count += len(one.names) if isinstance(one, Listed) else 1
        if count >= _AT_ONCE:
            yield batch
            batch, count = [], 0
    yield batch


def _walk_all(paths: Iterable[str | Path], without: Path | None) -> Iterator[Listed | InputFile]:
    closed = {_identity(str(without))} if without is not None and without.exists() else set()
    mirrored = bucket_of(without) if without is not None else None
    own = (f"{mirrored.address}/",) if mirrored is not None else ()
    for root, given in {trees.absolute(given): given for given in paths}.items():
        if not trees.exists(root):
            raise PathError(f"no such file or directory: {given}")
        for found in walk(root, closed):
            if isinstance(found, Listed) or not found.path.startswith(own):
                yield found


class Listed(NamedTuple):
    """Files of one directory that can be read, and what the system says of each.

    Their paths are the prefix and a name. `given` is the path below which they were found,
    `is_linked` that a link led there.
    """

    prefix: str
    given: str
    is_linked: bool
    names: list[str]
    statuses: list[os.stat_result]


def walk(root: str, closed: Collection[tuple[int, int]] = ()) -> Iterator[Listed | InputFile]:
    """Input files below `root`, and directories that are named like one or cannot be entered.

    Links are followed, after all else, and each leads to files of its own, since its name may be
    that of a model. A link does not lead back to a directory that it lies in; one that lies behind
    another link leads only to what was not seen yet, so that the number of paths stays bounded.
    Directories whose identity is in `closed` are not entered.
    """
    if is_address(root):
        files = trees.files_below(root)
        named = (file for file in files if layouts.is_input_name(file.rpartition("/")[2]))
        yield from (_stat_object(file, root) for file in named)
        return
    if not trees.is_directory(root):
        yield stat_file(root, given=root)
        return
    entered: set[tuple[int, int]] = set()
    waiting, linked = [_Way(root)], list[_Way]()
    while waiting or linked:
        way = waiting.pop() if waiting else linked.pop()
        try:
            identity = _identity(way.directory)
            entries = trees.scandir(way.directory)[::-1]
        except OSError as error:
            message = f"this directory could not be entered: {error.strerror}"
            yield _problem(way.directory, CLOSED_DIRECTORY, message)
            continue
        if (
            identity in closed
            or identity in way.above
            or (way.is_seen_once and identity in entered)
        ):
            continue
        entered.add(identity)
        prefix = f"{way.directory.rstrip('/')}/"
        listed = Listed(prefix, root, way.is_linked, [], [])
        for entry in entries:
            if len(listed.names) >= _AT_ONCE:
                yield listed
                listed = Listed(prefix, root, way.is_linked, [], [])
            if layouts.is_directory(entry):
                is_link = entry.is_symlink()
                is_seen_once = is_link and way.is_linked
                above = (*way.above, identity)
                further = _Way(
                    trees.slashed(entry.path), above, way.is_linked or is_link, is_seen_once
                )
                (linked if is_link else waiting).append(further)
                if entry.name.endswith(layouts.SUFFIXES):
                    message = "a directory where a file was expected; what is in it was looked at"
                    yield _problem(entry.path, "is_directory", message)
            elif layouts.is_input_name(entry.name):
                status = _status(prefix + entry.name)
                if isinstance(status, InputFile):
                    yield status
                else:
                    listed.names.append(entry.name)
                    listed.statuses.append(status)
        if listed.names:
            yield listed


class _Way(NamedTuple):
    """A directory that is still to be entered, and the directories that it lies in."""

    directory: str
    above: tuple[tuple[int, int], ...] = ()
    is_linked: bool = False
    is_seen_once: bool = False


def _without_second_names(found: pl.DataFrame) -> pl.DataFrame:
    """The files, without those that a link leads to and that say nothing new about themselves."""
    if not found["is_linked"].any():
        return found
    name = pl.col("path").str.split("/").list.last()
    alike = (
        found.sort("is_linked", maintain_order=True)
        .group_by(*KEY, name.alias("name"))
        .agg("path", "is_linked")
        .filter(pl.col("is_linked").list.any(), pl.col("path").list.len() > 1)
    )
    second: list[str] = []
    for paths, are_linked in alike.select("path", "is_linked").iter_rows():
        kept: list[str] = []
        for path, is_linked in zip(paths, are_linked, strict=True):
            is_second = is_linked and any(_is_same(other, path) for other in kept)
            (second if is_second else kept).append(path)
    return found.filter(~pl.col("path").is_in(second))


def _is_same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)  # noqa: PTH121 (plain strings)
    except OSError:  # a link that leads nowhere
        return False


def stat_file(path: str, *, given: str = "") -> InputFile:
    """A file with its size and times, or why it cannot be read."""
    if is_address(path):
        return _stat_object(path, given)
    status = _status(path)
    if isinstance(status, InputFile):
        return status
    stamp = f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"
    return InputFile(path, "unknown", status.st_size, stamp, status.st_ctime_ns, given=given)


def _status(path: str) -> os.stat_result | InputFile:
    """What the system says of a file, or why it cannot be read."""
    if not path.isascii() and (shown := clean_path(path)) != path:
        return InputFile(shown, reason="bad_path", message="its path is not UTF-8; rename it")
    try:
        status = os.stat(path)  # noqa: PTH116 (plain strings: this runs once per file)
    except OSError as error:
        return _problem(path, "unreadable", f"cannot be read: {error.strerror}")
    if not stat.S_ISREG(status.st_mode):  # reading a pipe or a device may never end
        return _problem(path, "no_file", "a pipe, socket or device, not a file")
    if not getattr(status, "st_blocks", 1) and os.path.realpath(path).startswith(_KERNEL_FILES):
        return _problem(path, "no_file", "the kernel makes it up while it is read; not a file")
    return status


def _stat_object(address: str, given: str) -> InputFile:
    entry = trees.object_at(address)
    if entry is None:
        return _problem(address, "unreadable", "cannot be read: there is no such object")
    stamp = f"{entry.byte_count}:{entry.e_tag}"
    return InputFile(address, "unknown", entry.byte_count, stamp, given=given)


def place(
    file: InputFile, placement: Placement, survey: layouts.Survey = layouts.survey
) -> InputFile:
    """Say what a file is and where it belongs, as far as its path and the caller tell."""
    if file.reason is not None:
        return file
    if placement.pattern is not None and (match := placement.pattern.fullmatch(file.path)):
        place = _place_by_pattern(file.path, match.groupdict())
    else:
        *above, name = trees.parts_of(file.path)
        place = layouts.place_by_tree((*above,), name, trees.parts_of(file.given), survey)
    kind, model, experiment, language, *rest = place
    said = placement.language and (layouts.language_of(placement.language) or placement.language)
    if kind == "agent_card":  # about no model, and of the language its directory names
        language = language or said or UNKNOWN_LANGUAGE
    else:
        model = placement.model or model
        is_placed = kind != "unknown" and model is not None
        experiment = (
            placement.experiment or experiment or (DEFAULT_EXPERIMENT if is_placed else None)
        )
        language = said or language or (UNKNOWN_LANGUAGE if is_placed else None)
    file = file._replace(**Place(kind, model, experiment, language, *rest)._asdict())
    if kind in NOT_NEEDED:
        return file._replace(reason="not_needed", message=NOT_NEEDED[kind])
    if file.is_placed:
        return file
    named = zlib.crc32(repr(file.key).encode())  # the content completes it: so both make the stamp
    return file._replace(file_stamp=f"{file.file_stamp}:{named:08x}")


def place_by_content(
    file: InputFile, kind: str, directory: str | None, survey: layouts.Survey = layouts.survey
) -> InputFile:
    """Finish placing a file that only its content could tell about.

    `directory` is what an evaluator's result file says it was made from.
    """
    above = PurePosixPath(file.path).parts[:-1]
    said = Place()
    if kind == "unknown" or (kind == "judge_log" and file.run is None):
        message = "JSON, but no run, result or judge log of this benchmark that can be placed"
        return file._replace(reason=OTHER_KIND, place="$", message=message)
    if kind == "agent_card":
        file = file._replace(model=None, scenario=None, run=None)
        said = Place(language=layouts.language_of_card(above))
    elif kind == "results":
        file = file._replace(scenario=None, run=None)
        stated = PurePosixPath((directory or "").replace("\\", "/")).parts
        said = layouts.place_result(
            trees.parts_of(file.path),
            stated,
            trees.parts_of(file.given),
            survey,
            is_in_tree=file.kind == "results",
        )
    elif kind == "runs":
        said = Place(scenario=layouts.stem(PurePosixPath(file.path).name))
    file = file._replace(
        kind=kind,
        model=file.model or said.model,
        experiment=file.experiment or said.experiment,
        language=file.language or said.language,
        scenario=file.scenario or said.scenario,
        client_model=file.client_model or said.client_model,
    )
    if file.model is None and kind != "agent_card":
        message = "nothing says which model this is: pass --model, or --pattern with named parts"
        return file._replace(reason="unplaced", message=message)
    return file._replace(
        experiment=None if kind == "agent_card" else file.experiment or DEFAULT_EXPERIMENT,
        language=file.language or UNKNOWN_LANGUAGE,
    )


def clean_path(path: str) -> str:
    """The path with bytes that are not UTF-8 written out, so that it can be shown and stored."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _place_by_pattern(path: str, parts: dict[str, str]) -> Place:
    name = layouts.stem(PurePosixPath(path).name)
    kind = "judge_log" if "run" in parts else "runs" if "scenario" in parts else "unknown"
    if kind == "runs" and layouts.is_result_name(name):
        kind = "unknown"
    if "language" in parts:
        parts["language"] = layouts.language_of(parts["language"]) or parts["language"]
    return Place(kind, **parts)


def _identity(directory: str) -> tuple[int, int]:
    status = os.stat(directory)  # noqa: PTH116 (plain strings: this runs once per directory)
    return status.st_dev, status.st_ino


def _problem(path: str, reason: str, message: str) -> InputFile:
    return InputFile(clean_path(path), reason=reason, message=message)


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
        return trees.exists(path) and all(path != file.path for file in files)
    try:
        return not any(Path(path).samefile(file.path) for file in files)
    except OSError:  # gone, or gone just now
        return False


def load_sources(root: Path, manifest: Manifest) -> pl.DataFrame:
    """The rows of `sources`, in order of their paths."""
    return read_table(root, manifest, SOURCES, types=_types(Source))


# Columns

KEY = ("kind", "model", "experiment", "language", "scenario", "run")
_TEXTS = {"path", "file_stamp", "content_hash"}
_OTHERS = {"byte_count": pl.Int64, "changed_at_ns": pl.Int64, "is_linked": pl.Boolean}

Row = TypeVar("Row", InputFile, Source)


def _types(row: type[Row]) -> dict[str, type[pl.DataType]]:
    """The columns of input files or of sources; texts that many rows share are kept once."""
    named = {name: pl.String if name in _TEXTS else pl.Categorical for name in row._fields}
    return {name: _OTHERS.get(name, type_) for name, type_ in named.items()}


def columns_of(row: type[Row], rows: Sequence[Row]) -> pl.DataFrame:
    """Input files or sources in columns."""
    types = _types(row)
    columns = zip(*rows, strict=True) if rows else ([] for _ in types)
    return pl.DataFrame(
        [
            pl.Series(name, values, dtype=types[name])
            for name, values in zip(types, columns, strict=True)
        ]
    )


def rows_of(row: type[Row], columns: pl.DataFrame) -> list[Row]:
    """Input files or sources as objects."""
    return list(map(row._make, columns.select(row._fields).rows()))
