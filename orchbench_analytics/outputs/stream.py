"""Rows put out while they come, a batch at a time, so that no more than a few are held."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

import polars as pl

from orchbench_analytics.errors import OrchbenchError, PathError
from orchbench_analytics.outputs import terminal
from orchbench_analytics.outputs.put import put_text, require_writable
from orchbench_analytics.outputs.render import BINARY, Format, render

STREAMED: tuple[Format, ...] = ("csv", "json", "jsonl", "parquet")


class _Writer(Protocol):
    def write(self, content: bytes, /) -> object: ...


def stream(frames: Iterable[pl.DataFrame], *, format: Format, output: Path | None) -> None:  # noqa: A002 (what users type)
    """Write frames of the same columns as one file or to standard output; there is at least one."""
    if output is not None:
        with _whole_file(output) as file:
            _write(frames, file, format)
    elif format in BINARY:
        if terminal.is_terminal():
            raise OrchbenchError(f"{format} is binary: name a file with --output, or pipe it on")
        _write(frames, sys.stdout.buffer, format)
    else:
        for text in _texts(frames, format):
            put_text(text)


def first_rows(frames: Iterable[pl.DataFrame], limit: int | None) -> Iterator[pl.DataFrame]:
    """The frames up to so many rows; no further frame is asked for than it takes."""
    remaining = limit
    for frame in frames:
        yield frame if remaining is None else frame.head(remaining)
        if remaining is not None:
            remaining -= min(remaining, frame.height)
            if remaining == 0 and frame.height:
                return


def _write(frames: Iterable[pl.DataFrame], file: _Writer, format: Format) -> None:  # noqa: A002 (what users type)
    if format == "parquet":
        _write_parquet(frames, file)
        return
    for text in _texts(frames, format):
        file.write(text.encode())


def _texts(frames: Iterable[pl.DataFrame], format: Format) -> Iterator[str]:  # noqa: A002 (what users type)
    """The pieces of one text, which is that of all rows together."""
    is_first = True
    for frame in frames:
        if format == "csv":
            yield render(frame, format="csv", has_header=is_first)
            is_first = False
        elif format == "jsonl":
            yield render(frame, format="jsonl")
        elif not frame.is_empty():
            yield ("[" if is_first else ",") + frame.write_json()[1:-1]
            is_first = False
    if format == "json":
        yield "[]\n" if is_first else "]\n"


def _write_parquet(frames: Iterable[pl.DataFrame], file: _Writer) -> None:
    import pyarrow.parquet as pq

    remaining = iter(frames)
    first = next(remaining).to_arrow()
    with pq.ParquetWriter(file, first.schema, compression="zstd") as writer:
        writer.write_table(first)
        for frame in remaining:
            writer.write_table(frame.to_arrow().cast(first.schema))


@contextmanager
def _whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that takes its name when it is complete; what cannot be replaced is written to."""
    require_writable(path)
    real = path.resolve()
    is_device = path.exists() and not path.is_file()
    is_written_here = is_device or not os.access(real.parent, os.W_OK)
    place = path if is_written_here else real.with_name(f".{real.name}.{os.getpid()}.part")
    try:
        with place.open("wb") as file:
            yield file
        if place != path:
            if real.exists():
                shutil.copymode(real, place)
            place.replace(real)
    except OSError as error:
        raise PathError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        if place != path:
            place.unlink(missing_ok=True)
