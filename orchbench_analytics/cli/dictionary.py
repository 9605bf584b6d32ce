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
    from orchbench_analytics.outputs.described import columns_of, described
    from orchbench_analytics.outputs.dictionary import dictionary as text
    from orchbench_analytics.outputs.put import is_screen, put_on_screen, put_text

    if table is None:
        put_text(text())
        return
    found = described(table)
    if not is_screen(None):
        put_text(found.markdown)
        return
    put_text("".join(f"{line}\n" for line in textwrap.wrap(found.title, terminal.width())))
    put_on_screen(columns_of(found.table), is_whole=True, is_prose=True)
