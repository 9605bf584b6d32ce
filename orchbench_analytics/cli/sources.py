"""The command `sources`."""

from __future__ import annotations

import os.path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from orchbench_analytics.cli.app import (
    RowOptions,
    SelectionOptions,
    WarehouseArgument,
    command,
    say,
)

if TYPE_CHECKING:
    import polars as pl

_WHY = ("below", "reason", "place", "path", "message")
_MANY = 20  # refused files, of which one for each reason says more than all of them


@command(example="orchbench sources orchbench-demo/warehouse --status taken")
def sources(
    warehouse: WarehouseArgument,
    status: Annotated[
        Literal["taken", "ignored", "refused"] | None,
        typer.Option(metavar="STATUS", help="Only files taken, ignored or refused."),
    ] = None,
    *,
    chosen: SelectionOptions,
    rows: RowOptions,
) -> None:
    """List input files and what became of them.

    Many refused files are counted by reason, with an example of each; --all lists every one.
    """
    from orchbench_analytics.warehouse import open_warehouse

    files = open_warehouse(warehouse).sources(**chosen.names)
    say(_counted(files))
    if status is not None:
        files = files.filter(status=status)
    if rows.is_screen and not files.is_empty():
        files = _without_common_path(_refused_first(files))
    is_summed_up = rows.is_screen and not rows.all and rows.sort is None and rows.limit is None
    if status == "refused" and is_summed_up and files.height > _MANY:
        rows.write(_by_reason(files), is_prose=True)
        say(f"one file for each reason; all {files.height:,} are listed with --all")
    elif status == "refused":
        why = files.select(name for name in _WHY if name in files.columns)
        rows.write(why, is_prose=True, lacking="no file is refused")
    else:
        rows.write(files)


def _counted(files: pl.DataFrame) -> str:
    """How many files there are of each status, in a sentence."""
    if files.is_empty():
        return "no input files"
    counts = files.group_by("status").len("count").sort("status").iter_rows()
    said = ", ".join(f"{count:,} {status}" for status, count in counts)
    return f"{files.height:,} input file{'s' if files.height > 1 else ''}: {said}"


def _refused_first(files: pl.DataFrame) -> pl.DataFrame:
    """The files that something is wrong with before all others."""
    import polars as pl

    order = pl.col("status").replace_strict({"refused": 0, "ignored": 2}, default=1)
    is_sound = (pl.col("status") == "taken") & pl.col("reason").is_null()
    return files.sort(pl.when(is_sound).then(3).otherwise(order), maintain_order=True)


def _by_reason(files: pl.DataFrame) -> pl.DataFrame:
    """How many files there are of each reason, and one of them as an example."""
    import polars as pl

    return (
        files.group_by("reason", maintain_order=True)
        .agg(pl.len().alias("file_count"), pl.col("path", "message").first())
        .sort("file_count", descending=True, maintain_order=True)
    )


def _without_common_path(files: pl.DataFrame) -> pl.DataFrame:
    """The files with paths as they are below the directory that all of them are in."""
    import polars as pl

    if files.height < 2:
        return files
    common = os.path.commonpath([os.path.dirname(path) for path in files["path"]])  # noqa: PTH120 (as text)
    shortened = pl.col("path").str.strip_prefix(common).str.strip_chars_start("/\\")
    return files.with_columns(path=shortened, below=pl.lit(common))
