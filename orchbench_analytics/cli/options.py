"""Options that several commands share: the same words, the same meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

WarehouseArgument = Annotated[
    Path,
    typer.Argument(
        metavar="DIR",
        help="The warehouse; may be left out if ORCHBENCH_WAREHOUSE or ./orchbench.toml names it.",
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
JobsOption = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Worker processes; by default as many as cores."),
]
ProfileOption = Annotated[
    str | None,
    typer.Option(
        "--profile",
        "-p",
        metavar="NAME",
        help="spec (default), strict, upstream, reported, or one scored before.",
    ),
]
SeedOption = Annotated[
    int, typer.Option(min=0, metavar="N", help="The same seed gives the same figures.")
]
MetricsOption = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Average, Call/Reject, FC, Plan or any column; repeatable."),
]
