"""What a path says: the kind of a file, and its model, experiment, language, scenario and run.

    <model>/<experiment>/[orchestration_bench/]step_wise_evaluation_<L>/<model>/<scenario>_out.json
    <model>/<experiment>/[orchestration_bench/]evaluation_result_<L>.json
    <model>/<experiment>/[orchestration_bench/]scenario_processing_<L>.log
    <model>/<experiment>/[orchestration_bench/]llm_evaluation_logs_<L>/<scenario>_out_trial_<run>.json
    <model>/[<L>/]<scenario>_out.json
    <model>-result.json
    agent_cards/[<L>/]<agent>.json

A model's name may be several directories deep (`org/model`) below `step_wise_evaluation_<L>`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import PurePosixPath
from typing import NamedTuple

SUFFIXES = (".json.zst", ".json.gz", ".json")

_LANGUAGE = re.compile(r"EN|KO", re.IGNORECASE)
_STEP_WISE = re.compile(r"step_wise_evaluation_([A-Za-z]+)")
_JUDGE_DIRECTORY = re.compile(r"llm_evaluation_logs_([A-Za-z]+)")
_RUNS_FILE = re.compile(r"(?P<scenario>.+)_out", re.DOTALL)
_JUDGE_FILE = re.compile(r"(?P<scenario>.+)_out_trial_(?P<run>.+)", re.DOTALL)
_SUMMARY_FILE = re.compile(r".+_out_comprehensive_evaluation", re.DOTALL)
_RESULT_FILE = re.compile(r"evaluation_result_([A-Za-z]+)")
_NAMED_RESULT_FILE = re.compile(r"(?P<model>.+?)[-_]results?", re.DOTALL)
_RUN_LOG = re.compile(r"scenario_processing_([A-Za-z]+)\.log")
_INNER_DIRECTORY = "orchestration_bench"

Parts = tuple[str, ...]
ModelsBelow = Callable[[str], list[str]]


class Place(NamedTuple):
    """Where a file belongs; null is what is not said."""

    kind: str = "unknown"
    model: str | None = None
    experiment: str | None = None
    language: str | None = None
    scenario: str | None = None
    run: str | None = None


def place_by_tree(path: Parts, given: Parts, models_below: ModelsBelow) -> Place:
    """What a file's path says, when the caller gave the path `given` at or above it."""
    name, above = stem(path[-1]), path[:-1]
    parent = above[-1] if above else ""
    if logs := _JUDGE_DIRECTORY.fullmatch(parent):
        if _SUMMARY_FILE.fullmatch(name):
            return Place("evaluator_summary")
        if match := _JUDGE_FILE.fullmatch(name):
            place = _place_beside(above[:-1], logs[1], given, models_below)
            place = place or place_by_directories(above[:-1])._replace(language=logs[1].upper())
            return place._replace(kind="judge_log", **match.groupdict())
    if match := _RESULT_FILE.fullmatch(name):  # its content may say more than directories do
        place = _place_beside(above, match[1], given, models_below)
        return (place or Place(language=match[1].upper()))._replace(kind="results")
    if match := _RUN_LOG.fullmatch(path[-1]):
        place = _place_beside(above, match[1], given, models_below) or place_by_directories(above)
        return place._replace(kind="run_log", language=match[1].upper())
    if "agent_cards" in above[-2:]:
        return Place("agent_card", language=language_of_card(above))
    if match := _RUNS_FILE.fullmatch(name):
        place = place_of_directory(above, given)
        return place._replace(kind="runs", scenario=match["scenario"])
    if match := _NAMED_RESULT_FILE.fullmatch(name):
        return Place(model=match["model"])
    return Place()


@lru_cache(maxsize=256)  # it is asked once per file, of few directories
def place_of_directory(directory: Parts, given: Parts = ()) -> Place:
    """What the path of a directory of scenario files says."""
    for index in range(len(directory) - 1, -1, -1):
        if match := _STEP_WISE.fullmatch(directory[index]):
            model = "/".join(directory[index + 1 :]) or None
            experiment = _experiment(directory[:index], model, given)
            return Place(model=model, experiment=experiment, language=match[1].upper())
    language = language_of(directory[-1]) if directory else None
    if language is not None:
        directory = directory[:-1]
    return Place(model=_as_model(directory[-1:]), language=language)


