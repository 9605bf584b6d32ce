"""Calls that were written as text: what is recovered, and what only looks like one."""

import json
import string
from typing import Any

import pytest

from orchbench_analytics.score.steps.calls import calls_in_text, read_calls
from tests.bounded import no_runaway
from tests.rows import call

THINKING = '<think>Maybe {"tool": "wrong", "arguments": {}}</think>'
CALL = '{"tool": "book", "arguments": {"city": "Seoul"}}'
BOOKED = [{"name": "book", "arguments": {"city": "Seoul"}}]


def deep(levels: int, opening: str = "[", closing: str = "]") -> str:
    return opening * levels + "1" + closing * levels


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
            f"[{CALL}]",
            f"```json\n[\n{CALL}\n]\n```",
            f"{THINKING}<tool_call>[{CALL}]</tool_call>",
            '{"name": "book", "tool": 5, "arguments": {"city": "Seoul"}}',
            '{"id": 7, "type": "function", "name": "book", "arguments": {"city": "Seoul"}}',
        ],
    )
    def test_a_call_written_as_text_is_recovered(self, text: str) -> None:
        assert json.loads(calls_in_text(text) or "null") == BOOKED

    def test_several_calls_and_arguments_as_text_are_recovered(self) -> None:
        text = '{"tool_call": [{"tool": "a", "arguments": {}}, {"name": "b", "parameters": "{}"}]}'

        assert json.loads(calls_in_text(text) or "null") == [call("a", {}), call("b", "{}")]
        assert calls_in_text(text.removeprefix('{"tool_call": ')[:-1]) == calls_in_text(text)

    @pytest.mark.parametrize("arguments", [None, [1], 5, True, "{broken", ""])
    def test_the_key_of_the_arguments_must_be_there_whatever_it_holds(self, arguments: Any) -> None:
        text = json.dumps({"tool": "book", "arguments": arguments})

        assert json.loads(calls_in_text(text) or "null") == [call("book", arguments)]

    def test_an_empty_name_gives_way_to_the_other(self) -> None:
        text = '{"tool": "", "name": "book", "arguments": {"city": "Seoul"}}'

        assert json.loads(calls_in_text(text) or "null") == BOOKED

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
            "[]",
            f"[[{CALL}]]",
            f"[{CALL}, 7]",
            f"[{CALL}, {{}}]",
            f"[{CALL}",
            f"{CALL}]",
            f"[1] {CALL}",
            f"{CALL} [1]",
            f'"{CALL}"',
            f"{CALL}</think>",
            f"<think>{CALL}",
            CALL[:-1],
            CALL.replace('"', "'"),
            '{"arguments": {"city": "Seoul"}}',
            '{"tool": "book"}',
            '{"tool": "", "arguments": {}}',
            '{"tool": null, "arguments": {}}',
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
    with no_runaway():
        found = calls_in_text(text)
        read_calls(found or "[]")
