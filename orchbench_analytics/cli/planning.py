"""The command that says how large a sweep has to be: plan."""

from __future__ import annotations

from typing import Annotated

import typer

from orchbench_analytics.cli.app import FormatOption, OutputOption, WarehouseArgument, app, say
from orchbench_analytics.cli.scores import ProfileOption


@app.command()
def plan(
    warehouse: WarehouseArgument,
    difference: Annotated[
        float, typer.Option(help="The difference that is to be seen; 0.01 is one point.")
    ] = 0.01,
    metric: Annotated[str, typer.Option(help="Average, Plan, FC, …")] = "Average",
    profile: ProfileOption = "spec",
    format: FormatOption = "table",  # noqa: A002 (what users type)
    output: OutputOption = None,
) -> None:
    """Say how many scenarios and runs it takes to see a difference between two models."""
    from orchbench_analytics.outputs.render import show
    from orchbench_analytics.warehouse import open_warehouse

    planned = open_warehouse(warehouse).plan(difference, profile=profile, metric=metric)
    show(planned.plans.drop("profile"), format=format, output=output)
    say(planned.advice)
