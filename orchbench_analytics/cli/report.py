"""The command `report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchbench_analytics.cli.app import (
    JobsOption,
    ModelsOption,
    WarehouseArgument,
    command,
    profile_option,
    say,
)
from orchbench_analytics.paths import local_path

if TYPE_CHECKING:
    from orchbench_analytics.pages.report import Report

ProfilesOption = Annotated[
    list[str] | None,
    profile_option("Only this profile; repeatable, the first is shown first; default all."),
]
RulesOption = Annotated[
    bool, typer.Option("--audit", help="Also show what each scoring rule changes; takes a while.")
]
WithoutAnswersOption = Annotated[
    bool, typer.Option("--without-answers", help="Leave out the texts of answers.")
]
StepsOption = Annotated[
    bool | None,
    typer.Option(
        "--steps/--no-steps",
        help="Every step with its answer, or none; by default up to 300,000 steps.",
    ),
]
LimitOption = Annotated[
    int | None,
    typer.Option("--limit-answers", min=0, metavar="N", help="Cut answers after N characters."),
]


@command(example="orchbench report orchbench-demo/warehouse report.html")
def report(
    warehouse: WarehouseArgument,
    output: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            parser=local_path,
            help="An .html file or a directory: new, or an earlier report.",
        ),
    ],
    model: ModelsOption = None,
    profile: ProfilesOption = None,
    audit: RulesOption = False,
    without_answers: WithoutAnswersOption = False,
    limit_answers: LimitOption = None,
    steps: StepsOption = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the page.")] = None,
    jobs: JobsOption = None,
) -> None:
    """Write one page to share, from the leaderboard down to the answers.

    Nothing but an earlier report is ever replaced.
    """
    from orchbench_analytics.warehouse import open_warehouse

    made = open_warehouse(warehouse).report(
        output,
        models=model or (),
        profiles=profile or (),
        with_rules=audit,
        answer_limit=0 if without_answers else limit_answers,
        with_steps=steps,
        title=title,
        jobs=jobs,
    )
    _say_made(made)


def _say_made(made: Report) -> None:
    models = "1 model" if made.model_count == 1 else f"{made.model_count:,} models"
    say(f"{made.page}: {models}, {made.byte_count / 1e6:,.1f} MB")
    if made.left_out_step_count:
        say(
            f"left out: {made.left_out_step_count:,} steps and their plans and answers; "
            "--steps includes them, and orchbench view shows them"
        )
