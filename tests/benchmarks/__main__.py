"""Run all benchmarks, or the groups named; exit code 1 if a bound is broken."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

from tests.benchmarks.data import benchmark_tree, replicate
from tests.benchmarks.measure import RUNS, Floor, peak_megabytes, report, report_work, seconds
from tests.benchmarks.pages import many_models_benchmarks, page_benchmarks
from tests.benchmarks.sinks import sink_benchmarks
from tests.benchmarks.thousands import thousands_benchmarks
from tests.sweep import write_sweep

_INGEST = """
import sys
from orchbench_analytics import open_warehouse
open_warehouse(sys.argv[1], create=True).ingest(sys.argv[2], score=sys.argv[3] == "scored")
"""
_TO_LEADERBOARD = """
import sys
from orchbench_analytics import open_warehouse
warehouse = open_warehouse(sys.argv[1], create=True)
warehouse.ingest(sys.argv[2])
warehouse.table("leaderboard").collect()  # holds all three profiles
"""
_IMPORTS = "import polars, duckdb, pyarrow, networkx"
_INGEST_IMPORTS = "import orchbench_analytics.changes"
_VIEWS = """
import json, sys, time
from orchbench_analytics import open_warehouse
from orchbench_analytics.queries import views
warehouse = open_warehouse(sys.argv[1], create=True)
seconds = {}
for name in views():
    started = time.perf_counter()
    warehouse.table(name).collect()
    seconds[name] = time.perf_counter() - started
print(f"      slowest views: " + ", ".join(
    f"{name} {seconds[name]:.2f} s" for name in sorted(seconds, key=seconds.get)[:-4:-1]
), flush=True)
json.dump(max(seconds.values()), open(sys.argv[2], "w"))
"""
_INTERVALS = """
import sys
from orchbench_analytics import open_warehouse
open_warehouse(sys.argv[1]).leaderboard(intervals=True)
"""
_RESCORE = """
import sys
from orchbench_analytics import open_warehouse
open_warehouse(sys.argv[1]).score(profile=sys.argv[2])
"""


def main() -> int:
    """Measure everything against the decode floor of the same run."""
    with tempfile.TemporaryDirectory(prefix="orchbench-bench-") as scratch:
        room = Path(scratch)
        tree = benchmark_tree(room / "data")
        floor = Floor(tree)
        now = median(floor.seconds() for _ in range(RUNS))
        print(
            f"floor: {floor.megabytes:.0f} MB read and decoded in one thread, now in {now:.2f} s\n"
        )
        groups: dict[str, Callable[[], list[bool]]] = {
            "ingest": lambda: ingest_benchmarks(room, tree, floor),
            "score": lambda: score_benchmarks(room, tree, floor),
            "sweep": lambda: sweep_benchmarks(room),
            "pages": lambda: page_benchmarks(room, tree),
            "models": lambda: many_models_benchmarks(room),
            "sinks": lambda: sink_benchmarks(room),
            "thousands": lambda: thousands_benchmarks(room, tree, floor),
        }
        held = [held for name in sys.argv[1:] or groups for held in groups[name]()]
    return 0 if all(held) else 1


def ingest_benchmarks(room: Path, tree: Path, floor: Floor) -> list[bool]:
    """Reading into a warehouse: time, memory, an unchanged tree, size on disk."""
    first = floor.multiple(
        lambda n: seconds(_INGEST, room / f"raw{n}", tree, "unscored"), imports=_INGEST_IMPORTS
    )
    again = floor.multiple(
        lambda _: seconds(_INGEST, room / "raw0", tree, "unscored"), imports=_INGEST_IMPORTS
    )
    peak = peak_megabytes(_INGEST, room / "raw", tree, "unscored")
    larger = replicate(tree, room / "data4", 4)
    growth = peak_megabytes(_INGEST, room / "larger", larger, "unscored") / peak
    stored = sum(f.stat().st_size for f in (room / "raw0").rglob("*.parquet")) / 1e6
    return [
        report_work("ingest without scoring", first, 2.5),
        report_work("ingest of the unchanged tree", again, 0.6),
        report("ingest, peak memory of all processes", peak, 600, "MB"),
        report("the same for four times the tree, relative", growth, 1.2, "x"),
        report("tables on disk", stored, 15, "MB"),
    ]


def score_benchmarks(room: Path, tree: Path, floor: Floor) -> list[bool]:
    """From JSON to the leaderboard, what more data costs, another profile, and a tiny tree."""
    first = floor.multiple(
        lambda n: seconds(_TO_LEADERBOARD, room / f"all{n}", tree), imports=_IMPORTS
    )
    peak = peak_megabytes(_TO_LEADERBOARD, room / "all", tree)
    profile = room / "fourth.toml"
    profile.write_text('base = "spec"\nsilence = "call"\n', encoding="utf-8")
    fourth = floor.multiple(
        lambda n: seconds(_RESCORE, room / f"all{n}", profile), imports=_IMPORTS
    )
    return [
        report_work("JSON to leaderboard, three profiles", first, 7),
        report("four times the data, for each further floor", _marginal_cost(room, tree), 4),
        report("JSON to leaderboard, peak memory", peak, 2000, "MB"),
        report_work("a fourth profile from Parquet", fourth, 2),
        report("a dozen files to their leaderboard", _tiny_tree(room, tree), 5, "x the imports"),
    ]


def _marginal_cost(room: Path, tree: Path) -> float:
    """What each further byte costs once everything has started: the middle of three."""
    larger = replicate(tree, room / "data4", 4)
    costs = []
    for _ in range(3):
        floors = [Floor(path).seconds() for path in (tree, larger)]
        taken = [_board_seconds(room, path) for path in (tree, larger)]
        costs.append((taken[1] - taken[0]) / (floors[1] - floors[0]))
    return median(costs)


def _tiny_tree(room: Path, tree: Path) -> float:
    """A tree of a dozen files, against importing the libraries it takes: the middle of five."""
    for file in sorted(tree.rglob("*_out.json"))[:12]:
        copied = room / "dozen" / file.relative_to(tree)
        copied.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copied)
    return median(_board_seconds(room, room / "dozen") / seconds(_IMPORTS) for _ in range(RUNS))


def _board_seconds(room: Path, tree: Path) -> float:
    with tempfile.TemporaryDirectory(dir=room) as warehouse:
        return seconds(_TO_LEADERBOARD, warehouse, tree)


def sweep_benchmarks(room: Path) -> list[bool]:
    """A sweep of 1,000 models in two languages and three runs: every view, and the intervals."""
    write_sweep(room / "sweep", models=1000, scenarios=3)
    warehouse = room / "sweep" / "warehouse"
    seconds(_INGEST, warehouse, room / "sweep" / "results", "scored")
    seconds(_VIEWS, warehouse, room / "slowest.json")
    slowest = json.loads((room / "slowest.json").read_text(encoding="utf-8"))
    intervals = seconds(_INTERVALS, warehouse)
    peak = peak_megabytes(_INTERVALS, warehouse)
    return [
        report("1,000 models: slowest view", slowest, 2, "s"),
        report("1,000 models: leaderboard with intervals", intervals, 10, "s"),
        report("1,000 models: peak memory of the intervals", peak, 2000, "MB"),
    ]


if __name__ == "__main__":
    sys.exit(main())
