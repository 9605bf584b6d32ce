"""Reading a judge's log: which keys it was asked about, and what it said of each."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from orchbench_analytics.documents import JudgeLog
from orchbench_analytics.read import clean_text

Row = tuple[Any, ...]

_COUNTS = ("tp_count", "fp_count", "fn_count")
_encode = msgspec.json.Encoder().encode


def judgement_rows(key: Row, log: JudgeLog) -> list[Row]:
    """Rows of `judgements`: one per key that was asked about, or spoken of unasked."""
    inputs = {
        i["call_index"]: i for i in _dicts(log.input_data) if isinstance(i.get("call_index"), int)
    }
    rows: list[Row] = []
    for response in _dicts(log.llm_responses):
        call_index = response.get("call_index")
        if not isinstance(call_index, int):
            continue
        asked = inputs.get(call_index, {})
        answer_values = _arguments(asked.get("predicted_call"))
        label_values = _arguments(asked.get("actual_call"))
        settled = [r.get("key") for r in _dicts(asked.get("auto_results"))]
        keys = [k for k in {**label_values, **answer_values} if k not in settled]
        verdict, reason = read_verdict(_answer_text(response))
        unasked = [k for k in verdict if k not in keys]
        for name in keys + unasked:
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
    return rows


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


def _dicts(items: Any) -> list[dict[str, Any]]:
    return [i for i in items if isinstance(i, dict)] if isinstance(items, list) else []


def _values(values: Any) -> str | None:
    return None if values is None else clean_text(_encode(values).decode())
