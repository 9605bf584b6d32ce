"""The command `sources`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from orchbench_analytics.cli.app import (
    RowOptions,
    SelectionOptions,
    WarehouseArgument,
    command,
    say,
)

_WHY = ("below", "reason", "place", "path", "message")
_MANY = 20  # refused files, of which one for each reason says more than all of them


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
    """List input files and what became of them.

    Many refused files are counted by reason, with an example of each; --all lists every one.
    """
    from orchbench_analytics.outputs.sources import (
        by_reason,
        counted,
        refused_first,
        without_common_path,
    )
    from orchbench_analytics.warehouse import open_warehouse

    files = open_warehouse(warehouse).sources(**chosen.names)
    say(counted(files))
    if status is not None:
        files = files.filter(status=status)
    if rows.is_screen and not files.is_empty():
        files = without_common_path(refused_first(files))
    is_summed_up = rows.is_screen and not rows.all and rows.sort is None and rows.limit is None
    if status == "refused" and is_summed_up and files.height > _MANY:
        rows.write(by_reason(files), is_prose=True)
        say(f"one file for each reason; all {files.height:,} are listed with --all")
    elif status == "refused":
        why = files.select(name for name in _WHY if name in files.columns)
        rows.write(why, is_prose=True, lacking="no file is refused")
    else:
        rows.write(files)
