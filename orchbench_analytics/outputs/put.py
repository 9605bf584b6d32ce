"""Putting rows out: onto a terminal, into a pipe, or into a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from orchbench_analytics.errors import OrchbenchError, PathError
from orchbench_analytics.outputs import terminal
from orchbench_analytics.outputs.render import BINARY, Format, agreed_format, encode, render
from orchbench_analytics.outputs.visible import visible

if TYPE_CHECKING:
    import polars as pl

_FEWEST_ROWS = 20
_OTHER_LINES = 8  # of a screen: what is said before and after a table


def put(
    frame: pl.DataFrame,
    *,
    format: Format | None = None,  # noqa: A002 (what users type)
    output: Path | None = None,
    on_screen: pl.DataFrame | None = None,
    is_wide: bool = False,
    is_whole: bool = False,
    is_verbatim: bool = False,
    is_prose: bool = False,
) -> None:
    """Write rows: to a file, as a format, or as a table that fits the terminal.

    `on_screen` is what a terminal shows of them; wide shows all columns, whole all rows.
    """
    wanted = agreed_format(format, output)
    if output is not None and wanted is not None:
        write_file(output, encode(frame, format=wanted))
    elif is_screen(wanted):
        shown = frame if on_screen is None or is_wide else on_screen
        put_on_screen(
            shown,
            is_wide=is_wide,
            is_whole=is_whole,
            is_verbatim=is_verbatim,
            is_prose=is_prose,
        )
    elif wanted in BINARY:
        if terminal.is_terminal():
            raise OrchbenchError(f"{wanted} is binary: name a file with --output, or pipe it on")
        sys.stdout.buffer.write(encode(frame, format=wanted))
    else:
        put_text(render(frame, format=wanted or "table"))


def is_screen(format: Format | None, output: Path | None = None) -> bool:  # noqa: A002 (what users type)
    """Whether rows go to a terminal, as a table for the eye."""
    return output is None and format in (None, "table") and terminal.is_terminal()


def put_on_screen(
    frame: pl.DataFrame,
    *,
    is_wide: bool = False,
    is_whole: bool = False,
    is_verbatim: bool = False,
    is_prose: bool = False,
) -> None:
    """Write a table that fits the terminal."""
    from orchbench_analytics.outputs.screen import Limits, screen

    rows = None if is_whole else max(_FEWEST_ROWS, terminal.height() - _OTHER_LINES)
    limits = Limits(None if is_wide else terminal.width(), rows)
    colour = terminal.takes_colour()
    text = screen(
        frame,
        limits,
        is_coloured=colour,
        is_verbatim=is_verbatim,
        is_prose=is_prose and not is_wide,
    )
    _write_replacing(text)


def put_text(text: str) -> None:
    """Write text to standard output; on a terminal, nothing of it acts on the terminal."""
    if terminal.is_terminal():
        _write_replacing(visible(text))
    else:
        sys.stdout.write(text)


def _write_replacing(text: str) -> None:
    """Write for the eye: what the terminal's encoding lacks is replaced."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))


def require_writable(path: Path) -> None:
    """Refuse a path that a file cannot be written to; parents of it are not made."""
    if path.is_dir():
        raise PathError(f"{path} is a directory; name a file")
    if not path.parent.is_dir():
        raise PathError(f"{path} cannot be written: there is no directory {path.parent}")


def write_file(path: Path, content: bytes) -> None:
    """Write a file whole; a path that cannot be written is the caller's mistake."""
    require_writable(path)
    try:
        path.write_bytes(content)
    except OSError as error:
        raise PathError(f"{path} cannot be written: {error.strerror or error}") from error
