"""The command `sources`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from orchbench_analytics.cli.app import command
from orchbench_analytics.cli.options import WarehouseArgument
from orchbench_analytics.cli.rows import RowOptions
from orchbench_analytics.cli.talk import say

_WHY = ("below", "reason", "place", "path", "message")
_FIRST = ("status", "reason", "path", "message", "place", "kind", "model", "language")


@command(example="orchbench sources orchbench-demo/warehouse --status refused")
def sources(
    warehouse: WarehouseArgument,
    status: Annotated[
        Literal["taken", "ignored", "refused"] | None,
        typer.Option(metavar="STATUS", help="Only files taken, ignored or refused."),
    ] = None,
    *,
    rows: RowOptions,
) -> None:
    """List input files and what became of them."""
    import polars as pl

    from orchbench_analytics.outputs.sources import counted, refused_first, without_common_path
    from orchbench_analytics.warehouse import open_warehouse

    files = open_warehouse(warehouse).sources().sort("path")
    say(counted(files))
    chosen = files if status is None else files.filter(pl.col("status") == status)
    if rows.is_screen:
        chosen = without_common_path(refused_first(chosen))
    if status == "refused":
        rows.write(chosen, first=_WHY, only=True, is_prose=True)
    else:
        rows.write(chosen, first=_FIRST)
