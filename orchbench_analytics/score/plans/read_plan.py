"""Reading a plan out of the text a model wrote: JSON, YAML, or either wrapped in prose."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeGuard

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

try:
    from yaml import CSafeLoader as _SafeLoader
except ImportError:  # PyYAML built without libyaml: slower, the same language
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]

# No plan comes near these limits; they bound what a hostile text can cost.
MAX_CHARS = 1_000_000
MAX_DEPTH = 100
MAX_YAML_SIZE = 50_000  # nodes with aliases expanded; a long text counts one per 20 characters
MAX_YAML_DIRECTIVES = 100  # libyaml compares each with all before it
MAX_NUMBER_CHARS = 3_000
MAX_SECOND_LOOK_CHARS = 4_000_000

_NAMED_WORKFLOW = re.compile(r'"workflow_\d++":\s*+\{')
_YAML_BLOCK = re.compile(r"```yaml\s*+(?=workflow_)")
_FLAT_PLAN = re.compile(r'\{(?=[^{}]*"workflow_)[^{}]*+\}')
# An unclosed string runs to the end: were it no match, each of its quotes would be tried again.
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)


class PlanReading(NamedTuple):
    """A plan and the way that found it, or no plan and the reason."""

    plan: dict[str, Any] | None
    how: str


class _LimitError(Exception):
    """One way of reading the text went past a limit, named by the reason."""


def read_plan(text: str | None, *, thorough: bool) -> PlanReading:
    """The first plan that one of the ways finds after the last `</think>`.

    `thorough` looks once more for a JSON object anywhere in the text when all ways failed.
    """
    if text is None:
        return PlanReading(None, "missing")
    text = text.rpartition("</think>")[2]
    if not text or text.isspace():
        return PlanReading(None, "empty")
    if len(text) > MAX_CHARS:
        return PlanReading(None, "too_large")
    reason = "no_workflow"
    for how, find in _THOROUGH_WAYS if thorough else _WAYS:
        try:
            found = find(text)
        except _LimitError as error:
            reason = str(error)
        else:
            if _is_plan(found):
                return PlanReading(found, how)
    return PlanReading(None, reason)


def _is_plan(found: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(found, dict) and any(
        isinstance(key, str) and key.startswith("workflow_") for key in found
    )


def _from_json_block(text: str) -> object:
    opening = text.find("```json")
    closing = text.find("```", opening + 7) if opening >= 0 else -1
    return _load_json(text[opening + 7 : closing].strip()) if closing >= 0 else None


def _from_flat_object(text: str) -> object:
    found = _FLAT_PLAN.search(text)
    return _load_json(found[0]) if found else None


def _from_braces(text: str) -> object:
    name = text.find('"workflow_')
    if name <= 0 or not _NAMED_WORKFLOW.search(text, name):
        return None
    start = end = text.rfind("{", 0, name)
    opened = closed = 0
    while start >= 0 and (close := text.find("}", end)) >= 0:
        opened += text.count("{", end, close)
        closed += 1
        end = close + 1
        if opened == closed:
            return _load_json(text[start:end])
    return None


def _from_yaml_block(text: str) -> object:
    opening = _YAML_BLOCK.search(text)
    closing = text.find("```", opening.end()) if opening else -1
    return _load_yaml(text[opening.end() : closing]) if opening and closing >= 0 else None


def _from_yaml(text: str) -> object:
    return _load_yaml(text) if "workflow_" in text else None


def _from_reindented_lines(text: str) -> object:
    lines = [line.strip() for line in text.strip().split("\n")]
    is_plan = lines[0].startswith("workflow_")
    return _load_yaml("\n".join(map(_reindented, lines))) if is_plan else None


def _reindented(line: str) -> str:
    if line.startswith("workflow_"):
        return line if line.endswith(":") else line + ":"
    indent = "    " if line.startswith("-") else "  " if ":" in line else "      "
    return indent + line


def _from_any_brace(text: str) -> object:
    chars_left = MAX_SECOND_LOOK_CHARS
    start = text.find("{")
    while start >= 0:
        end = _bracket_end(text, start)
        found = _decode(text[start:end]) if end >= 0 else None
        if _is_plan(found):
            return found
        chars_left -= (end if end >= 0 else len(text)) - start + 100  # what a try costs at least
        if chars_left < 0:
            raise _LimitError("too_large")
        start = text.find("{", start + 1)
    return None


def _bracket_end(text: str, start: int) -> int:
    """Where the first bracket closes, strings respected; -1 if nowhere."""
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text, start):
        token = match[0]
        if token in ("{", "["):
            depth += 1
            if depth > MAX_DEPTH:
                raise _LimitError("too_deep")
        elif token in ("}", "]"):
            depth -= 1
            if depth <= 0:
                return match.end()
    return -1


def _load_json(text: str) -> object:
    if text.count("{") + text.count("[") > MAX_DEPTH:
        _bracket_end(text, 0)  # the decoder recurses, so depth is settled first
    return _decode(text)


def _decode(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:  # not JSON, or a number with more digits than Python converts
        return None


class _Loader(_SafeLoader):
    """PyYAML's safe loader, except that long numbers are refused."""

    def bounded_int(self, node: yaml.ScalarNode) -> int:
        """An integer short enough that base 60 can't crawl and `str` can't fail."""
        if len(node.value) > MAX_NUMBER_CHARS:
            raise ValueError("number too long")
        return int(self.construct_yaml_int(node))


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.bounded_int)


