"""What a path says: the kind of a file, and its model, experiment, language, scenario and run.

The benchmark's pipeline writes

    <model>/<experiment>/[orchestration_bench/]step_wise_evaluation_<L>/<client>/<scenario>_out.json
    <model>/<experiment>/[orchestration_bench/]evaluation_result_<L>.json
    <model>/<experiment>/[orchestration_bench/]scenario_processing_<L>.log
    <model>/<experiment>/[orchestration_bench/]llm_evaluation_logs_<L>/<scenario>_out_trial_<run>.json

and its steps, run by hand,

    step_wise_evaluation[_<L>]/<model>/<scenario>_out.json
    step_wise_evaluation[_<L>]/<model>/<model>-result.json
    evaluation_logs/<scenario>_out_trial_<run>.json

Other places that are known:

    <model>/[<L>/]<scenario>_out.json
    agent_cards/[<L>/]<agent>.json, <L>/multiagent_cards/<agent>.json

In the pipeline's tree a model is called by the alias that a person chose, which is the outer
directory; the inner one is what the client calls the model. Either may be several directories deep
(`org/model`). In a tree made by hand the inner directory is the only name there is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

import msgspec

from orchbench_analytics.ingest import trees
from orchbench_analytics.ingest.decode import (
    RunsDocument,
    UnreadableDocument,
    decompress,
    read_bytes,
)
from orchbench_analytics.paths import is_address

SUFFIXES = (".json.zst", ".json.gz", ".json")
NOT_NEEDED = {
    "evaluator_summary": "repeats figures of the evaluator's result file",
    "unfinished_results": "left behind by an evaluation that was stopped; evaluate again for all",
}

_LANGUAGE = re.compile(r"[Ee][Nn]|[Kk][Oo]|[A-Z]{2}")
_LANGUAGE_OF_NAME = re.compile(r".+[-_.](EN|KO)", re.DOTALL | re.IGNORECASE)
_STEP_WISE = re.compile(r"step_wise_evaluation(?:_([A-Za-z]+))?")
_JUDGE_DIRECTORY = re.compile(r"(?:llm_)?evaluation_logs(?:_([A-Za-z]+))?")
_PIPELINE_FILE = re.compile(
    r"(scenario_processing|evaluation)_[A-Za-z]+\.log|evaluation_result_[A-Za-z]+\.json(\..+)?"
    r"|llm_evaluation_logs_[A-Za-z]+"
)
_UNFINISHED_DIRECTORY = ".temp_eval_results"
_RUNS_ENDING = "_out"
_JUDGE_FILE = re.compile(r"(?P<scenario>.+)_out_trial_(?P<run>.+)", re.DOTALL)
_SUMMARY_FILE = re.compile(
    r".+_out_comprehensive_evaluation|(.+[-_])?lm_eval_style_results?", re.DOTALL
)
_RESULT_FILE = re.compile(r"evaluation_result_([A-Za-z]+)")
_NAMED_RESULT_FILE = re.compile(r"(?P<model>.+?)[-_]results?", re.DOTALL)
_RUN_LOG = re.compile(r"scenario_processing_([A-Za-z]+)\.log")
_INNER_DIRECTORY = "orchestration_bench"
_CARD_DIRECTORIES = {"agent_cards", "multiagent_cards"}
_BY_HAND = ("data", "results")  # where the benchmark's documentation has its steps write to
_DEEPEST_NAME = 4
_HANGUL, _LATIN = re.compile(r"[가-힣]"), re.compile(r"[A-Za-z]")
_LEAST_HANGUL = 0.05  # of the letters of a Korean scenario's labels a fifth or more, of others none

Parts = tuple[str, ...]
Survey = Callable[[str], "Surroundings"]


class Place(NamedTuple):
    """Where a file belongs; null is what is not said."""

    kind: str = "unknown"
    model: str | None = None
    experiment: str | None = None
    language: str | None = None
    scenario: str | None = None
    run: str | None = None
    client_model: str | None = None


class Surroundings(NamedTuple):
    """What a directory holds that tells which kind of tree it is part of.

    `models` are the names below each `step_wise_evaluation[_<L>]`, `languages` what each is in.
    """

    models: dict[str, list[str]]
    languages: dict[str, str]
    is_of_pipeline: bool
    has_own_results: bool


_NOTHING_AROUND = Surroundings({}, {}, is_of_pipeline=False, has_own_results=False)


def place_by_tree(above: Parts, file_name: str, given: Parts, survey: Survey) -> Place:
    """What a file's path says, when the caller gave the path `given` at or above it.

    above: the directory that the file lies in.
    """
    name, parent = stem(file_name), above[-1] if above else ""
    if parent == _UNFINISHED_DIRECTORY:
        return Place("unfinished_results")
    if _SUMMARY_FILE.fullmatch(name):
        return Place("evaluator_summary")
    if (logs := _JUDGE_DIRECTORY.fullmatch(parent)) and (match := _JUDGE_FILE.fullmatch(name)):
        place = _place_beside(above[:-1], logs[1], given, survey)
        if place is None:
            place = _place_of_experiment(above[:-1]) if logs[1] else Place()
            place = place._replace(language=logs[1] and logs[1].upper())
        return place._replace(kind="judge_log", **match.groupdict())
    if match := _RESULT_FILE.fullmatch(name):  # its content may say more than directories do
        place = _place_beside(above, match[1], given, survey)
        return (place or Place(language=match[1].upper()))._replace(kind="results")
    if match := _RUN_LOG.fullmatch(file_name):
        place = _place_beside(above, match[1], given, survey) or _place_of_experiment(above)
        return place._replace(kind="run_log", language=match[1].upper())
    if is_for_cards(above):
        return Place("agent_card", language=language_of_card(above))
    if _is_runs_name(name):
        place = place_of_directory(above, given, survey)
        return place._replace(kind="runs", scenario=name.removesuffix(_RUNS_ENDING))
    if match := _NAMED_RESULT_FILE.fullmatch(name):
        if _step_wise_at(above) is not None:
            return place_of_directory(above, given, survey)._replace(kind="results")
        return Place(model=match["model"] if match["model"] != "evaluation" else None)
    return Place()


@lru_cache(maxsize=256)  # it is asked once per file, of few directories
def place_of_directory(directory: Parts, given: Parts, survey: Survey) -> Place:
    """What the path of a directory of scenario files says."""
    index = _step_wise_at(directory)
    if index is None:
        return _place_of_plain(directory)
    above, step_wise, client = directory[:index], directory[index], "/".join(directory[index + 1 :])
    around = survey(_text(above))
    place = _place_of_client(above, step_wise, client or None, given, around)
    return place._replace(language=_suffix(step_wise) or around.languages.get(step_wise, "EN"))


def place_result(
    path: Parts, said: Parts, given: Parts, survey: Survey, *, is_in_tree: bool
) -> Place:
    """Where a result file at `path` belongs that says it was made from the directory `said`.

    `is_in_tree` is that its name is the one which the pipeline gives it.
    """
    above, index = path[:-1], _step_wise_at(said)
    name = stem(path[-1])
    by_name = _LANGUAGE_OF_NAME.fullmatch(name)
    beside = language_of(above[-1]) or (by_name and by_name[1].upper())
    if index is None:
        place = _place_of_plain(said)
        if place.model is None and is_in_tree:
            place = _place_of_experiment(above)
        return place._replace(language=place.language or beside)
    step_wise, client = said[index], said[index + 1 :]
    if client and trees.is_directory(_text((*above, step_wise, *client))):
        return place_of_directory((*above, step_wise, *client), given, survey)
    around = _NOTHING_AROUND._replace(is_of_pipeline=is_in_tree)
    place = _place_of_client(said[:index], step_wise, "/".join(client) or None, None, around)
    own = _place_of_experiment(above, place.client_model)
    if is_in_tree and own.experiment == place.experiment:
        place = own  # the tree still stands, though its directories may have been renamed
    return place._replace(language=_suffix(step_wise) or beside or "EN")


def language_of(directory: str) -> str | None:
    """The language that a directory's name is, in capitals."""
    return directory.upper() if _LANGUAGE.fullmatch(directory) else None


