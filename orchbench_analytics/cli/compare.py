"""The command `compare`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from orchbench_analytics.cli.app import (
    FOUND_WRONG,
    UNDECIDED,
    ClustersOption,
    MetricsOption,
    ProfileOption,
    RowOptions,
    SeedOption,
    SelectionOptions,
    WarehouseArgument,
    about_sweep,
    call_of,
    command,
    complete_models,
    say,
)
from orchbench_analytics.cli.leaderboard import say_left_out
from orchbench_analytics.errors import SelectionError

if TYPE_CHECKING:
    import polars as pl

    from orchbench_analytics.stats.compare import GateResult

_OF_GATES = (
    "the interval of a gate is corrected for the gates alone, those of the table for all of its "
    "rows"
)


@command(example="orchbench compare orchbench-demo/warehouse perfect graded-1")
def compare(
    warehouse: WarehouseArgument,
    baseline: Annotated[
        str | None,
        typer.Argument(
            metavar="BASELINE",
            autocompletion=complete_models,
            help="Model, or model/experiment; without it, all pairs.",
        ),
    ] = None,
    candidate: Annotated[
        str | None,
        typer.Argument(
            metavar="CANDIDATE",
            autocompletion=complete_models,
            help="The model to compare with the baseline; without it, all others.",
        ),
    ] = None,
    metric: MetricsOption = None,
    gate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULE", help='What candidate - baseline must be, such as "Plan >= -0.02".'
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
    clusters: ClustersOption = None,
    sequential: Annotated[
        bool,
        typer.Option(
            "--sequential",
            help="Stay valid however often a running sweep is looked at; intervals are wider.",
        ),
    ] = False,
    seed: SeedOption = 0,
    *,
    chosen: SelectionOptions,
    rows: RowOptions,
) -> None:
    """Compare two models, one with all others, or all pairs.

    Only scenarios that both models have are compared. Intervals and verdicts hold for all rows
    together. The exit code is 1 if a gate is crossed, and 3 if one is undecided.
    """
    from orchbench_analytics.metrics import HEADLINE
    from orchbench_analytics.outputs import sentences
    from orchbench_analytics.stats.compare import parse_gate
    from orchbench_analytics.warehouse import open_warehouse

    opened = open_warehouse(warehouse)
    about = partial(about_sweep, opened, profile, chosen.language)
    how: dict[str, Any] = {"clusters": clusters, "sequential": sequential, "seed": seed}
    if baseline is None or candidate is None:
        if gate:
            raise SelectionError("a gate needs two models to compare")
        if drivers:
            raise SelectionError("--drivers needs two models to compare")
        many = opened.compare(
            baseline, profile=profile, metrics=metric or ["Average"], **how, **chosen.names
        )
        rows.write(many, about=about, lacking="at least two models with scores are needed")
        for said in filter(None, [sentences.many_comparisons(many), sentences.clusters_used(many)]):
            say(said)
        if not chosen.model and not chosen.experiment:
            say_left_out(opened, _contenders(many), profile)
        return
    if chosen.model:
        raise SelectionError("--model chooses among many models, and two are named already")
    if drivers and metric and len(metric) > 1:
        raise SelectionError("--drivers explains one metric; give one --metric")
    wanted = [*(metric or HEADLINE), *(parse_gate(text).metric for text in gate or ())]
    pair: dict[str, Any] = {
        "baseline": baseline,
        "candidate": candidate,
        "profile": profile,
        "experiments": chosen.experiment or (),
        "languages": chosen.language or (),
    }
    found = opened.compare(metrics=wanted, **pair, **how)
    if drivers:
        carried = opened.drivers(metric=metric[0] if metric else "Average", **pair)
        _write_with_drivers(
            found, carried.group_by("kind", maintain_order=True).head(drivers), rows
        )
    else:
        rows.write(found, about=about)
    clusters_used, advice = sentences.clusters_used(found), sentences.power_advice(found)
    say(f"{candidate} against {baseline}: {sentences.comparison(found)}")
    if clusters_used is not None:
        say(clusters_used)
    if advice is not None:
        say(f"{advice}; see: {call_of('power', warehouse)}")
    if gate:
        _exit_by(opened.gates(gates=gate, **pair, **how), undecided)


def _contenders(many: pl.DataFrame) -> pl.DataFrame:
    """The models of many comparisons."""
    import polars as pl

    sides = ("baseline", "candidate")
    return pl.concat(
        many.select(model=f"{side}_model", experiment=f"{side}_experiment") for side in sides
    ).unique()


def _write_with_drivers(found: pl.DataFrame, carried: pl.DataFrame, rows: RowOptions) -> None:
    """On a terminal a table for each kind, else one table with a column `kind`."""
    import polars as pl

    if not rows.is_screen:
        compared = found.with_columns(kind=pl.lit("comparison"))
        whole = pl.concat([compared, carried], how="diagonal_relaxed")
        rows.write(whole.select("kind", pl.exclude("kind")))
        return
    rows.write(found)
    columns = ("driver", "contribution", "baseline_value", "candidate_value", "language", "metric")
    plain = RowOptions(all=True, wide=rows.wide)
    for (kind,), drivers in carried.partition_by(
        "kind", as_dict=True, maintain_order=True, include_key=False
    ).items():
        say(f"\n{kind} that make the difference:")
        plain.write(drivers if rows.wide else drivers.select(columns))


def _exit_by(results: list[GateResult], undecided: Literal["pass", "fail"]) -> None:
    for result in results:
        say(result.message)
    say(_OF_GATES)
    outcomes = {result.outcome for result in results}
    if "crossed" in outcomes:
        raise typer.Exit(FOUND_WRONG)
    if "undecided" in outcomes and undecided == "fail":
        say(
            "an undecided gate is not held; more scenarios or runs may decide it, or accept it "
            "with --undecided pass"
        )
        raise typer.Exit(UNDECIDED)
