"""Every sink on the conformance pack: time, size, and whether memory stays flat.

`python -m tests.benchmarks.sinks` prints the table; `make bench` runs it with the others.
"""

from __future__ import annotations

import shutil
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tests.benchmarks.data import replicate, sample_tree
from tests.benchmarks.measure import peak_megabytes, report, seconds
from tests.services.postgres import postgres_server, server_programs

_PACK = Path(__file__).parents[3] / "shared" / "conformance" / "pack.tar.xz"
_INGEST = """
import sys
from orchbench_analytics import open_warehouse
open_warehouse(sys.argv[1], create=True).ingest(sys.argv[2])
"""
_EXPORT = """
import sys
from orchbench_analytics import open_warehouse
open_warehouse(sys.argv[1]).export(sys.argv[2], overwrite=True)
"""
_START = "import orchbench_analytics.exports.export, pyarrow"
_RUNS = 3
_GROWTH = 1.2


class SinkBound(NamedTuple):
    """How a sink's target is named, and the seconds an idle machine may take for the pack."""

    target: str
    seconds: float


# Measured prototypes on a busy machine took 4.8, 2.2, 2.6, 2.3, 2.4, 4.1 and 2.8 s.
SINKS = {
    "Parquet": SinkBound("{}/out", 10),
    "DuckDB": SinkBound("{}/out.duckdb", 10),
    "SQLite": SinkBound("{}/out.sqlite", 10),
    "CSV": SinkBound("{}/out.csv", 10),
    "Delta": SinkBound("delta:{}/out", 10),
    "Iceberg": SinkBound("iceberg:{}/out", 15),
}
POSTGRES_SECONDS = 15.0


def sink_benchmarks(room: Path) -> list[bool]:
    """Time and size of every sink on the pack, and how memory grows with four times the data."""
    tree = pack_tree(room / "pack")
    small, large = room / "sinks1", room / "sinks4"
    seconds(_INGEST, small, tree)
    seconds(_INGEST, large, replicate(tree, room / "pack4", 4))
    held = []
    for name, bound in SINKS.items():
        target = room / "export"
        taken = median(_export_seconds(small, bound.target, target) for _ in range(_RUNS))
        size = _megabytes(target)
        growth = _peak(large, bound.target, target) / _peak(small, bound.target, target)
        held += [
            report(f"export to {name}, {size:.0f} MB", taken, bound.seconds, "s"),
            report("  peak memory with four times the data", growth, _GROWTH, "x"),
        ]
    return [*held, *_postgres_benchmark(small)]


def pack_tree(directory: Path) -> Path:
    """The results of the conformance pack, or a demo sweep of that size."""
    if not _PACK.is_file():
        return sample_tree(directory, scenarios=50)
    with tarfile.open(_PACK) as archive:
        archive.extractall(directory, filter="data")
    return directory / "results"


def _export_seconds(warehouse: Path, target: str, place: Path) -> float:
    """A first export, without the time that Python takes to start."""
    _clear(place)
    return seconds(_EXPORT, warehouse, target.format(place)) - seconds(_START)


def _peak(warehouse: Path, target: str, place: Path) -> float:
    _clear(place)
    return peak_megabytes(_EXPORT, warehouse, target.format(place))


def _postgres_benchmark(warehouse: Path) -> Iterator[bool]:
    programs = server_programs()
    if programs is None:
        print("      Postgres is not installed", flush=True)
        return
    with postgres_server(programs) as uri:
        taken = seconds(_EXPORT, warehouse, uri) - seconds(_START)
    yield report("export to Postgres", taken, POSTGRES_SECONDS, "s")


def _clear(place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()


def _megabytes(place: Path) -> float:
    return sum(file.stat().st_size for file in place.rglob("*") if file.is_file()) / 1e6


def main() -> int:
    """Measure every sink; exit code 1 if a bound is broken."""
    with tempfile.TemporaryDirectory(prefix="orchbench-sinks-") as room:
        return 0 if all(sink_benchmarks(Path(room))) else 1


if __name__ == "__main__":
    sys.exit(main())