def language_of_card(above: Parts) -> str | None:
    """The language of an agent card: that of its directory, or else of the one above."""
    return next(filter(None, map(language_of, above[:-3:-1])), None)


def is_input_name(name: str) -> bool:
    """A file of this name may be an input file: JSON, packed or not, or the log of a run."""
    return name.endswith(SUFFIXES) or bool(_RUN_LOG.fullmatch(name))


def is_for_cards(above: Parts) -> bool:
    """The directory is one of agent cards, or of those of one language."""
    return not _CARD_DIRECTORIES.isdisjoint(above[-2:])


def is_result_name(name: str) -> bool:
    """The name, without its suffix, is one that an evaluator's result file has."""
    return bool(_RESULT_FILE.fullmatch(name) or _NAMED_RESULT_FILE.fullmatch(name))


def _is_runs_name(name: str) -> bool:
    return name.endswith(_RUNS_ENDING) and name != _RUNS_ENDING


def stem(name: str) -> str:
    """A file's name without the suffix of a JSON file, packed or not."""
    for suffix in SUFFIXES:
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name


def survey(directory: str) -> Surroundings:
    """Look at what lies in a directory; one that is not there, or closed to us, says nothing."""
    try:
        entries = trees.scandir(directory)
    except OSError:
        return _NOTHING_AROUND
    step_wise = [e for e in entries if _STEP_WISE.fullmatch(e.name) and is_directory(e)]
    models = {entry.name: sorted(_models_below(entry.path, (), set())) for entry in step_wise}
    return Surroundings(
        models,
        {
            entry.name: _suffix(entry.name) or _language_of_labels(entry.path, models[entry.name])
            for entry in step_wise
        },
        is_of_pipeline=any(_PIPELINE_FILE.fullmatch(entry.name) for entry in entries),
        has_own_results=any(
            trees.exists(f"{entry.path}/{model}/{model.rsplit('/', 1)[-1]}-result{suffix}")
            for entry in step_wise
            for model in models[entry.name]
            for suffix in SUFFIXES
        ),
    )


