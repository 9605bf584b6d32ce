"""Reading a judge's log: which keys it was asked about, and what it said of each."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from orchbench_analytics.ingest.decode import JudgeLog, Problem, UnreadableDocument
from orchbench_analytics.texts import clean_text, compact_json

Row = dict[str, Any]

_LARGEST_INDEX = 10**9
_LARGEST_COUNT = 10**9  # that is stored as an integer
_LARGEST_NUMBER = 1e300
_MOST_ROWS = 1_000_000
_COUNTS = ("tp_count", "fp_count", "fn_count")
_COUNT_COLUMNS = ("true_positive_count", "false_positive_count", "false_negative_count")
_ABSENT = ("argument_key", *_COUNT_COLUMNS, "exact_counts", "answer_values", "label_values")
_FLAGS = ("is_asked", "is_usable", "is_unsound", "is_bare_reasoning")


class _Answer(NamedTuple):
    """What the judge said about a call, and where; nothing if its answer was not logged."""

    place: str
    call_index: int
    verdict: dict[str, Any]
    reason: str | None
    is_bare_reasoning: bool = False
    is_logged: bool = True


class _Verdict(NamedTuple):
    """What holds of one key: why there are no counts, if there are none, and the counts.

    They are the nearest integers, and the exact numbers as JSON where those are others.
    """

    reason: str | None
    is_unsound: bool
    counts: tuple[int | None, ...] = (None, None, None)
    exact_counts: str | None = None


def judgement_rows(log: JudgeLog) -> tuple[list[Row], list[str]]:
    """Rows of `judgements`, one per key that was asked about or spoken of unasked, without the run.

    Of several answers about a call the first counts; each other is a row without a key. Returns
    also the JSON paths of questions and answers that are not objects or name no call.
    """
    asked_by_call, unreadable = _by_call("$.input_data", log.input_data)
    answers, surplus, unreadable_answers = _answers(log.llm_responses)
    answered = {answer.call_index for answer in answers}
    answers += [
        _Answer("$.input_data", call_index, {}, "no_answer", is_logged=False)
        for call_index in asked_by_call
        if call_index not in answered
    ]
    rows: list[Row] = []
    for answer in answers:
        asked = asked_by_call.get(answer.call_index, {})
        answer_values = _arguments(asked.get("predicted_call"))
        label_values = _arguments(asked.get("actual_call"))
        settled = _settled_keys(asked.get("auto_results"))
        keys = {name: None for name in {**label_values, **answer_values} if name not in settled}
        if len(rows) + len(keys) + len(answer.verdict) > _MOST_ROWS:
            words = "far more keys than a run of this benchmark has"
            raise UnreadableDocument(Problem("too_large", words, answer.place))
        for name in {**keys, **answer.verdict}:
            verdict = _verdict(answer, name)
            rows.append(
                {
                    "call_index": answer.call_index,
                    "argument_key": clean_text(name),
                    "is_asked": name in keys,
                    "is_usable": verdict.reason is None,
                    "unusable_reason": verdict.reason,
                    "is_unsound": verdict.is_unsound,
                    "is_bare_reasoning": answer.is_bare_reasoning,
                    **dict(zip(_COUNT_COLUMNS, verdict.counts, strict=True)),
                    "exact_counts": verdict.exact_counts,
                    "answer_values": _values(answer_values.get(name)),
                    "label_values": _values(label_values.get(name)),
                }
            )
    rows += [row_without_key(call_index, "surplus") for call_index in surplus]
    return rows, unreadable + unreadable_answers


def row_without_key(call_index: int | None, reason: str) -> Row:
    """A row for a surplus answer, or for a log that ends in the middle."""
    said = {"call_index": call_index, "unusable_reason": reason}
    return said | dict.fromkeys(_FLAGS, False) | dict.fromkeys(_ABSENT)


def read_verdict(text: str | None) -> tuple[dict[str, Any], str | None]:
    """The judge's object by argument key, or none and the reason."""
    if text is None:
        return {}, "no_answer"
    text = text.rpartition("</think>")[2]
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return {}, "no_object"
    for candidate in (text[start : end + 1], text[start : end + 1].replace("'", '"')):
        try:
            verdict = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(verdict, dict):
            return verdict, None
    return {}, "no_object"


