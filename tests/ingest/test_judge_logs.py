"""Judge logs: which keys were asked about, and what was said of each."""

from typing import Any

import msgspec
import pytest

from orchbench_analytics.ingest.decode import JudgeLog, UnreadableDocument
from orchbench_analytics.ingest.judge_logs import answer_text, judgement_rows, read_verdict
from tests.documents import judge_log


def judgements(log: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    return judgement_rows(msgspec.convert(log, JudgeLog))


def question(**changes: Any) -> dict[str, Any]:
    return judge_log()["input_data"][0] | changes


def test_a_verdict_has_its_counts_and_the_values_it_is_about() -> None:
    (row,), unreadable = judgements(judge_log('Well: {"city": {"tp_count": 1, "fn_count": 2}}'))

    assert unreadable == []
    assert row == {
        "call_index": 0,
        "argument_key": "city",
        "is_asked": True,
        "is_usable": True,
        "unusable_reason": None,
        "is_unsound": False,
        "is_bare_reasoning": False,
        "true_positive_count": 1,
        "false_positive_count": 0,
        "false_negative_count": 2,
        "exact_counts": None,
        "answer_values": '["Seul"]',
        "label_values": '["Seoul"]',
    }


@pytest.mark.parametrize(
    ("text", "verdict", "reason"),
    [
        ('{"a": 1}', {"a": 1}, None),
        ('<think>{"b": 2}</think> so {"a": 1}.', {"a": 1}, None),
        ("{'a': 1}", {"a": 1}, None),
        ('first {"a": 1} then {"b": 2}', {}, "no_object"),
        ("} {", {}, "no_object"),
        ("none", {}, "no_object"),
        ("[1]", {}, "no_object"),
        (None, {}, "no_answer"),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", {}, "no_object"),
        ('{"a": ' + "9" * 5000 + "}", {}, "no_object"),
    ],
)
def test_the_verdict_is_the_object_after_the_thinking(
    text: str | None, verdict: dict[str, Any], reason: str | None
) -> None:
    assert read_verdict(text) == (verdict, reason)


@pytest.mark.parametrize(
    ("verdict", "reason", "is_unsound"),
    [
        ('{"other": {}}', "no_key", False),
        ('{"city": null}', "no_key", False),
        ('{"city": {}}', "no_counts", False),
        ('{"city": 0}', "no_counts", False),
        ('{"city": ""}', "no_counts", False),
        ('{"city": 7}', "no_counts", True),
        ('{"city": [1, 0, 0]}', "no_counts", True),
        ('{"city": {"tp_count": "1"}}', "no_counts", True),
        ('{"city": {"tp_count": null}}', "no_counts", True),
        ('{"city": {"tp_count": NaN}}', "no_counts", True),
        ('{"city": {"fn_count": -Infinity}}', "no_counts", True),
        ("no braces", "no_object", False),
        (7, "no_answer", False),
        ("  ", "no_answer", False),
    ],
)
def test_a_verdict_without_counts_says_why(verdict: Any, reason: str, is_unsound: bool) -> None:
    rows, _ = judgements(judge_log(verdict))

    asked = rows[0]
    assert (asked["argument_key"], asked["is_asked"]) == ("city", True)
    assert (asked["is_usable"], asked["unusable_reason"]) == (False, reason)
    assert asked["is_unsound"] == is_unsound
    assert asked["true_positive_count"] is None


@pytest.mark.parametrize(
    ("count", "stored", "exact"),
    [
        ("1", 1, None),
        ("1.0", 1, None),
        ("true", 1, None),
        ("-3", -3, None),
        ("1.5", 2, "[1.5,0.0,0.0]"),
        ("9" * 26, 10**9, "[1e26,0.0,0.0]"),
        ("9" * 400, 10**9, "[1e300,0.0,0.0]"),
    ],
)
def test_counts_are_kept_as_they_are(count: str, stored: int, exact: str | None) -> None:
    (row,), _ = judgements(judge_log(f'{{"city": {{"tp_count": {count}}}}}'))

    assert row["is_usable"]
    assert (row["true_positive_count"], row["exact_counts"]) == (stored, exact)


def test_a_question_without_a_logged_answer_is_a_row() -> None:
    (row,), unreadable = judgements(judge_log() | {"llm_responses": []})

    assert (row["argument_key"], row["is_asked"], row["is_usable"]) == ("city", True, False)
    assert (row["unusable_reason"], row["is_unsound"]) == ("no_answer", True)
    assert unreadable == []


@pytest.mark.parametrize(
    ("response", "text"),
    [
        ({"choices": [{"message": {"content": "a", "reasoning_content": "b"}}]}, "a"),
        ({"choices": [{"message": {"content": " ", "reasoning_content": "b"}}]}, "b"),
        ({"choices": [{"message": {"content": None, "reasoning_content": "b"}}]}, "b"),
        ({"choices": [{"message": {"role": "assistant"}}]}, None),
        ({"choices": [{"message": {"content": ""}}], "content": "c"}, None),
        ({"choices": [], "content": "c"}, "c"),
        ({"choices": None, "content": "c"}, "c"),
        ({"content": "c", "reasoning_content": "b"}, "c"),
        ({"content": "c", "reasoning_content": "b", "choices": []}, "c"),
        ({"content": 5}, None),
        (["a", "b"], "a"),
        ("a", "a"),
        ([], None),
        (None, None),
        (5, None),
    ],
)
def test_the_judges_text_is_found_where_clients_log_it(response: Any, text: str | None) -> None:
    assert answer_text({"llm_response": response}) == (text, False)


@pytest.mark.parametrize("content", ["\n", "", None, 5])
def test_the_reasoning_of_a_bare_message_is_told_apart(content: Any) -> None:
    said = '{"city": {"tp_count": 1}}'
    message = {"content": content, "reasoning_content": said}
    bare, chosen = message, {"choices": [{"message": message}]}

    assert answer_text({"llm_response": bare}) == (said, True)
    assert answer_text({"llm_response": chosen}) == (said, False)
    for response, is_bare in ((bare, True), (chosen, False)):
        answer = {"call_index": 0, "llm_response": response}
        (row,), _ = judgements(judge_log() | {"llm_responses": [answer]})
        assert (row["is_usable"], row["is_bare_reasoning"]) == (True, is_bare)


def test_of_two_answers_for_a_call_the_first_counts_and_the_second_is_surplus() -> None:
    first, second = (
        {"call_index": 0, "llm_response": {"content": text}}
        for text in ('{"day": {"tp_count": 1}}', '{"city": {"tp_count": 1}}')
    )

    rows, unreadable = judgements(judge_log() | {"llm_responses": [first, second, second]})

    found = [(row["argument_key"], row["is_asked"], row["is_usable"]) for row in rows]
    assert found[:2] == [("city", True, False), ("day", False, True)]
    assert found[2:] == [(None, False, False)] * 2
    assert [row["unusable_reason"] for row in rows] == ["no_key", None, "surplus", "surplus"]
    assert {row["call_index"] for row in rows} == {0}
    assert unreadable == []


def test_keys_spoken_of_unasked_come_last() -> None:
    asked = question(
        predicted_call={"arguments": {"city": ["a"], "date": ["b"], "settled": ["c"]}},
        auto_results=[{"key": "settled"}, {"key": ["odd"]}, 7],
    )

    rows, _ = judgements(judge_log('{"settled": {}, "date": {}}', input_data=[asked]))

    assert [(row["argument_key"], row["is_asked"]) for row in rows] == [
        ("city", True),
        ("date", True),
        ("settled", False),
    ]


@pytest.mark.parametrize(
    "wrong",
    [None, 7, "text", [], {}, {"call_index": "0"}, {"call_index": True}, {"call_index": 2**63}],
)
def test_what_names_no_call_costs_itself_and_is_named(wrong: Any) -> None:
    good = judge_log()

    rows, unreadable = judgements(
        {
            "input_data": [wrong, *good["input_data"]],
            "llm_responses": [*good["llm_responses"], wrong],
        }
    )

    assert [row["argument_key"] for row in rows] == ["city"]
    assert unreadable == ["$.input_data[0]", "$.llm_responses[1]"]


@pytest.mark.parametrize("wrong", [None, 7, "text", {}])
def test_without_questions_the_verdicts_are_unasked(wrong: Any) -> None:
    (row,), unreadable = judgements(judge_log(input_data=wrong))

    assert (row["argument_key"], row["is_asked"], row["is_usable"]) == ("city", False, True)
    assert unreadable == ["$.input_data"]


@pytest.mark.parametrize("wrong", [None, 7, [], {}, {"arguments": 7}])
def test_calls_of_the_wrong_shape_have_no_values(wrong: Any) -> None:
    rows, unreadable = judgements(judge_log(input_data=[question(actual_call=wrong)]))

    assert [(row["answer_values"], row["label_values"]) for row in rows] == [('["Seul"]', None)]
    assert unreadable == []


def test_values_and_keys_are_kept_whatever_they_are() -> None:
    asked = question(predicted_call={"arguments": {"city": [2**70, None]}})

    rows, _ = judgements(judge_log(r'{"city": {}, "\ud800": {}}', input_data=[asked]))

    assert rows[0]["answer_values"] == f"[{2**70},null]"
    assert rows[1]["argument_key"] == "�"


def test_many_keys_take_no_more_than_linear_time() -> None:
    keys = {f"key {number}": ["x"] for number in range(50_000)}
    asked = question(predicted_call={"arguments": keys}, actual_call={"arguments": keys})

    rows, _ = judgements(judge_log('{"none": {}}', input_data=[asked]))

    assert len(rows) == 50_001


@pytest.mark.long
def test_verdicts_about_far_too_many_keys_are_refused() -> None:
    keys = ", ".join(f'"{number}": 0' for number in range(600_000))

    with pytest.raises(UnreadableDocument) as caught:
        judgements(
            judge_log()
            | {
                "llm_responses": [
                    {"call_index": index, "llm_response": f"{{{keys}}}"} for index in range(2)
                ]
            }
        )

    assert caught.value.problem.reason == "too_large"
    assert caught.value.problem.place == "$.llm_responses[1]"
