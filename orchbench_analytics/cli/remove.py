"""The command `remove`."""

from __future__ import annotations

from typing import Annotated

import typer

from orchbench_analytics.cli.app import command
from orchbench_analytics.cli.options import JobsOption, WarehouseArgument
from orchbench_analytics.cli.talk import say
from orchbench_analytics.errors import SelectionError


@command(example="orchbench remove orchbench-demo/warehouse --model silent")
def remove(
    warehouse: WarehouseArgument,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", "-m", metavar="GLOB", help="Models such as graded-*; repeatable."),
    ] = None,
    experiment: Annotated[
        list[str] | None,
        typer.Option(
            "--experiment", "-e", metavar="GLOB", help="Experiments; with --model, only of those."
        ),
    ] = None,
    profile: Annotated[
        list[str] | None,
        typer.Option("--profile", "-p", metavar="NAME", help="Scores under a profile of your own."),
    ] = None,
    tags: Annotated[bool, typer.Option("--tags", help="All tags of models.")] = False,
    jobs: JobsOption = None,
) -> None:
    """Remove models, experiments, profiles or tags.

    Input files stay as they are; the next ingest of them brings a model back.
    """
    from orchbench_analytics.warehouse import open_warehouse

    if not (model or experiment or profile or tags):
        raise SelectionError("say what to remove: --model, --experiment, --profile or --tags")
    removed = open_warehouse(warehouse).remove(
        models=model or (),
        experiments=experiment or (),
        profiles=profile or (),
        tags=tags,
        jobs=jobs,
    )
    say(f"{warehouse}: removed {', '.join(removed)}")
