"""Measuring commands: wall time, and the memory of a process with all its children."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec
import psutil

RUNS = 5


def seconds(code: str, *arguments: object) -> float:
    """Wall time of Python code in a process of its own, with nothing else going on."""
    started = time.perf_counter()
    _wait(_start(code, *arguments), code)
    return time.perf_counter() - started


def peak_megabytes(code: str, *arguments: object) -> float:
    """Peak memory of such a process with all its children; looking at it slows it down."""
    process = _start(code, *arguments)
    root = psutil.Process(process.pid)
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, tree_megabytes(root))
        time.sleep(0.02)
    _wait(process, code)
    return peak


def _start(code: str, *arguments: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)])


def _wait(process: subprocess.Popen[bytes], code: str) -> None:
    if process.wait() != 0:
        raise SystemExit(f"the measured code failed: {code}")


def tree_megabytes(root: psutil.Process) -> float:
    """Proportional memory: pages that forked workers share count once."""
    total = 0
    try:
        for process in (root, *root.children(recursive=True)):
            total += process.memory_full_info().pss
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0.0
    return total / 1e6


class Multiple(NamedTuple):
    """A time as a multiple of the floor: of the work alone, and with starting and importing."""

    work: float
    with_imports: float


class Floor:
    """The least that reading can take: all files read, and decoded with msgspec, in one thread."""

    def __init__(self, tree: Path) -> None:
        self._files = sorted(tree.rglob("*.json"))
        self.megabytes = sum(file.stat().st_size for file in self._files) / 1e6

    def seconds(self) -> float:
        """How long it takes now."""
        started = time.perf_counter()
        for file in self._files:
            msgspec.json.decode(file.read_bytes())
        return time.perf_counter() - started

    def cpu_seconds(self) -> float:
        """What it takes of a core, which other work on the machine moves less."""
        started = time.process_time()
        self.seconds()
        return time.process_time() - started

    def multiple(self, run: Callable[[int], float], *, imports: str) -> Multiple:
        """How long a run takes as a multiple of the floor: the middle of five.

        Each run is held against the floor right before and right after it, since a machine can be
        half as fast again a minute later. What a process takes that does nothing but the imports
        is not work, and is also told apart.
        """
        before = self.seconds()
        multiples = []
        for number in range(RUNS):
            importing = seconds(imports)
            taken = run(number)
            after = self.seconds()
            floor = (before + after) / 2
            multiples.append(Multiple((taken - importing) / floor, taken / floor))
            before = after
        return sorted(multiples)[RUNS // 2]


def report(
    name: str, value: float, bound: float, unit: str = "x the floor", *, least: float = 0
) -> bool:
    """Print a figure beside its bounds; true if they hold."""
    holds = least <= value <= bound
    mark = "ok  " if holds else "OUT "
    bounds = f"bound {bound:g}" if not least else f"bounds {least:g} to {bound:g}"
    print(f"{mark}  {name:58} {value:8.2f} {unit} ({bounds})", flush=True)
    return holds


def report_work(name: str, value: Multiple, bound: float) -> bool:
    """Print a multiple of the floor; the bound is one of work, not of imports."""
    return report(
        name, value.work, bound, f"x the floor; {value.with_imports:.2f} with all imports"
    )
