"""The command line: one module for each group of commands."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from orchbench_analytics.cli import comparing, ingesting, queries, report, scores
from orchbench_analytics.cli.app import app, say
from orchbench_analytics.errors import OrchbenchError
from orchbench_analytics.store.verify import damaged_files

__all__ = ["app", "comparing", "ingesting", "main", "queries", "report", "scores"]


def main() -> None:
    """Run the command line; a wrong call ends with a sentence, not a traceback."""
    try:
        app()
    except OrchbenchError as error:
        say(f"orchbench: {error}")
        sys.exit(2)
    except BrokenPipeError:  # the reader of our output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception:  # DuckDB, polars and Arrow each have their own for a file they cannot read
        damaged = [file for argument in sys.argv[1:] for file in damaged_files(Path(argument))]
        if not damaged:
            raise
        say(f"orchbench: {damaged[0]} is damaged or gone; ingest anew into another directory")
        sys.exit(2)
