"""The terminal: whether there is one, its size, and whether it takes colours."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TextIO

NARROWEST = 40


def is_terminal(stream: TextIO | None = None) -> bool:
    """Whether a stream is a terminal; one that is closed or missing is not."""
    stream = sys.stdout if stream is None else stream
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # the stream is closed
        return False


def width() -> int:
    """The columns of the terminal."""
    return max(NARROWEST, shutil.get_terminal_size().columns)


def height() -> int:
    """The lines of the terminal."""
    return shutil.get_terminal_size().lines


def takes_colour() -> bool:
    """Whether to colour what standard output shows; see https://no-color.org."""
    is_plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return is_terminal() and not is_plain
