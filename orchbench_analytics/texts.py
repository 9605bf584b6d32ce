"""Values of documents as the texts that tables hold."""

from __future__ import annotations

import json
from typing import Any

import msgspec

_encode = msgspec.json.Encoder().encode


def text_of(value: Any) -> str | None:
    """A text as it is, anything else as JSON, null as null."""
    if value is None:
        return None
    return value if isinstance(value, str) else compact_json(value)


def calls_text(calls: Any) -> str | None:
    """Calls as compact JSON: name and arguments as given, without ids, so that equals are equal."""
    if calls == []:
        return "[]"
    if isinstance(calls, list):
        calls = [_call(call) for call in calls]
    elif calls is msgspec.UNSET:
        return None
    return compact_json(calls)


def _call(call: Any) -> Any:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return call
    return {name: function[name] for name in ("name", "arguments") if name in function}


def compact_json(value: Any) -> str:
    """The value as JSON without spaces."""
    try:
        return _encode(value).decode()
    except OverflowError:  # an integer past 64 bits
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def clean_text(text: str) -> str:
    """The text with lone surrogates replaced, so that it can be stored as UTF-8."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
