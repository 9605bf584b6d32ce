"""Commands that say which differences are real: compare, consistency."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from orchbench_analytics.cli.app import FormatOption, OutputOption, WarehouseArgument, app, say
from orchbench_analytics.cli.scores import ProfileOption

if TYPE_CHECKING:
    import polars as pl

_COLUMNS = (
    "metric",
    "language",
    "scenario_count",
    "baseline_value",
    "candidate_value",
    "difference",
    "low",
    "high",
    "p_adjusted",
    "effect_size",
    "detectable_difference",
    "verdict",
)


@app.command()
def compare(
    warehouse: WarehouseArgument,
    baseline: Annotated[
        str | None, typer.Argument(help="Model, or model/experiment; without it, all pairs.")
    ] = None,
    candidate: Annotated[str | None, typer.Argument(help="What is compared with it.")] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="Plan, FC, …; default the four key metrics.")
    ] = None,
    gate: Annotated[
        list[str] | None,
        typer.Option(help='What candidate - baseline has to be: "Plan >= -0.01".'),
    ] = None,
    drivers: Annotated[
        int, typer.Option(min=0, help="How many scenarios, agents and tools that carry it to show.")
    ] = 0,
    profile: ProfileOption = "spec",
    seed: Annotated[int, typer.Option(help="Same seed, same p-values.")] = 0,
    format: FormatOption = "table",  # noqa: A002 (what users type)
    output: OutputOption = None,
) -> None:
    """Compare two models over their common scenarios, or all pairs; 1 if a gate is crossed."""
    from orchbench_analytics.errors import SelectionError
    from orchbench_analytics.outputs.render import show
    from orchbench_analytics.stats import check_gate, parse_gate
    from orchbench_analytics.warehouse import open_warehouse

    opened = open_warehouse(warehouse)
    if (baseline is None) != (candidate is None):
        raise SelectionError("name two models, or none for all pairs")
    if baseline is None or candidate is None:
        if gate:
            raise SelectionError("a gate needs two models to compare")
        name = metric[0] if metric else "Average"
        show(
            opened.compare_all(profile=profile, metric=name, seed=seed),
            format=format,
            output=output,
        )
        return
    wanted = list(metric or ("Average", "Call Rejection Classification Accuracy", "FC", "Plan"))
    wanted += [parse_gate(text).metric for text in gate or ()]
    rows = opened.compare(baseline, candidate, profile=profile, metrics=wanted, seed=seed)
    if format == "table":
        say(f"candidate {candidate} against baseline {baseline}, paired over common scenarios")
        show(rows.select(_COLUMNS), format=format, output=output)
    else:
        show(rows, format=format, output=output)
    if drivers:
        for frame in opened.drivers(baseline, candidate, profile=profile).values():
            show(_strongest(frame, drivers), format=format)
    results = [check_gate(rows, text) for text in gate or ()]
    for result in results:
        say(result.message)
    if any(result.is_crossed for result in results):
        raise typer.Exit(1)


@app.command()
def consistency(
    warehouse: WarehouseArgument,
    what: Annotated[
        Literal["flips", "pass_rates", "run_noise", "spread"],
        typer.Argument(help="Which of the tables."),
    ] = "flips",
    profile: ProfileOption = "spec",
    format: FormatOption = "table",  # noqa: A002 (what users type)
    output: OutputOption = None,
) -> None:
    """Show how steady models are over runs: flips, pass^k and pass@k, noise, spread."""
    from orchbench_analytics.outputs.render import show
    from orchbench_analytics.warehouse import open_warehouse

    tables = open_warehouse(warehouse).consistency(profile)
    show(tables[what].drop("profile"), format=format, output=output)


def _strongest(frame: pl.DataFrame, count: int) -> pl.DataFrame:
    """The rows that contribute most, either way."""
    import polars as pl

    columns = ("metric", "language", "driver", "baseline_value", "candidate_value", "contribution")
    strongest = frame.sort(pl.col("contribution").abs(), descending=True, nulls_last=True)
    return strongest.head(count).select(columns)
