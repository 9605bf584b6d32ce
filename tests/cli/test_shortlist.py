"""The commands `shortlist` and `predict`: from a list in a file to a score with an interval."""

import json
from pathlib import Path

import polars as pl
import pytest


@pytest.fixture
def listed(orchbench, demo: Path, tmp_path: Path) -> Path:
    path = tmp_path / "list.csv"
    done = orchbench("shortlist", demo / "warehouse", "--scenarios", 4, "--output", path)
    assert done.returncode == 0, done.stderr
    return path


def test_shortlist_writes_the_list_and_says_its_error(orchbench, demo: Path) -> None:
    call = ("shortlist", demo / "warehouse", "--scenarios", 4, "--format", "json")
    done, again = orchbench(*call), orchbench(*call)
    rows = json.loads(done.stdout)

    assert done == again
    assert [row["language"] for row in rows] == ["EN", "EN", "KO", "KO"]
    assert done.stderr.startswith("4 of 8 scenarios predict the full Average within ")
    assert "points (RMSE, each of 9 models predicted from the others); their plain" in done.stderr


def test_few_models_are_said(orchbench, demo: Path) -> None:
    call = ("shortlist", demo / "warehouse", "--scenarios", 4, "--model", "graded-*")
    said = orchbench(*call).stderr

    assert said.startswith("the plain mean of 4 of 8 scenarios is within ")
    assert said.endswith("models have all scenarios; a regression needs 6\n")


@pytest.mark.parametrize("name", ["list.json", "list.jsonl", "list.parquet"])
def test_predict_reads_what_shortlist_writes(
    orchbench, demo: Path, listed: Path, tmp_path: Path, name: str
) -> None:
    other = tmp_path / name
    orchbench("shortlist", demo / "warehouse", "--scenarios", 4, "--output", other)
    first, second = (
        orchbench("predict", demo / "warehouse", "graded-1", "--list", path, "--format", "json")
        for path in (listed, other)
    )

    assert first == second
    (row,) = json.loads(first.stdout)
    assert (row["model"], row["method"], row["scenario_count"]) == ("graded-1", "regression", 4)
    assert row["low"] <= row["predicted_score"] <= row["high"]
    assert first.stderr.startswith("graded-1: full Average ")
    assert first.stderr.endswith("; the interval assumes a model like the others\n")


def test_predict_learns_from_chosen_models_and_languages(orchbench, demo, listed: Path) -> None:
    call = ("predict", demo / "warehouse", "perfect", "--list", listed, "--format", "json")
    few = orchbench(*call, "--model", "graded-*", "--language", "EN")
    (row,) = json.loads(few.stdout)

    assert (row["method"], row["scenario_count"]) == ("mean over the list", 2)
    assert row["sweep_scenario_count"] == 4
    assert "by the plain mean over the list, as " in few.stderr


def test_scenarios_are_texts_in_a_file(orchbench, demo: Path, tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text("language,scenario\nEN,001\n", encoding="utf-8")
    done = orchbench("predict", demo / "warehouse", "perfect", "--list", path)

    assert done.returncode == 2
    assert "no other model has 1 of the 1 scenarios of the list, such as EN/001" in done.stderr


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("list.csv", "model\nperfect\n", "expected the columns language and scenario, got model"),
        ("list.csv", "language,scenario\nEN,\n", "a row has no language or no scenario"),
        ("list.csv", "", "cannot be read as csv"),
        ("list.json", "{", "cannot be read as json"),
        ("list.txt", "EN 1", "expected a list of scenarios as .csv"),
        ("list.csv", None, "no such file"),
    ],
)
def test_a_file_that_is_not_a_list_is_refused(
    orchbench, demo: Path, tmp_path: Path, name: str, text: str | None, said: str
) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text, encoding="utf-8")
    done = orchbench("predict", demo / "warehouse", "perfect", "--list", path)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_a_list_as_long_as_the_sweep_is_refused(orchbench, demo: Path) -> None:
    done = orchbench("shortlist", demo / "warehouse")

    assert done.returncode == 2
    assert "a list of 100 scenarios: expected 1 or more, and fewer than the 8" in done.stderr


def test_names_that_a_spreadsheet_would_run_come_back(tmp_path: Path) -> None:
    from orchbench_analytics.outputs.scenario_lists import read_scenarios
    from orchbench_analytics.outputs.write import write_rows

    rows = pl.DataFrame({"language": ["EN", "EN"], "scenario": ["-1", "'quoted"]})
    write_rows([rows], format="csv", output=tmp_path / "list.csv")

    assert read_scenarios(tmp_path / "list.csv").equals(rows)
