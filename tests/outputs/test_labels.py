"""What people call things."""

import polars as pl
import pytest

from orchbench_analytics.metrics import METRICS
from orchbench_analytics.outputs.screen import labels_of, named_contenders
from orchbench_analytics.queries import glossary, shown_as
from orchbench_analytics.tables import TABLES
from orchbench_analytics.tables.statistics import STATISTICS

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


@pytest.mark.parametrize(
    ("column", "label", "unit"),
    [
        ("average_score", "Average", "share"),
        ("average_score_en", "Average EN", None),
        ("call_rejection_f1_change", "Call/Reject change", None),
        ("rank_number", "rank", None),
        ("refused_file_count", "refused files", None),
        ("type_mismatch_count", "type mismatches", None),
        ("call_scored_count", "scored calls", None),
        ("is_ranked", "ranked", None),
        ("step_id", "step", None),
        ("key_micro_f1", "key micro F1", "share"),
        ("used_token_count", "used tokens", "tokens"),
        ("generated_seconds", "generated seconds", "seconds"),
        ("a tag of mine", "a tag of mine", None),
    ],
)
def test_a_column_has_one_label(column: str, label: str, unit: str | None) -> None:
    assert shown_as(column) == (label, unit)


def test_columns_of_one_name_are_declared_with_one_label() -> None:
    columns = [c for table in (*TABLES.values(), *STATISTICS) for c in table.columns]
    named = [*((c.name, c.label) for c in columns)]
    named += [(name, words.label) for name, words in glossary().columns.items()]
    declared = {(name, label) for name, label in named if label}
    names = [name for name, _ in declared]
    assert len(names) == len({*names})
    assert {*names} & METRICS.keys() == set()


def test_two_columns_of_a_table_never_have_the_same_label() -> None:
    assert labels_of(["step_id", "step", "rank_number"]) == ["step", "column 2", "rank"]
    assert labels_of(["rank", "rank_number"]) == ["rank", "rank_number"]


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
