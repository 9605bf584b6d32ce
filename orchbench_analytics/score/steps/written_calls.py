"""Calls that a model wrote as text, in place of calling."""

from __future__ import annotations

import json
import re
from typing import Any

from orchbench_analytics.score.values import decode_json
from orchbench_analytics.texts import clean_text

_WRAPPING = re.compile(r"</?(?:tool_call|function_call)>|```[a-z]*")
_OPENING = re.compile(r"[\[{]")
_NAME_KEYS = ("tool", "name")
_ARGUMENT_KEYS = ("arguments", "parameters")


def calls_in_text(content: str) -> str | None:
    """Calls written as text, in the form of `answer_calls`; none if the text is not just that."""
    text = content.rpartition("</think>")[2]
    opening = _OPENING.search(text)
    start, end = opening.start() if opening else -1, max(text.rfind("}"), text.rfind("]")) + 1
    if start < 0 or _WRAPPING.sub("", text[:start] + text[end:]).strip():
        return None
    try:
        value = decode_json(text[start:end])
    except ValueError:
        return None
    wrapped = value.get("tool_call", value) if isinstance(value, dict) else value
    calls = [_written_call(call) for call in (wrapped if isinstance(wrapped, list) else [wrapped])]
    if not calls or any(call is None for call in calls):
        return None
    try:
        return clean_text(json.dumps(calls, ensure_ascii=False))
    except RecursionError:
        return None


def _written_call(call: Any) -> dict[str, Any] | None:
    """A name, and what stands under the key of the arguments; both keys must be there."""
    if not isinstance(call, dict):
        return None
    names = (call.get(key) for key in _NAME_KEYS)
    name = next((name for name in names if isinstance(name, str) and name), None)
    key = next((key for key in _ARGUMENT_KEYS if key in call), None)
    return None if name is None or key is None else {"name": name, "arguments": call[key]}
