"""Values of documents as texts: as tables hold them, and as they are compared.

JSON is read as Python itself reads it, within bounds that do not depend on who calls.
"""

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
MAX_DEPTH = 100  # no argument comes near it; deeper values cannot be told apart
MAX_READ_DEPTH = 500  # deeper JSON is not read: how deep Python could differs by its version
LONGEST_QUOTED = 100_000  # quoting a quoted text doubles its escapes, so it has to end somewhere


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


def decode_json(text: str) -> Any:
    """JSON as Python's own reader takes it (NaN and lone surrogates too), but faster."""
    try:
        value = _decode(text)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    if text.count("[") + text.count("{") > MAX_READ_DEPTH and _is_too_deep(value):
        raise ValueError("nested too deep")
    return value


def _decode(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return json.loads(text)


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_READ_DEPTH + 1):
        nodes = [node for node in level if isinstance(node, list | dict)]
        if not nodes:
            return False
        level = [child for n in nodes for child in (n.values() if isinstance(n, dict) else n)]
    return True


def read_parts(content: str) -> Any:
    """The list or object that a content is, from its JSON; an empty list if it is nested too deep.

    How deep Python can read depends on how deep it is called, so this must never raise: one
    answer costs that answer, not the warehouse.
    """
    try:
        return decode_json(content)
    except ValueError:
        return []


def join_parts(parts: Any) -> str | None:
    """The texts among the items of a list, one after the other: plain, or under the key `text`.

    Anything but a list is not a text.
    """
    if not isinstance(parts, list):
        return None
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return clean_text("".join(text for text in texts if isinstance(text, str)))


def texts_of(values: Any) -> list[str]:
    """The comparable texts of a list of values, as a judge's log has them."""
    return [comparable_text(value) for value in values] if isinstance(values, list) else []


def comparable_text(value: Any) -> str:
    """A value as the text by which it is compared: order in lists and objects does not count.

    It is what Python's `str` prints of a sorted list, or of a dict of sorted keys, whose items
    are already texts of this kind.
    """
    if isinstance(value, str):
        return clean_text(value)
    try:
        return clean_text(_printed(value, 0))
    except (_TooDeepError, RecursionError):
        return "unprintable value"


class _TooDeepError(Exception):
    """A value is nested deeper than any argument."""


def _printed(value: Any, depth: int) -> str:
    if depth > MAX_DEPTH:
        raise _TooDeepError
    if isinstance(value, list):
        items = sorted(_printed(item, depth + 1) for item in value)
        return f"[{', '.join(map(_quoted, items))}]"
    if isinstance(value, dict):
        pairs = (f"{key!r}: {_quoted(_printed(value[key], depth + 1))}" for key in sorted(value))
        return f"{{{', '.join(pairs)}}}"
    return str(value)


def _quoted(text: str) -> str:
    return repr(text) if len(text) <= LONGEST_QUOTED else text


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
