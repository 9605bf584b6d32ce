"""Calls of answers and labels: each distinct text is read once, whatever the profile.

`read_calls` reads the calls of an answer, however broken; `calls_in_text` finds those that an
answer writes as text. Profiles differ in how they read a call without a name or with arguments
that are not JSON: such calls have one reading for each way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import product
from typing import Any, NamedTuple

import msgspec
import polars as pl
from polars._typing import PolarsDataType

from orchbench_analytics.profiles import Profile, rule_choices
from orchbench_analytics.texts import (
    clean_text,
    compact_json,
    comparable_text,
    decode_json,
    kind_of,
)

REJECTION_TYPES = ("AWAITING_USER_INPUT", "TOOL_CONSTRAINT_VIOLATION")
PLACEHOLDER_TOOL = "tool_name"
NO_CALLS = "[]"
_ERROR_KEY = "error"
_READING_RULES = ("nameless_call", "invalid_arguments")
READINGS = tuple("/".join(c) for c in product(*(rule_choices()[r] for r in _READING_RULES)))
_WRAPPING = re.compile(r"</?(?:tool_call|function_call)>|```[a-z]*")
_OPENING = re.compile(r"[\[{]")
_NAME_KEYS = ("tool", "name")
_ARGUMENT_KEYS = ("arguments", "parameters")
_TEXTS = pl.List(pl.String)  # as JSON until the frame is made: polars is slow to take lists
_CALLS_SCHEMA: dict[str, PolarsDataType] = {
    "calls_text": pl.String,
    "calls_id": pl.UInt32,
    "call_count": pl.Int64,
    "tools": pl.String,
    "rejection_key": pl.String,
    "has_placeholder": pl.Boolean,
    "has_list_name": pl.Boolean,
    "is_malformed": pl.Boolean,
    "voids_file": pl.Boolean,
}
_NAMES_SCHEMA: dict[str, PolarsDataType] = {
    "calls_id": pl.UInt32,
    "reading": pl.String,
    "names": pl.String,
}
_ARGUMENTS_SCHEMA: dict[str, PolarsDataType] = {
    "calls_id": pl.UInt32,
    "reading": pl.String,
    "argument_key": pl.String,
    "values_json": pl.String,
    "one_sided_count": pl.Int64,
}


class ReadCalls(NamedTuple):
    """Distinct texts of calls, each read once: a row per text, per reading, and per key of one."""

    calls: pl.DataFrame
    names: pl.DataFrame
    arguments: pl.DataFrame


def read_distinct_calls(texts: Iterable[str]) -> ReadCalls:
    """Read each text of calls once; the text of no calls has id 0."""
    calls: list[tuple[Any, ...]] = []
    names: list[tuple[Any, ...]] = []
    arguments: list[tuple[Any, ...]] = []
    for calls_id, text in enumerate(texts):
        read = read_calls(text)
        tools = compact_json(sorted(read.tools)) if read.tools else None
        calls.append((text, calls_id, read.call_count, tools, *read[2:-1]))
        for name, reading in read.readings.items():
            names.append((calls_id, name, compact_json(reading.names)))
            arguments += [
                (calls_id, name, a.key, compact_json(a.values), a.one_sided_count)
                for a in reading.arguments
            ]
    return ReadCalls(
        _frame(calls, _CALLS_SCHEMA),
        _frame(names, _NAMES_SCHEMA).with_columns(pl.col("names").str.json_decode(_TEXTS)),
        _frame(arguments, _ARGUMENTS_SCHEMA).with_columns(
            values=pl.col("values_json").str.json_decode(_TEXTS)
        ),
    )


def _frame(rows: list[tuple[Any, ...]], schema: dict[str, PolarsDataType]) -> pl.DataFrame:
    """Rows as a frame, column by column, which is twice as fast as row by row."""
    return pl.DataFrame(list(zip(*rows, strict=True)), schema=schema)


def reading_of(profile: Profile) -> str:
    """The name of the way in which a profile reads calls that have a defect."""
    return "/".join(getattr(profile, rule) for rule in _READING_RULES)


class Argument(msgspec.Struct, frozen=True):
    """A key of merged arguments: its values as texts, one for each call that has the key."""

    key: str
    values: list[str]
    one_sided_count: int


class Reading(NamedTuple):
    """The distinct names and the merged arguments of all calls together."""

    names: list[str]
    arguments: list[Argument]


class Calls(NamedTuple):
    """The calls of one answer or label, all together.

    `readings` has one reading under null if all profiles read the calls alike, else each by name.
    """

    call_count: int
    tools: list[str]
    rejection_key: str | None
    has_placeholder: bool
    has_list_name: bool
    is_malformed: bool
    voids_file: bool
    readings: dict[str | None, Reading]


class _Call(NamedTuple):
    """One call as given: its name or absent; its arguments, or their text if it is not JSON."""

    name: Any
    arguments: dict[str, Any] | str
    is_sound: bool

    @property
    def is_named(self) -> bool:
        return isinstance(self.name, str) and self.name != ""


def read_calls(text: str) -> Calls:
    """Calls from their JSON list, however broken."""
    try:
        given = decode_json(text)
    except ValueError:  # nested too deep: a call that cannot be read
        given = [None]
    if not isinstance(given, list):
        nothing: dict[str | None, Reading] = {None: Reading([], [])}
        is_empty = given in ({}, "")
        return Calls(0, [], None, False, False, True, voids_file=not is_empty, readings=nothing)
    calls = [_read_call(call) for call in given]
    is_alike = all(call.is_named and isinstance(call.arguments, dict) for call in calls)
    is_sound = all(call.is_sound for call in calls) and not _has_key_after_invalid(calls)
    tools = list(dict.fromkeys(clean_text(call.name) for call in calls if call.is_named))
    keys = {key for call in calls if isinstance(call.arguments, dict) for key in call.arguments}
    return Calls(
        len(given),
        tools,
        next((kind for kind in REJECTION_TYPES if kind in keys), None),
        PLACEHOLDER_TOOL in tools,
        any(isinstance(call.name, list) for call in calls),
        is_malformed=not (is_alike and is_sound),
        voids_file=not is_sound,
        readings={None: _merged(calls)} if is_alike else _each_reading(calls),
    )


def _read_call(call: Any) -> _Call:
    """The call's name and arguments; it is sound if the public evaluator can read it at all."""
    is_flat = isinstance(call, dict) and isinstance(call.get("flat"), dict)
    function = call["flat"] if is_flat else call
    if not isinstance(function, dict):
        return _Call(msgspec.UNSET, {}, is_sound=False)
    name, arguments = (function.get(key, msgspec.UNSET) for key in ("name", "arguments"))
    is_sound = not is_flat and kind_of(name) not in ("absent", "object")
    if isinstance(arguments, str):
        try:
            arguments = decode_json(arguments)
        except ValueError:
            return _Call(name, arguments, is_sound)
    if not isinstance(arguments, dict):
        return _Call(name, {}, is_sound=False)
    return _Call(name, arguments, is_sound)


