"""Rows as text: Markdown, CSV, JSON, JSON lines, a plain table; and as an Excel file.

Programs get all columns and rows, unrounded; `screen` makes what a terminal shows.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from orchbench_analytics.errors import PathError
from orchbench_analytics.outputs.printable import printable_line

if TYPE_CHECKING:
    import polars as pl

Format = Literal["table", "markdown", "csv", "json", "jsonl", "xlsx", "parquet"]
BINARY = ("xlsx", "parquet")
_EXTENSIONS: dict[str, Format] = {
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".md": "markdown",
    ".parquet": "parquet",
    ".xlsx": "xlsx",
}
_MOST_EXCEL_ROWS = 2**20 - 1
_FORMULA_STARTS = tuple("=+-@\t\r")


def agreed_format(format: Format | None, output: Path | None) -> Format | None:  # noqa: A002 (what users type)
    """The format that an option and a file's extension agree on; none if neither says any."""
    if output is None:
        return format
    wanted = _EXTENSIONS.get(output.suffix.lower(), format)
    if wanted is None:
        known = ", ".join(_EXTENSIONS)
        raise PathError(
            f"{output}: the extension says no format; use one of {known}, or name a --format"
        )
    if format not in (None, wanted):
        raise PathError(f"{output} and --format {format} disagree; leave one of them out")
    return wanted


def render(frame: pl.DataFrame, *, format: Format, has_header: bool = True) -> str:  # noqa: A002 (what users type)
    """Rows as text, all of them, unrounded; CSV may go on without a header."""
    if format == "json":
        return frame.write_json() + "\n"
    if format == "jsonl":
        return frame.write_ndjson()
    if format == "csv":
        return _defuse_formulas(_flat(frame)).write_csv(include_header=has_header)
    is_number = [dtype.is_numeric() for dtype in frame.dtypes]
    names = [printable_line(name) for name in frame.columns]
    cells = [[_cell(value) for value in row] for row in frame.iter_rows()]
    if format == "markdown":
        return _markdown(names, cells, is_number)
    return _table(names, cells, is_number)


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
        _flat(frame).write_excel(workbook, autofit=False)
    return buffer.getvalue()


def _markdown(columns: list[str], cells: list[list[str]], is_number: list[bool]) -> str:
    rule = ["--:" if number else "---" for number in is_number]
    rows = [[_escaped(cell) for cell in row] for row in (columns, *cells)]
    rows.insert(1, rule)
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _escaped(cell: str) -> str:
    """A backslash before a pipe must not undo the one that escapes the pipe."""
    return cell.replace("\\", "\\\\").replace("|", "\\|")


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


def _cell(value: Any) -> str:
    """A value as one line of visible characters."""
    return "" if value is None else printable_line(str(value))


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
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
    is_formula = text.str.head(1).is_in(_FORMULA_STARTS)
    defused = frame.with_columns(pl.when(is_formula).then("'" + text).otherwise(text).name.keep())
    return defused.rename({n: f"'{n}" for n in frame.columns if n.startswith(_FORMULA_STARTS)})
