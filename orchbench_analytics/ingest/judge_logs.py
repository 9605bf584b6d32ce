"""Reading a judge's log: which keys it was asked about, and what it said of each."""

from __future__ import annotations

import json
from typing import Any

from orchbench_analytics.ingest.documents import JudgeLog, Trouble, UnreadableDocument
from orchbench_analytics.texts import clean_text, compact_json

Row = tuple[Any, ...]

_LARGEST_INDEX = 10**9
_MOST_ROWS = 1_000_000
_COUNTS = ("tp_count", "fp_count", "fn_count")


def judgement_rows(key: Row, log: JudgeLog) -> tuple[list[Row], list[str]]:
    """Rows of `judgements`: one per key that was asked about, or spoken of unasked.

    Also the JSON paths of questions and answers that are no object or name no call.
    """
    asked_by_call, unreadable = _by_call("$.input_data", log.input_data)
    rows: list[Row] = []
    for index, response in enumerate(log.llm_responses):
        call_index = _call_index(response)
        if call_index is None:
            unreadable.append(f"$.llm_responses[{index}]")
            continue
        asked = asked_by_call.get(call_index, {})
        answer_values = _arguments(asked.get("predicted_call"))
        label_values = _arguments(asked.get("actual_call"))
        settled = _settled_keys(asked.get("auto_results"))
        keys = {name: None for name in {**label_values, **answer_values} if name not in settled}
        verdict, reason = read_verdict(_answer_text(response))
        if len(rows) + len(keys) + len(verdict) > _MOST_ROWS:
            words = "far more keys than a run of this benchmark has"
            raise UnreadableDocument(Trouble("too_large", words, f"$.llm_responses[{index}]"))
        for name in {**keys, **verdict}:
            counts, trouble = _counts(verdict.get(name), reason)
            rows.append(
                (
                    *key,
                    call_index,
                    clean_text(name),
                    name in keys,
                    trouble is None,
                    trouble,
                    *counts,
                    _values(answer_values.get(name)),
                    _values(label_values.get(name)),
                )
            )
    return rows, unreadable


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


def _counts(verdict: Any, reason: str | None) -> tuple[Row, str | None]:
    """(tp, fp, fn) of one key, absent ones being 0, and why there are none."""
    if reason is not None or verdict is None:
        return (None, None, None), reason or "no_key"
    if not isinstance(verdict, dict):
        return (None, None, None), "no_counts"
    counts = tuple(verdict.get(name, 0) for name in _COUNTS)
    if any(not isinstance(c, int) or abs(c) > 10**6 for c in counts):
        return (None, None, None), "no_counts"
    return tuple(map(int, counts)), None


def _answer_text(response: dict[str, Any]) -> str | None:
    value: Any = response.get("llm_response")
    for step in ("choices", 0, "message", "content"):
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and len(value) > step:
            value = value[step]
        else:
            return None
    return value if isinstance(value, str) else None


def _arguments(call: Any) -> dict[str, Any]:
    arguments = call.get("arguments") if isinstance(call, dict) else None
    return arguments if isinstance(arguments, dict) else {}


def _by_call(place: str, questions: Any) -> tuple[dict[int, dict[str, Any]], list[str]]:
    """What was asked about each call, and the paths of what is no question about one."""
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
