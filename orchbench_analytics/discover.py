"""Finding input files, and placing each: which kind, model, experiment, language, scenario, run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from orchbench_analytics.errors import PathError

DEFAULT_EXPERIMENT = "default"
UNKNOWN_LANGUAGE = "unknown"
SUFFIXES = (".json", ".json.gz", ".json.zst")

_LANGUAGE_DIRECTORY = re.compile(r"(EN|KO)", re.IGNORECASE)
_STEP_WISE = re.compile(r"step_wise_evaluation_(?P<language>\w+)")
_JUDGE_DIRECTORY = re.compile(r"llm_evaluation_logs_(?P<language>\w+)")
_RUNS_FILE = re.compile(r"(?P<scenario>.+)_out")
_JUDGE_FILE = re.compile(r"(?P<scenario>.+)_out_trial_(?P<run>.+)")
_SUMMARY_FILE = re.compile(r".+_out_comprehensive_evaluation")
_RESULT_FILE = re.compile(r"evaluation_result_(?P<language>\w+)")
_NAMED_RESULT_FILE = re.compile(r"(?P<model>.+?)[-_]results?")
_PATTERN_PARTS = ("model", "experiment", "language", "scenario", "run")


class Found(NamedTuple):
    """A file that was found, and where it belongs; null is what its path does not say."""

    path: str
    kind: str
    byte_count: int
    file_stamp: str
    changed_at_ns: int
    model: str | None = None
    experiment: str | None = None
    language: str | None = None
    scenario: str | None = None
    run: str | None = None
    reason: str | None = None
    message: str | None = None

    @property
    def key(self) -> tuple[str, str | None, str | None, str | None, str | None, str | None]:
        """What the file is about; two files about the same are duplicates."""
        return (self.kind, self.model, self.experiment, self.language, self.scenario, self.run)


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
    return re.compile(rf"(?:^|.*/){expression}$")


def discover(paths: Iterable[str | Path], *, placement: Placement = Placement()) -> list[Found]:  # noqa: B008 (immutable)
    """All input files at or below `paths`, each once, in order of their paths."""
    found: dict[str, Found] = {}
    for given in paths:
        root = Path(given).absolute()
        if not os.path.lexists(root):
            raise PathError(f"no such file or directory: {given}")
        for path, is_directory in walk(str(root)):
            if path not in found:
                found[path] = (
                    _directory_in_place_of_file(path)
                    if is_directory
                    else place(path, root=str(root), placement=placement)
                )
    return [found[path] for path in sorted(found)]


def walk(root: str) -> Iterator[tuple[str, bool]]:
    """Input files below `root`, and directories that are named like one, as (path, is directory).

    Links are followed; a directory is entered once, so loops end.
    """
    if not os.path.isdir(root):  # noqa: PTH112 (plain strings: this runs once per file)
        yield root, False
        return
    entered: set[tuple[int, int]] = set()
    waiting = [root]
    while waiting:
        directory = waiting.pop()
        try:
            status = os.stat(directory)  # noqa: PTH116 (as above)
            entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
        except OSError:
            yield directory, True
            continue
        if (status.st_dev, status.st_ino) in entered:
            continue
        entered.add((status.st_dev, status.st_ino))
        for entry in entries:
            if entry.is_dir():
                waiting.append(entry.path)
                if entry.name.endswith(SUFFIXES):
                    yield entry.path, True
            elif entry.name.endswith(SUFFIXES):
                yield entry.path, False


def place(path: str, *, root: str, placement: Placement) -> Found:
    """Say what a file is and where it belongs, as far as its path and the caller tell."""
    if not path.isascii() and (shown := clean_path(path)) != path:
        message = "its path is not UTF-8; rename it"
        return Found(shown, "unknown", 0, "", 0, reason="bad_path", message=message)
    try:
        status = os.stat(path)  # noqa: PTH116 (plain strings: this runs once per file)
    except OSError as error:
        return Found(path, "unknown", 0, "", 0, reason="unreadable", message=str(error.strerror))
    stamp = f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"
    file = Found(path, "unknown", status.st_size, stamp, status.st_ctime_ns)
    if placement.pattern is not None and (match := placement.pattern.match(path)):
        file = _place_by_pattern(file, match.groupdict())
    else:
        file = _place_by_tree(file, PurePosixPath(path).parts, root=root)
    return file._replace(
        model=placement.model or file.model,
        experiment=placement.experiment or file.experiment,
        language=placement.language or file.language,
    )


def clean_path(path: str) -> str:
    """The path with bytes that are no UTF-8 replaced, so that it can be shown and stored."""
    return os.fsencode(path).decode("utf-8", "replace")


def place_by_content(file: Found, kind: str, directory: str | None) -> Found:
    """Finish placing a file that only its content could tell about.

    `directory` is what an evaluator's result file says it was made from.
    """
    file = file._replace(kind=kind)
    if kind == "results":
        parts = PurePosixPath(directory or "").parts
        below = _parts_of_step_wise_tree((*parts, "x")) if parts else None
        file = file._replace(
            model=file.model or (below.model if below else parts[-1] if parts else None),
            language=file.language or (below.language if below else None),
            experiment=file.experiment or (below.experiment if below else None),
        )
    if kind == "runs" and file.scenario is None and file.model is not None:
        file = file._replace(scenario=_stem(PurePosixPath(file.path).name))
    if kind in ("runs", "results"):
        if file.model is None or (kind == "runs" and file.scenario is None):
            return file._replace(
                reason="unplaced",
                message="the path does not say which model (or scenario) this is: "
                "pass --model, or --pattern with named parts",
            )
        return _with_defaults(file)
    return file


def _directory_in_place_of_file(path: str) -> Found:
    readable = os.access(path, os.R_OK | os.X_OK)
    message = (
        "a directory where a file was expected; what is in it was looked at"
        if readable
        else "this directory could not be entered; check its permissions"
    )
    return Found(path, "unknown", 0, "", 0, reason="is_directory", message=message)


def _place_by_pattern(file: Found, parts: dict[str, str]) -> Found:
    name = _stem(PurePosixPath(file.path).name)
    kind = "judge_log" if "run" in parts else "runs" if _RUNS_FILE.fullmatch(name) else "unknown"
    placed = file._replace(
        kind=kind,
        model=parts.get("model"),
        experiment=parts.get("experiment"),
        language=parts.get("language"),
        scenario=parts.get("scenario"),
        run=parts.get("run"),
    )
    return _with_defaults(placed) if placed.model is not None else placed


def _place_by_tree(file: Found, parts: tuple[str, ...], *, root: str) -> Found:
    name, above = _stem(parts[-1]), parts[:-1]
    parent = above[-1] if above else ""
    if judge_directory := _JUDGE_DIRECTORY.fullmatch(parent):
        if _SUMMARY_FILE.fullmatch(name):
            return file._replace(
                kind="evaluator_summary",
                reason="not_needed",
                message="repeats figures of the evaluator's result file",
            )
        if match := _JUDGE_FILE.fullmatch(name):
            model, experiment = _model_beside(above[:-1], judge_directory["language"])
            return file._replace(
                kind="judge_log",
                model=model,
                experiment=experiment,
                language=judge_directory["language"].upper(),
                scenario=match["scenario"],
                run=match["run"],
            )
    if match := _RESULT_FILE.fullmatch(name):
        model, experiment = _model_beside(above, match["language"])
        return file._replace(
            kind="results", model=model, experiment=experiment, language=match["language"].upper()
        )
    if "agent_cards" in above[-2:]:
        language = parent.upper() if _LANGUAGE_DIRECTORY.fullmatch(parent) else UNKNOWN_LANGUAGE
        return file._replace(kind="agent_card", language=language)
    if match := _RUNS_FILE.fullmatch(name):
        below = _parts_of_step_wise_tree(parts) or _parts_of_plain_tree(parts)
        placed = below._replace(scenario=match["scenario"])
        if placed.experiment is not None and not _is_experiment(parts, placed, root):
            placed = placed._replace(experiment=None)
        return _with_defaults(file._replace(kind="runs", **placed._asdict()))
    if match := _NAMED_RESULT_FILE.fullmatch(name):
        return file._replace(kind="unknown", model=match["model"])
    return file


class _Parts(NamedTuple):
    model: str
    experiment: str | None
    language: str
    scenario: str | None = None


def _parts_of_step_wise_tree(parts: tuple[str, ...]) -> _Parts | None:
    """`<experiment>/[orchestration_bench/]step_wise_evaluation_<L>/<model…>/<file>`."""
    for index in range(len(parts) - 3, -1, -1):
        if match := _STEP_WISE.fullmatch(parts[index]):
            above = parts[:index]
            if above and above[-1] == "orchestration_bench":
                above = above[:-1]
            return _Parts(
                "/".join(parts[index + 1 : -1]), above[-1] if above else None, match[1].upper()
            )
    return None


def _parts_of_plain_tree(parts: tuple[str, ...]) -> _Parts:
    """`<model>/<L>/<file>` or `<model>/<file>`."""
    above = parts[:-1]
    if len(above) > 1 and _LANGUAGE_DIRECTORY.fullmatch(above[-1]):
        return _Parts(above[-2], None, above[-1].upper())
    return _Parts(above[-1], None, UNKNOWN_LANGUAGE)


def _is_experiment(parts: tuple[str, ...], placed: _Parts, root: str) -> bool:
    """The directory above the step-wise one is an experiment if a model's directory holds it.

    It also is one if the caller pointed above it; a tree that starts right there names none.
    """
    at = max(i for i, part in enumerate(parts) if _STEP_WISE.fullmatch(part)) - 1
    if parts[at] == "orchestration_bench":
        at -= 1
    holder = parts[at - 1] if at > 0 else ""
    return holder == placed.model.rsplit("/", 1)[-1] or len(PurePosixPath(root).parts) <= at


def _model_beside(experiment_parts: tuple[str, ...], language: str) -> tuple[str | None, str]:
    """The model and experiment of a file that lies beside a `step_wise_evaluation_<L>` tree."""
    directory = Path(*experiment_parts) / f"step_wise_evaluation_{language}"
    named = (
        experiment_parts[:-1] if experiment_parts[-1] == "orchestration_bench" else experiment_parts
    )
    experiment = named[-1] if len(named) > 1 else DEFAULT_EXPERIMENT
    if directory.is_dir():
        models = sorted(entry.name for entry in directory.iterdir() if entry.is_dir())
        if len(models) == 1:
            return models[0], experiment
        if named[-2:-1] and named[-2] in models:
            return named[-2], experiment
    return (named[-2], experiment) if len(named) > 2 else (None, experiment)


def _with_defaults(file: Found) -> Found:
    return file._replace(
        experiment=file.experiment or DEFAULT_EXPERIMENT,
        language=file.language or UNKNOWN_LANGUAGE,
    )


def _stem(name: str) -> str:
    for suffix in sorted(SUFFIXES, key=len, reverse=True):
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name
