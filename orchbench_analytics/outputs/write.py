"""Rows in a format, written onto a terminal, into a pipe, or into a file.

A table is for the terminal (`screen`), Markdown and LaTeX are for texts (`paper`): all three are
rounded and labelled. All other formats are for programs, which get all columns and rows, unrounded.
"""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, Protocol

from orchbench_analytics.errors import OrchbenchError, PathError
from orchbench_analytics.outputs import terminal
from orchbench_analytics.paths import require_parent
from orchbench_analytics.store.replace import is_empty, new_file, place_for

if TYPE_CHECKING:
    import polars as pl

Format = Literal["table", "markdown", "latex", "csv", "json", "jsonl", "xlsx", "parquet"]
PAPER = ("markdown", "latex")
BINARY = ("xlsx", "parquet")
EXTENSIONS: dict[str, Format] = {
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".md": "markdown",
    ".parquet": "parquet",
    ".tex": "latex",
    ".xlsx": "xlsx",
}
_MOST_EXCEL_ROWS = 2**20 - 1
FORMULA_STARTS = tuple("=+-@\t\r")


class _Writer(Protocol):
    def write(self, content: bytes, /) -> object: ...


def write_rows(
    frames: Iterable[pl.DataFrame],
    *,
    format: Format,  # noqa: A002 (what users type)
    output: Path | None,
    is_verbatim: bool = False,
    is_whole: bool = True,
    about: str = "",
) -> None:
    """Write frames of the same columns as one table, to a file or to standard output.

    There is at least one frame. Each is written as it comes, if the format allows it. `is_verbatim`
    keeps the names of columns where people read them too. In a table for papers, a whole one has
    all columns, and `about` goes into the caption.
    """
    said: dict[str, Any] = {"is_verbatim": is_verbatim, "is_whole": is_whole, "about": about}
    if output is not None:
        with _whole_file(output) as file:
            _write(frames, file, format, **said)
    elif format not in BINARY:
        for text in texts_of(frames, format, **said):
            terminal.write_text(text)
    elif terminal.is_terminal():
        raise OrchbenchError(f"{format} is binary: give a file with --output, or pipe it on")
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
    require_parent(path)
    place_for(path)
    if path.is_file() and not is_empty(path):
        raise PathError(
            f"{path} already exists and is not overwritten; remove it, or name another file"
        )


def _write(frames: Iterable[pl.DataFrame], file: _Writer, wanted: Format, **said: Any) -> None:
    import polars as pl

    if wanted == "parquet":
        _write_parquet(frames, file)
    elif wanted == "xlsx":
        file.write(excel(pl.concat(frames)))
    else:
        for text in texts_of(frames, wanted, **said):
            file.write(text.encode())


def texts_of(
    frames: Iterable[pl.DataFrame],
    wanted: Format,
    *,
    is_verbatim: bool = False,
    is_whole: bool = True,
    about: str = "",
) -> Iterator[str]:
    """The pieces of one text, which is that of all rows together."""
    import polars as pl

    from orchbench_analytics.outputs import paper
    from orchbench_analytics.outputs.screen import Limits, screen

    if wanted == "table":
        limits = Limits(terminal.width())
        yield screen(pl.concat(frames), limits, is_verbatim=is_verbatim)
    elif wanted in PAPER:
        table = paper.paper_table(
            pl.concat(frames), about=about, is_verbatim=is_verbatim, is_whole=is_whole
        )
        yield paper.latex(table) if wanted == "latex" else paper.markdown(table)
    elif wanted == "csv":
        for place, frame in enumerate(frames):
            yield _defuse_formulas(flat(frame)).write_csv(include_header=place == 0)
    elif wanted == "jsonl":
        for frame in frames:
            yield frame.write_ndjson()
    else:
        separator = "["
        for frame in frames:
            if not frame.is_empty():
                yield separator + frame.write_json()[1:-1]
                separator = ","
        yield "[]\n" if separator == "[" else "]\n"


def _write_parquet(frames: Iterable[pl.DataFrame], file: _Writer) -> None:
    import pyarrow.parquet as pq

    remaining = iter(frames)
    first = next(remaining).to_arrow()
    with pq.ParquetWriter(file, first.schema, compression="zstd") as writer:
        writer.write_table(first)
        for frame in remaining:
            writer.write_table(frame.to_arrow().cast(first.schema))


def excel(frame: pl.DataFrame) -> bytes:
    """Rows as an Excel file of one sheet; a text is never run as a formula."""
    try:
        import xlsxwriter
    except ImportError as error:
        raise PathError("Excel files need xlsxwriter: pip install xlsxwriter") from error
    if frame.height > _MOST_EXCEL_ROWS:
        raise PathError(f"an Excel sheet holds {_MOST_EXCEL_ROWS:,} rows, not {frame.height:,}")
    options = {
        "in_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "nan_inf_to_errors": True,
        "remove_timezone": True,
    }
    buffer = io.BytesIO()
    with xlsxwriter.Workbook(buffer, options) as workbook:
        flat(frame).write_excel(workbook, autofit=False)
    return buffer.getvalue()


def flat(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with lists and structs as JSON texts, for formats that have no such values."""
    import polars as pl

    nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
    as_json = (
        pl.struct(value=pl.col(name))
        .struct.json_encode()
        .str.strip_prefix('{"value":')
        .str.strip_suffix("}")
        .alias(name)
        for name in nested
    )
    return frame.with_columns(as_json)


def _defuse_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Texts that a spreadsheet would run as a formula, with an apostrophe before them."""
    import polars as pl

    text = pl.col(pl.String)
    is_formula = text.str.head(1).is_in(FORMULA_STARTS)
    defused = frame.with_columns(pl.when(is_formula).then("'" + text).otherwise(text).name.keep())
    return defused.rename({n: f"'{n}" for n in frame.columns if n.startswith(FORMULA_STARTS)})


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
