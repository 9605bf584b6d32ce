"""The command `trend`."""

from __future__ import annotations

from typing import Annotated

import typer

from orchbench_analytics.cli.app import command
from orchbench_analytics.cli.options import MetricsOption, ProfileOption, WarehouseArgument
from orchbench_analytics.cli.rows import RowOptions

_FIRST = ("metric", "verdict", "change", "low", "high", "slope", "model_count", "scenario_count")


@command(example="orchbench trend orchbench-demo/warehouse step")
def trend(
    warehouse: WarehouseArgument,
    tag: Annotated[
        str, typer.Argument(metavar="TAG", help="A numeric tag of models; see orchbench tag.")
    ],
    metric: MetricsOption = None,
    profile: ProfileOption = None,
    *,
    rows: RowOptions,
) -> None:
    """Show how scores change with a tag, such as a checkpoint."""
    from orchbench_analytics.warehouse import open_warehouse

    found = open_warehouse(warehouse).trends(tag, profile=profile, metrics=metric)
    rows.write(found, first=_FIRST)
