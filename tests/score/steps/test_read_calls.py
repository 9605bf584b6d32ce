"""Reading calls: names, merged arguments, defects, and how profiles read them differently."""

import json
from typing import Any

import pytest

from orchbench_analytics.profiles import SPEC, UPSTREAM
from orchbench_analytics.score.steps.calls import (
    READINGS,
    Argument,
    Calls,
    Reading,
    read_calls,
    reading_of,
)
from tests.rows import AWAITING, VIOLATION, call, calls

BROKEN = "{broken"
BROKEN_TEXT = "Invalid JSON in arguments: {broken"


def deep(levels: int, opening: str = "[", closing: str = "]") -> str:
    return opening * levels + "1" + closing * levels


def as_read_by(profile: Any, read: Calls) -> Reading:
    """The only reading, or that of a profile."""
    return read.readings.get(None) or read.readings[reading_of(profile)]


class TestSoundCalls:
    def test_names_are_distinct_and_keep_their_order(self) -> None:
        read = read_calls(calls("b", "a", "b"))

        assert (read.call_count, read.tools) == (3, ["b", "a"])
        assert read.readings == {None: Reading(["b", "a"], [])}

    def test_arguments_merge_key_by_key_into_one_value_per_call(self) -> None:
        read = read_calls(
            calls(call("a", '{"x": 1, "y": "u"}'), call("b", {"x": 1}), call("a", '{"x": 2}'))
        )

        assert read.readings[None].arguments == [
            Argument("x", ["1", "1", "2"], 3),
            Argument("y", ["u"], 1),
        ]

    def test_arguments_may_be_text_or_object(self) -> None:
        as_text, as_object = (
            read_calls(calls(call("a", given))) for given in ('{"x": [2, 1]}', {"x": [2, 1]})
        )

        assert as_text == as_object
        assert not as_text.is_malformed

    def test_a_rejection_key_and_the_placeholder_are_noticed(self) -> None:
        both = read_calls(calls(call("tool_name", {VIOLATION: 1, AWAITING: 1})))

        assert (both.rejection_key, both.has_placeholder) == (AWAITING, True)
        assert read_calls(calls(call("x", {VIOLATION: 1}))).rejection_key == VIOLATION
        assert read_calls(calls("x")).rejection_key is None

    def test_keys_and_names_can_be_stored_whatever_they_are(self) -> None:
        read = read_calls(r'[{"name": "b\ud800", "arguments": "{\"k\\ud800\": \"v\\udfff\"}"}]')

        assert read.readings == {None: Reading(["b�"], [Argument("k�", ["v�"], 1)])}


class TestInvalidArguments:
    @pytest.mark.parametrize(
        "given",
        ["", "{", "city: Seoul", "{'city': 1}", deep(100_000), '{"n": ' + "9" * 5_000 + "}"],
        ids=lambda given: given[:10],
    )
    def test_arguments_that_are_not_json_leave_the_name(self, given: str) -> None:
        read = read_calls(calls(call("book", given)))

        text = f"Invalid JSON in arguments: {given}"
        assert (read.is_malformed, read.voids_file) == (True, False)
        assert as_read_by(SPEC, read) == (["book"], [])
        assert as_read_by(UPSTREAM, read) == (["book"], [Argument("error", [text], len(text))])

    def test_the_last_of_them_takes_the_key_error(self) -> None:
        read = read_calls(calls(call("a", '{"error": 5}'), call("a", "no"), call("a", BROKEN)))

        assert as_read_by(SPEC, read).arguments == [Argument("error", ["5"], 1)]
        assert as_read_by(UPSTREAM, read).arguments == [
            Argument("error", [BROKEN_TEXT], len(BROKEN_TEXT))
        ]
        assert not read.voids_file

    def test_a_key_error_after_them_voids_the_evaluators_file(self) -> None:
        assert read_calls(calls(call("a", BROKEN), call("a", {"error": 5}))).voids_file
        assert not read_calls(calls(call("a", BROKEN), call("a", {"errors": 5}))).voids_file

    @pytest.mark.parametrize("given", ["[1]", "null", "5", '"text"', "true", [1], None, 5, True])
    def test_arguments_that_are_not_an_object_void_the_evaluators_file(self, given: Any) -> None:
        read = read_calls(calls(call("book", given)))

        assert read.readings == {None: (["book"], [])}
        assert (read.is_malformed, read.voids_file) == (True, True)

    def test_so_do_absent_arguments(self) -> None:
        read = read_calls('[{"name": "book"}]')

        assert read.readings == {None: (["book"], [])}
        assert (read.is_malformed, read.voids_file) == (True, True)


