"""Measuring commands: wall time, and the memory of a process with all its children."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

import msgspec
import psutil


class Measured(NamedTuple):
    seconds: float
    peak_megabytes: float


def measure(code: str, *arguments: object) -> Measured:
    """Run Python code in a process of its own, watching the memory of its whole tree."""
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)])
    peak = 0.0

    def watch() -> None:
        nonlocal peak
        root = psutil.Process(process.pid)
        while process.poll() is None:
            peak = max(peak, _tree_megabytes(root))
            time.sleep(0.02)

    watcher = threading.Thread(target=watch)
    watcher.start()
    if process.wait() != 0:
        raise SystemExit(f"the measured code failed: {code}")
    seconds = time.perf_counter() - started
    watcher.join()
    return Measured(seconds, peak)


def _tree_megabytes(root: psutil.Process) -> float:
    """Proportional memory: pages that forked workers share count once."""
    total = 0
    try:
        for process in (root, *root.children(recursive=True)):
            total += process.memory_full_info().pss
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return 0.0
    return total / 1e6


def decode_floor(tree: Path) -> float:
    """Seconds to read all files and decode them with msgspec, in one thread; best of three."""
    files = sorted(tree.rglob("*.json"))
    times = []
    for _ in range(3):
        started = time.perf_counter()
        for file in files:
            msgspec.json.decode(file.read_bytes())
        times.append(time.perf_counter() - started)
    return min(times)


def report(name: str, value: float, bound: float, unit: str = "x the floor") -> bool:
    """Print a figure beside its bound; true if it holds."""
    holds = value <= bound
    mark = "ok  " if holds else "OVER"
    print(f"{mark}  {name:58} {value:8.2f} {unit} (bound {bound:g})", flush=True)
    return holds
