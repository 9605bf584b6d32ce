"""The options of every command that writes rows, and what they do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, NoReturn

import typer

from orchbench_analytics.cli.boundary import FOUND_WRONG, say
from orchbench_analytics.outputs.write import PAPER, Format, agreed_format
from orchbench_analytics.paths import local_path

if TYPE_CHECKING:
    import polars as pl

    from orchbench_analytics.warehouse import Warehouse

_NOTHING_FITS = "nothing fits what was asked for"


@dataclass(frozen=True, slots=True)
class RowOptions:
    """In which order rows come out, how many, how, and where to."""

    sort: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Sort by a column; -COLUMN puts the largest first."),
    ] = None
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, metavar="N", help="At most N rows.")
    ] = None
    all: Annotated[bool, typer.Option("--all", help="All rows, however many.")] = False
    wide: Annotated[bool, typer.Option("--wide", help="All columns, however wide.")] = False
    format: Annotated[
        Format | None,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help="table, markdown or latex to read; csv, json, jsonl, xlsx or parquet unrounded.",
        ),
    ] = None
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            parser=local_path,
            help="New file; .csv, .json, .jsonl, .md, .tex, .xlsx or .parquet gives the format.",
        ),
    ] = None

    mark: ClassVar[str] = "--"  # what wide and all begin with

    def __post_init__(self) -> None:
        """Refuse an output that cannot be written, before any work is done."""
        from orchbench_analytics.outputs.write import require_writable

        if self.output is not None:
            require_writable(self.output)
        _ = self.wanted_format

    @property
    def wanted_format(self) -> Format:
        """The format in which rows are written."""
        return agreed_format(self.format, self.output) or "table"

    @property
    def is_screen(self) -> bool:
        """Whether the rows go to standard output as a table for people to read."""
        from orchbench_analytics.outputs.write import is_screen

        return is_screen(self.format, self.output)

    @property
    def is_short(self) -> bool:
        """Whether people read the rows, and did not ask for all columns."""
        return self.wanted_format in ("table", *PAPER) and not self.wide

    def write(
        self,
        frame: pl.DataFrame,
        *,
        is_verbatim: bool = False,
        is_prose: bool = False,
        may_be_empty: bool = False,
        about: Callable[[], str] = str,
        lacking: str = _NOTHING_FITS,
    ) -> pl.DataFrame:
        """Write the wanted rows, with their columns in the order that they have; return the rows.

        Where people read, `is_verbatim` keeps the names of columns, and prose has sentences in its
        last column. No rows end the command with exit code 1 and what is lacking, unless there may
        be none. `about` gives what the caption of a table for papers says of the sweep.
        """
        from orchbench_analytics.outputs.screen import first_in_order, named_contenders
        from orchbench_analytics.outputs.write import show_table, write_rows

        wanted = first_in_order(frame, sort=self.sort, limit=self.limit)
        is_nothing = frame.is_empty() and not may_be_empty
        is_named = self.is_short and not is_verbatim
        shown = named_contenders(wanted, among=frame) if is_named else wanted
        if not self.is_screen:
            write_rows(
                [shown],
                format=self.wanted_format,
                output=self.output,
                is_verbatim=is_verbatim,
                is_whole=self.wide,
                about=about() if self.wanted_format in PAPER else "",
            )
        elif not is_nothing:
            show_table(
                shown,
                is_wide=self.wide,
                is_whole=self.all or self.limit is not None or is_prose,
                is_verbatim=is_verbatim,
                is_prose=is_prose,
                mark=self.mark,
            )
        if is_nothing:
            say_no_rows(lacking)
        return wanted


def about_sweep(
    opened: Warehouse, profile: str | None, languages: Sequence[str] | None = None
) -> str:
    """What a caption says of the rows under a profile: scenarios, runs and languages."""
    import polars as pl

    from orchbench_analytics.outputs.paper import about_sweep

    rows = opened.table("scenario_scores").filter(profile=opened.profile(profile).name)
    if languages:
        rows = rows.filter(pl.col("language").is_in(list(languages)))
    return about_sweep(rows.select("language", "scenario", "run_count").collect())


def say_no_rows(lacking: str = _NOTHING_FITS) -> NoReturn:
    """End a command that found nothing."""
    say(f"no rows: {lacking}")
    raise typer.Exit(FOUND_WRONG)
