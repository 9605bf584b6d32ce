"""The sample sweep's generator: invented models over invented scenarios, in the benchmark's tree.

`python -m tests.sweep` writes the archive that `orchbench demo` unpacks. Adding an agent is adding
one file to `agents/`; a scenario that names its tools asks for it.
"""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import polars as pl

from orchbench_analytics import open_warehouse
from orchbench_analytics.warehouse import Warehouse
from tests.sweep.answers import Prepared, answer_scenario
from tests.sweep.judge import judge_run
from tests.sweep.models import Experiment, Model, named_models, sweep_models
from tests.sweep.scenarios import Scenario, build_scenario
from tests.sweep.world import Document, agent_cards, templates, world

SEED = 7
__all__ = ["demo_files", "write_evaluations", "write_sweep"]


def demo_files(directory: Path, *, models: int) -> dict[str, bytes]:
    """Every file of the demo by its path: agent cards first, then one model after another."""
    write_sweep(directory, models=models, write_judge_logs=True)
    warehouse = open_warehouse(directory / "warehouse", create=True)
    results, cards = directory / "results", directory / "agent_cards"
    warehouse.ingest(results, agent_cards=[cards], jobs=1)
    write_evaluations(directory, warehouse)
    trees = [cards, *(results / model.name for model in sweep_models(models, seed=SEED))]
    paths = [path for tree in trees for path in sorted(tree.rglob("*.json"))]
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in paths}


def write_evaluations(root: Path, warehouse: Warehouse) -> None:
    """Write the result files that an evaluator leaves for the models that were judged."""
    ingested = warehouse.table("scenarios").select("model", "experiment", "language").unique()
    judged = {model.name for model in named_models() if model.is_judged}
    for model, experiment, language in ingested.collect().sort(pl.all()).iter_rows():
        if model in judged:
            document = warehouse.results(
                model, experiment=experiment, language=language, profile="upstream"
            )
            place = root / "results" / model / experiment
            _write(place / f"evaluation_result_{language}.json", _as_evaluated(document, root))


def _as_evaluated(document: Document, root: Path) -> Document:
    """A result document with paths as the evaluator would see them, and without what we add."""
    del document["profile"]
    document["directory"] = Path(document["directory"]).relative_to(root).as_posix()
    for detail in document["detailed_results"]:
        del detail["scenario"]
        detail["file_path"] = Path(detail["file_path"]).relative_to(root).as_posix()
    return document


def write_sweep(
    root: Path,
    *,
    models: int = 12,
    scenarios: int = 12,
    runs: int = 3,
    seed: int = SEED,
    languages: Sequence[str] = ("EN", "KO"),
    write_judge_logs: bool = False,
) -> None:
    """Write `results/` and `agent_cards/` under root; the same seed writes the same bytes.

    `scenarios` is per language. The models that were judged may also get their judge's logs.
    """
    for path, card in _agent_card_files(root, languages):
        _write(path, card)
    attempts = [(m, e) for m in sweep_models(models, seed=seed) for e in m.experiments]
    for language in languages:
        for scenario in _scenarios(language, scenarios, seed):
            prepared = Prepared.of(scenario)
            for model, experiment in attempts:
                document = answer_scenario(prepared, model, experiment, runs=runs, seed=seed)
                place = root / "results" / model.name / experiment.name
                _write(_document_path(place, model, scenario), document)
                if write_judge_logs and model.is_judged:
                    logs = _judge_logs(place, model, experiment, scenario, document, seed)
                    for path, log in logs:
                        _write(path, log)


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


def _write(path: Path, document: Document) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(document), indent=2))
