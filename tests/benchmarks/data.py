"""Data for benchmarks: the perf archive beside the checkout, or a demo sweep of that size."""

from __future__ import annotations

import os
from pathlib import Path

from tests.packs import unpack
from tests.sweep import write_sweep

_ARCHIVE = Path(__file__).parents[3] / "shared" / "conformance" / "perf.tar.xz"


def benchmark_tree(directory: Path) -> Path:
    """About 210 MB of raw runs below `directory`."""
    if _ARCHIVE.is_file():
        unpack(_ARCHIVE, directory)
        return directory / "perf"
    return sample_tree(directory, scenarios=135)


def sample_tree(directory: Path, *, scenarios: int) -> Path:
    """A demo sweep of 12 models: about 1.5 MB for each scenario, all of them different."""
    write_sweep(directory, models=12, scenarios=scenarios)
    return directory / "results"


def replicate(tree: Path, directory: Path, times: int) -> Path:
    """The tree several times over under other model names; hard links, so disk is not an issue."""
    if directory.exists():
        return directory
    models = {entry.name for entry in tree.iterdir()}
    for path in tree.rglob("*.json"):
        parts = path.relative_to(tree).parts
        for copy in range(times):
            renamed = [f"{part}-{copy}" if part in models else part for part in parts]
            target = directory.joinpath(*renamed)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.link(path, target)
    return directory
