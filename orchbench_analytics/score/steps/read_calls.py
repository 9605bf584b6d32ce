"""Reading answers: the calls they make, the calls they write as text, and the texts themselves."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import product
from typing import Any, NamedTuple

import msgspec
import polars as pl

from orchbench_analytics.profiles import Profile, rule_choices
from orchbench_analytics.score.values import comparable_text, decode_json, join_parts, read_parts
from orchbench_analytics.texts import clean_text, kind_of

REJECTION_TYPES = ("AWAITING_USER_INPUT", "TOOL_CONSTRAINT_VIOLATION")
PLACEHOLDER_TOOL = "tool_name"
_ERROR_KEY = "error"
_READING_RULES = ("nameless_call", "invalid_arguments")
READINGS = tuple("/".join(c) for c in product(*(rule_choices()[r] for r in _READING_RULES)))


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


def read_contents(steps: pl.DataFrame) -> pl.DataFrame:
    """Add each answer's text, the calls written in it, and the marker that is one of its parts.

    Each distinct content is read once. A list is read as its text parts joined; an object, a number
    or a boolean is not a text.
    """
    kind, content = pl.col("content_kind"), pl.col("answer_content")
    texts = steps.join(
        _read_parts(steps), on="row", how="left", maintain_order="left"
    ).with_columns(answer_text=pl.when(kind == "text").then(content).otherwise("joined_text"))
    written = _calls_written_as_text(texts["answer_text"])
    return texts.join(written, on="answer_text", how="left", maintain_order="left")


def _read_parts(steps: pl.DataFrame) -> pl.DataFrame:
    """For each list or object: its joined text, and the rejection type among its parts."""
    given = steps.filter(pl.col("content_kind").is_in(["list", "object"]))
    read = {content: _parts_read(content) for content in given["answer_content"].unique()}
    parts = [read[content] for content in given["answer_content"]]
    return given.select(
        "row",
        joined_text=pl.Series([text for text, _ in parts], dtype=pl.String),
        marker_part=pl.Series([marker for _, marker in parts], dtype=pl.String),
    )


def _parts_read(content: str) -> tuple[str | None, str | None]:
    parts = read_parts(content)
    marker = next((marker for marker in REJECTION_TYPES if marker in parts), None)
    return join_parts(parts), marker


def _calls_written_as_text(texts: pl.Series) -> pl.DataFrame:
    """For each distinct text that may hold a call: the call it is, if it is one."""
    distinct = texts.drop_nulls().unique(maintain_order=True)
    candidates = distinct.filter(distinct.str.contains("{", literal=True))
    written = [calls_in_text(text) for text in candidates]
    return pl.DataFrame(
        {"answer_text": candidates, "written_calls": pl.Series(written, dtype=pl.String)}
    ).drop_nulls()
