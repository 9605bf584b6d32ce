"""Values as the texts by which they are compared, and JSON as Python itself would read it."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from orchbench_analytics.texts import clean_text

MAX_DEPTH = 100  # no argument comes near it; deeper values cannot be told apart
MAX_READ_DEPTH = 500  # deeper JSON is not read: how deep Python could differs by its version
LONGEST_QUOTED = 100_000  # quoting a quoted text doubles its escapes, so it has to end somewhere


def decode_json(text: str) -> Any:
    """JSON as Python's own reader takes it (NaN and lone surrogates too), but faster."""
    try:
        value = _decode(text)
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    if text.count("[") + text.count("{") > MAX_READ_DEPTH and _is_too_deep(value):
        raise ValueError("nested too deep")
    return value


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
