"""The command `results`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from orchbench_analytics.cli.app import command
from orchbench_analytics.cli.engine import (
    ConfOption,
    EngineName,
    EngineOption,
    MasterOption,
    running_on,
)
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
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="A .json file to write.")
    ] = None,
    engine: EngineOption = EngineName.LOCAL,
    master: MasterOption = None,
    conf: ConfOption = None,
) -> None:
    """Print a model's results in the evaluator's own JSON."""
    from orchbench_analytics.outputs.put import put_text, require_writable, write_file
    from orchbench_analytics.warehouse import open_warehouse

    if output is not None:
        if output.suffix not in ("", ".json"):
            raise PathError(f"{output}: results are JSON; name a .json file")
        require_writable(output)
    with running_on(engine, master, conf) as place:
        document = open_warehouse(warehouse, engine=place).results(
            model, experiment=experiment, language=language, profile=profile
        )
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    if output is None:
        put_text(text)
    else:
        write_file(output, text.encode())
