"""Values of documents as the texts that tables hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar, cast

import msgspec

Function = TypeVar("Function", bound=Callable[..., Any])

_encode = msgspec.json.Encoder().encode
_CALL_KEYS = ("name", "arguments")
_KINDS = {int: "number", float: "number", str: "text", list: "list", dict: "object"}


def text_of(value: Any) -> str | None:
    """A text as it is, anything else as JSON, null and what is absent as null."""
    if value is None or value is msgspec.UNSET:
        return None
    return value if isinstance(value, str) else compact_json(value)


def kind_of(value: Any) -> str:
    """What a value is in JSON: absent, null, boolean, number, text, list or object."""
    if value is msgspec.UNSET:
        return "absent"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return _KINDS.get(type(value), "object")


def calls_text(calls: Any) -> str | None:
    """Calls as compact JSON: name and arguments as given, without ids, so that equals are equal.

    A call without the key `function` has what it holds in its place under the key `flat`.
    """
    if calls == []:
        return "[]"
    if isinstance(calls, list):
        calls = [_call(call) for call in calls]
    elif calls is msgspec.UNSET:
        return None
    return compact_json(calls)


def _call(call: Any) -> Any:
    if not isinstance(call, dict):
        return call
    if "function" not in call:
        return {"flat": {name: call[name] for name in _CALL_KEYS if name in call}}
    function = call["function"]
    if not isinstance(function, dict):
        return {"function": function}
    return {name: function[name] for name in _CALL_KEYS if name in function}


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


def remembering(most: int, *, longest: int) -> Callable[[Function], Function]:
    """Let a function remember what it made of the last texts, which is then not to be changed.

    All models have the same labels, and often the same answers. A text can have any length, so
    only those up to the longest are kept.
    """

    def decorate(make: Function) -> Function:
        remembered = lru_cache(most)(make)

        @wraps(make)
        def made(text: str | bytes | None, *others: Any) -> Any:
            is_kept = text is None or len(text) <= longest
            return remembered(text, *others) if is_kept else make(text, *others)

        return cast("Function", made)

    return decorate
