"""Reading calls: names, arguments as comparable texts, and what is wrong with them."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

import msgspec

from orchbench_analytics.texts import clean_text

REJECTION_TYPES = ("AWAITING_USER_INPUT", "TOOL_CONSTRAINT_VIOLATION")
PLACEHOLDER_TOOL = "tool_name"
MAX_DEPTH = 100  # no argument comes near it; deeper values cannot be told apart
MAX_READ_DEPTH = 500  # deeper JSON is not read: how deep Python could differs by its version
_ERROR_KEY = "error"
_WRAPPING = re.compile(r"</?(?:tool_call|function_call)>|```[a-z]*")
_NAME_KEYS = ("tool", "name")
_ARGUMENT_KEYS = ("arguments", "parameters")


class Argument(msgspec.Struct, frozen=True):
    """A key of merged arguments: its values as texts, one for each call that has the key.

    `only_under` is the choice of the rule `invalid_arguments` under which it counts; null: any.
    """

    key: str
    values: list[str]
    one_sided_count: int
    only_under: str | None = None


class Calls(NamedTuple):
    """The calls of one answer or label, all together."""

    call_count: int
    names: list[str]
    arguments: list[Argument]
    rejection_key: str | None
    has_placeholder: bool
    has_invalid_arguments: bool
    is_malformed: bool
    voids_file: bool


def read_calls(text: str) -> Calls:
    """Calls from their JSON list, however broken."""
    try:
        given = decode_json(text)
    except ValueError:  # nested too deep: some call that nobody can read
        given = [None]
    if not isinstance(given, list):
        return Calls(0, [], [], None, False, False, is_malformed=True, voids_file=given is None)
    names: list[str] = []
    values: dict[str, list[str]] = {}
    invalid: list[str] = []
    is_malformed = voids_file = False
    for call in given:
        name, arguments = _name_and_arguments(call)
        if name is None:
            is_malformed = voids_file = True
        else:
            names.append(name)
        if isinstance(arguments, str):
            try:
                arguments = decode_json(arguments)
            except ValueError:
                is_malformed = True
                invalid.append(clean_text(f"Invalid JSON in arguments: {arguments}"))
                continue
        if not isinstance(arguments, dict):
            is_malformed = voids_file = True
            continue
        for key, value in arguments.items():
            values.setdefault(clean_text(key), []).append(
                value if type(value) is str and value.isascii() else comparable_text(value)
            )
    return Calls(
        len(given),
        list(dict.fromkeys(names)),
        _merged(values, invalid),
        next((kind for kind in REJECTION_TYPES if kind in values), None),
        PLACEHOLDER_TOOL in names,
        bool(invalid),
        is_malformed,
        voids_file,
    )


def calls_in_text(content: str) -> str | None:
    """Calls written as text, in the form of `answer_calls`; none if the text is not just that."""
    text = content.rpartition("</think>")[2]
    start, end = text.find("{"), text.rfind("}") + 1
    if start < 0 or _WRAPPING.sub("", text[:start] + text[end:]).strip():
        return None
    try:
        value = decode_json(text[start:end])
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    wrapped = value.get("tool_call", value)
    calls = [_written_call(call) for call in (wrapped if isinstance(wrapped, list) else [wrapped])]
    if not calls or any(call is None for call in calls):
        return None
    try:
        return clean_text(json.dumps(calls, ensure_ascii=False))
    except RecursionError:
        return None


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


def comparable_text(value: Any) -> str:
    """A value as the text by which it is compared: order in lists and objects does not count."""
    if isinstance(value, str):
        return clean_text(value)
    try:
        return clean_text(_printed(value, 0) if isinstance(value, list | dict) else str(value))
    except _TooDeepError:
        return "unprintable value"


def texts_of(values: Any) -> list[str]:
    """The comparable texts of a list of values, as a judge's log has them."""
    return [comparable_text(value) for value in values] if isinstance(values, list) else []


class _TooDeepError(Exception):
    """A value is nested deeper than any argument."""


def _printed(value: Any, depth: int) -> str:
    """Like Python's `str`, with lists and objects sorted; items of lists count by their texts.

    Nested lists and objects are not quoted: quoting a quoted text doubles its escapes, so thirty
    nested lists would fill the memory.
    """
    if not isinstance(value, list | dict):
        return repr(value)
    if depth > MAX_DEPTH:
        raise _TooDeepError
    if isinstance(value, list):
        return f"[{', '.join(sorted(_printed_item(item, depth + 1) for item in value))}]"
    items = (f"{key!r}: {_printed(value[key], depth + 1)}" for key in sorted(value))
    return f"{{{', '.join(items)}}}"


def _printed_item(item: Any, depth: int) -> str:
    return _printed(item, depth) if isinstance(item, list | dict) else repr(str(item))


def _merged(values: dict[str, list[str]], invalid: list[str]) -> list[Argument]:
    """Merged arguments; text that is no JSON is either nothing, or takes the key `error`."""
    merged = [Argument(key, texts, len(texts)) for key, texts in values.items()]
    if invalid:
        merged = [
            msgspec.structs.replace(a, only_under="none") if a.key == _ERROR_KEY else a
            for a in merged
        ]
        merged.append(Argument(_ERROR_KEY, invalid, sum(map(len, invalid)), only_under="error_key"))
    return merged


def _name_and_arguments(call: Any) -> tuple[str | None, Any]:
    """The call's name, none if it has none, and its arguments as given."""
    if not isinstance(call, dict):
        return None, None
    name = call.get("name")
    return (clean_text(name) if isinstance(name, str) and name else None), call.get("arguments", {})


def _written_call(call: Any) -> dict[str, Any] | None:
    if not isinstance(call, dict):
        return None
    name = next((call[key] for key in _NAME_KEYS if isinstance(call.get(key), str)), None)
    arguments = next((call[key] for key in _ARGUMENT_KEYS if key in call), None)
    if not name or not isinstance(arguments, dict | str):
        return None
    return {"name": name, "arguments": arguments}
