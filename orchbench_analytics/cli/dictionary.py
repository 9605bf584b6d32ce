"""The command `dictionary`."""

from __future__ import annotations

import textwrap
from typing import Annotated

import typer

from orchbench_analytics.cli.app import command
from orchbench_analytics.outputs import terminal


@command(example="orchbench dictionary leaderboard")
def dictionary(
    table: Annotated[
        str | None, typer.Argument(metavar="[TABLE]", help="A table or view; default all of them.")
    ] = None,
) -> None:
    """Say what every table, view and column means."""
    from orchbench_analytics.outputs.dictionary import dictionary as whole_dictionary
    from orchbench_analytics.outputs.dictionary import find_entry
    from orchbench_analytics.outputs.write import is_screen, show_table, write_text

    if table is None:
        write_text(whole_dictionary())
        return
    entry = find_entry(table)
    if not is_screen(None):
        write_text(entry.markdown)
        return
    write_text("".join(f"{line}\n" for line in textwrap.wrap(entry.title, terminal.width())))
    show_table(entry.columns, is_whole=True, is_prose=True)
