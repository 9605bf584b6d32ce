"""Result files: the evaluator's own, and those of other harnesses, read as if they were its own.

Every Eval Ever (as `exports/every_eval_ever.py` writes it): the aggregate document has the scores
of a model, and its instances, in a file beside it, have the figures of each scenario.
lm-evaluation-harness: a `results.json` has the figures of a model and no scenarios, so that nothing
is scored from it; its figures are rows of `reported_models`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from orchbench_analytics.ingest.decode import (
    Problem,
    ResultsDocument,
    UnreadableDocument,
    read_bytes,
)
from orchbench_analytics.metrics import LABEL_FIGURES, SCENARIO_FIGURES

_BENCHMARK = "OrchestrationBench"


class _Signs(msgspec.Struct):
    """What tells whose document it is: keys of Every Eval Ever and of lm-evaluation-harness."""

    evaluation_results: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    results: Any = None


def read_results(document: bytes, path: str) -> ResultsDocument:
    """The figures of a result file, in the form of the evaluator's."""
    signs = msgspec.json.decode(document, type=_Signs)
    if signs.evaluation_results is not msgspec.UNSET:
        return _from_every_eval_ever(document, path)
    if isinstance(signs.results, dict) and isinstance(signs.results.get(_BENCHMARK), dict):
        return _from_harness(signs.results[_BENCHMARK])
    return msgspec.json.decode(document, type=ResultsDocument)


def _from_harness(figures: dict[str, Any]) -> ResultsDocument:
    """Figures by their names without lm-eval's filter, as in `FC,none`."""
    named = {
        n.split(",")[0]: value for n, value in figures.items() if isinstance(value, int | float)
    }
    return ResultsDocument(named, [])


class _Metric(msgspec.Struct):
    metric_id: str


class _ScoreDetails(msgspec.Struct):
    score: float


class _Result(msgspec.Struct):
    metric_config: _Metric
    score_details: _ScoreDetails


class _Instances(msgspec.Struct):
    file_path: str
    checksum: str


class _Aggregate(msgspec.Struct):
    """An aggregate document, as far as it is read."""

    evaluation_results: list[_Result]
    detailed_evaluation_results: _Instances


class _Instance(msgspec.Struct):
    metadata: dict[str, str]


def _from_every_eval_ever(document: bytes, path: str) -> ResultsDocument:
    """The scores of the document, and the figures of the instances beside it."""
    aggregate = msgspec.json.decode(document, type=_Aggregate)
    stated = aggregate.detailed_evaluation_results
    instances = read_bytes(str(Path(path).with_name(stated.file_path.rsplit("/", 1)[-1])))
    if hashlib.sha256(instances).hexdigest() != stated.checksum:
        words = "the file of its instances is not the one that it was written with"
        place = "$.detailed_evaluation_results.checksum"
        raise UnreadableDocument(Problem("changed_instances", words, place))
    scores = {
        result.metric_config.metric_id.rsplit(".", 1)[-1]: result.score_details.score
        for result in aggregate.evaluation_results
    }
    return ResultsDocument(scores, list(_scenarios(instances.splitlines())))


def _scenarios(lines: Iterable[bytes]) -> Iterable[dict[str, Any]]:
    """The figures of each scenario, from the first of its instances."""
    seen = set()
    for line in lines:
        metadata = msgspec.json.decode(line, type=_Instance).metadata
        scenario = metadata.get("scenario")
        if scenario is None or scenario in seen:
            continue
        seen.add(scenario)
        known = (name for name in (*SCENARIO_FIGURES, *LABEL_FIGURES) if name in metadata)
        figures = {name: _number(metadata[name]) for name in known}
        yield {"file_path": f"{scenario}_out.json", **figures}


def _number(text: str) -> int | float | None:
    try:
        return int(text) if text.lstrip("-").isdigit() else float(text)
    except ValueError:
        return None
