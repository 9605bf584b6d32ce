"""The DuckDB that tables and views are made in."""

import re
import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "orchbench_analytics"


def test_no_progress_bar_is_mixed_with_results() -> None:
    # Without a script, as in a worker process, DuckDB takes Python for a prompt.
    show = "print(c.sql('select current_setting(\"enable_progress_bar\")').fetchall()[0][0])"
    code = (
        f"from orchbench_analytics.views.catalog import silent_duckdb; c = silent_duckdb(); {show}"
    )
    code = code.replace('"', "$$")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_every_duckdb_of_ours_is_without_a_progress_bar() -> None:
    opened = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if re.search(r"duckdb\.connect\(", path.read_text(encoding="utf-8"))
    }
    assert opened == {"views/catalog.py"}
