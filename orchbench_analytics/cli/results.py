"""The command `results`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from orchbench_analytics.cli.app import command
from orchbench_analytics.cli.engine import EngineOptions
from orchbench_analytics.cli.options import ProfileOption, WarehouseArgument
from orchbench_analytics.errors import PathError


@command(example="orchbench results orchbench-demo/warehouse perfect --language EN")
def results(
    warehouse: WarehouseArgument,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model.")],
    language: Annotated[
        str | None,
        typer.Option(
            "--language",
            "-l",
            metavar="NAME",
            help="Such as EN or KO; needed if there are several.",
        ),
    ] = None,
    experiment: Annotated[
        str | None,
        typer.Option("--experiment", "-e", metavar="NAME", help="Needed if there are several."),
    ] = None,
    profile: ProfileOption = "spec",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="New .json file to write.")
    ] = None,
    *,
    engine: EngineOptions,
) -> None:
    """Print a model's results in the evaluator's own JSON."""
    from orchbench_analytics.outputs.write import require_writable, write_file, write_text

    if output is not None:
        if output.suffix not in ("", ".json"):
            raise PathError(f"{output}: results are JSON; name a .json file")
        require_writable(output)
    with engine.opened(warehouse) as opened:
        document = opened.results(model, experiment=experiment, language=language, profile=profile)
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    if output is None:
        write_text(text)
    else:
        write_file(output, text.encode())
