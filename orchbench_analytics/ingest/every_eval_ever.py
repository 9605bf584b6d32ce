"""Every Eval Ever documents that we wrote, read back as the evaluator's result files.

The aggregate document has the scores of a model, and its instances, in a file beside it, have the
figures of each scenario. `exports/every_eval_ever.py` writes both.
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


class Aggregate(msgspec.Struct):
    """An aggregate document, as far as it is read."""

    evaluation_results: list[_Result]
    detailed_evaluation_results: _Instances


class _Instance(msgspec.Struct):
    metadata: dict[str, str]


def is_aggregate(document: bytes) -> bool:
    """Whether a document is one of Every Eval Ever, and not an evaluator's result file."""
    return msgspec.json.decode(document, type=_Sign).evaluation_results is not msgspec.UNSET


class _Sign(msgspec.Struct):
    evaluation_results: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


def as_results(document: bytes, path: str) -> ResultsDocument:
    """The document and the instances beside it as a result file of the evaluator."""
    aggregate = msgspec.json.decode(document, type=Aggregate)
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
