"""Texts: what is stored of a value is UTF-8, and equal calls read the same."""

from typing import Any

import msgspec
import pytest

from orchbench_analytics.texts import (
    calls_text,
    clean_text,
    compact_json,
    remembering,
    text_of,
)
from tests.documents import call


def test_texts_and_values_are_stored_as_utf8() -> None:
    assert clean_text("가\ud800") == "가�"
    assert compact_json({"a": [2**70, "가"]}) == '{"a":[1180591620717411303424,"가"]}'


@pytest.mark.parametrize(
    ("value", "text"), [("a b", "a b"), (None, None), ("", ""), (7, "7"), ({"a": [1]}, '{"a":[1]}')]
)
def test_a_text_is_kept_and_anything_else_becomes_json(value: Any, text: str | None) -> None:
    assert text_of(value) == text


def test_calls_that_differ_only_in_their_ids_read_the_same() -> None:
    calls = [call() | {"id": "call_1"}], [call() | {"id": "call_2"}]

    assert calls_text(calls[0]) == calls_text(calls[1])
    assert (
        calls_text(calls[0]) == '[{"name":"getForecast","arguments":"{\\"city\\": \\"Seoul\\"}"}]'
    )


@pytest.mark.parametrize(
    ("calls", "text"),
    [
        (msgspec.UNSET, None),
        (None, "null"),
        ([], "[]"),
        ({}, "{}"),
        ([{"function": 1}, 2], '[{"function":1},2]'),
    ],
)
def test_calls_that_are_none_are_kept_as_they_are(calls: Any, text: str | None) -> None:
    assert calls_text(calls) == text


def test_a_short_text_is_made_once_and_a_long_one_each_time() -> None:
    made: list[str | None] = []

    @remembering(10, longest=3)
    def shout(text: str | None) -> str:
        made.append(text)
        return (text or "").upper()

    assert [shout(text) for text in ("abc", "abc", None, None, "abcd", "abcd")] == [
        "ABC", "ABC", "", "", "ABCD", "ABCD",
    ]  # fmt: skip
    assert made == ["abc", None, "abcd", "abcd"]
