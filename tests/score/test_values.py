"""Values as comparable texts, and JSON as Python reads it."""

import json
import random
import re
from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchbench_analytics.texts import LONGEST_QUOTED, MAX_DEPTH, comparable_text, decode_json


def deep(levels: int, opening: str = "[", closing: str = "]") -> str:
    return opening * levels + "1" + closing * levels


class TestComparableText:
    @pytest.mark.parametrize(
        ("value", "text"),
        [
            ("Seoul", "Seoul"),
            (1, "1"),
            (1.0, "1.0"),
            (True, "True"),
            (None, "None"),
            (float("inf"), "inf"),
            ([2, "b", "a"], "['2', 'a', 'b']"),
            ({"b": 1, "a": "x"}, "{'a': 'x', 'b': '1'}"),
            ({"a": [2, 1]}, """{'a': "['1', '2']"}"""),
            ([{"a": 1}], """["{'a': '1'}"]"""),
            ([["a"]], """["['a']"]"""),
            ([], "[]"),
            ({}, "{}"),
            ("\ud800", "�"),
            (["\ud800"], "['\\ud800']"),
        ],
    )
    def test_a_value_is_printed_as_python_does_with_its_parts_sorted(
        self, value: Any, text: str
    ) -> None:
        assert comparable_text(value) == text

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            (1, "1"),
            ([1, "2"], ["2", 1]),
            ([[1, 2], [3]], [[3], [2, 1]]),
            ({"a": 1, "b": {"c": [1, 2]}}, {"b": {"c": ["2", "1"]}, "a": 1}),
            (["a"], "['a']"),
            ({"a": 1}, {"a": "1"}),
            ({"a": {"b": True}}, {"a": {"b": "True"}}),
            ({"a": 1}, "{'a': '1'}"),
            ([["1", "2"]], ["['1', '2']"]),
        ],
    )
    def test_order_and_the_type_of_scalars_do_not_count(self, one: Any, other: Any) -> None:
        assert comparable_text(one) == comparable_text(other)

    @pytest.mark.parametrize(
        ("one", "other"),
        [(1, 1.0), (["a", "b"], ["a, b"]), (["a"], ["a", "a"]), ({"a": 1}, {"b": 1}), ([1], [[1]])],
    )
    def test_different_values_differ(self, one: Any, other: Any) -> None:
        assert comparable_text(one) != comparable_text(other)

    def test_nesting_costs_a_bounded_room(self) -> None:
        value: Any = "'\"\\"
        for _ in range(MAX_DEPTH):
            value = [value, {"'": value}][:1]

        assert len(comparable_text(value)) < 5 * LONGEST_QUOTED

    def test_past_the_deepest_all_values_are_alike(self) -> None:
        texts = {comparable_text(json.loads(deep(MAX_DEPTH + more))) for more in (1, 2, 500)}

        assert texts == {"unprintable value"}
        assert comparable_text(json.loads(deep(MAX_DEPTH))) not in texts

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        ),
        st.integers(),
    )
    @settings(max_examples=100)
    def test_any_json_has_a_text_that_can_be_stored(self, value: Any, seed: int) -> None:
        text = comparable_text(value)

        assert text.encode().decode() == text
        assert comparable_text(shuffled(value, random.Random(seed))) == text


def shuffled(value: Any, luck: random.Random) -> Any:
    if isinstance(value, list):
        return luck.sample([shuffled(item, luck) for item in value], len(value))
    if isinstance(value, dict):
        items = [(key, shuffled(item, luck)) for key, item in value.items()]
        return dict(luck.sample(items, len(items)))
    return value


class TestDecodeJson:
    @pytest.mark.parametrize(
        "text",
        ["NaN", "[Infinity, -Infinity]", "1e999", '"\\ud800"', "-0", "9" * 400, '{"a":1,"a":2}'],
    )
    def test_what_pythons_reader_takes_is_taken(self, text: str) -> None:
        assert repr(decode_json(text)) == repr(json.loads(text))

    @pytest.mark.parametrize("text", ["", "[1,]", "{'a': 1}", "\ufeff1", "01", deep(100_000)])
    def test_what_pythons_reader_refuses_is_a_value_error(self, text: str) -> None:
        with pytest.raises(ValueError, match=re.compile(".")):
            decode_json(text)

    @given(st.text(st.sampled_from('{}[]",:\\ \n\t0123456789.eE+-truefalsn\x00\x1fué')))
    @settings(max_examples=500)
    def test_any_text_is_read_as_pythons_reader_does(self, text: str) -> None:
        assert outcome(decode_json, text) == outcome(json.loads, text)


def outcome(read: Any, text: str) -> str:
    try:
        return repr(read(text))
    except ValueError:
        return "refused"


@pytest.mark.parametrize(("depth", "is_read"), [(500, True), (501, False)])
def test_depth_counts_lists_and_objects_and_nothing_else(depth: int, is_read: bool) -> None:
    for innermost in ("", "1", '"[[["'):
        with nullcontext() if is_read else pytest.raises(ValueError, match="too deep"):
            decode_json("[" * depth + innermost + "]" * depth)
