"""Every sink on the conformance pack, flat and as a star: time, size, and whether memory is flat.

Times are held against the Parquet sink right before, memory against the same export of the pack.
`python -m tests.benchmarks.sinks` prints the table; `make bench` runs it with the others.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import NamedTuple

import psycopg

from tests.benchmarks.data import replicate, sample_tree
from tests.benchmarks.measure import report, seconds
from tests.packs import unpack
from tests.processes import run_and_weigh
from tests.services.postgres import postgres_server, server_programs

_PACK = Path(__file__).parents[3] / "shared" / "conformance" / "pack.tar.xz"
_INGEST = """
import sys
from pathlib import Path
from orchbench_analytics import open_warehouse
cards = [path for path in [Path(sys.argv[3])] if path.is_dir()]
open_warehouse(sys.argv[1], create=True).ingest(sys.argv[2], agent_cards=cards)
"""
_EXPORT = """
import sys
from orchbench_analytics import open_warehouse
warehouse, target, shape, *tables = sys.argv[1:]
open_warehouse(warehouse).export(target, star=shape == "star", tables=tables)
"""
_START = "import orchbench_analytics.exports.export, pyarrow"
_RUNS = 3
_GROWTH = 1.2
_RESET = "drop schema public cascade; create schema public"


class SinkBound(NamedTuple):
    """How a sink's target is named, how many times as long as Parquet it may take, and what of."""

    target: str
    flat: float
    star: float
    tables: tuple[str, ...] = ()


class Measured(NamedTuple):
    """What one export took."""

    seconds: float
    megabytes: float
    peak_megabytes: float


_PARQUET = SinkBound("{}/out", 1.3, 1.3)  # against itself: what a busy machine adds
_POSTGRES = SinkBound("", 3, 4)
SINKS = {
    "Parquet": _PARQUET,
    "DuckDB": SinkBound("{}/out.duckdb", 2, 4),
    "SQLite": SinkBound("{}/out.sqlite", 2, 2),
    "CSV": SinkBound("{}/out.csv", 1.3, 1.3),
    "Delta": SinkBound("delta:{}/out", 2.5, 2.5),
    "Iceberg": SinkBound("iceberg:{}/out", 3.5, 3.5),
    "Hyper": SinkBound("{}/out.hyper", 2.5, 2.5),
    "Excel, two tables": SinkBound("{}/out.xlsx", 5, 5, ("scored_steps", "leaderboard")),
}


def sink_benchmarks(room: Path) -> list[bool]:
    """Time and size of every sink on the pack, and how memory grows with four times the data."""
    tree = pack_tree(room / "pack")
    small, large = room / "sinks1", room / "sinks4"
    cards = tree.parent / "agent_cards"
    seconds(_INGEST, small, tree, cards)
    seconds(_INGEST, large, replicate(tree, room / "pack4", 4), cards)
    start = median(seconds(_START) for _ in range(_RUNS))
    held: list[bool] = []
    for shape in ("flat", "star"):
        for name, sink in _present_sinks(shape):
            with _target(sink, room / "export") as place:
                pairs = [
                    (
                        _export(small, _PARQUET, shape, str(room / "p")),
                        _export(small, sink, shape, place),
                    )
                    for _ in range(_RUNS)
                ]
                grown = _export(large, sink, shape, place).peak_megabytes
            times = median(
                (own.seconds - start) / (parquet.seconds - start) for parquet, own in pairs
            )
            own = Measured(
                *(median(figures) for figures in zip(*(p[1] for p in pairs), strict=True))
            )
            told = f"{name}, {shape}: {own.seconds - start:.1f} s, {own.megabytes:.0f} MB on disk"
            told_grown = f"  peak of {own.peak_megabytes:.0f} MB, with four times the data"
            held += [
                report(told, times, getattr(sink, shape), "x Parquet"),
                report(told_grown, grown / own.peak_megabytes, _GROWTH, "x"),
            ]
    return held


def pack_tree(directory: Path) -> Path:
    """The results of the conformance pack, or a demo sweep of that size."""
    if not _PACK.is_file():
        return sample_tree(directory, scenarios=50)
    unpack(_PACK, directory)
    return directory / "results"


def _present_sinks(shape: str) -> Iterator[tuple[str, SinkBound]]:
    """The sinks that can be measured here; a star does not go to Excel as a whole."""
    for name, sink in SINKS.items():
        if name == "Hyper" and find_spec("tableauhyperapi") is None:
            print("      Tableau's Hyper is not installed", flush=True)
        elif not (sink.tables and shape == "star"):
            yield name, sink
    if server_programs() is None:
        print("      Postgres is not installed", flush=True)
    else:
        yield "Postgres", _POSTGRES


@contextmanager
def _target(sink: SinkBound, place: Path) -> Iterator[str]:
    """The place of a sink: a directory, or the address of a server that runs meanwhile."""
    programs = server_programs()
    if sink is not _POSTGRES or programs is None:
        yield str(place)
        return
    with postgres_server(programs) as uri:
        yield uri


def _export(warehouse: Path, sink: SinkBound, shape: str, place: str) -> Measured:
    target = sink.target.format(place) or place
    _clear(place)
    started = time.perf_counter()
    ended = run_and_weigh(sys.executable, "-c", _EXPORT, warehouse, target, shape, *sink.tables)
    taken = time.perf_counter() - started
    if ended.returncode:
        raise SystemExit(f"the export to {target} failed")
    return Measured(taken, _megabytes(place), ended.peak_megabytes)


def _clear(place: str) -> None:
    if "://" in place:
        with psycopg.connect(place, autocommit=True) as connection:
            connection.execute(_RESET)
        return
    shutil.rmtree(place, ignore_errors=True)
    Path(place).mkdir()


def _megabytes(place: str) -> float:
    if "://" in place:
        query = "select pg_database_size(current_database())"
        with psycopg.connect(place) as connection:
            ((size,),) = connection.execute(query).fetchall()
        return float(size) / 1e6
    return sum(file.stat().st_size for file in Path(place).rglob("*") if file.is_file()) / 1e6


def main() -> int:
    """Measure every sink; exit code 1 if a bound is broken."""
    with tempfile.TemporaryDirectory(prefix="orchbench-sinks-") as room:
        return 0 if all(sink_benchmarks(Path(room))) else 1


if __name__ == "__main__":
    sys.exit(main())
