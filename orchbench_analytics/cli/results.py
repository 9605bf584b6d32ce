"""The command `results`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from orchbench_analytics.cli.app import (
    EngineOptions,
    WarehouseArgument,
    command,
    complete_models,
    profile_option,
    say,
)
from orchbench_analytics.errors import PathError
from orchbench_analytics.paths import local_path


@command(example="orchbench results orchbench-demo/warehouse perfect --language EN")
def results(
    warehouse: WarehouseArgument,
    model: Annotated[
        str, typer.Argument(metavar="MODEL", autocompletion=complete_models, help="The model.")
    ],
    language: Annotated[
        str | None,
        typer.Option(
            "--language",
            "-l",
            metavar="NAME",
            help="Such as EN or KO; needed if there are several, unless --output is a directory.",
        ),
    ] = None,
    experiment: Annotated[
        str | None,
        typer.Option("--experiment", "-e", metavar="NAME", help="Needed if there are several."),
    ] = None,
    profile: Annotated[
        str | None,
        profile_option(
            "upstream (default) has the evaluator's own figures; or spec, strict, reported."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            parser=local_path,
            help="A new .json file, or a directory for evaluation_result_EN.json and so on.",
        ),
    ] = None,
    *,
    engine: EngineOptions,
) -> None:
    """Print a model's results in the evaluator's own JSON."""
    from orchbench_analytics.outputs.terminal import write_text
    from orchbench_analytics.outputs.write import require_writable, write_file
    from orchbench_analytics.selection import results_of

    if output is not None and output.suffix not in ("", ".json"):
        raise PathError(f"{output}: results are JSON; name a .json file, or a directory")
    is_directory = output is not None and output.suffix == ""
    with engine.opened(warehouse) as opened:
        chosen = results_of(opened.manifest(), model, experiment, language, several=is_directory)
        for result in chosen:
            document = opened.results(
                result.model,
                experiment=result.experiment,
                language=result.language,
                profile=profile,
            )
            text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
            if output is None:
                write_text(text)
                continue
            file = output
            if is_directory:
                output.mkdir(exist_ok=True)
                file = output / f"evaluation_result_{result.language}.json"
            require_writable(file)
            write_file(file, text.encode())
            say(f"{file}: {result.model} / {result.experiment} under {document['profile']}")
