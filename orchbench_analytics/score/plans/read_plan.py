"""Reading a plan out of the text a model wrote: JSON, YAML, or either wrapped in prose."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeGuard

from orchbench_analytics.score.plans.read_yaml import (
    MAX_DEPTH,
    BadValueError,
    LimitError,
    load_yaml,
)

BAD_VALUE = "bad_value"  # why no plan was read: a value that cannot be built, or an odd key

# No plan comes near these limits; they bound what a hostile text can cost.
MAX_CHARS = 1_000_000
MAX_SECOND_LOOK_CHARS = 4_000_000

_JSON_BLOCK_START = re.compile(r"```json\s*+(?=\{)")
_JSON_BLOCK_END = re.compile(r"\}(?=\s*+```)")
_NAMED_WORKFLOW = re.compile(r'"workflow_\d++":\s*+\{')
_YAML_BLOCK = re.compile(r"```yaml\s*+(?=workflow_)")
_JOINED_STRETCH = re.compile(r"\s*+,[^}]*+\}")
# An unclosed string runs to the end: were it no match, each of its quotes would be tried again.
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)


class PlanReading(NamedTuple):
    """A plan and the way that found it, or no plan and the reason."""

    plan: dict[str, Any] | None
    how: str


def read_plan(text: str | None, *, thorough: bool) -> PlanReading:
    """The first plan that one of the ways finds after the last `</think>`.

    `thorough` goes on after a bad value, where the public evaluator gives up the whole run, and
    looks once more for a JSON object anywhere in the text when all ways failed.
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
            if _is_plan(found, any_keys=thorough):
                return PlanReading(found, how)
        except LimitError as error:
            reason = str(error)
        except BadValueError:
            reason = BAD_VALUE
            if not thorough:
                break
    return PlanReading(None, reason)


def _is_plan(found: object, *, any_keys: bool = True) -> TypeGuard[dict[str, Any]]:
    for key in found if isinstance(found, dict) else ():
        if not isinstance(key, str):  # as YAML has them
            if not any_keys:
                raise BadValueError
        elif key.startswith("workflow_"):
            return True
    return False


def _from_json_block(text: str) -> object:
    opening = _JSON_BLOCK_START.search(text)
    closing = _JSON_BLOCK_END.search(text, opening.end()) if opening else None
    return _load_json(text[opening.end() : closing.end()]) if opening and closing else None


def _from_flat_object(text: str) -> object:
    """The first `{` with `"workflow_` before the next `}`, and what commas join to it."""
    after = 0
    while (end := text.find("}", after)) >= 0:
        start = text.find("{", after, end)
        if start >= 0 and text.find('"workflow_', start, end) >= 0:
            break
        after = end + 1
    else:
        return None
    while (joined := _JOINED_STRETCH.match(text, end + 1)) and '"workflow_' in joined[0]:
        end = joined.end() - 1
    return _load_json(text[start : end + 1])


def _from_braces(text: str) -> object:
    name = text.find('"workflow_')
    named = _NAMED_WORKFLOW.search(text, name) if name > 0 else None
    if named is None or text.find("}", named.end()) < 0:
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
    return load_yaml(text[opening.end() : closing]) if opening and closing >= 0 else None


def _from_yaml(text: str) -> object:
    return load_yaml(text) if "workflow_" in text else None


def _from_reindented_lines(text: str) -> object:
    lines = text.strip().split("\n")
    is_plan = lines[0].startswith("workflow_")
    return load_yaml("\n".join(map(_reindented, lines))) if is_plan else None


def _reindented(line: str) -> str:
    words = line.strip()
    if words.startswith("workflow_"):
        return line + ":"
    indent = "    " if words.startswith("-") else "  " if ":" in words else "      "
    return indent + words


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
            raise LimitError("too_large")
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
                raise LimitError("too_deep")
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
    except json.JSONDecodeError:
        return None
    except ValueError as error:  # a number with more digits than Python converts
        raise BadValueError from error


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
