"""The command `plan`."""

from __future__ import annotations

from typing import Annotated

import typer

from orchbench_analytics.cli.app import command
from orchbench_analytics.cli.options import ProfileOption, WarehouseArgument
from orchbench_analytics.cli.rows import RowOptions
from orchbench_analytics.cli.talk import say


@command(example="orchbench plan orchbench-demo/warehouse --difference 0.02")
def plan(
    warehouse: WarehouseArgument,
    difference: Annotated[
        float,
        typer.Option(metavar="NUMBER", help="The difference to be seen; 0.01 is one point."),
    ] = 0.01,
    metric: Annotated[
        str, typer.Option(metavar="NAME", help="Average, Call/Reject, FC, Plan or any column.")
    ] = "Average",
    profile: ProfileOption = None,
    *,
    rows: RowOptions,
) -> None:
    """Say how many scenarios and runs it takes to see a difference."""
    from orchbench_analytics.errors import SelectionError
    from orchbench_analytics.warehouse import open_warehouse

    if not 0 < difference < 1:
        raise SelectionError(f"--difference {difference:g}: expected a number between 0 and 1")
    planned = open_warehouse(warehouse).plan(difference, profile=profile, metric=metric)
    rows.write(planned.plans)
    say(planned.advice)
