"""The command `figure`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from orchbench_analytics.cli.app import (
    ProfileOption,
    SelectionOptions,
    WarehouseArgument,
    command,
    say,
)
from orchbench_analytics.paths import local_path


@command(example="orchbench figure orchbench-demo/warehouse leaderboard board.pdf")
def figure(
    warehouse: WarehouseArgument,
    what: Annotated[
        Literal["leaderboard", "pairs", "cost", "consistency", "plan"],
        typer.Argument(metavar="WHAT", help="leaderboard, pairs, cost, consistency or plan."),
    ],
    output: Annotated[
        Path, typer.Argument(metavar="OUT", parser=local_path, help="New file: .svg, .pdf or .png.")
    ],
    profile: ProfileOption = None,
    scenario: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The plan's scenario; by default the furthest from its label."
        ),
    ] = None,
    run: Annotated[
        str | None, typer.Option(metavar="NAME", help='The plan\'s run, such as "run #2" or 2.')
    ] = None,
    step: Annotated[str | None, typer.Option(metavar="ID", help="The plan's step.")] = None,
    *,
    chosen: SelectionOptions,
) -> None:
    """Draw a figure for a paper: 8 cm wide, and readable in grey."""
    from orchbench_analytics.outputs.write import require_writable, write_file
    from orchbench_analytics.pages.figures import require_figure_file
    from orchbench_analytics.warehouse import open_warehouse

    require_figure_file(output)
    require_writable(output)
    drawn = open_warehouse(warehouse).figure(
        what, profile=profile, scenario=scenario, run=run, step=step, **chosen.names
    )
    content = drawn.content(output.suffix.lower())
    write_file(output, content)
    say(f"{output}: {len(content) / 1000:,.0f} kB")
