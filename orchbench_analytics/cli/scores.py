"""Commands about scores: score, leaderboard, results, check."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchbench_analytics.cli.app import (
    Format,
    FormatOption,
    JobsOption,
    OutputOption,
    WarehouseArgument,
    app,
    say,
)

if TYPE_CHECKING:
    from orchbench_analytics.warehouse import Warehouse

ProfileOption = Annotated[
    str, typer.Option("--profile", "-p", help="spec, strict, upstream, or one scored before.")
]


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
    intervals: Annotated[
        bool, typer.Option(help="95 % intervals of score and rank, and the chance of being best.")
    ] = False,
    by: Annotated[
        str | None, typer.Option(help="Group models by a tag; see orchbench tag.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same intervals.")] = 0,
    format: FormatOption = "table",  # noqa: A002 (what users type)
    output: OutputOption = None,
) -> None:
    """Rank models by their average score."""
    from orchbench_analytics.outputs.render import show
    from orchbench_analytics.warehouse import open_warehouse

    opened = open_warehouse(warehouse)
    if intervals:
        show(opened.rank_intervals(profile, seed=seed), format=format, output=output)
        return
    if by:
        show(opened.leaderboard(profile, by=by), format=format, output=output)
    else:
        show_leaderboard(opened, profile=profile, wide=wide, format=format, output=output)


def show_leaderboard(
    warehouse: Warehouse,
    *,
    profile: str = "spec",
    wide: bool = False,
    format: Format,  # noqa: A002 (what users type)
    output: Path | None = None,
) -> None:
    """The leaderboard with its languages side by side, under short names where people read it."""
    import polars as pl

    from orchbench_analytics.metrics import HEADLINE
    from orchbench_analytics.outputs.leaderboard import (
        for_people,
        left_unranked,
        main_columns,
        with_languages,
    )
    from orchbench_analytics.outputs.render import show

    board = warehouse.leaderboard(profile)
    scores = warehouse.view("model_scores").filter(pl.col("profile") == profile)
    if wide:
        shown = with_languages(board, scores, HEADLINE)
    else:
        shown = main_columns(board, scores)
        if format in ("table", "markdown"):
            shown = for_people(shown)
    show(shown, format=format, output=output)
    for sentence in left_unranked(board):
        say(sentence)


@app.command()
def results(
    warehouse: WarehouseArgument,
    model: Annotated[str, typer.Argument(help="The model.")],
    language: Annotated[
        str | None, typer.Option(help="Such as EN or KO; needed if there are several.")
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
    """Verify every file, compare what must add up and what was reported; exit code 1 if off."""
    from orchbench_analytics.outputs.render import show
    from orchbench_analytics.warehouse import open_warehouse

    opened = open_warehouse(warehouse)
    damage = opened.verify()
    for name, fault in damage:
        say(f"{warehouse / name} {fault}")
    if damage:
        say("the next orchbench ingest --verify builds it anew from its input files")
        raise typer.Exit(1)
    say("verified every byte")
    report = opened.check()
    for compared in report.compared:
        say(f"compared {compared}")
    if report.differences.is_empty():
        say("all agree")
        return
    say(f"{len(report.differences):,} differ:")
    show(report.differences, format=format, output=output)
    raise typer.Exit(1)


@app.command()
def audit(
    warehouse: WarehouseArgument,
    model: Annotated[list[str] | None, typer.Option(help="Only these models.")] = None,
    jobs: JobsOption = None,
    format: FormatOption = "table",  # noqa: A002 (what users type)
    output: OutputOption = None,
) -> None:
    """Show what each scoring rule does: from the public evaluator's to ours, one at a time."""
    import polars as pl

    from orchbench_analytics.outputs.render import show
    from orchbench_analytics.warehouse import open_warehouse

    rows = open_warehouse(warehouse).audit(jobs=jobs)
    if model:
        rows = rows.filter(pl.col("model").is_in(model))
    moved = rows.filter(pl.any_horizontal(pl.col("^.*_change$") != 0))
    still = [rule for rule in rows["rule"].unique(maintain_order=True) if rule not in moved["rule"]]
    show(moved, format=format, output=output)
    if still:
        say(f"rules that move nothing here: {', '.join(still)}")
