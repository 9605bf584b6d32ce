"""What people call things."""

import polars as pl

from orchbench_analytics.outputs.labels import named_contenders

BOARD = pl.DataFrame(
    {"model": ["a", "b", "b"], "experiment": ["x", "x", "y"], "average_score": [1.0, 0.9, 0.8]}
)


def pair(*experiments: str) -> pl.DataFrame:
    first, second = experiments
    return pl.DataFrame(
        {
            "baseline_model": ["a"],
            "baseline_experiment": [first],
            "candidate_model": ["b"],
            "candidate_experiment": [second],
        }
    )


def test_a_model_with_several_experiments_is_told_by_them() -> None:
    assert named_contenders(BOARD)["model"].to_list() == ["a", "b/x", "b/y"]


def test_a_name_tells_a_model_apart_from_those_that_are_not_shown() -> None:
    assert named_contenders(BOARD.head(2), among=BOARD)["model"].to_list() == ["a", "b/x"]


def test_a_common_experiment_is_named_once() -> None:
    assert named_contenders(pair("x", "x")).to_dicts() == [
        {"baseline_model": "a", "experiment": "x", "candidate_model": "b"}
    ]


def test_other_experiments_are_part_of_the_names() -> None:
    assert named_contenders(pair("x", "y")).to_dicts() == [
        {"baseline_model": "a/x", "candidate_model": "b/y"}
    ]


def test_rows_of_no_model_stay() -> None:
    rows = pl.DataFrame({"metric": ["Plan"]})
    assert named_contenders(rows).equals(rows)
