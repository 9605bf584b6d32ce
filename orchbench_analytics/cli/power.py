"""The command `power`."""

from __future__ import annotations

from typing import Annotated

import typer

from orchbench_analytics.cli.app import (
    ClustersOption,
    ProfileOption,
    RowOptions,
    SelectionOptions,
    WarehouseArgument,
    command,
    say,
)


@command(example="orchbench power orchbench-demo/warehouse --difference 0.02", formerly="plan")
def power(
    warehouse: WarehouseArgument,
    difference: Annotated[
        float, typer.Option(metavar="NUMBER", help="The difference to detect; 0.01 is one point.")
    ] = 0.01,
    metric: Annotated[
        str, typer.Option(metavar="NAME", help="Average, Call/Reject, FC, Plan or any column.")
    ] = "Average",
    profile: ProfileOption = None,
    clusters: ClustersOption = None,
    *,
    chosen: SelectionOptions,
    rows: RowOptions,
) -> None:
    """Show how many scenarios and runs it takes to see a difference."""
    from orchbench_analytics.errors import SelectionError
    from orchbench_analytics.warehouse import open_warehouse

    if not 0 < difference < 1:
        raise SelectionError(f"--difference {difference:g}: expected a number between 0 and 1")
    found = open_warehouse(warehouse).power(
        difference, profile=profile, metric=metric, clusters=clusters, **chosen.names
    )
    rows.write(found.plans, lacking="at least two models with the same scenarios are needed")
    say(found.advice)
