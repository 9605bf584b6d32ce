"""The command `view`."""

from __future__ import annotations

from typing import Annotated

import typer

from orchbench_analytics.cli.app import ModelsOption, WarehouseArgument, command, say
from orchbench_analytics.cli.report import ProfilesOption, RulesOption


@command(example="orchbench view orchbench-demo/warehouse")
def view(
    warehouse: WarehouseArgument,
    model: ModelsOption = None,
    profile: ProfilesOption = None,
    audit: RulesOption = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="N", help="Port; by default any free one.")
    ] = 0,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Do not open the browser; only print the address.")
    ] = False,
) -> None:
    """Explore the warehouse in the browser, with SQL and search.

    It only reads, answers this machine alone, and ends with Ctrl-C.
    """
    from orchbench_analytics.warehouse import open_warehouse

    def announce(address: str) -> None:
        print(address, flush=True)
        say("only on this machine, and only with this address; Ctrl-C ends it")

    open_warehouse(warehouse).view(
        models=model or (),
        profiles=profile or (),
        with_rules=audit,
        port=port,
        opens=not no_open,
        announce=announce,
    )
