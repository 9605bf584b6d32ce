"""Tables in LaTeX, compiled by a real pdflatex; names have every special character."""

import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.outputs.paper import latex, paper_table

NAMES = ["a_b%c#d$e{f}", "~g^h&i\\j", "[k] <l> |m| \"n\" 'o' `p`", "\\input{/etc/passwd}", "--q--é"]
DOCUMENT = r"""\documentclass{article}
\usepackage[letterpaper, margin=1in]{geometry}
\usepackage{booktabs}
\begin{document}
%s
\end{document}
"""


def compile_latex(text: str, directory: Path) -> str:
    pdflatex = shutil.which("pdflatex")
    if pdflatex is None:
        pytest.fail("pdflatex is needed; see: make test-services")
    (directory / "paper.tex").write_text(DOCUMENT % text, encoding="utf-8")
    options = ["-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape"]
    done = subprocess.run(
        [pdflatex, *options, "paper.tex"],
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert (directory / "paper.pdf").stat().st_size > 0
    return done.stdout


def test_special_characters_compile(tmp_path: Path) -> None:
    frame = pl.DataFrame({"model": NAMES, "average_score": [0.1, 0.2, 0.3, 0.4, 0.5]})
    compile_latex(latex(paper_table(frame)), tmp_path)


@pytest.mark.parametrize("what", ["leaderboard", "compare", "consistency"])
def test_the_tables_of_the_demo_fit_a_page(demo: Path, tmp_path: Path, what: str) -> None:
    warehouse = open_warehouse(demo)
    frame = {
        "leaderboard": lambda: warehouse.leaderboard(intervals=True),
        "compare": warehouse.compare,
        "consistency": lambda: warehouse.consistency("flips"),
    }[what]()
    said = compile_latex(
        latex(paper_table(frame, about="24 scenarios × 3 runs (EN, KO)")), tmp_path
    )
    assert "Overfull" not in said
