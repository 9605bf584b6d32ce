"""The command `predict`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchbench_analytics.cli.app import (
    ProfileOption,
    RowOptions,
    SelectionOptions,
    WarehouseArgument,
    command,
    complete_models,
    say,
)
from orchbench_analytics.paths import local_path


@command(example="orchbench predict orchbench-demo/warehouse graded-1 --list few.csv")
def predict(
    warehouse: WarehouseArgument,
    predicted: Annotated[  # --model is another
        str,
        typer.Argument(
            metavar="MODEL", autocompletion=complete_models, help="Model, or model/experiment."
        ),
    ],
    scenarios: Annotated[
        Path,
        typer.Option(
            "--list",
            metavar="FILE",
            parser=local_path,
            help="The list that shortlist wrote: .csv, .json, .jsonl or .parquet.",
        ),
    ],
    metric: Annotated[
        str, typer.Option(metavar="NAME", help="Average, Call/Reject, FC, Plan or any column.")
    ] = "Average",
    profile: ProfileOption = None,
    *,
    chosen: SelectionOptions,
    rows: RowOptions,
) -> None:
    """Predict a model's full score from the scenarios of a list.

    It is a regression on the other models that have all scenarios; --model chooses among these. The
    interval of 95 % assumes that the model is like the others.
    """
    from orchbench_analytics.outputs import sentences
    from orchbench_analytics.warehouse import open_warehouse

    found = open_warehouse(warehouse).predict(
        predicted, scenarios, profile=profile, metric=metric, **chosen.names
    )
    rows.write(found)
    say(sentences.prediction(found))
