"""The command `show`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from orchbench_analytics.cli.app import command
from orchbench_analytics.cli.options import ProfileOption, WarehouseArgument
from orchbench_analytics.cli.rows import RowOptions
from orchbench_analytics.cli.talk import call_of, say
from orchbench_analytics.errors import SelectionError

if TYPE_CHECKING:
    from orchbench_analytics.warehouse import Warehouse


@command(example="orchbench show orchbench-demo/warehouse graded-2")
def show(
    warehouse: WarehouseArgument,
    model: Annotated[
        str | None,
        typer.Argument(metavar="[MODEL]", help="The model, or MODEL/EXPERIMENT; without it, all."),
    ] = None,
    scenario: Annotated[
        str | None, typer.Argument(metavar="[SCENARIO]", help="The scenario; without it, all.")
    ] = None,
    step: Annotated[
        str | None, typer.Argument(metavar="[STEP]", help="The step; without it, all.")
    ] = None,
    run: Annotated[
        str | None, typer.Option(metavar="NAME", help='The run, such as "run #2" or 2.')
    ] = None,
    profile: ProfileOption = None,
    *,
    rows: RowOptions,
) -> None:
    """Show a model's scenarios, a scenario's steps, or one step.

    One step is shown whole: label, answer, how it was read, what was decided and counted, the
    judge's verdict, and for a plan both sides and its edits.
    """
    from orchbench_analytics.views.select import split_contender
    from orchbench_analytics.warehouse import open_warehouse

    opened = open_warehouse(warehouse)
    if model is not None:
        model, experiment = split_contender(opened.manifest(), model)
        rows = replace(rows, experiment=[experiment]) if experiment else rows
    if model is None:
        models = rows.write(opened.models())
        if rows.is_screen and models.height:
            say(f"one of them: {call_of('show', opened.path, models['model'][0])}")
    elif scenario is None:
        _write_scenarios(opened, rows, model, profile)
    elif step is None:
        _write_steps(opened, rows, model, scenario, run, profile)
    else:
        _write_step(opened, rows, (model, scenario, step), run, profile)


def _write_scenarios(opened: Warehouse, rows: RowOptions, model: str, profile: str | None) -> None:
    from orchbench_analytics.outputs.show import model_named, scenarios_of

    scores = opened.scenario_scores(profile)
    name = model_named(model, scores["model"])
    chosen = rows.write(scenarios_of(scores.filter(model=name)))
    if rows.is_screen and chosen.height:
        say(f"one of them: {call_of('show', opened.path, name, chosen['scenario'][0])}")


def _write_steps(
    opened: Warehouse,
    rows: RowOptions,
    model: str,
    scenario: str,
    run: str | None,
    profile: str | None,
) -> None:
    from orchbench_analytics.outputs.show import steps_of

    steps = steps_of(opened.scored(profile), model, scenario, run)
    chosen = rows.write(steps)
    if rows.is_screen and chosen.height:
        first = chosen.row(0, named=True)
        step = (first["step_id"], "--language", first["language"], "--run", first["run"])
        say(f"one of them: {call_of('show', opened.path, model, scenario, *step)}")


def _write_step(
    opened: Warehouse,
    rows: RowOptions,
    key: tuple[str, str, str],
    run: str | None,
    profile: str | None,
) -> None:
    from orchbench_analytics.outputs.show import find_step
    from orchbench_analytics.outputs.step_page import step_page
    from orchbench_analytics.outputs.write import write_text

    if rows.format is not None or rows.output is not None:
        raise SelectionError("one step is shown as a page; --format and --output are for rows")
    first, *others = find_step(
        opened.scored(profile), *key, run=run, language=rows.language, experiment=rows.experiment
    )
    write_text(step_page(opened.table, first, profile=opened.profile(profile)))
    if others:
        times = "once more" if len(others) == 1 else f"{len(others):,} times more"
        say(f"the step is there {times}: choose with --run, --language or --experiment")
