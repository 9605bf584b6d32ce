"""The options of every command that writes rows, and what they do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchbench_analytics.outputs.render import Format, agreed_format

if TYPE_CHECKING:
    import polars as pl

    from orchbench_analytics.outputs.filter_rows import RowFilter


@dataclass(frozen=True, slots=True)
class RowOptions:
    """Which rows come out, in which order, how, and where to."""

    model: Annotated[
        list[str] | None,
        typer.Option("--model", "-m", metavar="GLOB", help="Only models such as graded-*."),
    ] = None
    language: Annotated[
        list[str] | None,
        typer.Option("--language", "-l", metavar="NAME", help="Only this language, such as EN."),
    ] = None
    experiment: Annotated[
        list[str] | None,
        typer.Option("--experiment", "-e", metavar="GLOB", help="Only experiments such as base*."),
    ] = None
    sort: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Sort by a column; -COLUMN puts the largest first."),
    ] = None
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=0, metavar="N", help="At most N rows.")
    ] = None
    all: Annotated[bool, typer.Option("--all", help="All rows, however many.")] = False
    wide: Annotated[bool, typer.Option("--wide", help="All columns, however wide.")] = False
    format: Annotated[
        Format | None,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help="table, markdown, csv, json, jsonl, xlsx or parquet: all rows, unrounded.",
        ),
    ] = None
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="New file; .csv, .json, .jsonl, .md, .xlsx or .parquet says the format.",
        ),
    ] = None

    def __post_init__(self) -> None:
        """Refuse an output that cannot be written, before any work is done."""
        from orchbench_analytics.outputs.write import require_writable

        if self.output is not None:
            require_writable(self.output)
        _ = self.wanted_format

    @property
    def filter(self) -> RowFilter:
        """Which rows are wanted, and in which order."""
        from orchbench_analytics.outputs.filter_rows import RowFilter

        return RowFilter(
            self.model or (), self.language or (), self.experiment or (), self.sort, self.limit
        )

    @property
    def wanted_format(self) -> Format:
        """The format of rows that do not go to a terminal."""
        return agreed_format(self.format, self.output) or "table"

    @property
    def is_screen(self) -> bool:
        """Whether the rows go to a terminal, as a table for people to read."""
        from orchbench_analytics.outputs.write import is_screen

        return is_screen(self.format, self.output)

    def write(
        self,
        frame: pl.DataFrame,
        *,
        first: tuple[str, ...] = (),
        only: bool = False,
        is_verbatim: bool = False,
        is_prose: bool = False,
    ) -> pl.DataFrame:
        """Write the wanted rows, and return them.

        On a terminal the columns of `first` come first, and no others with `only`.
        """
        from orchbench_analytics.outputs.filter_rows import filter_rows
        from orchbench_analytics.outputs.labels import named_contenders
        from orchbench_analytics.outputs.write import show_table, write_rows

        wanted = filter_rows(frame, self.filter)
        if not self.is_screen:
            write_rows([wanted], format=self.wanted_format, output=self.output)
            return wanted
        shown = wanted
        if not (self.wide or is_verbatim):
            shown = named_contenders(wanted, among=frame)
            others = [] if only else [name for name in shown.columns if name not in first]
            shown = shown.select(*(name for name in first if name in shown.columns), *others)
        show_table(
            shown,
            is_wide=self.wide,
            is_whole=self.all or self.limit is not None or is_prose,
            is_verbatim=is_verbatim,
            is_prose=is_prose,
        )
        return wanted
