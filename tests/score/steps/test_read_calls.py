"""Reading calls: names, merged arguments, defects, and calls that were written as text."""

import json
import random
import re
import string
import time
from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchbench_analytics.score.steps.read_calls import (
    MAX_DEPTH,
    Argument,
    calls_in_text,
    comparable_text,
    decode_json,
    read_calls,
)
from tests.rows import AWAITING, VIOLATION, call, calls

THINKING = '<think>Maybe {"tool": "wrong", "arguments": {}}</think>'
CALL = '{"tool": "book", "arguments": {"city": "Seoul"}}'
BOOKED = [{"name": "book", "arguments": {"city": "Seoul"}}]


def deep(levels: int, opening: str = "[", closing: str = "]") -> str:
    return opening * levels + "1" + closing * levels


class TestReadCalls:
    def test_names_are_distinct_and_keep_their_order(self) -> None:
        read = read_calls(calls("b", "a", "b"))

        assert (read.call_count, read.names) == (3, ["b", "a"])

    def test_arguments_merge_key_by_key_into_one_value_per_call(self) -> None:
        read = read_calls(
            calls(call("a", '{"x": 1, "y": "u"}'), call("b", {"x": 1}), call("a", '{"x": 2}'))
        )

        assert read.arguments == [Argument("x", ["1", "1", "2"], 3), Argument("y", ["u"], 1)]

    def test_arguments_may_be_text_or_object(self) -> None:
        as_text, as_object = (
            read_calls(calls(call("a", given))) for given in ('{"x": [2, 1]}', {"x": [2, 1]})
        )

        assert as_text == as_object

    @pytest.mark.parametrize(
        "given",
        ["", "{", "city: Seoul", "{'city': 1}", deep(100_000), '{"n": ' + "9" * 5_000 + "}"],
        ids=lambda given: given[:10],
    )
    def test_arguments_that_are_no_json_leave_the_name(self, given: str) -> None:
        read = read_calls(calls(call("book", given)))

        text = f"Invalid JSON in arguments: {given}"
        assert read.names == ["book"]
        assert read.arguments == [Argument("error", [text], len(text), only_under="error_key")]
        assert (read.has_invalid_arguments, read.is_malformed, read.voids_file) == (
            True,
            True,
            False,
        )

    def test_invalid_arguments_take_the_key_error(self) -> None:
        read = read_calls(calls(call("a", '{"error": 5}'), call("a", "no"), call("a", "never")))

        texts = ["Invalid JSON in arguments: no", "Invalid JSON in arguments: never"]
        assert read.arguments == [
            Argument("error", ["5"], 1, only_under="none"),
            Argument("error", texts, sum(map(len, texts)), only_under="error_key"),
        ]

    @pytest.mark.parametrize("given", ["[1]", "null", "5", '"text"', [1], None, 5, True])
    def test_arguments_that_are_no_object_leave_the_name_and_void_the_evaluators_file(
        self, given: Any
    ) -> None:
        read = read_calls(calls(call("book", given)))

        assert (read.names, read.arguments) == (["book"], [])
        assert (read.is_malformed, read.voids_file) == (True, True)

    @pytest.mark.parametrize(
        "given", [call(None), call(""), call(5), {"arguments": "{}"}, {}, 5, None, "book", []]
    )
    def test_a_call_without_a_name_is_flagged(self, given: Any) -> None:
        read = read_calls(json.dumps([given]))

        assert (read.call_count, read.names) == (1, [])
        assert (read.is_malformed, read.voids_file) == (True, True)

    @pytest.mark.parametrize(
        ("given", "voids_file"), [("null", True), ("5", False), ("{}", False), ('""', False)]
    )
    def test_calls_that_are_no_list_are_no_calls(self, given: str, voids_file: bool) -> None:
        read = read_calls(given)

        assert (read.call_count, read.names, read.arguments) == (0, [], [])
        assert (read.is_malformed, read.voids_file) == (True, voids_file)

    @pytest.mark.parametrize("depth", [498, 5_000, 20_000])
    def test_calls_nested_too_deep_to_be_read_are_one_call_without_a_name(self, depth: int) -> None:
        read = read_calls(f'[{{"name": "book", "arguments": {{"a": {deep(depth)}}}}}]')

        assert (read.call_count, read.names, read.is_malformed) == (1, [], True)

    def test_calls_nested_as_deep_as_may_be_are_read(self) -> None:
        read = read_calls(f'[{{"name": "book", "arguments": {{"a": {deep(497)}, "b": "[" }}}}]')

        assert (read.call_count, read.names, read.is_malformed) == (1, ["book"], False)

    def test_brackets_side_by_side_are_not_deep(self) -> None:
        flat = f"[{', '.join(['[]'] * 2_000)}]"
        read = read_calls(f'[{{"name": "book", "arguments": {{"a": {flat}}}}}]')

        assert read.names == ["book"]

    @pytest.mark.parametrize(("depth", "is_read"), [(500, True), (501, False)])
    def test_depth_counts_lists_and_objects_and_nothing_else(
        self, depth: int, is_read: bool
    ) -> None:
        for innermost in ("", "1", '"[[["'):
            with nullcontext() if is_read else pytest.raises(ValueError, match="too deep"):
                decode_json("[" * depth + innermost + "]" * depth)

    def test_a_rejection_key_and_the_placeholder_are_noticed(self) -> None:
        both = read_calls(calls(call("tool_name", {VIOLATION: 1, AWAITING: 1})))

        assert (both.rejection_key, both.has_placeholder) == (AWAITING, True)
        assert read_calls(calls(call("x", {VIOLATION: 1}))).rejection_key == VIOLATION
        assert read_calls(calls("x")).rejection_key is None

    def test_keys_and_names_can_be_stored_whatever_they_are(self) -> None:
        read = read_calls(r'[{"name": "b\ud800", "arguments": "{\"k\\ud800\": \"v\\udfff\"}"}]')

        assert read.names == ["b�"]
        assert read.arguments == [Argument("k�", ["v�"], 1)]


