"""The command line: one module for each command, which is imported when it is asked for."""

from __future__ import annotations

import os
import sys
from importlib import import_module

import typer

from orchbench_analytics.cli.app import GROUPS, app
from orchbench_analytics.cli.boundary import run_guarded

__all__ = ["main", "program"]

_COMMANDS = [name for names in GROUPS.values() for name in names]


def main() -> None:
    """Run the command line; a wrong call ends with a sentence, not a traceback."""
    # Our matrices are small: several threads of BLAS would wait for each other most of the time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    asked = [name for name in sys.argv[1:2] if name in _COMMANDS]
    run_guarded(lambda: program(*asked)(prog_name="orchbench", standalone_mode=False))


def program(*names: str) -> typer.Typer:
    """The program with the commands named, or with all of them: each registers itself."""
    for name in names or _COMMANDS:
        import_module(f"{__name__}.{name}")
    return app
