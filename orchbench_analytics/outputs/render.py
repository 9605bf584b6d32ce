"""Rows for people and programs: a table for the eye, or Markdown, CSV, JSON, Parquet."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from orchbench_analytics.errors import OrchbenchError

if TYPE_CHECKING:
    import polars as pl

Format = Literal["table", "markdown", "csv", "json", "parquet"]
_LONGEST_CELL = 60
_LONGEST_LAST_CELL = 200
_FORMULA_START = r"^[=+\-@\t\r]"


def show(frame: pl.DataFrame, *, format: Format, output: Path | None = None) -> None:  # noqa: A002 (what users type)
    """Write rows to standard output, or to a file."""
    if format == "parquet":
        if output is None and sys.stdout.isatty():
            raise OrchbenchError("Parquet is no text: name a file with --output, or pipe it on")
        frame.write_parquet(output if output is not None else sys.stdout.buffer)
        return
    text = render(frame, format=format)
    if output is None:
        sys.stdout.write(text)
    else:
        output.write_text(text, encoding="utf-8")


def render(frame: pl.DataFrame, *, format: Format) -> str:  # noqa: A002 (what users type)
    """Rows as text."""
    if format == "json":
        return frame.write_json() + "\n"
    if format == "csv":
        return _defuse_formulas(frame).write_csv()
    limits = [_LONGEST_CELL] * (frame.width - 1) + [_LONGEST_LAST_CELL]
    cells = [list(map(_cell, row, limits)) for row in frame.iter_rows()]
    is_number = [dtype.is_numeric() for dtype in frame.dtypes]
    if format == "markdown":
        return _markdown(frame.columns, cells, is_number)
    return _table(frame.columns, cells, is_number)


def _markdown(columns: list[str], cells: list[list[str]], is_number: list[bool]) -> str:
    rows = [columns, ["--:" if number else "---" for number in is_number], *cells]
    for row in rows:
        row[:] = [cell.replace("|", "\\|") for cell in row]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _table(columns: list[str], cells: list[list[str]], is_number: list[bool]) -> str:
    """Plain aligned columns; Korean characters are two cells wide, which rich knows."""
    from rich.cells import cell_len

    rows = [columns, *cells]
    widths = [max(cell_len(row[i]) for row in rows) for i in range(len(columns))]

    def line(row: list[str]) -> str:
        padded = []
        for cell, width, number in zip(row, widths, is_number, strict=True):
            space = " " * (width - cell_len(cell))
            padded.append(space + cell if number else cell + space)
        return "  ".join(padded).rstrip() + "\n"

    rule = "  ".join("─" * width for width in widths) + "\n"
    return line(columns) + rule + "".join(map(line, cells))


def _cell(value: Any, limit: int) -> str:
    """A value as one line of visible characters, not too long."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.4f}"
    text = str(value)
    text = "".join(c if c.isprintable() else "�" if c not in "\n\t\r" else " " for c in text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _defuse_formulas(frame: pl.DataFrame) -> pl.DataFrame:
    """Texts that a spreadsheet would run as a formula, with an apostrophe before them."""
    import polars as pl

    text = pl.col(pl.String)
    is_formula = text.str.contains(_FORMULA_START)
    return frame.with_columns(pl.when(is_formula).then("'" + text).otherwise(text).name.keep())
