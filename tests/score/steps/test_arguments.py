"""Comparing calls: names, keys and values of a pair, as sets where both sides have them."""

import json
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchbench_analytics.score.steps.arguments import compare_arguments, compare_names, f1, set_f1
from orchbench_analytics.score.steps.observe import read_distinct_calls
from tests.rows import call, calls

COUNTS = ("true_positive_count", "false_positive_count", "false_negative_count")
Counts = tuple[int, int, int]


def compared(label: str, used: str, under: str = "none") -> dict[str, Counts]:
    """Counts by argument key."""
    return {row["argument_key"]: tuple(row[c] for c in COUNTS) for row in rows(label, used, under)}


def rows(label: str, used: str, under: str = "none") -> list[dict[str, Any]]:
    read = read_distinct_calls(["[]", label, used])
    found = compare_arguments(pair(), read)
    rule = pl.col("only_under")
    return found.filter(rule.is_null() | (rule == under)).sort("argument_key").to_dicts()


def pair() -> pl.DataFrame:
    schema = {"language": pl.String, "label_id": pl.UInt32, "used_id": pl.UInt32}
    return pl.DataFrame([("EN", 1, 2)], schema=schema, orient="row")


def with_arguments(*each: Any) -> str:
    return calls(*(call("book", arguments) for arguments in each))


@pytest.mark.parametrize(
    ("wanted", "given", "counts"),
    [
        (["a"], ["a"], (1, 0, 0)),
        (["a", "b"], ["b", "a"], (2, 0, 0)),
        (["a", "a"], ["a"], (1, 0, 0)),
        (["a"], ["b"], (0, 1, 1)),
        (["a", "b"], ["b", "c", "d"], (1, 2, 1)),
        (["a"], [], (0, 0, 1)),
        ([], ["a"], (0, 1, 0)),
        ([], [], (0, 0, 0)),
        (["a"], ["A"], (0, 1, 1)),
    ],
)
def test_names_are_compared_as_sets(wanted: list[str], given: list[str], counts: Counts) -> None:
    found = compare_names(pair(), read_distinct_calls(["[]", calls(*wanted), calls(*given), "x"]))

    assert found.select(f"name_{count}" for count in COUNTS).rows() == [counts]


@pytest.mark.parametrize(
    ("wanted", "given", "counts"),
    [
        ([{"k": 1}], [{"k": 1}], (1, 0, 0)),
        ([{"k": 1}], [{"k": "1"}], (1, 0, 0)),
        ([{"k": 1}], [{"k": 2}], (0, 1, 1)),
        ([{"k": [1, 2]}], [{"k": [2, 1]}], (1, 0, 0)),
        ([{"k": {"a": 1, "b": 2}}], [{"k": {"b": 2, "a": 1}}], (1, 0, 0)),
        # a key's values are a set where both sides have the key …
        ([{"k": 1}, {"k": 1}], [{"k": 1}], (1, 0, 0)),
        ([{"k": 1}, {"k": 2}], [{"k": 2}, {"k": 3}, {"k": 3}], (1, 1, 1)),
        # … and count one per call where one side has it alone
        ([{"k": 1}, {"k": 1}], [{}], (0, 0, 2)),
        ([{}], [{"k": 1}, {"k": 1}, {"k": 2}], (0, 3, 0)),
    ],
)
def test_values_of_a_key(wanted: list[Any], given: list[Any], counts: Counts) -> None:
    assert compared(with_arguments(*wanted), with_arguments(*given)) == {"k": counts}


def test_each_key_is_a_row_with_both_sides_values() -> None:
    wanted = with_arguments({"both": 1, "label": [2]})
    given = with_arguments({"both": "x", "answer": None})

    found = {
        row["argument_key"]: (row["is_shared"], row["label_values"], row["answer_values"])
        for row in rows(wanted, given)
    }

    assert found == {
        "both": (True, '["1"]', '["x"]'),
        "label": (False, "[\"['2']\"]", None),
        "answer": (False, None, '["None"]'),
    }


