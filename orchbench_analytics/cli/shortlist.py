"""The command `shortlist`."""

from __future__ import annotations

from typing import Annotated

import typer

from orchbench_analytics.cli.app import (
    ProfileOption,
    RowOptions,
    SeedOption,
    SelectionOptions,
    WarehouseArgument,
    command,
    say,
)


@command(example="orchbench shortlist orchbench-demo/warehouse --scenarios 4 -o few.csv")
def shortlist(
    warehouse: WarehouseArgument,
    scenarios: Annotated[
        int, typer.Option(min=1, metavar="N", help="How many scenarios the list has.")
    ] = 100,
    metric: Annotated[
        str, typer.Option(metavar="NAME", help="Average, Call/Reject, FC, Plan or any column.")
    ] = "Average",
    profile: ProfileOption = None,
    seed: SeedOption = 0,
    *,
    chosen: SelectionOptions,
    rows: RowOptions,
) -> None:
    """Choose a few scenarios that predict the score over all of them.

    The list is drawn at random: each language gets its share, and translations of chosen scenarios
    come last. A message says how well the list predicts the full scores of complete models.
    """
    from orchbench_analytics.outputs import sentences
    from orchbench_analytics.warehouse import open_warehouse

    found = open_warehouse(warehouse).shortlist(
        scenarios, profile=profile, metric=metric, seed=seed, **chosen.names
    )
    rows.write(found)
    say(sentences.shortlist(found))
