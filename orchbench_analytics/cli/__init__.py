"""The command line: one module for each command, which is imported when it is asked for."""

from __future__ import annotations

from orchbench_analytics.cli.app import main, program

__all__ = ["main", "program"]
