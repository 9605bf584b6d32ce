"""The command `tag`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchbench_analytics.cli.app import WarehouseArgument, command, say
from orchbench_analytics.paths import local_path

_MOST_NAMED = 5


@command(example="orchbench tag orchbench-demo/warehouse tags.csv")
def tag(
    warehouse: WarehouseArgument,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            parser=local_path,
            help="CSV or TOML with model, experiment if there are several, and the tags.",
        ),
    ],
    replace: Annotated[
        bool, typer.Option("--replace", help="Forget earlier tags, instead of adding to them.")
    ] = False,
) -> None:
    """Tag models with their size, family, checkpoint or the like."""
    from orchbench_analytics.warehouse import open_warehouse

    opened = open_warehouse(warehouse)
    tags = opened.tag(file, replace=replace)
    names = [name for name in tags.columns if name not in ("model", "experiment")]
    there = set(opened.models()["model"])
    given = set(tags["model"])
    known, unknown = sorted(given & there), sorted(given - there)
    models = "1 model" if len(known) == 1 else f"{len(known):,} models"
    say(f"{warehouse}: {models} tagged with {', '.join(names) or 'nothing'}")
    if unknown:
        few = ", ".join(unknown[:_MOST_NAMED])
        more = ", …" if len(unknown) > _MOST_NAMED else ""
        say(f"not in the warehouse, kept for later: {few}{more}")
