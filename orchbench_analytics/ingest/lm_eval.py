"""A `results.json` of lm-evaluation-harness, read as the totals of an evaluator's result file.

It has no scenarios, so nothing is scored from it: its figures are rows of `reported_models`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from orchbench_analytics.ingest.decode import ResultsDocument

_BENCHMARK = "OrchestrationBench"


class Harness(msgspec.Struct):
    """What says that a document is one of lm-evaluation-harness, and whose scores it holds."""

    results: Any = None
    model_name: Any = None

    @property
    def is_of_benchmark(self) -> bool:
        """The document has figures of this benchmark."""
        return isinstance(self.results, dict) and isinstance(self.results.get(_BENCHMARK), dict)


def as_results(document: Harness) -> ResultsDocument:
    """The figures of the benchmark, by their names without lm-eval's filter."""
    figures = {
        name.split(",")[0]: value
        for name, value in document.results[_BENCHMARK].items()
        if isinstance(value, int | float)
    }
    return ResultsDocument(figures, [])