def _has_key_after_invalid(calls: list[_Call]) -> bool:
    """A call has the key that invalid arguments before it took."""
    invalid = [n for n, call in enumerate(calls) if isinstance(call.arguments, str)]
    return bool(invalid) and any(
        isinstance(call.arguments, dict) and _ERROR_KEY in call.arguments
        for call in calls[invalid[0] :]
    )


def _each_reading(calls: list[_Call]) -> dict[str | None, Reading]:
    named = [call for call in calls if call.is_named]
    readings: dict[str | None, Reading] = {}
    for reading in READINGS:
        nameless_call, invalid_arguments = reading.split("/")
        counted = calls if nameless_call == "call" else named
        readings[reading] = _merged(counted, has_error_key=invalid_arguments == "error_key")
    return readings


def _merged(calls: Iterable[_Call], *, has_error_key: bool = False) -> Reading:
    """Merged names and arguments; text that is not JSON is nothing, or takes the key `error`."""
    names: list[str] = []
    values: dict[str, list[str]] = {}
    invalid = None
    for call in calls:
        if call.name is not msgspec.UNSET:
            names.append(_name_text(call.name))
        if isinstance(call.arguments, str):
            invalid = clean_text(f"Invalid JSON in arguments: {call.arguments}")
            continue
        for key, value in call.arguments.items():
            values.setdefault(clean_text(key), []).append(
                value if type(value) is str and value.isascii() else comparable_text(value)
            )
    arguments = {key: Argument(key, texts, len(texts)) for key, texts in values.items()}
    if invalid is not None and has_error_key:
        arguments[_ERROR_KEY] = Argument(_ERROR_KEY, [invalid], len(invalid))
    return Reading(list(dict.fromkeys(names)), list(arguments.values()))


def _name_text(name: Any) -> str:
    """A name as a text that equals another just if the names are equal in Python."""
    if isinstance(name, str):
        return clean_text(name)
    if isinstance(name, bool | float) and float(name).is_integer():
        name = int(name)
    return f"\0{clean_text(repr(name))}"


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
