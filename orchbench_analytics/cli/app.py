"""The command line: data on standard output, talk on standard error.

Exit codes: 0 all went well, 1 something wrong was found, 2 the call was wrong.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

Format = Literal["table", "markdown", "csv", "json", "parquet"]
WarehouseArgument = Annotated[Path, typer.Argument(metavar="DIR", help="The warehouse.")]
FormatOption = Annotated[Format, typer.Option("--format", "-f", help="How rows come out.")]
OutputOption = Annotated[Path | None, typer.Option("--output", "-o", help="File to write to.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Only errors are said.")]
JobsOption = Annotated[int | None, typer.Option(min=1, help="Worker processes; default all cores.")]

app = typer.Typer(
    help="Analytics for OrchestrationBench: from result files to Parquet, scores and SQL.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def say(text: str) -> None:
    """Talk to the person, on standard error."""
    print(text, file=sys.stderr)
