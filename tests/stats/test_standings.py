"""Standings: the average so far, and ranks that are certain only if nothing can turn them."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from orchbench_analytics import open_warehouse
from orchbench_analytics.warehouse import Warehouse


def demo(directory: Path) -> Warehouse:
    return open_warehouse(directory / "warehouse")


def test_ranks_are_those_that_sequential_verdicts_leave_open(demo_directory: Path) -> None:
    warehouse = demo(demo_directory)
    standings = warehouse.standings()
    verdicts = warehouse.compare(sequential=True)
    for row in standings.iter_rows(named=True):
        own = (pl.col("candidate_model") == row["model"]) & (
            pl.col("candidate_experiment") == row["experiment"]
        )
        other = (pl.col("baseline_model") == row["model"]) & (
            pl.col("baseline_experiment") == row["experiment"]
        )
        better = verdicts.filter(
            (own & (pl.col("verdict") == "worse")) | (other & (pl.col("verdict") == "better"))
        ).height
        worse = verdicts.filter(
            (own & (pl.col("verdict") == "better")) | (other & (pl.col("verdict") == "worse"))
        ).height
        assert row["rank_low"] == 1 + better
        assert row["rank_high"] == standings.height - worse


def test_intervals_are_wider_than_those_of_a_single_look(demo_directory: Path) -> None:
    keys = ["model", "experiment"]
    once = demo(demo_directory).leaderboard(intervals=True)
    both = demo(demo_directory).standings().join(once, on=keys, suffix="_once")
    assert both.height == 13
    assert (both["low"] <= both["low_once"]).all()
    assert (both["high"] >= both["high_once"]).all()
    assert both["average_score"].equals(both["average_score_once"])


def test_who_answers_nothing_is_among_the_last_for_certain(demo_directory: Path) -> None:
    standings = demo(demo_directory).standings()
    last = standings.row(-1, named=True)
    assert (last["model"], last["rank_high"]) == ("silent", 13)
    assert last["rank_low"] >= 12
    assert standings["model"][0] == "perfect"
    assert (standings["rank_low"] <= standings["rank_high"]).all()
