"""Text from files, made safe for a terminal: control characters are replaced; and cut to fit."""

from __future__ import annotations

import re

# Control characters, marks of text direction, separators, lone surrogates.
_ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_BLANKS = re.compile(r"[\t\r\n\v\f]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def printable(text: str) -> str:
    """The text without characters that act on a terminal; lines and tabs stay."""
    return _ACTING.sub(_REPLACEMENT, text)


def printable_line(text: str) -> str:
    """The text as one line without characters that act on a terminal."""
    return printable(_BLANKS.sub(" ", text))


def cut(text: str, width: int) -> str:
    """One line of at most so many cells; Korean characters are two cells wide."""
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - 1, 0)).rstrip() + "…"


def cut_start(text: str, width: int) -> str:
    """The end of a line in at most so many cells: of a path the end says most."""
    return cut(text[::-1], width)[::-1]


def wrap(text: str, width: int, *, indent: str = "") -> list[str]:
    """A line in lines of at most so many cells, each indented; only overlong words are broken."""
    from rich.cells import cell_len, chop_cells

    room = max(width - len(indent), 1)
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(joined) <= room:
            lines[-1] = joined
        else:
            lines += chop_cells(word, room)
    return [f"{indent}{line}".rstrip() for line in lines if line] or [""]