def test_no_arguments_are_no_rows() -> None:
    assert rows(calls("book"), calls("other")) == []


class TestInvalidArguments:
    BROKEN = "{broken"
    TEXT = "Invalid JSON in arguments: {broken"

    def test_they_are_nothing_or_the_key_error_that_counts_its_characters(self) -> None:
        wanted, given = with_arguments({"k": 1}), with_arguments(self.BROKEN)

        assert compared(wanted, given) == {"k": (0, 0, 1)}
        assert compared(wanted, given, "error_key") == {
            "error": (0, len(self.TEXT), 0),
            "k": (0, 0, 1),
        }

    def test_other_calls_keep_their_arguments(self) -> None:
        wanted, given = with_arguments({"k": 1}), with_arguments({"k": 1}, self.BROKEN)

        assert compared(wanted, given) == {"k": (1, 0, 0)}

    def test_a_label_that_has_a_key_of_that_name_keeps_it(self) -> None:
        wanted, given = with_arguments({"error": "E1"}), with_arguments(self.BROKEN)

        assert compared(wanted, given) == {"error": (0, 0, 1)}
        assert compared(wanted, given, "error_key") == {"error": (0, 1, 1)}

    def test_an_answer_that_has_a_key_of_that_name_keeps_it(self) -> None:
        wanted, given = (
            with_arguments({"error": "E1"}),
            with_arguments({"error": "E1"}, self.BROKEN),
        )

        assert compared(wanted, given) == {"error": (1, 0, 0)}
        assert compared(wanted, given, "error_key") == {"error": (0, 1, 1)}

    def test_in_a_label_they_are_treated_alike(self) -> None:
        broken, sound = with_arguments(self.BROKEN), with_arguments({"k": 1})

        assert compared(broken, sound) == {"k": (0, 1, 0)}
        assert compared(broken, broken) == {}
        assert compared(broken, broken, "error_key") == {"error": (1, 0, 0)}

    def test_without_any_a_pair_is_compared_once_for_all_rules(self) -> None:
        sound = with_arguments({"k": 1})

        assert [row["only_under"] for row in rows(sound, sound)] == [None]


@pytest.mark.parametrize(
    ("counts", "score"),
    [((0, 0, 0), 0.0), ((1, 0, 0), 1.0), ((0, 1, 1), 0.0), ((1, 1, 0), 2 / 3), ((2, 1, 1), 2 / 3)],
)
def test_f1_is_the_harmonic_mean_of_precision_and_recall(counts: Counts, score: float) -> None:
    columns = [pl.lit(count) for count in counts]

    assert pl.select(f1(*columns)).item() == pytest.approx(score)


def test_two_empty_sets_agree_fully() -> None:
    frame = pl.DataFrame({f"key_{count}": [0] for count in COUNTS})

    assert frame.select(set_f1("key")).item() == 1.0


json_values = st.sampled_from([1, "1", 2, "a", [1, "b"], ["b", 1], {"x": 1}, None])
argument_lists = st.lists(st.dictionaries(st.sampled_from("kl"), json_values), max_size=3)


@given(argument_lists, argument_lists)
@settings(deadline=None, max_examples=100)
def test_sides_swapped_swap_what_is_missing_and_what_is_too_much(
    wanted: list[Any], given: list[Any]
) -> None:
    forth = compared(with_arguments(*wanted), with_arguments(*given))
    back = compared(with_arguments(*given), with_arguments(*wanted))

    assert forth == {key: (tp, fn, fp) for key, (tp, fp, fn) in back.items()}


@given(argument_lists)
@settings(deadline=None, max_examples=100)
def test_equal_sides_miss_nothing(each: list[Any]) -> None:
    found = compared(with_arguments(*each), with_arguments(*json.loads(json.dumps(each))))

    assert all(tp > 0 and fp == fn == 0 for tp, fp, fn in found.values())
    assert found.keys() == {key for arguments in each for key in arguments}
