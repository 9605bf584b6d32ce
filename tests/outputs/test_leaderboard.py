"""The leaderboard as it is shown: order, languages side by side, and who has no rank."""

from pathlib import Path

import polars as pl
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.cli.leaderboard import write_leaderboard
from orchbench_analytics.cli.rows import RowOptions
from orchbench_analytics.metrics import HEADLINE
from orchbench_analytics.outputs.leaderboard import (
    for_screen,
    in_order,
    left_unranked,
    main_columns,
    of_language,
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
    return warehouse.view("model_scores").filter(pl.col("profile") == "spec")


def test_a_better_score_over_fewer_scenarios_stands_below_the_ranked(board: pl.DataFrame) -> None:
    columns = ("model", "rank_number", "coverage", "is_ranked")
    assert board.select(columns).rows() == [
        ("complete", 1, 1.0, True),
        ("partial", None, pytest.approx(2 / 3), False),
        ("unlabelled", None, 1.0, False),
    ]
    average = dict(board.select("model", "average_score").rows())
    assert average["partial"] > average["complete"]
    assert in_order(board.reverse()).equals(board)


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
        "unlabelled / exp is not ranked: nothing of it could be scored",
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
    intervals = made.rank_intervals().select("model", "rank_number", "unranked_reason")
    assert intervals.rows() == [
        ("alive", 1, None),
        ("dead", None, "no answer at all in a language: its endpoint was dead"),
    ]
    scores = made.view("model_scores").filter(profile="spec")
    english = of_language(scores, ["EN"], problems=made.view("model_problems"))
    assert english.select("model", "rank_number").rows() == [("alive", 1), ("dead", None)]
    assert left_unranked(made.leaderboard()) == [
        "dead / exp is not ranked: it answered nothing in 1 of its 1 languages; the endpoint was "
        "dead, and a score of 0 would say nothing about the model"
    ]


def test_a_third_language_is_a_column_where_it_is_shown(
    board: pl.DataFrame, scores: pl.DataFrame
) -> None:
    shown = for_screen(main_columns(board, scores))
    languages = [f"average_score_{language}" for language in ("en", "ja", "ko")]
    assert shown.columns == [
        "rank_number", "model", *HEADLINE, *languages, "scenarios", "refused_file_count",
        "profile", "experiment",
    ]  # fmt: skip
    assert shown["scenarios"].to_list() == ["3/3", "2/3", "3/3"]
    assert shown["average_score_ja"].to_list() == [0.0, None, None]


def test_a_language_has_ranks_of_its_own(warehouse: Warehouse, scores: pl.DataFrame) -> None:
    english = of_language(scores, ["en"], problems=warehouse.view("model_problems"))
    assert english.select("rank_number", "model").rows()[0] == (1, "partial")
    assert set(english["language"]) == {"EN"}


def test_one_language_is_not_shown_twice(board: pl.DataFrame, scores: pl.DataFrame) -> None:
    english = scores.filter(pl.col("language") == "EN")
    assert "average_score_en" not in main_columns(board, english).columns


def test_wide_has_every_metric_in_every_language(board: pl.DataFrame, scores: pl.DataFrame) -> None:
    wide = with_languages(board, scores, HEADLINE)
    beside = [f"{metric}_{language}" for metric in HEADLINE for language in ("en", "ja", "ko")]
    assert wide.columns == [*board.columns, *beside]
    assert wide["model"].to_list() == board["model"].to_list()


def test_a_third_language_is_compared_like_any_other(warehouse: Warehouse) -> None:
    gaps = warehouse.view("language_gaps").filter(pl.col("profile") == "spec")
    pairs = gaps.filter(pl.col("model") == "complete").select("language", "other_language")
    assert pairs.unique().sort(pl.all()).rows() == [("EN", "JA"), ("EN", "KO"), ("JA", "KO")]
    assert warehouse.results("complete", language="ja")["overall_statistics"]["total_files"] == 1


def test_the_table_is_data_and_the_reasons_are_talk(
    warehouse: Warehouse, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    write_leaderboard(warehouse, RowOptions(output=tmp_path / "board.csv"), profile="spec")
    header = (tmp_path / "board.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header.startswith("rank_number,model,experiment,average_score,average_score_en,")
    assert header.endswith("sweep_scenario_count,coverage,refused_file_count,rank_status,profile")
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "partial / exp is not ranked" in printed.err