def is_directory(entry: trees.DirectoryEntry) -> bool:
    """The entry is a directory, or a link that leads to one."""
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself
        return False


def _models_below(directory: str, name: Parts, entered: set[str]) -> Iterator[str]:
    try:
        entries = trees.scandir(directory)
    except OSError:
        return
    real = directory if is_address(directory) else os.path.realpath(directory)
    if real in entered:  # a link that leads back
        return
    entered.add(real)
    names = {stem(entry.name) for entry in entries}
    if name and (f"{name[-1]}-result" in names or any(map(_is_runs_name, names))):
        yield "/".join(name)
    for entry in filter(is_directory, entries):
        yield from _models_below(entry.path, (*name, entry.name), entered)


def _language_of_labels(directory: str, models: list[str]) -> str:
    """KO where the first labels that can be read are Korean, EN otherwise, as the benchmark has it.

    A name without a language means English, but a person may have run Korean scenarios into it.
    """
    for model in models:
        for entry in trees.scandir(f"{directory}/{model}"):
            if not _is_runs_name(stem(entry.name)):
                continue
            try:
                data = decompress(read_bytes(entry.path), entry.name)
                runs = msgspec.json.decode(data, type=RunsDocument).history.values()
                labels = "".join(str(msgspec.json.decode(run.label)) for run in runs)
            except (UnreadableDocument, msgspec.DecodeError, RecursionError):
                continue
            hangul, latin = len(_HANGUL.findall(labels)), len(_LATIN.findall(labels))
            return "KO" if hangul > _LEAST_HANGUL * (hangul + latin) else "EN"
    return "EN"


