"""The command `consistency`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from orchbench_analytics.cli.app import command
from orchbench_analytics.cli.options import ProfileOption, WarehouseArgument
from orchbench_analytics.cli.rows import RowOptions
from orchbench_analytics.cli.talk import say

_MODEL = ("model", "language")
_FIRST = {
    "flips": (*_MODEL, "unstable_step_rate", "unstable_step_low", "unstable_step_high"),
    "pass_rates": (*_MODEL, "criterion", "k", "pass_all_rate", "pass_any_rate"),
    "run_noise": (*_MODEL, "metric", "mean_value", "run_standard_deviation"),
    "spread": ("metric", "language", "noise_share", "noise_share_low", "noise_share_high"),
    "gaps": (*_MODEL, "reference_language", "gap", "low", "high"),
}


@command(example="orchbench consistency orchbench-demo/warehouse gaps")
def consistency(
    warehouse: WarehouseArgument,
    what: Annotated[
        Literal["flips", "pass_rates", "run_noise", "spread", "gaps"],
        typer.Argument(metavar="[WHAT]", help="flips, pass_rates, run_noise, spread or gaps."),
    ] = "flips",
    profile: ProfileOption = None,
    *,
    rows: RowOptions,
) -> None:
    """Show how steady models are, from run to run and by language.

    flips: steps not decided alike in all runs. pass_rates: pass^k and pass@k. run_noise: what
    chance does to scores. spread: its share in the spread of models. gaps: between languages.
    """
    from orchbench_analytics.outputs import sentences
    from orchbench_analytics.outputs.filter_rows import filter_rows
    from orchbench_analytics.warehouse import open_warehouse

    table = open_warehouse(warehouse).consistency(profile)[what]
    say(
        sentences.consistency(what, filter_rows(table, rows.filter._replace(sort=None, limit=None)))
    )
    rows.write(table, first=_FIRST[what])
