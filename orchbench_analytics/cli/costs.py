"""The command `costs`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from orchbench_analytics.cli.app import (
    ClustersOption,
    ProfileOption,
    RowOptions,
    SeedOption,
    SelectionOptions,
    WarehouseArgument,
    about_sweep,
    command,
    say,
)
from orchbench_analytics.paths import local_path


@command(example="orchbench costs orchbench-demo/warehouse")
def costs(
    warehouse: WarehouseArgument,
    prices: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            parser=local_path,
            help="CSV with model, input and output: prices per million tokens, for files that "
            "state no cost.",
        ),
    ] = None,
    profile: ProfileOption = None,
    clusters: ClustersOption = None,
    seed: SeedOption = 0,
    *,
    chosen: SelectionOptions,
    rows: RowOptions,
) -> None:
    """Show what scores cost, and which models no cheaper one matches."""
    from orchbench_analytics.outputs.sentences import costs as said
    from orchbench_analytics.warehouse import open_warehouse

    opened = open_warehouse(warehouse)
    found = opened.costs(
        prices=prices, profile=profile, clusters=clusters, seed=seed, **chosen.names
    )
    rows.write(found, about=partial(about_sweep, opened, profile, chosen.language))
    say(said(found))
