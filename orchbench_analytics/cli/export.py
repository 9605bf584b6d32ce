"""The command `export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchbench_analytics.cli.app import command
from orchbench_analytics.cli.options import WarehouseArgument
from orchbench_analytics.cli.talk import say


@command(example="orchbench export orchbench-demo/warehouse orchbench.duckdb")
def export(
    warehouse: WarehouseArgument,
    output: Annotated[Path, typer.Argument(metavar="OUT", help="A directory, or a .duckdb file.")],
    table: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Table or view; default all of them.")
    ] = None,
    partition_by: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Column to split Parquet files by.")
    ] = None,
) -> None:
    """Write tables and views for other tools."""
    from orchbench_analytics.warehouse import open_warehouse

    exported = open_warehouse(warehouse).export(
        output, relations=table or (), partition_by=partition_by or ()
    )
    rows = sum(relation.row_count for relation in exported)
    say(f"{output}: {len(exported)} tables and views, {rows:,} rows")
