"""Commands about scores: score, leaderboard, results, check."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from orchbench_analytics.cli.app import (
    FormatOption,
    JobsOption,
    OutputOption,
    WarehouseArgument,
    app,
    say,
)

ProfileOption = Annotated[
    str, typer.Option("--profile", "-p", help="spec, strict, upstream, or one scored before.")
]
_LEADERBOARD_COLUMNS = (
    "rank_number",
    "model",
    "experiment",
    "average_score",
    "average_score_en",
    "average_score_ko",
    "call_rejection_f1",
    "function_call_f1",
    "workflow_similarity",
)


@app.command()
def score(
    warehouse: WarehouseArgument,
    profile: Annotated[
        str, typer.Option("--profile", "-p", help="A built-in profile, or a .toml file of rules.")
    ],
    jobs: JobsOption = None,
) -> None:
    """Score a warehouse under a profile, from its Parquet tables alone."""
    from orchbench_analytics.warehouse import open_warehouse

    name = open_warehouse(warehouse).score(profile, jobs=jobs)
    say(f"{warehouse}: scored under {name}; see: orchbench leaderboard {warehouse} -p {name}")


@app.command()
def leaderboard(
    warehouse: WarehouseArgument,
    profile: ProfileOption = "spec",
    wide: Annotated[bool, typer.Option(help="Every metric in every language.")] = False,
    format: FormatOption = "table",  # noqa: A002 (what users type)
    output: OutputOption = None,
) -> None:
    """Rank models by their average score."""
    from orchbench_analytics.show import show
    from orchbench_analytics.warehouse import open_warehouse

    rows = open_warehouse(warehouse).leaderboard(profile)
    show(rows if wide else rows.select(_LEADERBOARD_COLUMNS), format=format, output=output)


@app.command()
def results(
    warehouse: WarehouseArgument,
    model: Annotated[str, typer.Argument(help="The model.")],
    language: Annotated[
        str | None, typer.Option(help="EN or KO; needed if there are both.")
    ] = None,
    experiment: Annotated[str | None, typer.Option(help="Needed if there are several.")] = None,
    profile: ProfileOption = "spec",
    output: OutputOption = None,
) -> None:
    """Print a model's results as the benchmark's own evaluator writes them, in JSON."""
    from orchbench_analytics.warehouse import open_warehouse

    document = open_warehouse(warehouse).results(
        model, experiment=experiment, language=language, profile=profile
    )
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    if output is None:
        typer.echo(text, nl=False)
    else:
        Path(output).write_text(text, encoding="utf-8")


@app.command()
def check(
    warehouse: WarehouseArgument,
    format: FormatOption = "table",  # noqa: A002 (what users type)
    output: OutputOption = None,
) -> None:
    """Compare what must add up, and what an evaluator reported; exit code 1 if anything is off."""
    from orchbench_analytics.show import show
    from orchbench_analytics.warehouse import open_warehouse

    report = open_warehouse(warehouse).check()
    for compared in report.compared:
        say(f"compared {compared}")
    if report.differences.is_empty():
        say("all agree")
        return
    say(f"{len(report.differences):,} differ:")
    show(report.differences, format=format, output=output)
    raise typer.Exit(1)
