"""The leaderboard as it is shown: order, languages side by side, and who has no rank."""

from pathlib import Path

import polars as pl
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.metrics import HEADLINE
from orchbench_analytics.outputs.leaderboard import (
    leaderboard,
    left_unranked,
    short,
    unfinished,
    with_languages,
)
from orchbench_analytics.warehouse import Warehouse
from tests.documents import run, runs_document, scenario_path, write


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """A complete model in three languages, one without Japanese, and one without any label."""
    root = tmp_path_factory.mktemp("languages")
    small_talk = [{"step_id": "3", "agent_id": "weather_agent", "content": "Hello!"}]
    wrong = run(sub_agent_history=small_talk, main_agent_history=[])
    silent = runs_document({"run #1": wrong})
    unlabelled = runs_document({"run #1": run(label={})})
    for language in ("EN", "JA", "KO"):
        write(scenario_path(root / "tree", "complete", language=language), silent)
        write(scenario_path(root / "tree", "unlabelled", language=language), unlabelled)
    for language in ("EN", "KO"):
        write(scenario_path(root / "tree", "partial", language=language))
    made = open_warehouse(root / "warehouse", create=True)
    made.ingest(root / "tree", jobs=1)
    return made


@pytest.fixture
def board(warehouse: Warehouse) -> pl.DataFrame:
    return warehouse.leaderboard()


@pytest.fixture
def scores(warehouse: Warehouse) -> pl.DataFrame:
    return warehouse.table("model_scores").collect().filter(pl.col("profile") == "spec")


def test_a_better_score_over_fewer_scenarios_stands_below_the_ranked(
    warehouse: Warehouse, board: pl.DataFrame
) -> None:
    columns = ("model", "rank_number", "coverage", "is_ranked")
    assert board.select(columns).rows() == [
        ("complete", 1, 1.0, True),
        ("partial", None, pytest.approx(2 / 3), False),
        ("unlabelled", None, 1.0, False),
    ]
    average = dict(board.select("model", "average_score").rows())
    assert average["partial"] > average["complete"]
    ranks = warehouse.table("language_ranks").collect().filter(pl.col("profile") == "spec")
    assert leaderboard(ranks.reverse()).equals(board)


def test_less_coverage_is_ranked_only_if_asked_for(warehouse: Warehouse) -> None:
    board = warehouse.leaderboard(min_coverage=0.5)
    assert board.select("model", "rank_number", "is_ranked").rows() == [
        ("partial", 1, True),
        ("complete", 2, True),
        ("unlabelled", None, False),
    ]


def test_who_has_no_rank_is_told_why(board: pl.DataFrame) -> None:
    assert left_unranked(board) == [
        "partial / exp is not ranked: it has 2 of 3 scenarios",
        "unlabelled / exp is not ranked: none of its scenarios could be scored",
    ]


def test_a_dead_endpoint_has_no_rank_whatever_the_coverage(tmp_path: Path) -> None:
    nothing = runs_document({"run #1": run(sub_agent_history=[], main_agent_history=[])})
    write(scenario_path(tmp_path / "tree", "alive"))
    write(scenario_path(tmp_path / "tree", "dead"), nothing)
    made = open_warehouse(tmp_path / "warehouse", create=True)
    made.ingest(tmp_path / "tree", jobs=1)

    columns = ("model", "rank_number", "rank_status")
    ranks = [("alive", 1, "ranked"), ("dead", None, "no_answers")]
    assert made.leaderboard().select(columns).rows() == ranks
    assert made.leaderboard(min_coverage=0.5).select(columns).rows() == ranks
    intervals = made.leaderboard(intervals=True).select("model", "rank_number", "unranked_reason")
    assert intervals.rows() == [
        ("alive", 1, None),
        ("dead", None, "no answer at all in a language: its endpoint was dead"),
    ]
    english = made.leaderboard(languages="EN")
    assert english.select("model", "rank_number").rows() == [("alive", 1), ("dead", None)]
    assert left_unranked(made.leaderboard()) == [
        "dead / exp is not ranked: it answered nothing in 1 of its 1 languages; the endpoint was "
        "dead, and a score of 0 would say nothing about the model"
    ]


def test_a_board_shows_its_scores_first(board: pl.DataFrame, scores: pl.DataFrame) -> None:
    assert board.columns[:6] == ["rank_number", "model", *HEADLINE]
    languages = [f"average_score_{language}" for language in ("en", "ja", "ko")]
    shown = short(with_languages(board, scores))
    assert shown.columns == [
        "rank_number", "model", *HEADLINE, *languages, "coverage", "scenario_count", "rank_status",
        "experiment", "profile",
    ]  # fmt: skip
    assert shown["average_score_ja"].to_list() == [0.0, None, None]


def test_a_language_is_ranked_by_the_same_rule_as_all_of_them(warehouse: Warehouse) -> None:
    columns = ("language", "model", "rank_number", "rank_status")
    assert warehouse.leaderboard(languages=["en", "J*"]).select(columns).rows() == [
        ("EN", "partial", 1, "ranked"),
        ("EN", "complete", 2, "ranked"),
        ("EN", "unlabelled", None, "no_score"),
        ("JA", "complete", 1, "ranked"),
        ("JA", "unlabelled", None, "no_score"),
    ]
    assert left_unranked(warehouse.leaderboard(languages="JA")) == [
        "unlabelled / exp is not ranked in JA: none of its scenarios could be scored"
    ]


def test_python_and_sql_rank_alike(warehouse: Warehouse) -> None:
    ranks = warehouse.table("language_ranks").collect()
    profiles = ranks.partition_by("profile")
    assert len(profiles) == 3
    for of_profile in profiles:
        languages = sorted({*of_profile["language"]} - {"mean"})
        again = leaderboard(of_profile, languages=languages, min_coverage=1 - 1e-9)
        assert again.equals(leaderboard(of_profile, languages=languages))
        mean = leaderboard(of_profile, min_coverage=1 - 1e-9)
        view = warehouse.table("leaderboard").collect().filter(profile=of_profile["profile"][0])
        assert mean.sort("model").equals(view.sort("model"))


def test_one_language_is_not_shown_twice(board: pl.DataFrame, scores: pl.DataFrame) -> None:
    english = scores.filter(pl.col("language") == "EN")
    assert with_languages(board, english).equals(board)


def test_wide_has_every_metric_in_every_language(board: pl.DataFrame, scores: pl.DataFrame) -> None:
    wide = with_languages(board, scores, HEADLINE)
    beside = [f"{metric}_{language}" for metric in HEADLINE for language in ("en", "ja", "ko")]
    assert wide.columns == [*board.columns[:6], *beside, *board.columns[6:]]
    assert wide["model"].to_list() == board["model"].to_list()


def test_a_third_language_is_compared_like_any_other(warehouse: Warehouse) -> None:
    gaps = warehouse.table("language_gaps").collect().filter(pl.col("profile") == "spec")
    pairs = gaps.filter(pl.col("model") == "complete").select("language", "other_language")
    assert pairs.unique().sort(pl.all()).rows() == [("EN", "JA"), ("EN", "KO"), ("JA", "KO")]
    assert warehouse.results("complete", language="ja")["overall_statistics"]["total_files"] == 1


def test_a_sweep_of_known_size_is_called_unfinished_until_every_model_has_all() -> None:
    board = pl.DataFrame({"coverage": [1.0, 0.5], "sweep_scenario_count": [441, 441]})
    said = unfinished(board)
    assert said is not None
    assert said.startswith("the sweep is not finished: 1 of 2 models have all 441 scenarios")
    assert unfinished(board.head(1)) is None
    assert unfinished(board.clear()) is None