class TestCallsInText:
    @pytest.mark.parametrize(
        "text",
        [
            CALL,
            f"  \n{CALL}\n ",
            CALL.replace("tool", "name"),
            CALL.replace("arguments", "parameters"),
            f"```json\n{CALL}\n```",
            f"```\n{CALL}```",
            f"<tool_call>{CALL}</tool_call>",
            f"<tool_call>\n{CALL}",
            f"<function_call>{CALL}</function_call>",
            f"```json\n<tool_call>{CALL}</tool_call>\n```",
            f"{THINKING}\n{CALL}",
            f"<think>a</think>{THINKING}{CALL}",
            f'{{"tool_call": {CALL}}}',
            f'{{"tool_call": [{CALL}]}}',
            '{"name": "book", "tool": 5, "arguments": {"city": "Seoul"}}',
            '{"id": 7, "type": "function", "name": "book", "arguments": {"city": "Seoul"}}',
        ],
    )
    def test_a_call_written_as_text_is_recovered(self, text: str) -> None:
        assert json.loads(calls_in_text(text) or "null") == BOOKED

    def test_several_calls_and_arguments_as_text_are_recovered(self) -> None:
        text = '{"tool_call": [{"tool": "a", "arguments": {}}, {"name": "b", "parameters": "{}"}]}'

        assert json.loads(calls_in_text(text) or "null") == [call("a", {}), call("b", "{}")]

    def test_fences_and_tags_inside_a_value_stay(self) -> None:
        text = (
            '<tool_call>{"tool": "a", "arguments": {"x": "```py\\n1```</tool_call>"}}</tool_call>'
        )

        assert json.loads(calls_in_text(text) or "null") == [
            call("a", {"x": "```py\n1```</tool_call>"})
        ]

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "book(city='Seoul')",
            f"I will call {CALL}",
            f"{CALL} is my call",
            f"{CALL}\n{CALL}",
            f"[{CALL}]",
            f'"{CALL}"',
            f"{CALL}</think>",
            f"<think>{CALL}",
            CALL[:-1],
            CALL.replace('"', "'"),
            '{"arguments": {"city": "Seoul"}}',
            '{"tool": "book"}',
            '{"tool": "", "arguments": {}}',
            '{"tool": null, "arguments": {}}',
            '{"tool": "book", "arguments": null}',
            '{"tool": "book", "arguments": [1]}',
            '{"function": "book", "arguments": {}}',
            '{"tool": "book", "args": {}}',
            '{"tool_call": []}',
            '{"tool_call": null}',
            f'{{"tool_call": [{CALL}, {{"tool": "b"}}]}}',
            f'{{"tool_calls": [{CALL}]}}',
            f'{{"tool_call": [[{CALL}]]}}',
            '{"tool": "book", "arguments": ' + deep(5_000) + "}",
            "}{",
            "{" * 10_000,
        ],
    )
    def test_what_only_looks_like_a_call_is_not_recovered(self, text: str) -> None:
        assert calls_in_text(text) is None

    def test_nesting_near_the_limit_of_recursion_is_either_read_or_not(self) -> None:
        for levels in range(800, 1_010):
            text = f'{{"tool": "a", "arguments": {{"x": {deep(levels)}}}}}'

            found = calls_in_text(text)

            assert found is None or read_calls(found).call_count == 1


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
            ({"b": 1, "a": [2, 1]}, "{'a': ['1', '2'], 'b': 1}"),
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

    def test_nesting_costs_no_more_than_its_size(self) -> None:
        value: Any = "'\"\\"
        for _ in range(MAX_DEPTH):
            value = [value, {"'": value}][:1]

        assert len(comparable_text(value)) < 10 * MAX_DEPTH

    def test_past_the_deepest_all_values_are_alike(self) -> None:
        texts = {comparable_text(json.loads(deep(MAX_DEPTH + more))) for more in (2, 3, 500)}

        assert texts == {"unprintable value"}
        assert comparable_text(json.loads(deep(MAX_DEPTH))) == deep(MAX_DEPTH).replace("1", "'1'")

    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        ),
        st.integers(),
    )
    @settings(deadline=None, max_examples=100)
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
    @settings(deadline=None, max_examples=500)
    def test_any_text_is_read_as_pythons_reader_does(self, text: str) -> None:
        assert outcome(decode_json, text) == outcome(json.loads, text)


def outcome(read: Any, text: str) -> str:
    try:
        return repr(read(text))
    except ValueError:
        return "refused"


@pytest.mark.parametrize(
    "text",
    [
        "```" * 300_000,
        "</think>" * 100_000 + "{",
        "<tool_call>" * 100_000 + "{}",
        '{"tool": "a", "arguments": "' + "\\u0027" * 150_000 + '"}',
        "{" + "</tool_call" * 100_000,
        " " * 1_000_000 + "{" + " " * 1_000_000,
        '{"tool": "a", "arguments": {'
        + ", ".join(f'"{c}{n}": {n}' for n in range(10_000) for c in string.ascii_lowercase[:4])
        + "}}",
    ],
    ids=["fences", "thoughts", "tags", "escapes", "half tags", "spaces", "keys"],
)
def test_reading_takes_time_in_proportion(text: str) -> None:
    started = time.process_time()

    found = calls_in_text(text)
    read_calls(found or "[]")

    assert time.process_time() - started < 2
