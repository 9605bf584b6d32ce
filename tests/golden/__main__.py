"""Make the golden pack anew: `python -m tests.golden` writes figures, `… results` the sweep too.

Figures change only when a scoring rule is meant to change; look at the diff before you commit it.
"""

import gzip
import json
import shutil
import sys
import tempfile
from pathlib import Path

from orchbench_analytics.demo import write_sweep
from tests.golden.pack import FIGURES, PACK, figures_of, golden_warehouse


def write_pack() -> None:
    """Write the sweep: every kind of model that the demo knows, a scenario of each language."""
    shutil.rmtree(PACK, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch)
        write_sweep(made, models=12, scenarios=1, runs=2, seed=5, write_judge_logs=True)
        for file in sorted(made.rglob("*.json")):
            packed = PACK / file.relative_to(made).with_suffix(".json.gz")
            packed.parent.mkdir(parents=True, exist_ok=True)
            packed.write_bytes(gzip.compress(file.read_bytes(), mtime=0))


def write_figures() -> None:
    """Write the figures of all profiles, as they are now."""
    with tempfile.TemporaryDirectory() as scratch:
        figures = figures_of(golden_warehouse(Path(scratch)))
    FIGURES.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if "results" in sys.argv:
        write_pack()
    write_figures()
