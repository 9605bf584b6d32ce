"""The command `dictionary`."""

from __future__ import annotations

import textwrap
from typing import Annotated

import typer

from orchbench_analytics.cli.app import command, complete_tables
from orchbench_analytics.outputs import terminal


@command(example="orchbench dictionary leaderboard")
def dictionary(
    table: Annotated[
        str | None,
        typer.Argument(
            metavar="TABLE",
            autocompletion=complete_tables,
            help="A table or view; default all of them.",
        ),
    ] = None,
) -> None:
    """Explain every table, view and column."""
    from orchbench_analytics.outputs.dictionary import dictionary as whole_dictionary
    from orchbench_analytics.outputs.dictionary import find_entry
    from orchbench_analytics.outputs.screen import show_table
    from orchbench_analytics.outputs.terminal import write_text

    if table is None:
        write_text(whole_dictionary())
        return
    entry = find_entry(table)
    if not terminal.is_terminal():
        write_text(entry.markdown)
        return
    write_text("".join(f"{line}\n" for line in textwrap.wrap(entry.title, terminal.width())))
    show_table(entry.columns, is_whole=True, is_prose=True)
    for join in entry.joins:
        write_text("".join(f"{line}\n" for line in textwrap.wrap(join, terminal.width())))
