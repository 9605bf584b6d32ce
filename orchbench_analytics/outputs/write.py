"""Writing rows and texts: onto a terminal, into a pipe, or into a file."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

import polars as pl
import pyarrow.parquet as pq

from orchbench_analytics.errors import OrchbenchError, PathError
from orchbench_analytics.outputs import terminal
from orchbench_analytics.outputs.printable import printable
from orchbench_analytics.outputs.render import BINARY, Format, excel, render
from orchbench_analytics.outputs.screen import Limits, screen
from orchbench_analytics.store.replace import is_empty, new_file, place_for

_FEWEST_ROWS = 20
_OTHER_LINES = 8  # of a screen: what is said before and after a table


class _Writer(Protocol):
    def write(self, content: bytes, /) -> object: ...


def is_screen(format: Format | None, output: Path | None = None) -> bool:  # noqa: A002 (what users type)
    """Whether rows go to a terminal, as a table for people to read."""
    return output is None and format in (None, "table") and terminal.is_terminal()


def show_table(
    frame: pl.DataFrame,
    *,
    is_wide: bool = False,
    is_whole: bool = False,
    is_verbatim: bool = False,
    is_prose: bool = False,
) -> None:
    """Write a table that fits the terminal; wide shows all columns, whole all rows."""
    rows = None if is_whole else max(_FEWEST_ROWS, terminal.height() - _OTHER_LINES)
    text = screen(
        frame,
        Limits(None if is_wide else terminal.width(), rows),
        is_coloured=terminal.takes_colour(),
        is_verbatim=is_verbatim,
        is_prose=is_prose and not is_wide,
    )
    _write_replacing(text)


def write_rows(frames: Iterable[pl.DataFrame], *, format: Format, output: Path | None) -> None:  # noqa: A002 (what users type)
    """Write frames of the same columns as one table, to a file or to standard output.

    There is at least one frame. Each is written as it comes, if the format allows it.
    """
    if output is not None:
        with _whole_file(output) as file:
            _write(frames, file, format)
    elif format not in BINARY:
        for text in _texts(frames, format):
            write_text(text)
    elif terminal.is_terminal():
        raise OrchbenchError(f"{format} is binary: name a file with --output, or pipe it on")
    else:
        _write(frames, sys.stdout.buffer, format)


def first_rows(frames: Iterable[pl.DataFrame], limit: int | None) -> Iterator[pl.DataFrame]:
    """The frames up to so many rows; no further frame is asked for than it takes."""
    remaining = limit
    for frame in frames:
        yield frame if remaining is None else frame.head(remaining)
        if remaining is not None:
            remaining -= min(remaining, frame.height)
            if remaining == 0 and frame.height:
                return


def write_text(text: str) -> None:
    """Write text to standard output; on a terminal, nothing of it acts on the terminal."""
    if terminal.is_terminal():
        _write_replacing(printable(text))
    else:
        sys.stdout.write(text)


def write_file(path: Path, content: bytes) -> None:
    """Write a file whole; a path that cannot be written is the caller's mistake."""
    with _whole_file(path) as file:
        file.write(content)


def require_writable(path: Path) -> None:
    """Refuse a path that a new file cannot be written to; parents of it are not made.

    Rows and texts carry no mark of ours, so a file that is there is never replaced.
    """
    if path.is_dir():
        raise PathError(f"{path} is a directory; name a file")
    if not path.parent.is_dir():
        raise PathError(f"{path} cannot be written: there is no directory {path.parent}")
    place_for(path)
    if path.is_file() and not is_empty(path):
        raise PathError(
            f"{path} is there already and is not written over; remove it, name another file, or "
            "write to standard output and let the shell replace it"
        )


def _write_replacing(text: str) -> None:
    """Write for people: what the terminal's encoding lacks is replaced."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))


def _write(frames: Iterable[pl.DataFrame], file: _Writer, wanted: Format) -> None:
    if wanted == "parquet":
        _write_parquet(frames, file)
    elif wanted == "xlsx":
        file.write(excel(pl.concat(frames)))
    else:
        for text in _texts(frames, wanted):
            file.write(text.encode())


def _texts(frames: Iterable[pl.DataFrame], wanted: Format) -> Iterator[str]:
    """The pieces of one text, which is that of all rows together."""
    if wanted in ("table", "markdown"):  # their columns are as wide as the widest row
        yield render(pl.concat(frames), format=wanted)
        return
    is_first = True
    for frame in frames:
        if wanted == "csv":
            yield render(frame, format="csv", has_header=is_first)
            is_first = False
        elif wanted == "jsonl":
            yield render(frame, format="jsonl")
        elif not frame.is_empty():
            yield ("[" if is_first else ",") + frame.write_json()[1:-1]
            is_first = False
    if wanted == "json":
        yield "[]\n" if is_first else "]\n"


def _write_parquet(frames: Iterable[pl.DataFrame], file: _Writer) -> None:
    remaining = iter(frames)
    first = next(remaining).to_arrow()
    with pq.ParquetWriter(file, first.schema, compression="zstd") as writer:
        writer.write_table(first)
        for frame in remaining:
            writer.write_table(frame.to_arrow().cast(first.schema))


@contextmanager
def _whole_file(path: Path) -> Iterator[BinaryIO]:
    """A new file that takes its name when it is complete; a device or pipe is written to."""
    require_writable(path)
    is_device = path.exists() and not path.is_file()
    real = place_for(path)
    try:
        if is_device:
            with path.open("wb") as file:
                yield file
            return
        with new_file(real) as staged:
            with staged.open("wb") as file:
                yield file
            if real.exists():
                require_writable(path)  # somebody else may have been first
                shutil.copymode(real, staged)
    except OSError as error:
        raise PathError(f"{path} cannot be written: {error.strerror or error}") from error