def _place_of_client(
    above: Parts, step_wise: str, client: str | None, given: Parts | None, around: Surroundings
) -> Place:
    """Whose files lie in `<above>/<step_wise>/<client>`: an alias', or the client's own.

    `given` is null where `above` is not a path of this machine.
    """
    holder = _without_inner(above)
    is_of_pipeline = around.is_of_pipeline or len(holder) < len(above)
    is_below_given = (
        given is not None and len(given) < len(holder) and not trees.is_root(holder[-1])
    )
    is_by_hand = (
        _suffix(step_wise) is None
        or len(around.models.get(step_wise, ())) > 1
        or holder[-2:] == _BY_HAND
    )
    place = Place(model=client, client_model=client)
    if client is None:
        return place._replace(experiment=holder[-1] if is_below_given else None)
    if alias := _alias_like(holder[:-1], client):
        return place._replace(model=alias, experiment=holder[-1])
    if alias := _alias_like(holder, client):
        return place._replace(model=alias)
    is_pipeline = not is_by_hand and (
        is_of_pipeline or (is_below_given and not around.has_own_results)
    )
    if is_pipeline and (alias := _as_model(holder[-2:-1])):
        return place._replace(model=alias, experiment=holder[-1])
    return place._replace(experiment=holder[-1] if is_below_given else None)


def _alias_like(directory: Parts, client: str) -> str | None:
    """The alias at the end of a directory's path if it is what the client calls the model.

    Clients keep `org/model`, or write it `org_model`, or leave `org` out.
    """
    for depth in range(_DEEPEST_NAME, 1, -1):
        if client in ("/".join(directory[-depth:]), "_".join(directory[-depth:])):
            return "/".join(directory[-depth:])
    own = directory[-1] if directory else ""
    is_like = client == own or client.endswith((f"/{own}", f"_{own}"))
    return own if own and is_like else None


def _place_of_experiment(directory: Parts, client: str | None = None) -> Place:
    """What `<model>/<experiment>` says where no scenario files lie below it."""
    holder = _without_inner(directory)
    model = _alias_like(holder[:-1], client or "") or _as_model(holder[-2:-1])
    return Place(model=model, experiment=holder[-1] if model else None, client_model=client)


def _place_of_plain(directory: Parts) -> Place:
    """What `<model>/[<L>/]` says."""
    language = language_of(directory[-1]) if directory else None
    if language is not None:
        directory = directory[:-1]
    return Place(model=_as_model(directory[-1:]), language=language)


def _place_beside(
    directory: Parts, language: str | None, given: Parts, survey: Survey
) -> Place | None:
    """What is said of a file that lies beside directories of scenario files, if any do."""
    around = survey(_text(directory))
    wanted = language and language.upper()
    holding = [
        (step_wise, model)
        for step_wise, models in around.models.items()
        for model in models
        if wanted in (None, around.languages[step_wise])
    ]
    if not holding:
        return None
    holder = _without_inner(directory)[:-1]
    own = [pair for pair in holding if _alias_like(holder, pair[1])]
    if len(holding) > 1 and len(own) != 1:
        return Place(language=wanted)
    step_wise, model = own[0] if len(own) == 1 else holding[0]
    return place_of_directory((*directory, step_wise, *model.split("/")), given, survey)


def _step_wise_at(directory: Parts) -> int | None:
    """Where in a path the last directory of scenario files is."""
    places = (i for i in range(len(directory) - 1, -1, -1) if _STEP_WISE.fullmatch(directory[i]))
    return next(places, None)


def _suffix(step_wise: str) -> str | None:
    """The language that the name of a directory of scenario files ends with."""
    match = _STEP_WISE.fullmatch(step_wise)
    return match[1].upper() if match and match[1] else None


def _without_inner(directory: Parts) -> Parts:
    return directory[:-1] if directory[-1:] == (_INNER_DIRECTORY,) else directory


def _as_model(directory: Parts) -> str | None:
    """A directory's name as that of a model, unless the tree itself needs the name."""
    if not directory or trees.is_root(directory[0]) or directory[0] == _INNER_DIRECTORY:
        return None
    is_taken = _STEP_WISE.fullmatch(directory[0]) or _JUDGE_DIRECTORY.fullmatch(directory[0])
    return None if is_taken else directory[0]


def _text(directory: Parts) -> str:
    return trees.joined(directory)