def _load_yaml(text: str) -> object:
    if text.count("%TAG") > MAX_YAML_DIRECTIVES:
        raise _LimitError("too_large")
    try:
        is_simple, document = _read_events(text)
        return document if is_simple else yaml.load(text, Loader=_Loader)
    # PyYAML's constructors also let through what int(), dates and lookups raise on bad scalars.
    except (yaml.YAMLError, ValueError, ArithmeticError, LookupError, AttributeError, TypeError):
        return None


def _read_events(text: str) -> tuple[bool, object]:
    """Check the limits and, where nothing but texts, lists and mappings occurs, build the document.

    Most plans are so simple, and PyYAML's own construction takes as long again.
    """
    get_event: Callable[[], Any] = _Loader(text).get_event
    implicit_types = _Loader.yaml_implicit_resolvers
    values: list[Any] = []  # of the innermost open list or mapping, keys among them
    opened: list[tuple[list[Any], str | None, int]] = []
    sizes: dict[str, int] = {}  # of anchored nodes, aliases expanded
    size, is_started, is_simple = 0, False, True
    while (kind := type(event := get_event())) is not StreamEndEvent:
        if kind is ScalarEvent:
            value = event.value
            values.append(value)
            size += 1 + len(value) // 20
            if event.anchor is not None:
                sizes[event.anchor] = 1 + len(value) // 20
                is_simple = False
            elif event.tag is not None:
                is_simple = False
            elif is_simple and event.implicit[0]:
                for _, pattern in implicit_types.get(value[:1], ()):
                    is_simple = is_simple and not pattern.match(value)
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            if len(opened) >= MAX_DEPTH:
                raise _LimitError("too_deep")
            is_simple = is_simple and event.tag is None and event.anchor is None
            opened.append((values, event.anchor, size))
            values = []
            size += 1
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            closed: Any = values
            if kind is MappingEndEvent and is_simple:
                closed = dict(zip(values[::2], values[1::2], strict=True))
            values, anchor, size_before = opened.pop()
            values.append(closed)
            if anchor is not None:
                sizes[anchor] = size - size_before
        elif kind is AliasEvent:
            if any(anchor == event.anchor for _, anchor, _ in opened):
                raise _LimitError("too_deep")
            size += sizes.get(event.anchor, 1)
            is_simple = False
            values.append(None)
        elif kind is DocumentStartEvent:
            if is_started:
                return True, None  # several documents are no plan
            is_started = True
        if size > MAX_YAML_SIZE:
            raise _LimitError("too_large")
    return is_simple, values[0] if values else None


_WAYS: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("json_block", _from_json_block),
    ("flat_object", _from_flat_object),
    ("braces", _from_braces),
    ("json", _load_json),
    ("yaml_block", _from_yaml_block),
    ("yaml", _from_yaml),
    ("reindented", _from_reindented_lines),
)
_THOROUGH_WAYS = (*_WAYS, ("second_look", _from_any_brace))