class TestNames:
    @pytest.mark.parametrize("name", [None, "", 5, 1.5, True])
    def test_a_name_that_is_not_a_text_is_one_to_the_evaluator_only(self, name: Any) -> None:
        read = read_calls(calls(call(name, {"k": 1}), call("book", {"k": 2})))

        assert (read.call_count, read.tools) == (2, ["book"])
        assert (read.is_malformed, read.voids_file) == (True, False)
        assert as_read_by(SPEC, read) == (["book"], [Argument("k", ["2"], 1)])
        assert len(as_read_by(UPSTREAM, read).names) == 2
        assert as_read_by(UPSTREAM, read).arguments == [Argument("k", ["1", "2"], 2)]

    @pytest.mark.parametrize(
        ("one", "other", "is_equal"),
        [
            (None, None, True),
            (1, 1.0, True),
            (1, True, True),
            (0, False, True),
            (1, "1", False),
            (None, "None", False),
            (None, "", False),
            (1.5, 1, False),
            (["a"], "a", False),
        ],
    )
    def test_names_compare_as_they_do_in_python(self, one: Any, other: Any, is_equal: bool) -> None:
        names = [as_read_by(UPSTREAM, read_calls(calls(call(n)))).names for n in (one, other)]

        assert (names[0] == names[1]) == is_equal

    def test_a_list_as_name_is_noticed(self) -> None:
        read = read_calls(calls(call(["book"])))

        assert (read.has_list_name, read.voids_file, read.is_malformed) == (True, False, True)
        assert not read_calls(calls("book")).has_list_name

    @pytest.mark.parametrize(
        "given",
        [
            call({"a": 1}),
            {"arguments": "{}"},
            {},
            {"function": "book"},
            {"flat": call("book")},
            {"flat": {}},
            5,
            None,
            "book",
            [],
        ],
    )
    def test_what_voids_the_evaluators_file(self, given: Any) -> None:
        read = read_calls(json.dumps([given]))

        assert read.call_count == 1
        assert (read.is_malformed, read.voids_file) == (True, True)

    def test_a_flat_call_is_a_call(self) -> None:
        read = read_calls(json.dumps([{"flat": call("book", {"k": 1})}]))

        assert read.readings == {None: (["book"], [Argument("k", ["1"], 1)])}

    def test_without_a_name_nothing_is_left_for_who_needs_one(self) -> None:
        read = read_calls('[{"arguments": {"k": 1}}]')

        assert as_read_by(SPEC, read) == ([], [])
        assert as_read_by(UPSTREAM, read) == ([], [Argument("k", ["1"], 1)])
        assert list(read.readings) == list(READINGS)


class TestOtherShapes:
    @pytest.mark.parametrize(
        ("given", "voids_file"),
        [
            ("null", True),
            ("5", True),
            ("0", True),
            ("false", True),
            ('"book"', True),
            ('{"name": "book"}', True),
            ("{}", False),
            ('""', False),
        ],
    )
    def test_calls_that_are_not_a_list_are_no_calls(self, given: str, voids_file: bool) -> None:
        read = read_calls(given)

        assert (read.call_count, read.tools, read.readings) == (0, [], {None: ([], [])})
        assert (read.is_malformed, read.voids_file) == (True, voids_file)

    @pytest.mark.parametrize("depth", [498, 5_000, 20_000])
    def test_calls_nested_too_deep_to_be_read_are_one_call_without_a_name(self, depth: int) -> None:
        read = read_calls(f'[{{"name": "book", "arguments": {{"a": {deep(depth)}}}}}]')

        assert (read.call_count, read.tools, read.is_malformed) == (1, [], True)

    def test_calls_nested_as_deep_as_may_be_are_read(self) -> None:
        read = read_calls(f'[{{"name": "book", "arguments": {{"a": {deep(497)}, "b": "[" }}}}]')

        assert (read.call_count, read.tools, read.is_malformed) == (1, ["book"], False)

    def test_brackets_side_by_side_are_not_deep(self) -> None:
        flat = f"[{', '.join(['[]'] * 2_000)}]"
        read = read_calls(f'[{{"name": "book", "arguments": {{"a": {flat}}}}}]')

        assert read.tools == ["book"]
