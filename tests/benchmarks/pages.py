"""The report: its time beside an export of the same tables, its size, and its memory."""

from __future__ import annotations

import shutil
from pathlib import Path
from statistics import median

from tests.benchmarks.measure import peak_megabytes, report, seconds
from tests.sweep import write_sweep

# What the page is made from: tables, and the views of its sections.
RELATIONS = (
    "steps", "plans", "judgements", "scored_steps", "scored_plans", "scored_arguments",
    "plan_edits", "plan_matches", "leaderboard", "model_scores", "confusion_matrix",
    "error_patterns", "failure_reasons", "tool_scores", "argument_scores", "plan_error_kinds",
    "plan_size_scores", "scenario_difficulties", "scenario_means", "scenario_scores",
    "score_costs",
)  # fmt: skip
RUNS = 3
_INGEST = """
import sys
from orchbench_analytics import open_warehouse
open_warehouse(sys.argv[1], create=True).ingest(sys.argv[2])
"""
_EXPORT = """
import sys
from orchbench_analytics import open_warehouse
open_warehouse(sys.argv[1]).export(sys.argv[2], tables=sys.argv[3:])
"""
_REPORT = """
import sys
from orchbench_analytics import open_warehouse
open_warehouse(sys.argv[1]).report(sys.argv[2])
"""
_DIRECTORY = """
import sys
from pathlib import Path
from orchbench_analytics import open_warehouse
from orchbench_analytics.engines import Local
from orchbench_analytics.pages.report import ReportOptions, make_report
warehouse = open_warehouse(sys.argv[1])
with Local() as engine:
    make_report(
        warehouse.path, warehouse.manifest(), Path(sys.argv[2]), ReportOptions(largest_page=0),
        engine,
    )
"""


def page_benchmarks(room: Path, tree: Path) -> list[bool]:
    """The report of the demo and of `tree`, which has 9 models, 441 scenarios and 3 runs."""
    write_sweep(room / "page_demo")
    held = []
    for name, results in (("demo", room / "page_demo" / "results"), ("9 x 441 x 3", tree)):
        warehouse = room / f"{name} warehouse"
        seconds(_INGEST, warehouse, results)
        page = room / f"{name}.html"
        multiple = median(_multiple(warehouse, room / "page_export", page) for _ in range(RUNS))
        megabytes = page.stat().st_size / 1e6
        held += [
            report(f"report of {name}", multiple, 3, "x an export of its tables"),
            report(f"report of {name}, size", megabytes, 5, "MB"),
        ]
    return held


def _multiple(warehouse: Path, target: Path, page: Path) -> float:
    """How long a report takes as a multiple of an export right before and right after it."""
    before = _export(warehouse, target)
    taken = seconds(_REPORT, warehouse, page)
    return 2 * taken / (before + _export(warehouse, target))


def _export(warehouse: Path, target: Path) -> float:
    taken = seconds(_EXPORT, warehouse, target, *RELATIONS)
    shutil.rmtree(target)
    return taken


def many_models_benchmarks(room: Path) -> list[bool]:
    """The report of 250 and of 1,000 models as a directory: its index, and memory beside it."""
    peaks = {}
    for models in (250, 1000):
        directory = room / f"page_models_{models}"
        write_sweep(directory, models=models, scenarios=3)
        seconds(_INGEST, directory / "warehouse", directory / "results")
        peaks[models] = peak_megabytes(_DIRECTORY, directory / "warehouse", directory / "page")
    index = (room / "page_models_1000" / "page" / "index.html").stat().st_size / 1e6
    return [
        report("report of 1,000 models, index", index, 2, "MB"),
        report("report of 1,000 models, peak memory of all processes", peaks[1000], 1000, "MB"),
        report("the same beside 250 models", peaks[1000] / peaks[250], 1.3, "x"),
    ]
