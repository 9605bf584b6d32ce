"""Messages to people: all of them go to standard error, through `say`."""

from __future__ import annotations

import shlex
import sys
import textwrap

from orchbench_analytics.outputs import terminal
from orchbench_analytics.outputs.printable import printable


def say(text: str) -> None:
    """Talk to the person, on standard error; lines fit a terminal, and nothing acts on it."""
    lines = printable(text).splitlines() or [""]
    if terminal.is_terminal(sys.stderr):
        lines = [part for line in lines for part in _wrapped(line)]
    try:
        print("\n".join(lines), file=sys.stderr)
    except (OSError, ValueError, AttributeError):  # nobody listens any more
        return


def call_of(*words: object) -> str:
    """A call of this program as one types it, with quotes where they are needed."""
    return shlex.join(["orchbench", *map(str, words)])


def _wrapped(line: str) -> list[str]:
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.wrap(
        line,
        terminal.width(),
        subsequent_indent=indent if line[:1] == " " else "",
        break_long_words=False,
        break_on_hyphens=False,
    ) or [""]