def language_of(directory: str) -> str | None:
    """The language that a directory's name is, in capitals."""
    return directory.upper() if _LANGUAGE.fullmatch(directory) else None


def language_of_card(above: Parts) -> str | None:
    """The language of an agent card: that of its directory, or else of the one above."""
    return next(filter(None, map(language_of, above[:-3:-1])), None)


def is_input_name(name: str) -> bool:
    """A file of this name may be an input file: JSON, packed or not, or the log of a run."""
    return name.endswith(SUFFIXES) or bool(_RUN_LOG.fullmatch(name))


def is_result_name(name: str) -> bool:
    """The name, without its suffix, is one that an evaluator's result file has."""
    return bool(_RESULT_FILE.fullmatch(name) or _NAMED_RESULT_FILE.fullmatch(name))


def stem(name: str) -> str:
    """A file's name without the suffix of a JSON file, packed or not."""
    for suffix in SUFFIXES:
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name


def models_below(directory: str) -> list[str]:
    """The models that have scenario files below a `step_wise_evaluation_<L>` directory."""
    return sorted(_models_below(directory, (), set()))


def _models_below(directory: str, name: Parts, entered: set[str]) -> Iterator[str]:
    try:
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except OSError:  # not there, or closed to us: then the tree says nothing
        return
    real = os.path.realpath(directory)
    if real in entered:  # a link that leads back
        return
    entered.add(real)
    if name and any(_RUNS_FILE.fullmatch(stem(entry.name)) for entry in entries):
        yield "/".join(name)
    for entry in filter(is_directory, entries):
        yield from _models_below(entry.path, (*name, entry.name), entered)


def is_directory(entry: os.DirEntry[str]) -> bool:
    """The entry is a directory, or a link that leads to one."""
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself
        return False


def place_by_directories(directory: Parts) -> Place:
    """What `<model>/<experiment>` says where no scenario files lie below it."""
    above = _without_inner(directory)
    model = _as_model(above[-2:-1])
    return Place(model=model, experiment=above[-1] if model else None)


def _place_beside(
    directory: Parts, language: str, given: Parts, models_below: ModelsBelow
) -> Place | None:
    """What is said of a file that lies beside a `step_wise_evaluation_<L>` directory."""
    models = models_below(str(PurePosixPath(*directory, f"step_wise_evaluation_{language}")))
    if not models:
        return None
    holder = _without_inner(directory)[:-1]
    own = [m for m in models if holder[-m.count("/") - 1 :] == tuple(m.split("/"))]
    model = own[0] if own else models[0] if len(models) == 1 else None
    experiment = _experiment(directory, model, given)
    return Place(model=model, experiment=experiment, language=language.upper())


def _experiment(directory: Parts, model: str | None, given: Parts) -> str | None:
    """The experiment that a directory is, one that holds all files of an experiment.

    It is one if a model's directory holds it, or if the caller gave a path above it; a tree that
    starts right there names none.
    """
    above = _without_inner(directory)
    own_name = (model or "").rsplit("/", 1)[-1]
    if not above or above[-1] == "/":
        return None
    is_held_by_model = above[-2:-1] == (own_name,)
    is_below_given = above[-1] != own_name and len(given) < len(above)
    return above[-1] if is_held_by_model or is_below_given else None


def _without_inner(directory: Parts) -> Parts:
    return directory[:-1] if directory[-1:] == (_INNER_DIRECTORY,) else directory


def _as_model(directory: Parts) -> str | None:
    """A directory's name as that of a model, unless the tree itself needs the name."""
    if not directory or directory[0] == "/" or directory[0] == _INNER_DIRECTORY:
        return None
    is_taken = _STEP_WISE.fullmatch(directory[0]) or _JUDGE_DIRECTORY.fullmatch(directory[0])
    return None if is_taken else directory[0]
