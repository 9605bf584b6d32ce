"""The command `leaderboard`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from orchbench_analytics.cli.app import command
from orchbench_analytics.cli.engine import EngineOptions
from orchbench_analytics.cli.options import ProfileOption, SeedOption, WarehouseArgument
from orchbench_analytics.cli.rows import RowOptions
from orchbench_analytics.cli.talk import call_of, say
from orchbench_analytics.errors import SelectionError

if TYPE_CHECKING:
    import polars as pl

    from orchbench_analytics.warehouse import Warehouse

_INTERVALS = (
    "low and high: 95 % interval of Average over scenarios; rank low and rank high: that of the "
    "rank, for all models at once; models of one tier cannot be told apart from its best one"
)
_RANKS = ("rank_number", "model", "average_score", "low", "high", "rank_low", "rank_high")


@command(example="orchbench leaderboard orchbench-demo/warehouse --profile strict")
def leaderboard(
    warehouse: WarehouseArgument,
    profile: ProfileOption = None,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="With 95 % intervals of score and rank.")
    ] = False,
    by: Annotated[
        str | None,
        typer.Option(metavar="TAG", help="Group models by a tag; see orchbench tag."),
    ] = None,
    min_coverage: Annotated[
        float,
        typer.Option(
            min=0.0, max=1.0, metavar="SHARE", help="Rank models with this share of the scenarios."
        ),
    ] = 1.0,
    seed: SeedOption = 0,
    *,
    engine: EngineOptions,
    rows: RowOptions,
) -> None:
    """Rank models by their average score.

    A model that lacks scenarios of the sweep is shown without a rank. With --language the ranks
    are those of that language alone; --wide has every metric in every language.
    """
    if intervals and by:
        raise SelectionError("--intervals and --by do not go together; leave one of them out")
    with engine.opened(warehouse) as opened:
        if intervals:
            ranks = opened.rank_intervals(profile, seed=seed, min_coverage=min_coverage)
            rows.write(ranks, first=_RANKS)
            if rows.is_screen:
                say(_INTERVALS)
            say_left_out(opened, ranks, profile)
        elif by:
            groups = opened.leaderboard(profile, by=by, min_coverage=min_coverage)
            rows.write(groups)
            untagged = groups.filter(groups[by].is_null())["model_count"].sum()
            if untagged:
                say(f"the group without a name: {untagged:,} with no tag {by!r}")
        else:
            write_leaderboard(opened, rows, profile=profile, min_coverage=min_coverage)


def write_leaderboard(
    opened: Warehouse, rows: RowOptions, *, profile: str | None, min_coverage: float = 1.0
) -> None:
    """The leaderboard with its languages side by side, short where people read it."""
    import polars as pl

    from orchbench_analytics.metrics import HEADLINE
    from orchbench_analytics.outputs.leaderboard import (
        for_screen,
        left_unranked,
        main_columns,
        of_language,
        with_languages,
    )

    board = opened.leaderboard(profile, min_coverage=min_coverage)
    say_left_out(opened, board, profile)
    scores = opened.view("model_scores").filter(pl.col("profile") == opened.profile(profile).name)
    if rows.language:
        rows.write(of_language(scores, rows.language, problems=opened.view("model_problems")))
        return
    if rows.wide:
        rows.write(with_languages(board, scores, HEADLINE))
    else:
        main = main_columns(board, scores)
        rows.write(for_screen(main) if rows.is_screen else main)
    for sentence in left_unranked(board):
        say(sentence)
    refused = board["refused_file_count"].sum()
    if refused:
        files = "1 file" if refused == 1 else f"{refused:,} files"
        see = call_of("sources", opened.path, "--status", "refused")
        say(f"{files} could not be read; see: {see}")


def say_left_out(opened: Warehouse, ranked: pl.DataFrame, profile: str | None) -> None:
    """Say which models of the warehouse have no rows under the profile, and why."""
    from orchbench_analytics.outputs.leaderboard import left_out

    for sentence in left_out(ranked, opened.models(), opened.profile(profile)):
        say(sentence)
