"""The program of a process that tries patterns with Python's own engine, and may be killed.

It needs nothing but the standard library: `patterns.py` starts it from this very text.
"""

from __future__ import annotations

import json
import re
import signal
import sys

MOST_CPU_SECONDS = 1.0


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern matches a text from its start; an unreadable pattern rules nothing out."""
    try:
        return re.match(pattern, text) is not None
    except (re.error, RecursionError, OverflowError, MemoryError):
        return True


def main() -> None:
    """Answer each line, a JSON list of a pattern and a text, with a line `true` or `false`.

    A search that takes too much CPU time ends this process, which is the answer then. CPU time
    does not depend on how busy the machine is. Windows cannot measure it: there the process that
    asks puts an end to this one.
    """
    set_timer = getattr(signal, "setitimer", None)
    for line in sys.stdin:
        if set_timer is not None:
            set_timer(signal.ITIMER_VIRTUAL, MOST_CPU_SECONDS)
        print(json.dumps(matches(*json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
