"""The terminal: its size and colours, and what may be written on it."""

from __future__ import annotations

import os
import re
import sys
from typing import TextIO

NARROWEST = 40
_WIDTH, _HEIGHT = 100, 40  # where there is no terminal, as in a log
# Control characters, marks of text direction, separators, lone surrogates.
_ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_BLANKS = re.compile(r"[\t\r\n\v\f]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def is_terminal(stream: TextIO | None = None) -> bool:
    """Whether a stream is a terminal; one that is closed or missing is not."""
    stream = sys.stdout if stream is None else stream
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # the stream is closed
        return False


def width() -> int:
    """The columns of the terminal, also where results go into a pipe; without one 100."""
    given = os.environ.get("COLUMNS", "")
    return max(NARROWEST, int(given) if given.isdecimal() else _size().columns)


def height() -> int:
    """The lines of the terminal."""
    given = os.environ.get("LINES", "")
    return int(given) if given.isdecimal() else _size().lines


def _size() -> os.terminal_size:
    for descriptor in (1, 2, 0):
        try:
            size = os.get_terminal_size(descriptor)
        except OSError:  # not a terminal
            continue
        if size.columns > 0:
            return size
    return os.terminal_size((_WIDTH, _HEIGHT))


def takes_colour() -> bool:
    """Whether to colour what standard output shows; see https://no-color.org."""
    is_plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return is_terminal() and not is_plain


def printable(text: str) -> str:
    """The text without characters that act on a terminal; lines and tabs stay."""
    return _ACTING.sub(_REPLACEMENT, text)


def printable_line(text: str) -> str:
    """The text as one line without characters that act on a terminal."""
    return printable(_BLANKS.sub(" ", text))


def write_text(text: str) -> None:
    """Write text to standard output; on a terminal, nothing of it acts on the terminal."""
    if is_terminal():
        write_readable(printable(text))
    else:
        sys.stdout.write(text)


def write_readable(text: str) -> None:
    """Write for people: what the terminal's encoding lacks is replaced."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
