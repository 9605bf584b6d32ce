"""A sweep of 999 models beside one of nine: a question costs what its answer costs.

The models are hard links of one tree under other names, so they take no disk. Figures are CPU
seconds of a process and its children, which a busy machine moves less than the wall clock.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import psutil

from tests.benchmarks.data import replicate
from tests.benchmarks.measure import Floor, report, tree_megabytes

_MODELS = 999
_COMPARED = 200
_RUNS = 3
_IMPORTS = "import polars, duckdb, pyarrow"
_COMMAND = """
import sys
from orchbench_analytics.cli import main
sys.argv = ["orchbench", *sys.argv[1:]]
main()
"""


class Cost(NamedTuple):
    """What a command took: CPU seconds of all its processes, and the memory of all of them."""

    cpu_seconds: float
    megabytes: float


def thousands_benchmarks(room: Path, tree: Path, floor: Floor) -> list[bool]:
    """Ingest, questions, all pairs and the report, at 999 models and at the nine of `tree`."""
    times = _MODELS // len(list(tree.iterdir()))
    many = replicate(tree, room / "thousands", times)
    print(f"      load {os.getloadavg()[0]:.1f}; {times} links of each model", flush=True)
    return [
        *_ingest(room, tree, many, times, floor),
        *_questions(room / "nine", room / "many"),
        *_one_more(room, tree, many),
        *_all_pairs(room, many),
    ]


def _ingest(room: Path, tree: Path, many: Path, times: int, floor: Floor) -> list[bool]:
    decode = min(floor.cpu_seconds() for _ in range(_RUNS))
    nine = _cpu("ingest", tree, "--into", room / "nine")
    all_models = _cost(["ingest", many, "--into", room / "many"], runs=1)
    return [
        report("ingest of nine models, three profiles", nine / decode, 14, "x the decode"),
        report("ingest of 999 models", all_models.cpu_seconds / (decode * times), 14, "x the same"),
        report("ingest of 999 models, peak memory", all_models.megabytes, 450, "MB"),
    ]


def _questions(nine: Path, many: Path) -> list[bool]:
    imports = median(_cost_of([sys.executable, "-c", _IMPORTS]).cpu_seconds for _ in range(_RUNS))
    first, second = sorted(path.name for path in (nine.parent / "data" / "perf").iterdir())[:2]
    questions: dict[str, tuple[list[str], list[str]]] = {
        "leaderboard": (["leaderboard"], []),
        "leaderboard --intervals": (["leaderboard"], ["--intervals"]),
        "compare A B": (["compare"], [f"{first}{{}}", f"{second}{{}}"]),
        "sql on model_scores": (["sql"], ["select count(*) from main.model_scores"]),
        "show MODEL": (["show"], [f"{first}{{}}"]),
    }
    held = []
    for name, (verb, rest) in questions.items():
        small = _cost([*verb, nine, *(text.format("") for text in rest)])
        large = _cost([*verb, many, *(text.format("-0") for text in rest)])
        ratio = large.cpu_seconds / small.cpu_seconds
        held += [
            report(f"{name}: 999 models", ratio, 2, "x nine models"),
            report(f"{name}: 999 models, peak memory", large.megabytes, 500, "MB"),
        ]
        if name in ("leaderboard", "compare A B"):
            beside = small.cpu_seconds / imports
            held.append(report(f"{name}: nine models", beside, 2.5, "x the imports"))
    steady = _cost(["consistency", many], runs=1)
    held.append(report("consistency: 999 models, peak memory", steady.megabytes, 400, "MB"))
    return held


def _all_pairs(room: Path, many: Path) -> list[bool]:
    chosen = _linked(sorted(many.iterdir())[:_COMPARED], room / "two_hundred")
    _cpu("ingest", chosen, "--into", room / "pairs")
    pairs = _cost(["compare", room / "pairs", "--format", "csv"], runs=1)
    page = _cost(["report", room / "pairs", room / "two_hundred.html"], runs=1)
    return [
        report("all pairs of 200 models", pairs.cpu_seconds, 10, "CPU s"),
        report("report of 200 models", page.cpu_seconds, 20, "CPU s"),
    ]


def _one_more(room: Path, tree: Path, many: Path) -> list[bool]:
    """One new model into 999 of them, beside the same model alone.

    It is a copy, made before anything else is linked: one more link changes the times of a file
    under all its names.
    """
    new = room / "new"
    shutil.copytree(next(iter(sorted(tree.iterdir()))), new / "one-more")
    alone = _cpu("ingest", new, "--into", room / "alone")
    beside = _cpu("ingest", many, new, "--into", room / "many")
    return [report("one new model into 999", beside / alone, 3, "x that model alone")]


def _linked(models: Iterable[Path], directory: Path) -> Path:
    for model in models:
        for path in model.rglob("*.json"):
            target = directory / model.name / path.relative_to(model)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.link(path, target)
    return directory


def _cpu(*words: object) -> float:
    return _cost(words, runs=1).cpu_seconds


def _cost(words: Sequence[object], *, runs: int = _RUNS) -> Cost:
    """The middle of some runs by CPU seconds, and the most memory of any."""
    costs = [_cost_of([sys.executable, "-c", _COMMAND, *map(str, words)]) for _ in range(runs)]
    return Cost(median(cost.cpu_seconds for cost in costs), max(cost.megabytes for cost in costs))


def _cost_of(command: list[str]) -> Cost:
    """User and system time of a process and its children, and their peak memory."""
    process = psutil.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak, pid = 0.0, 0
    while not pid:
        peak = max(peak, tree_megabytes(process))
        time.sleep(0.05)
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
    if exit_code := os.waitstatus_to_exitcode(status):
        raise SystemExit(f"exit code {exit_code}: {command}")
    return Cost(usage.ru_utime + usage.ru_stime, peak)
