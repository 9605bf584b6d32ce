"""The whole sweep as a caller says it, and what coverage is of it."""

from pathlib import Path

import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import PathError
from orchbench_analytics.ingest.by_hand import read_expected
from orchbench_analytics.warehouse import Warehouse
from tests.documents import scenario_path, write
from tests.golden.pack import HARNESS


def test_a_number_counts_scenarios_without_naming_them() -> None:
    assert read_expected("3") == [(None, None)] * 3
    assert read_expected(441) == [(None, None)] * 441
    assert read_expected(0) == []


def test_a_list_names_them_language_by_language(tmp_path: Path) -> None:
    listed = tmp_path / "sweep.txt"
    listed.write_text(
        "# all\nEN/12\nKO/12_out.json\n\nx/KO/7.yaml # new\nEN/12\n", encoding="utf-8"
    )

    assert read_expected(listed) == [("EN", "12"), ("KO", "12"), ("KO", "7")]


def test_the_benchmarks_data_directory_has_its_scenarios() -> None:
    assert read_expected(HARNESS / "data") == [("EN", "10"), ("KO", "8")]


def test_a_name_without_a_language_is_of_the_language_given(tmp_path: Path) -> None:
    listed = tmp_path / "sweep.txt"
    listed.write_text("12\nKO/7\n", encoding="utf-8")

    assert read_expected(listed, language="EN") == [("EN", "12"), ("KO", "7")]
    with pytest.raises(PathError, match="nothing says which language '12' is in; write EN/12"):
        read_expected(listed)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("many", "neither a number, nor a file"),
        ("-3", "neither a number, nor a file"),
        ("1000001", "1,000,001 scenarios expected; at most 1,000,000"),
    ],
)
def test_what_cannot_be_expected_is_said(given: str, words: str) -> None:
    with pytest.raises(PathError, match=words):
        read_expected(given)


def test_a_directory_without_scenarios_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PathError, match="0 scenarios in it"):
        read_expected(tmp_path)


@pytest.fixture
def partial(tmp_path: Path) -> Warehouse:
    """Three scenarios of one model, two of another."""
    for model, scenarios in (("a", "123"), ("b", "12")):
        for scenario in scenarios:
            write(scenario_path(tmp_path / "tree", model, scenario))
    warehouse = open_warehouse(tmp_path / "warehouse", create=True)
    warehouse.ingest(tmp_path / "tree", jobs=1)
    return warehouse


def coverage(warehouse: Warehouse) -> dict[str, tuple[int, int, int | None]]:
    """Of each model: its scenarios, those of the sweep, its rank; all places say the same."""
    board = warehouse.leaderboard()
    ranks = warehouse.leaderboard(intervals=True)
    spans = warehouse.intervals(metrics=["average_score"]).filter(language="mean")
    names = ("model", "scenario_count", "sweep_scenario_count", "rank_number")
    assert sorted(board.select(names).rows()) == sorted(ranks.select(names).rows())
    shares = dict(spans.select("model", "coverage").rows())
    assert shares == dict(board.select("model", "coverage").rows())
    assert shares == dict(ranks.select("model", "coverage").rows())
    return {row[0]: row[1:] for row in board.select(names).rows()}


def test_coverage_is_of_what_was_expected(partial: Warehouse, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    assert coverage(partial) == {"a": (3, 3, 1), "b": (2, 3, None)}

    partial.ingest(tree, expect=441, jobs=1)
    assert coverage(partial) == {"a": (3, 441, None), "b": (2, 441, None)}
    reasons = dict(partial.leaderboard(intervals=True).select("model", "unranked_reason").rows())
    assert reasons == {
        "a": "438 of 441 scenarios missing",
        "b": "439 of 441 scenarios missing",
    }
    english = partial.intervals(metrics=["average_score"]).filter(language="EN", model="a")
    assert english["coverage"].item() == 3 / 441  # the only language there is

    partial.ingest(tree, jobs=1)  # it is kept
    assert coverage(partial)["a"] == (3, 441, None)
    partial.ingest(tree, expect="2", jobs=1)  # there are more: then those are the sweep
    assert coverage(partial) == {"a": (3, 3, 1), "b": (2, 3, None)}
    partial.ingest(tree, expect=0, jobs=1)
    assert partial.table("expected_scenarios").collect().is_empty()


def test_coverage_is_of_the_scenarios_listed(partial: Warehouse, tmp_path: Path) -> None:
    listed = tmp_path / "sweep.txt"
    listed.write_text("EN/1\nEN/2\nEN/3\nEN/4\nKO/9\n", encoding="utf-8")

    partial.ingest(tmp_path / "tree", expect=listed, jobs=1)

    assert coverage(partial) == {"a": (3, 5, None), "b": (2, 5, None)}
    assert set(partial.leaderboard()["sweep_language_count"]) == {2}
    reasons = dict(partial.leaderboard(intervals=True).select("model", "unranked_reason").rows())
    assert reasons["a"] == "2 of 5 scenarios missing, all of KO"
    english = partial.intervals(metrics=["average_score"]).filter(language="EN", model="a")
    assert english["coverage"].item() == 3 / 4


def test_what_is_expected_need_not_change_anything(partial: Warehouse, tmp_path: Path) -> None:
    partial.ingest(tmp_path / "tree", expect=441, jobs=1)
    before = partial.manifest()

    partial.ingest(tmp_path / "tree", expect=441, jobs=1)

    assert partial.manifest().tables == before.tables
