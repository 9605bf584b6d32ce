"""lm-evaluation-harness: a `results.json` for each model, in the shape that leaderboards read.

Its figures are called as the benchmark's own integration calls them: `Plan_EN`, `FC`, `Overall`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version

import msgspec

from orchbench_analytics.exports.documents import (
    BENCHMARK,
    SCORE_TABLES,
    DocumentDirectory,
    Row,
    Score,
    Subject,
    directory_names,
    profile_of,
    scores_of,
)
from orchbench_analytics.exports.sink import Outgoing
from orchbench_analytics.metrics import MEAN_OF_LANGUAGES

_FIGURES = {
    "workflow_similarity": "Plan",
    "call_rejection_f1": "Call_Rejection",
    "function_call_f1": "FC",
    "average_score": "Average",
}
_FILTER = "none"  # lm-eval names after each figure how answers were filtered


class LmEval(DocumentDirectory):
    """A directory with a directory for each model and experiment."""

    tables = SCORE_TABLES

    def documents(self, outgoing: Outgoing) -> Iterator[tuple[str, Iterable[bytes]]]:
        """The `results.json` of each model and experiment."""
        profile = profile_of(outgoing.connection)
        found = scores_of(outgoing.connection)
        directories = directory_names(name for subject in found for name in subject)
        for subject, scores in found.items():
            document = msgspec.json.encode(_document(subject, scores, profile))
            path = f"{directories[subject.model]}/{directories[subject.experiment]}/results.json"
            yield path, [msgspec.json.format(document, indent=2), b"\n"]


def _document(subject: Subject, scores: Sequence[Score], profile: str) -> Row:
    figures: Row = {"alias": BENCHMARK}
    for score in scores:
        name = _figure(score)
        figures[f"{name},{_FILTER}"] = score.value
        error = score.standard_error
        figures[f"{name}_stderr,{_FILTER}"] = "N/A" if error is None else error
    counts = [score.scenario_count for score in scores]
    return {
        "results": {BENCHMARK: figures},
        "group_subtasks": {BENCHMARK: []},
        "configs": {
            BENCHMARK: {
                "task": BENCHMARK,
                "num_fewshot": 0,
                "metadata": {"profile": profile, "experiment": subject.experiment},
            }
        },
        "versions": {BENCHMARK: 1.0},
        "n-shot": {BENCHMARK: 0},
        "higher_is_better": {BENCHMARK: {_figure(score): True for score in scores}},
        "n-samples": {BENCHMARK: {"original": max(counts), "effective": max(counts)}},
        "config": {"model": subject.model, "model_args": ""},
        "model_name": subject.model,
        "model_name_sanitized": subject.model.replace("/", "__"),
        "date": time.time(),
        "orchbench_analytics_version": version("orchbench-analytics"),
    }


def _figure(score: Score) -> str:
    """The name of a figure; the mean of languages has no language, and its average is Overall."""
    name = _FIGURES[score.metric]
    if score.language != MEAN_OF_LANGUAGES:
        return f"{name}_{score.language}"
    return "Overall" if name == "Average" else name
