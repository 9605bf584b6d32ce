"""The command `trend`."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from orchbench_analytics.cli.app import (
    ClustersOption,
    MetricsOption,
    ProfileOption,
    RowOptions,
    SelectionOptions,
    WarehouseArgument,
    about_sweep,
    command,
    complete_tags,
)


@command(example="orchbench trend orchbench-demo/warehouse step")
def trend(
    warehouse: WarehouseArgument,
    tag: Annotated[
        str,
        typer.Argument(
            metavar="TAG",
            autocompletion=complete_tags,
            help="A numeric tag of models; see orchbench tag.",
        ),
    ],
    metric: MetricsOption = None,
    profile: ProfileOption = None,
    clusters: ClustersOption = None,
    *,
    chosen: SelectionOptions,
    rows: RowOptions,
) -> None:
    """Show how scores change with a tag, such as a checkpoint."""
    from orchbench_analytics.warehouse import open_warehouse

    opened = open_warehouse(warehouse)
    found = opened.trend(
        tag, profile=profile, metrics=metric or (), clusters=clusters, **chosen.names
    )
    rows.write(found, about=partial(about_sweep, opened, profile, chosen.language))
