"""The command line: one module for each group of commands."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from orchbench_analytics.cli import comparing, export, ingesting, planning, queries, scores
from orchbench_analytics.cli.app import app, say
from orchbench_analytics.errors import OrchbenchError
from orchbench_analytics.store.verify import naming_damage

__all__ = ["app", "comparing", "export", "ingesting", "main", "planning", "queries", "scores"]


def main() -> None:
    """Run the command line; a wrong call ends with a sentence, not a traceback."""
    try:
        with naming_damage(*map(Path, sys.argv[1:])):
            app()
    except OrchbenchError as error:
        say(f"orchbench: {error}")
        sys.exit(2)
    except BrokenPipeError:  # the reader of our output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
