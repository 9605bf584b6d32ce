"""Finding input files, and placing each: which kind, model, experiment, language, scenario, run."""

from __future__ import annotations

import os
import re
import stat
import zlib
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from orchbench_analytics.errors import PathError
from orchbench_analytics.ingest import layouts, trees
from orchbench_analytics.ingest.layouts import Place
from orchbench_analytics.paths import is_address
from orchbench_analytics.store.mirror import bucket_of
from orchbench_analytics.tables import UNKNOWN_LANGUAGE

DEFAULT_EXPERIMENT = "default"
CLOSED_DIRECTORY = "closed_directory"
OTHER_KIND = "other_kind"

_KERNEL_FILES = ("/proc/", "/sys/", "/dev/")  # some, such as /proc/kmsg, never end
_PATTERN_PARTS = ("model", "experiment", "language", "scenario", "run")

Key = tuple[str, str | None, str | None, str | None, str | None, str | None]


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
        if self.reason is not None or self.kind in ("agent_card", *layouts.NOT_NEEDED):
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
) -> list[InputFile]:
    """All input files at or below `paths`, each once, in order of their paths.

    What lies in the directory `without`, such as the warehouse, is passed over.
    """
    found: dict[str, InputFile] = {}
    closed = {_identity(str(without))} if without is not None and without.exists() else set()
    mirrored = bucket_of(without) if without is not None else None
    own = (f"{mirrored.address}/",) if mirrored is not None else ()
    roots = {trees.absolute(given): given for given in paths}
    look = survey or cache(layouts.survey)
    for root, given in roots.items():
        if not trees.exists(root):
            raise PathError(f"no such file or directory: {given}")
        for file in walk(root, closed):
            if file.path not in found and not file.path.startswith(own):
                found[file.path] = place(file._replace(given=root), placement, look)
    return sorted(_without_second_names(found.values()))


def walk(root: str, closed: Collection[tuple[int, int]] = ()) -> Iterator[InputFile]:
    """Input files below `root`, and directories that are named like one or cannot be entered.

    Links are followed, after all else, and each leads to files of its own, since its name may be
    that of a model. A link does not lead back to a directory that it lies in; one that lies behind
    another link leads only to what was not seen yet, so that the number of paths stays bounded.
    Directories whose identity is in `closed` are not entered.
    """
    if is_address(root):
        files = trees.files_below(root)
        yield from (stat_file(f) for f in files if layouts.is_input_name(f.rpartition("/")[2]))
        return
    if not trees.is_directory(root):
        yield stat_file(root)
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
        for entry in entries:
            if layouts.is_directory(entry):
                is_link = entry.is_symlink()
                is_seen_once = is_link and way.is_linked
                above = (*way.above, identity)
                further = _Way(entry.path, above, way.is_linked or is_link, is_seen_once)
                (linked if is_link else waiting).append(further)
                if entry.name.endswith(layouts.SUFFIXES):
                    message = "a directory where a file was expected; what is in it was looked at"
                    yield _problem(entry.path, "is_directory", message)
            elif layouts.is_input_name(entry.name):
                yield stat_file(entry.path)._replace(is_linked=way.is_linked)


class _Way(NamedTuple):
    """A directory that is still to be entered, and the directories that it lies in."""

    directory: str
    above: tuple[tuple[int, int], ...] = ()
    is_linked: bool = False
    is_seen_once: bool = False


def _without_second_names(files: Collection[InputFile]) -> Iterator[InputFile]:
    """The files, without those that a link leads to and that say nothing new about themselves."""
    places: dict[tuple[Key, str], list[str]] = {}
    has_links = any(file.is_linked for file in files)
    for file in sorted(files, key=lambda file: file.is_linked) if has_links else files:
        if has_links:
            alike = places.setdefault((file.key, PurePosixPath(file.path).name), [])
            if file.is_linked and any(_is_same(path, file.path) for path in alike):
                continue
            alike.append(file.path)
        yield file


def _is_same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)  # noqa: PTH121 (plain strings)
    except OSError:  # a link that leads nowhere
        return False


def stat_file(path: str) -> InputFile:
    """A file with its size and times, or why it cannot be read."""
    if not path.isascii() and (shown := clean_path(path)) != path:
        return InputFile(shown, reason="bad_path", message="its path is not UTF-8; rename it")
    if is_address(path):
        entry = trees.object_at(path)
        if entry is None:
            return _problem(path, "unreadable", "cannot be read: there is no such object")
        return InputFile(path, "unknown", entry.byte_count, f"{entry.byte_count}:{entry.e_tag}")
    try:
        status = os.stat(path)  # noqa: PTH116 (plain strings: this runs once per file)
    except OSError as error:
        return _problem(path, "unreadable", f"cannot be read: {error.strerror}")
    if not stat.S_ISREG(status.st_mode):  # reading a pipe or a device may never end
        return _problem(path, "no_file", "a pipe, socket or device, not a file")
    if not getattr(status, "st_blocks", 1) and os.path.realpath(path).startswith(_KERNEL_FILES):
        return _problem(path, "no_file", "the kernel makes it up while it is read; not a file")
    stamp = f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"
    return InputFile(path, "unknown", status.st_size, stamp, status.st_ctime_ns)


def place(
    file: InputFile, placement: Placement, survey: layouts.Survey = layouts.survey
) -> InputFile:
    """Say what a file is and where it belongs, as far as its path and the caller tell."""
    if file.reason is not None:
        return file
    if placement.pattern is not None and (match := placement.pattern.fullmatch(file.path)):
        place = _place_by_pattern(file.path, match.groupdict())
    else:
        place = layouts.place_by_tree(trees.parts_of(file.path), trees.parts_of(file.given), survey)
    language = placement.language and (
        layouts.language_of(placement.language) or placement.language
    )
    if place.kind == "agent_card":  # about no model, and of the language its directory names
        place = place._replace(language=place.language or language or UNKNOWN_LANGUAGE)
    else:
        is_placed = place.kind != "unknown" and (placement.model or place.model) is not None
        place = Place(
            place.kind,
            placement.model or place.model,
            placement.experiment or place.experiment or (DEFAULT_EXPERIMENT if is_placed else None),
            language or place.language or (UNKNOWN_LANGUAGE if is_placed else None),
            place.scenario,
            place.run,
            place.client_model,
        )
    file = file._replace(**place._asdict())
    if file.kind in layouts.NOT_NEEDED:
        return file._replace(reason="not_needed", message=layouts.NOT_NEEDED[file.kind])
    if file.is_placed:
        return file
    said = zlib.crc32(repr(file.key).encode())  # the content completes it: so both make the stamp
    return file._replace(file_stamp=f"{file.file_stamp}:{said:08x}")


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
