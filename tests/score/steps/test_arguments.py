"""Comparing calls: names, keys and values of a pair, as sets where both sides have them."""

import json
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchbench_analytics.profiles import SPEC, UPSTREAM, Profile
from orchbench_analytics.score.steps.calls import read_distinct_calls, reading_of
from orchbench_analytics.score.steps.score import compare_arguments, compare_names, f1, set_f1
from tests.rows import call, calls

COUNTS = ("true_positive_count", "false_positive_count", "false_negative_count")
Counts = tuple[int, int, int]


def compared(label: str, used: str, profile: Profile = SPEC) -> dict[str, Counts]:
    """Counts by argument key."""
    found = rows(label, used, profile)
    return {row["argument_key"]: tuple(row[c] for c in COUNTS) for row in found}


def rows(label: str, used: str, profile: Profile = SPEC) -> list[dict[str, Any]]:
    found = compare_arguments(pair(), read_distinct_calls(["[]", label, used]))
    return as_read(found, profile).sort("argument_key").to_dicts()


def as_read(compared: pl.DataFrame, profile: Profile) -> pl.DataFrame:
    reading = pl.col("reading")
    return compared.filter(reading.is_null() | (reading == reading_of(profile)))


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
    ("wanted", "given", "counts", "upstream_counts"),
    [
        (["a"], ["a", call(None)], (1, 0, 0), (1, 1, 0)),
        (["a"], [call(None)], (0, 0, 1), (0, 1, 1)),
        ([call(None)], [call(None)], (0, 0, 0), (1, 0, 0)),
        ([call(1)], [call(True), call("1")], (0, 1, 0), (1, 1, 0)),
        (["a"], [call(["a"])], (0, 0, 1), (0, 1, 1)),
    ],
)
def test_what_is_not_a_name_is_one_to_the_evaluator(
    wanted: list[Any], given: list[Any], counts: Counts, upstream_counts: Counts
) -> None:
    found = compare_names(pair(), read_distinct_calls(["[]", calls(*wanted), calls(*given)]))

    for profile, expected in ((SPEC, counts), (UPSTREAM, upstream_counts)):
        names = as_read(found, profile).select(f"name_{count}" for count in COUNTS)
        assert names.rows() == [expected]


def test_arguments_of_a_nameless_call_count_for_the_evaluator_only() -> None:
    wanted = with_arguments({"k": 1})
    given = calls(call("book", {"k": 1}), call(None, {"k": 2, "l": 3}))

    assert compared(wanted, given) == {"k": (1, 0, 0)}
    assert compared(wanted, given, UPSTREAM) == {"k": (1, 1, 0), "l": (0, 1, 0)}


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
        assert compared(wanted, given, UPSTREAM) == {
            "error": (0, len(self.TEXT), 0),
            "k": (0, 0, 1),
        }

    def test_other_calls_keep_their_arguments(self) -> None:
        wanted, given = with_arguments({"k": 1}), with_arguments({"k": 1}, self.BROKEN)

        assert compared(wanted, given) == {"k": (1, 0, 0)}

    def test_a_label_that_has_a_key_of_that_name_keeps_it(self) -> None:
        wanted, given = with_arguments({"error": "E1"}), with_arguments(self.BROKEN)

        assert compared(wanted, given) == {"error": (0, 0, 1)}
        assert compared(wanted, given, UPSTREAM) == {"error": (0, 1, 1)}

    def test_an_answer_that_has_a_key_of_that_name_keeps_it(self) -> None:
        wanted, given = (
            with_arguments({"error": "E1"}),
            with_arguments({"error": "E1"}, self.BROKEN),
        )

        assert compared(wanted, given) == {"error": (1, 0, 0)}
        assert compared(wanted, given, UPSTREAM) == {"error": (0, 1, 1)}

    def test_in_a_label_they_are_treated_alike(self) -> None:
        broken, sound = with_arguments(self.BROKEN), with_arguments({"k": 1})

        assert compared(broken, sound) == {"k": (0, 1, 0)}
        assert compared(broken, broken) == {}
        assert compared(broken, broken, UPSTREAM) == {"error": (1, 0, 0)}

    def test_without_any_a_pair_is_compared_once_for_all_rules(self) -> None:
        sound = with_arguments({"k": 1})

        assert [row["reading"] for row in rows(sound, sound)] == [None]


@pytest.mark.parametrize(
    ("counts", "score"),
    [((0, 0, 0), 0.0), ((1, 0, 0), 1.0), ((0, 1, 1), 0.0), ((1, 1, 0), 2 / 3), ((2, 1, 1), 2 / 3)],
)
def test_f1_is_the_harmonic_mean_of_precision_and_recall(counts: Counts, score: float) -> None:
    columns = [pl.lit(count) for count in counts]

    assert pl.select(f1(*columns)).item() == pytest.approx(score)


def test_f1_is_formed_from_precision_and_recall_to_the_last_bit() -> None:
    precision, recall = 1 / 3, 1 / 10

    found = pl.select(f1(pl.lit(1), pl.lit(2), pl.lit(9))).item()

    assert found == 2 * precision * recall / (precision + recall)
    assert found != 2 / 13


def test_two_empty_sets_agree_fully() -> None:
    frame = pl.DataFrame({f"key_{count}": [0] for count in COUNTS})

    assert frame.select(set_f1("key")).item() == 1.0


json_values = st.sampled_from([1, "1", 2, "a", [1, "b"], ["b", 1], {"x": 1}, None])
argument_lists = st.lists(st.dictionaries(st.sampled_from("kl"), json_values), max_size=3)


@given(argument_lists, argument_lists)
@settings(max_examples=100)
def test_sides_swapped_swap_what_is_missing_and_what_is_too_much(
    wanted: list[Any], given: list[Any]
) -> None:
    forth = compared(with_arguments(*wanted), with_arguments(*given))
    back = compared(with_arguments(*given), with_arguments(*wanted))

    assert forth == {key: (tp, fn, fp) for key, (tp, fp, fn) in back.items()}


@given(argument_lists)
@settings(max_examples=100)
def test_equal_sides_miss_nothing(each: list[Any]) -> None:
    found = compared(with_arguments(*each), with_arguments(*json.loads(json.dumps(each))))

    assert all(tp > 0 and fp == fn == 0 for tp, fp, fn in found.values())
    assert found.keys() == {key for arguments in each for key in arguments}
