"""The command `leaderboard`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from orchbench_analytics.cli.app import (
    ClustersOption,
    EngineOptions,
    ProfileOption,
    RowOptions,
    SeedOption,
    SelectionOptions,
    WarehouseArgument,
    about_sweep,
    call_of,
    command,
    complete_tags,
    say,
)

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from orchbench_analytics.warehouse import Warehouse

_INTERVALS = (
    "low and high: 95 % interval of Average over scenarios; rank low and rank high: that of the "
    "rank, for all models at once; models of one tier cannot be told apart from its best one"
)
_NEARLY_ALL = 0.9  # of the sweep's scenarios


@command(example="orchbench leaderboard orchbench-demo/warehouse --profile strict")
def leaderboard(
    warehouse: WarehouseArgument,
    profile: ProfileOption = None,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="With 95 % intervals of score and rank.")
    ] = False,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="TAG",
            autocompletion=complete_tags,
            help="Group models by a tag; see orchbench tag.",
        ),
    ] = None,
    min_coverage: Annotated[
        float,
        typer.Option(
            min=0.0,
            max=1.0,
            metavar="SHARE",
            help="Rank models that have this share of scenarios or more.",
        ),
    ] = 1.0,
    clusters: ClustersOption = None,
    seed: SeedOption = 0,
    *,
    engine: EngineOptions,
    chosen: SelectionOptions,
    rows: RowOptions,
) -> None:
    """Rank models by their average score.

    A model that lacks scenarios of the sweep is shown without a rank. With --model the ranks count
    only the chosen models, with --language only the chosen languages; --wide shows every metric in
    every language.
    """
    from orchbench_analytics.metrics import HEADLINE
    from orchbench_analytics.outputs.leaderboard import short, unfinished
    from orchbench_analytics.store.manifest import row_count

    with engine.opened(warehouse) as opened:
        board = opened.leaderboard(
            profile=profile,
            by=by,
            intervals=intervals,
            min_coverage=min_coverage,
            beside=() if by or chosen.language else HEADLINE if rows.wide else HEADLINE[:1],
            clusters=clusters,
            seed=seed,
            **chosen.names,
        )
        about = partial(about_sweep, opened, profile, chosen.language)
        rows.write(short(board) if rows.is_short and not by else board, about=about)
        if by:
            untagged = board.filter(board[by].is_null())["model_count"]
            if len(untagged):
                say(f"the group without a name: {untagged[0]:,} with no tag {by!r}")
            return
        if intervals and rows.is_screen:
            say(_INTERVALS)
        if not chosen.model and not chosen.experiment:
            say_left_out(opened, board, profile)
        is_sized = bool(row_count(opened.manifest(), "expected_scenarios"))
        if is_sized and (said := unfinished(board)) is not None:
            say(said)
        if not intervals:
            _say_unranked(board, warehouse)


def _say_unranked(board: pl.DataFrame, warehouse: Path) -> None:
    """Say why models have no rank, and what could be done about it."""
    from orchbench_analytics.outputs.leaderboard import left_unranked

    for sentence in left_unranked(board):
        say(sentence)
    coverage = board.filter(rank_status="incomplete")["coverage"].max()
    if isinstance(coverage, float) and coverage >= _NEARLY_ALL:
        share = int(coverage * 100) / 100
        say(f"--min-coverage {share:g} ranks models that lack a few scenarios")
    refused = board["refused_file_count"].sum()
    if refused:
        files = "1 file" if refused == 1 else f"{refused:,} files"
        see = call_of("sources", warehouse, "--status", "refused")
        say(f"{files} could not be read; see: {see}")


def say_left_out(opened: Warehouse, ranked: pl.DataFrame, profile: str | None) -> None:
    """Say which models of the warehouse have no rows under the profile, and why."""
    from orchbench_analytics.outputs.leaderboard import left_out
    from orchbench_analytics.tables import REPORTED_SCENARIOS, SCENARIOS

    has_scenarios = {SCENARIOS.name, REPORTED_SCENARIOS.name}
    there = {
        (part.model, part.experiment)
        for part in opened.manifest().parts
        if not has_scenarios.isdisjoint(part.row_counts)
    }
    for sentence in left_out(ranked, there, opened.profile(profile)):
        say(sentence)