class AnswerText(NamedTuple):
    """The judge's text; it may be the reasoning beside a blank content, not under `choices`."""

    text: str | None
    is_bare_reasoning: bool = False


def answer_text(response: dict[str, Any]) -> AnswerText:
    """The judge's text: that of the first choice's message, or of the answer itself.

    Clients log it in either place; where the content is blank, the reasoning beside it counts.
    """
    given = response.get("llm_response")
    if isinstance(given, list):
        given = given[0] if given else None
    if isinstance(given, str):
        return AnswerText(given)
    chosen = _first_message(given)
    message = chosen or given
    if not isinstance(message, dict):
        return AnswerText(None)
    content, reasoning = (_filled(message.get(n)) for n in ("content", "reasoning_content"))
    is_bare = chosen is None and content is None and reasoning is not None
    return AnswerText(content or reasoning, is_bare)


def _filled(text: Any) -> str | None:
    return text if isinstance(text, str) and text.strip() else None


def _first_message(given: Any) -> dict[str, Any] | None:
    choices = given.get("choices") if isinstance(given, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    return message if isinstance(message, dict) else None


def _answers(responses: Iterable[Any]) -> tuple[list[_Answer], list[int], list[str]]:
    """What was first said about each call, the calls of surplus answers, and paths of no answer."""
    answers: dict[int, _Answer] = {}
    surplus, unreadable = [], []
    for index, response in enumerate(responses):
        place, call_index = f"$.llm_responses[{index}]", _call_index(response)
        if call_index is None:
            unreadable.append(place)
        elif call_index in answers:
            surplus.append(call_index)
        else:
            text, is_bare = answer_text(response)
            answers[call_index] = _Answer(place, call_index, *read_verdict(text), is_bare)
    return list(answers.values()), surplus, unreadable


def _verdict(answer: _Answer, name: str) -> _Verdict:
    """The verdict on one key; absent counts are 0."""
    said = answer.verdict.get(name)
    if answer.reason is not None:
        return _Verdict(answer.reason, is_unsound=not answer.is_logged)
    if name not in answer.verdict or said is None:
        return _Verdict("no_key", is_unsound=False)
    if not isinstance(said, dict) or not said:
        return _Verdict("no_counts", is_unsound=bool(said))
    numbers = [number for name in _COUNTS if (number := _number(said.get(name, 0))) is not None]
    if len(numbers) < len(_COUNTS):
        return _Verdict("no_counts", is_unsound=True)
    counts = tuple(round(max(-_LARGEST_COUNT, min(_LARGEST_COUNT, n))) for n in numbers)
    is_exact = counts == tuple(numbers)
    return _Verdict(None, False, counts, None if is_exact else compact_json(numbers))


def _number(value: Any) -> float | None:
    """A count as a float, a boolean as 0 or 1; none if it is not a finite number."""
    if not isinstance(value, int | float) or (
        isinstance(value, float) and not math.isfinite(value)
    ):
        return None
    return float(max(-_LARGEST_NUMBER, min(_LARGEST_NUMBER, value)))


def _arguments(call: Any) -> dict[str, Any]:
    arguments = call.get("arguments") if isinstance(call, dict) else None
    return arguments if isinstance(arguments, dict) else {}


def _by_call(place: str, questions: Any) -> tuple[dict[int, dict[str, Any]], list[str]]:
    """What was asked about each call, and the paths of what does not ask about one."""
    if not isinstance(questions, list):
        return {}, [place]
    indices = [_call_index(question) for question in questions]
    asked = {i: q for i, q in zip(indices, questions, strict=True) if i is not None}
    return asked, [f"{place}[{n}]" for n, index in enumerate(indices) if index is None]


def _call_index(item: Any) -> int | None:
    index = item.get("call_index") if isinstance(item, dict) else None
    if isinstance(index, bool) or not isinstance(index, int) or abs(index) > _LARGEST_INDEX:
        return None
    return index


def _settled_keys(results: Any) -> set[str]:
    """Keys that were settled without the judge."""
    keys = (
        [r.get("key") for r in results if isinstance(r, dict)] if isinstance(results, list) else []
    )
    return {key for key in keys if isinstance(key, str)}


def _values(values: Any) -> str | None:
    return None if values is None else clean_text(compact_json(values))
