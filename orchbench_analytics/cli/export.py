"""The command `export`."""

from __future__ import annotations

from typing import Annotated

import typer

from orchbench_analytics.cli.app import (
    EngineOptions,
    WarehouseArgument,
    command,
    complete_tables,
    profile_option,
    say,
)
from orchbench_analytics.cli.progress import spinner
from orchbench_analytics.exports import TARGETS

_TARGET = f"A{TARGETS[1:]}; or superset.zip with --uri."


@command(example="orchbench export orchbench-demo/warehouse orchbench.duckdb --star")
def export(
    warehouse: WarehouseArgument,
    target: Annotated[str, typer.Argument(metavar="TARGET", help=_TARGET)],
    star: Annotated[
        bool, typer.Option("--star", help="Dimensions and facts instead of flat tables.")
    ] = False,
    table: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            autocompletion=complete_tables,
            help="Only this table or view; repeatable.",
        ),
    ] = None,
    profile: Annotated[
        str | None,
        profile_option("Only this profile, so that sums count nothing twice."),
    ] = None,
    raw: Annotated[
        bool,
        typer.Option("--raw", help="Keep texts in CSV that a spreadsheet would run as formulas."),
    ] = False,
    keys: Annotated[
        bool, typer.Option("--keys", help="Declare keys in a DuckDB file, which makes it larger.")
    ] = False,
    partition_by: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Column to split Parquet files by.")
    ] = None,
    uri: Annotated[
        str | None,
        typer.Option(metavar="URI", help="Where Superset finds the star; needs FILE.zip."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an earlier export made with other options.")
    ] = False,
    *,
    engine: EngineOptions,
) -> None:
    """Write tables and views for other tools.

    A second export to the same target writes only what changed, in the warehouse or in the target.
    Nothing but an earlier export is ever replaced.
    """
    with engine.opened(warehouse) as opened:
        if uri is not None:
            bundle = opened.superset_bundle(target, uri=uri, profile=profile)
            change = "unchanged" if bundle.is_unchanged else "written"
            parts = f"{len(bundle.charts)} charts over {len(bundle.datasets)} datasets"
            say(f"{bundle.target}: {parts} of {bundle.uri}, {change}")
            return
        with spinner("exporting") as progress:
            summary = opened.export(
                target,
                tables=table or (),
                star=star,
                profile=profile,
                raw=raw,
                keys=keys,
                partition_by=partition_by or (),
                overwrite=overwrite,
                progress=progress,
            )
    written = [relation for relation in summary.relations if relation.changed_part_count]
    count = len(summary.relations)
    tables = "1 table" if count == 1 else f"{count} tables"
    change = "all written" if len(written) == count else f"{len(written)} of {tables} written"
    change = change if written else "unchanged, nothing written"
    say(f"{summary.target}: {tables} with {summary.row_count:,} rows; {change}")
    for name in summary.repaired:
        say(f"{name} was changed since it was exported: written again")
    for what, number in summary.changed_values.items():
        say(f"{what}: {number:,}")
