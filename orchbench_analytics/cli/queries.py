"""Commands that ask and tell: sql, tag."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from orchbench_analytics.cli.app import FormatOption, OutputOption, WarehouseArgument, app, say


@app.command()
def sql(
    warehouse: WarehouseArgument,
    query: Annotated[
        str | None, typer.Argument(help="A query, a .sql file, or - for standard input.")
    ] = None,
    param: Annotated[
        list[str] | None, typer.Option(help="name=value for $name in the query.")
    ] = None,
    unsafe: Annotated[
        bool, typer.Option(help="Allow writing, and files outside the warehouse.")
    ] = False,
    format: FormatOption = "table",  # noqa: A002 (what users type)
    output: OutputOption = None,
) -> None:
    """Ask the warehouse in SQL; without a query, list its tables and views."""
    from orchbench_analytics.outputs.render import show
    from orchbench_analytics.views.query import fetch, parse_parameters, query_text
    from orchbench_analytics.warehouse import open_warehouse

    opened = open_warehouse(warehouse)
    if query is None:
        show(opened.relations(), format=format, output=output)
        return
    text = sys.stdin.read() if query == "-" else query_text(query)
    relation = opened.sql(text, parameters=parse_parameters(param or ()), unsafe=unsafe)
    show(fetch(relation), format=format, output=output)


@app.command()
def tag(
    warehouse: WarehouseArgument,
    file: Annotated[Path, typer.Argument(help="CSV or TOML: model, experiment, anything else.")],
) -> None:
    """Take in what is known of models (size, family, …) as the table `model_tags`."""
    from orchbench_analytics.warehouse import open_warehouse

    tags = open_warehouse(warehouse).tag(file)
    names = ", ".join(name for name in tags.columns if name not in ("model", "experiment"))
    say(f"{warehouse}: {len(tags):,} models tagged with {names}")
