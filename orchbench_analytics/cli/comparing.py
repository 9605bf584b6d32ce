"""Commands that say which differences are real: compare, trend, consistency."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from orchbench_analytics.cli.app import FormatOption, OutputOption, WarehouseArgument, app, say
from orchbench_analytics.cli.scores import ProfileOption

if TYPE_CHECKING:
    import polars as pl

    from orchbench_analytics.stats import GateResult
    from orchbench_analytics.warehouse import Warehouse

_UNDECIDED = 3  # exit code
_KEY_METRICS = ("Average", "Call Rejection Classification Accuracy", "FC", "Plan")
_COLUMNS = (
    "metric",
    "language",
    "scenario_count",
    "baseline_value",
    "candidate_value",
    "difference",
    "low_adjusted",
    "high_adjusted",
    "p_adjusted",
    "effect_size",
    "detectable_difference",
    "verdict",
)


_MANY_COLUMNS = ("baseline_model", "candidate_model", *_COLUMNS[2:])


@app.command()
def compare(
    warehouse: WarehouseArgument,
    baseline: Annotated[
        str | None, typer.Argument(help="Model, or model/experiment; without it, all pairs.")
    ] = None,
    candidate: Annotated[
        str | None, typer.Argument(help="What is compared with it; without it, all others.")
    ] = None,
    metric: Annotated[
        list[str] | None, typer.Option(help="Plan, FC, …; default the four key metrics.")
    ] = None,
    gate: Annotated[
        list[str] | None,
        typer.Option(help='What candidate - baseline has to be: "Plan >= -0.01".'),
    ] = None,
    undecided: Annotated[
        Literal["pass", "fail"],
        typer.Option(help="Whether a gate passes that the data cannot decide."),
    ] = "fail",
    drivers: Annotated[
        int, typer.Option(min=0, help="How many scenarios, agents and tools that carry it to show.")
    ] = 0,
    profile: ProfileOption = "spec",
    seed: Annotated[int, typer.Option(help="Same seed, same p-values.")] = 0,
    format: FormatOption = "table",  # noqa: A002 (what users type)
    output: OutputOption = None,
) -> None:
    """Compare two models over common scenarios, one with all others, or all pairs.

    Exit code 1 if a gate is crossed, 3 if one is undecided.
    """
    from orchbench_analytics.errors import SelectionError
    from orchbench_analytics.outputs.render import show
    from orchbench_analytics.stats import parse_gate
    from orchbench_analytics.warehouse import open_warehouse

    opened = open_warehouse(warehouse)
    if baseline is None or candidate is None:
        if gate:
            raise SelectionError("a gate needs two models to compare")
        many = _compare_many(opened, baseline, metric, profile=profile, seed=seed)
        is_table = format == "table"
        show(many.select(_MANY_COLUMNS) if is_table else many, format=format, output=output)
        return
    wanted = [*(metric or _KEY_METRICS), *(parse_gate(text).metric for text in gate or ())]
    rows = opened.compare(baseline, candidate, profile=profile, metrics=wanted, seed=seed)
    if format == "table":
        say(
            f"candidate {candidate} against baseline {baseline}, paired over common scenarios; "
            "intervals, p-values and verdicts hold for all rows together"
        )
        show(rows.select(_COLUMNS), format=format, output=output)
        _say_power(rows)
    else:
        show(rows, format=format, output=output)
    if drivers:
        for frame in opened.drivers(baseline, candidate, profile=profile).values():
            show(_strongest(frame, drivers), format=format)
    if gate:
        results = _check_gates(opened, baseline, candidate, gate, profile=profile, seed=seed)
        _exit_by(results, undecided)


def _say_power(rows: pl.DataFrame) -> None:
    """In a sentence, what it would have taken to tell, if the first metric could not."""
    from orchbench_analytics.stats import MEAN_OF_LANGUAGES, power_advice

    first = rows.filter(language=MEAN_OF_LANGUAGES).row(0, named=True)
    if advice := power_advice(first):
        say(f"{advice}; see: orchbench plan")


def _compare_many(
    opened: Warehouse, baseline: str | None, metric: list[str] | None, *, profile: str, seed: int
) -> pl.DataFrame:
    name = metric[0] if metric else "Average"
    if baseline is None:
        return opened.compare(profile=profile, metrics=[name], seed=seed)
    return opened.compare(baseline, profile=profile, metrics=[name], seed=seed)


def _check_gates(
    opened: Warehouse, baseline: str, candidate: str, gates: list[str], *, profile: str, seed: int
) -> list[GateResult]:
    """The outcomes of all gates, which hold together."""
    from orchbench_analytics.stats import check_gate, gate_level, parse_gate

    level = gate_level(gates)
    metrics = [parse_gate(text).metric for text in gates]
    rows = opened.compare(
        baseline, candidate, profile=profile, metrics=metrics, seed=seed, level=level
    )
    return [check_gate(rows, text, level=level) for text in gates]


def _exit_by(results: list[GateResult], undecided: Literal["pass", "fail"]) -> None:
    for result in results:
        say(result.message)
    outcomes = {result.outcome for result in results}
    if "crossed" in outcomes:
        raise typer.Exit(1)
    if "undecided" in outcomes and undecided == "fail":
        say("undecided is not held; more scenarios or runs may decide, or pass --undecided pass")
        raise typer.Exit(_UNDECIDED)


@app.command()
def trend(
    warehouse: WarehouseArgument,
    tag: Annotated[str, typer.Argument(help="A numeric tag of models; see orchbench tag.")],
    metric: Annotated[
        list[str] | None, typer.Option(help="Plan, FC, …; default the four key metrics.")
    ] = None,
    profile: ProfileOption = "spec",
    format: FormatOption = "table",  # noqa: A002 (what users type)
    output: OutputOption = None,
) -> None:
    """Show how scores move with a number that models are tagged with, such as a checkpoint."""
    from orchbench_analytics.outputs.render import show
    from orchbench_analytics.warehouse import open_warehouse

    rows = open_warehouse(warehouse).trends(tag, profile=profile, metrics=metric)
    show(rows.drop("profile"), format=format, output=output)


@app.command()
def consistency(
    warehouse: WarehouseArgument,
    what: Annotated[
        Literal["flips", "pass_rates", "run_noise", "spread", "gaps"],
        typer.Argument(help="Which of the tables."),
    ] = "flips",
    profile: ProfileOption = "spec",
    format: FormatOption = "table",  # noqa: A002 (what users type)
    output: OutputOption = None,
) -> None:
    """Show how steady models are: flips, pass^k and pass@k, noise, spread, language gaps."""
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
