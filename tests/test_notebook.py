"""The notebook runs from top to bottom."""

import subprocess
import sys
from pathlib import Path

NOTEBOOK = Path(__file__).parents[1] / "notebooks" / "tour.py"


def test_the_tour_becomes_a_page_without_errors(tmp_path: Path) -> None:
    page = tmp_path / "tour.html"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "marimo",
            "export",
            "html",
            NOTEBOOK,
            "-o",
            page,
            "--no-include-code",
        ],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "ailed" not in done.stderr  # of cells, and of charts that could not be drawn
    assert page.stat().st_size > 10_000
