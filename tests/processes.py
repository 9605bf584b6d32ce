"""Processes of their own: the command line, and what a piece of code makes Python import."""

import subprocess
import sys

ORCHBENCH = [sys.executable, "-c", "from orchbench_analytics.cli import main; main()"]


def imported_by(code: str, *modules: str) -> list[str]:
    """Which of the modules are imported once the code has run."""
    told = f"{code}\nimport sys\nprint([m for m in {modules!r} if m in sys.modules])\n"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    return [name for name in modules if repr(name) in done.stdout.splitlines()[-1]]
