"""Write a sweep of invented models over invented scenarios, as the benchmark leaves one."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from orchbench_analytics.demo.cards import agent_cards
from orchbench_analytics.demo.evaluator import evaluate_scenario, result_file
from orchbench_analytics.demo.judge import judge_run
from orchbench_analytics.demo.labels import Document, Scenario
from orchbench_analytics.demo.models import Experiment, Model, sweep_models
from orchbench_analytics.demo.runs import Prepared, answer_scenario
from orchbench_analytics.demo.scenario import build_scenario
from orchbench_analytics.demo.world import LANGUAGES, templates, world
from orchbench_analytics.errors import SelectionError


class SweepSummary(NamedTuple):
    """What was written: all files and bytes, cards and judge logs included."""

    root: Path
    models: int
    files: int
    bytes: int


def write_sweep(
    root: Path,
    *,
    models: int = 12,
    scenarios: int = 12,
    runs: int = 3,
    seed: int = 7,
    languages: Sequence[str] = ("EN", "KO"),
    write_judge_logs: bool = False,
    write_evaluations: bool = False,
) -> SweepSummary:
    """Write `results/` and `agent_cards/` under root; the same seed writes the same bytes.

    `scenarios` is per language. The models that were judged also get what an evaluator leaves:
    its judge's logs and its own result files.
    """
    _check(models=models, scenarios=scenarios, runs=runs, languages=languages)
    attempts = [(m, e) for m in sweep_models(models, seed=seed) for e in m.experiments]
    sizes = [_write(path, card) for path, card in _agent_card_files(root, languages)]
    for language in languages:
        evaluated: dict[Path, list[Document]] = {}
        for scenario in _scenarios(language, scenarios, seed):
            prepared = Prepared.of(scenario)
            for model, experiment in attempts:
                document = answer_scenario(prepared, model, experiment, runs=runs, seed=seed)
                place = root / "results" / model.name / experiment.name
                path = _document_path(place, model, scenario)
                sizes.append(_write(path, document))
                if write_judge_logs and model.is_judged:
                    logs = _judge_logs(place, model, experiment, scenario, document, seed)
                    sizes += [_write(log_path, log) for log_path, log in logs]
                if write_evaluations and model.is_judged:
                    said = path.relative_to(root).as_posix()
                    detail = evaluate_scenario(scenario, document, path=said)
                    evaluated.setdefault(place, []).append(detail)
        for place, details in evaluated.items():
            content = result_file(place.relative_to(root).as_posix(), details)
            sizes.append(_write(place / f"evaluation_result_{language}.json", content))
    return SweepSummary(root, models, len(sizes), sum(sizes))


def _check(*, models: int, scenarios: int, runs: int, languages: Sequence[str]) -> None:
    for name, value in (("models", models), ("scenarios", scenarios), ("runs", runs)):
        if value < 1:
            raise SelectionError(f"{name} is {value}; a sweep needs at least 1")
    unknown = [language for language in languages if language not in LANGUAGES]
    if unknown or not languages or len({*languages}) != len(languages):
        known = ", ".join(LANGUAGES)
        raise SelectionError(f"languages are {languages!r}; choose from {known}, each once")


def _scenarios(language: str, count: int, seed: int) -> Iterator[Scenario]:
    """Scenarios with numbers of chance, so that they do not correspond between languages."""
    rng = random.Random(f"{seed}/{language}")
    numbers = sorted(rng.sample(range(1, 2 * count + 10), count))
    order: list[int] = []
    for number in numbers:
        if not order:
            order = rng.sample(range(len(templates())), len(templates()))
        yield build_scenario(seed, language, str(number), templates()[order.pop()])


def _agent_card_files(root: Path, languages: Sequence[str]) -> Iterator[tuple[Path, Document]]:
    for language in languages:
        for agent_id, card in agent_cards(world(language)):
            yield root / "agent_cards" / language / f"{agent_id}.json", card


def _document_path(place: Path, model: Model, scenario: Scenario) -> Path:
    folder = place / f"step_wise_evaluation_{scenario.language}" / model.name
    return folder / f"{scenario.scenario_id}_out.json"


def _judge_logs(
    place: Path,
    model: Model,
    experiment: Experiment,
    scenario: Scenario,
    document: Document,
    seed: int,
) -> Iterator[tuple[Path, Document]]:
    folder = place / f"llm_evaluation_logs_{scenario.language}"
    for name, run in document["history"].items():
        source = f"{seed}/judge/{model.name}/{experiment.name}/{scenario.language}"
        log = judge_run(
            scenario, run["sub_agent_history"], source=f"{source}/{scenario.scenario_id}/{name}"
        )
        yield folder / f"{scenario.scenario_id}_out_trial_{name}.json", log


def _write(path: Path, document: Document) -> int:
    content = msgspec.json.format(msgspec.json.encode(document), indent=2)
    try:
        path.write_bytes(content)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return len(content)
