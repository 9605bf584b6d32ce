"""The command `consistency`."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import typer

from orchbench_analytics.cli.app import (
    ClustersOption,
    ProfileOption,
    RowOptions,
    SelectionOptions,
    WarehouseArgument,
    about_sweep,
    command,
    say,
)


@command(example="orchbench consistency orchbench-demo/warehouse gaps")
def consistency(
    warehouse: WarehouseArgument,
    what: Annotated[
        Literal["flips", "pass_rates", "run_noise", "spread", "gaps"],
        typer.Argument(metavar="WHAT", help="flips, pass_rates, run_noise, spread or gaps."),
    ] = "flips",
    profile: ProfileOption = None,
    clusters: ClustersOption = None,
    *,
    chosen: SelectionOptions,
    rows: RowOptions,
) -> None:
    """Show how consistent models are between runs and between languages.

    flips: steps decided differently from run to run. pass_rates: pass^k and pass@k. run_noise: how
    much scores vary by chance. spread: the share of chance in the spread of models. gaps:
    differences between languages.
    """
    from orchbench_analytics.outputs import sentences
    from orchbench_analytics.warehouse import open_warehouse

    opened = open_warehouse(warehouse)
    table = opened.consistency(what, profile=profile, clusters=clusters, **chosen.names)
    if not table.is_empty():
        say(sentences.consistency(what, table))
    about = partial(about_sweep, opened, profile, chosen.language)
    rows.write(table, lacking=sentences.NEEDED_FOR[what], about=about)
