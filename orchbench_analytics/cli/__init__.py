"""The command line: one module for each command."""

from __future__ import annotations

from orchbench_analytics.cli import (  # noqa: F401 (each registers its command)
    audit,
    check,
    compare,
    consistency,
    costs,
    demo,
    dictionary,
    export,
    figure,
    ingest,
    leaderboard,
    power,
    predict,
    profile,
    remove,
    report,
    results,
    score,
    shortlist,
    show,
    sources,
    sql,
    tag,
    trend,
    view,
)
from orchbench_analytics.cli.app import app
from orchbench_analytics.cli.boundary import run_guarded

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line; a wrong call ends with a sentence, not a traceback."""
    run_guarded(lambda: app(prog_name="orchbench", standalone_mode=False))
