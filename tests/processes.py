"""Processes of their own: the command line, and what a piece of code makes Python import."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

ORCHBENCH = [sys.executable, "-c", "from orchbench_analytics.cli import main; main()"]


class Ended(NamedTuple):
    """How a process ended, and the most memory it had."""

    returncode: int
    peak_megabytes: float


def run_and_weigh(*call: object, **options: Any) -> Ended:
    """Run a command to its end, and look at its memory while it runs.

    What the system says of it afterwards begins with the memory of the process it was forked from.
    """
    status, peak = "", 0.0
    with subprocess.Popen(list(map(str, call)), **options) as started:
        while started.poll() is None:
            status = Path(f"/proc/{started.pid}/status").read_text(encoding="utf-8")
            said = (line.split() for line in status.splitlines())
            peak = max([peak, *(int(line[1]) / 1000 for line in said if line[0] == "VmHWM:")])
            time.sleep(0.01)
    return Ended(started.returncode, peak)


def imported_by(code: str, *modules: str) -> list[str]:
    """Which of the modules are imported once the code has run."""
    told = f"{code}\nimport sys\nprint([m for m in {modules!r} if m in sys.modules])\n"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    return [name for name in modules if repr(name) in done.stdout.splitlines()[-1]]
