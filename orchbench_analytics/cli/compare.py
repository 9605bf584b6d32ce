"""The command `compare`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from orchbench_analytics.cli.app import command
from orchbench_analytics.cli.leaderboard import say_left_out
from orchbench_analytics.cli.options import (
    MetricsOption,
    ProfileOption,
    SeedOption,
    WarehouseArgument,
)
from orchbench_analytics.cli.rows import RowOptions
from orchbench_analytics.cli.talk import say
from orchbench_analytics.errors import SelectionError

if TYPE_CHECKING:
    import polars as pl

    from orchbench_analytics.stats.gate import GateResult
    from orchbench_analytics.warehouse import Warehouse

_UNDECIDED = 3  # exit code
_FIGURES = (
    "verdict",
    "difference",
    "low_adjusted",
    "high_adjusted",
    "baseline_value",
    "candidate_value",
    "p_adjusted",
    "scenario_count",
    "effect_size",
    "detectable_difference",
)


@command(example="orchbench compare orchbench-demo/warehouse perfect graded-1")
def compare(
    warehouse: WarehouseArgument,
    baseline: Annotated[
        str | None,
        typer.Argument(metavar="[BASELINE]", help="Model, or model/experiment; else all pairs."),
    ] = None,
    candidate: Annotated[
        str | None,
        typer.Argument(metavar="[CANDIDATE]", help="What is compared with it; else all others."),
    ] = None,
    metric: MetricsOption = None,
    gate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULE", help='What candidate - baseline has to be, such as "Plan >= -0.01".'
        ),
    ] = None,
    undecided: Annotated[
        Literal["pass", "fail"],
        typer.Option(metavar="WORD", help="pass or fail: how an undecided gate counts."),
    ] = "fail",
    drivers: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Show the N scenarios, agents and tools that matter most."
        ),
    ] = 0,
    profile: ProfileOption = None,
    seed: SeedOption = 0,
    *,
    rows: RowOptions,
) -> None:
    """Compare two models, one with all others, or all pairs.

    Only scenarios that both models have are compared. Intervals and verdicts hold for all rows
    together. The exit code is 1 if a gate is crossed, and 3 if one is undecided.
    """
    from orchbench_analytics.metrics import HEADLINE
    from orchbench_analytics.outputs import sentences
    from orchbench_analytics.stats.gate import parse_gate
    from orchbench_analytics.warehouse import open_warehouse

    opened = open_warehouse(warehouse)
    if baseline is None or candidate is None:
        _refuse_for_many(gate, drivers)
        many = opened.compare(baseline, profile=profile, metrics=metric or ["Average"], seed=seed)
        _write_many(many, rows)
        say_left_out(opened, opened.scenario_scores(profile), profile)
        return
    if drivers and metric and len(metric) > 1:
        raise SelectionError("--drivers explains one metric; give one --metric")
    wanted = [*(metric or HEADLINE), *(parse_gate(text).metric for text in gate or ())]
    found = sentences.mean_first(
        opened.compare(baseline, candidate, profile=profile, metrics=wanted, seed=seed)
    )
    if drivers:
        carried = opened.drivers(
            baseline, candidate, profile=profile, metric=metric[0] if metric else "Average"
        )
        _write_with_drivers(found, carried, rows, drivers)
    else:
        rows.write(found, first=("metric", "language", *_FIGURES))
    say(f"{candidate} against {baseline}: {sentences.comparison(found)}")
    _say_power(found)
    if gate:
        results = _check_gates(opened, baseline, candidate, gate, profile=profile, seed=seed)
        _exit_by(results, undecided)


def _refuse_for_many(gate: list[str] | None, drivers: int) -> None:
    if gate:
        raise SelectionError("a gate needs two models to compare")
    if drivers:
        raise SelectionError("--drivers needs two models to compare")


def _write_many(many: pl.DataFrame, rows: RowOptions) -> None:
    from orchbench_analytics.outputs import sentences

    first = ("candidate_model", "baseline_model", *_FIGURES)
    chosen = rows.write(many, first=first)
    say(sentences.many_comparisons(chosen))


def _write_with_drivers(
    found: pl.DataFrame, carried: dict[str, pl.DataFrame], rows: RowOptions, count: int
) -> None:
    """On a terminal a table each, else one table with a column `kind`."""
    import polars as pl

    strongest = {kind: _strongest(frame, count) for kind, frame in carried.items()}
    if not rows.is_screen:
        parts = {"comparison": found} | strongest
        named = (frame.with_columns(kind=pl.lit(kind)) for kind, frame in parts.items())
        rows.write(pl.concat(named, how="diagonal_relaxed").select("kind", pl.exclude("kind")))
        return
    rows.write(found, first=("metric", "language", *_FIGURES))
    columns = ("driver", "contribution", "baseline_value", "candidate_value", "language", "metric")
    plain = RowOptions(all=True, wide=rows.wide)
    for kind, frame in strongest.items():
        say(f"\n{kind} that make the difference:")
        plain.write(frame if rows.wide else frame.select(columns))


def _strongest(frame: pl.DataFrame, count: int) -> pl.DataFrame:
    """The rows that contribute most, either way."""
    import polars as pl

    size = pl.col("contribution").abs()
    return frame.sort(size, descending=True, nulls_last=True).head(count)


def _say_power(found: pl.DataFrame) -> None:
    """In a sentence, what it would have taken to tell, if the first metric could not."""
    from orchbench_analytics.metrics import MEAN_OF_LANGUAGES
    from orchbench_analytics.outputs.labels import metric_label
    from orchbench_analytics.stats.planning import power_advice

    means = found.filter(language=MEAN_OF_LANGUAGES).head(1).to_dicts()
    labelled = [row | {"metric": metric_label(row["metric"])} for row in means]
    for advice in filter(None, map(power_advice, labelled)):
        say(f"{advice}; see: orchbench plan")


def _check_gates(
    opened: Warehouse,
    baseline: str,
    candidate: str,
    gates: list[str],
    *,
    profile: str | None,
    seed: int,
) -> list[GateResult]:
    """The outcomes of all gates, which hold together."""
    from orchbench_analytics.stats.gate import check_gate, gate_level, parse_gate

    level = gate_level(gates)
    metrics = [parse_gate(text).metric for text in gates]
    found = opened.compare(
        baseline, candidate, profile=profile, metrics=metrics, seed=seed, level=level
    )
    return [check_gate(found, text, level=level) for text in gates]


def _exit_by(results: list[GateResult], undecided: Literal["pass", "fail"]) -> None:
    for result in results:
        say(result.message)
    outcomes = {result.outcome for result in results}
    if "crossed" in outcomes:
        raise typer.Exit(1)
    if "undecided" in outcomes and undecided == "fail":
        say("undecided is not held; more scenarios or runs may decide, or pass --undecided pass")
        raise typer.Exit(_UNDECIDED)
