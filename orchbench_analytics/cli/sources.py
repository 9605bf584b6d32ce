"""The command `sources`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from orchbench_analytics.cli.app import SelectionOptions, WarehouseArgument, command
from orchbench_analytics.cli.boundary import say
from orchbench_analytics.cli.rows import RowOptions

_WHY = ("below", "reason", "place", "path", "message")


@command(example="orchbench sources orchbench-demo/warehouse --status taken")
def sources(
    warehouse: WarehouseArgument,
    status: Annotated[
        Literal["taken", "ignored", "refused"] | None,
        typer.Option(metavar="STATUS", help="Only files taken, ignored or refused."),
    ] = None,
    *,
    chosen: SelectionOptions,
    rows: RowOptions,
) -> None:
    """List input files and what became of them."""
    from orchbench_analytics.outputs.sources import counted, refused_first, without_common_path
    from orchbench_analytics.warehouse import open_warehouse

    files = open_warehouse(warehouse).sources(**chosen.names)
    say(counted(files))
    if status is not None:
        files = files.filter(status=status)
    if rows.is_screen and not files.is_empty():
        files = without_common_path(refused_first(files))
    if status == "refused":
        rows.write(files.select(name for name in _WHY if name in files.columns), is_prose=True)
    else:
        rows.write(files)
