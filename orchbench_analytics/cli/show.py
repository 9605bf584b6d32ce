"""The command `show`."""

from __future__ import annotations

from typing import Annotated

import typer

from orchbench_analytics.cli.app import (
    ExperimentsOption,
    LanguagesOption,
    ProfileOption,
    RowOptions,
    WarehouseArgument,
    call_of,
    command,
    complete_models,
    say,
)
from orchbench_analytics.errors import SelectionError


@command(example="orchbench show orchbench-demo/warehouse graded-2")
def show(
    warehouse: WarehouseArgument,
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="MODEL",
            autocompletion=complete_models,
            help="The model, or MODEL/EXPERIMENT; without it, list all models.",
        ),
    ] = None,
    scenario: Annotated[
        str | None, typer.Argument(metavar="SCENARIO", help="The scenario; without it, all.")
    ] = None,
    step: Annotated[
        str | None, typer.Argument(metavar="STEP", help="The step; without it, all.")
    ] = None,
    run: Annotated[
        str | None, typer.Option(metavar="NAME", help='Only this run, such as "run #2" or 2.')
    ] = None,
    profile: ProfileOption = None,
    experiment: ExperimentsOption = None,
    language: LanguagesOption = None,
    *,
    rows: RowOptions,
) -> None:
    """Show a model's scenarios, a scenario's steps, or one step.

    One step is shown whole: label, answer, how it was read, what was decided and counted, the
    judge's verdict, and for a plan both sides and its edits.
    """
    from orchbench_analytics.outputs.terminal import write_text
    from orchbench_analytics.warehouse import open_warehouse

    opened = open_warehouse(warehouse)
    if model is None:
        if experiment or language:
            raise SelectionError("--experiment and --language need a MODEL")
        models = rows.write(opened.models())
        if rows.is_screen and models.height:
            say(f"one of them: {call_of('show', warehouse, models['model'][0])}")
        return
    found = opened.show(
        model,
        scenario,
        step,
        profile=profile,
        experiments=experiment or (),
        languages=language or (),
        run=run,
    )
    if step is None or rows.format is not None or rows.output is not None:
        shown = rows.write(found)
        has_steps = opened.profile(profile).scored_from == "answers"
        for first in shown.head(1).to_dicts() if rows.is_screen and has_steps else ():
            words = [first["scenario"], "--language", first["language"]]
            if scenario is not None:
                words[1:1] = [first["step_id"]]
                words += ["--run", first["run"]]
            say(f"one of them: {call_of('show', warehouse, model, *words)}")
        return
    place, *others = found.select("model", "experiment", "language", "run", "scenario").rows()
    model_name, experiment_name, language_name, run_name, scenario_name = place
    page = opened.step_page(
        (model_name, experiment_name),
        scenario_name,
        step,
        profile=profile,
        languages=[language_name],
        run=run_name,
    )
    write_text(page)
    if others:
        count = len(others)
        more = "1 more answer" if count == 1 else f"{count:,} more answers"
        say(f"{more} to this step: choose with --run, --language or --experiment")
