"""The command `remove`."""

from __future__ import annotations

from typing import Annotated

import typer

from orchbench_analytics.cli.app import (
    ExperimentsOption,
    JobsOption,
    ModelsOption,
    WarehouseArgument,
    command,
    profile_option,
    say,
)
from orchbench_analytics.errors import SelectionError


@command(example="orchbench remove orchbench-demo/warehouse --model silent")
def remove(
    warehouse: WarehouseArgument,
    model: ModelsOption = None,
    experiment: ExperimentsOption = None,
    profile: Annotated[
        list[str] | None,
        profile_option("Scores under a profile of your own; repeatable."),
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
