"""Reading a plan out of the text a model wrote: JSON, YAML, or either wrapped in prose.

YAML is what PyYAML's pure-Python reader takes for it, within limits.
"""

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
    from yaml import CSafeLoader as _FastLoader
except ImportError:  # PyYAML built without libyaml
    from yaml import SafeLoader as _FastLoader  # type: ignore[assignment]

# No plan comes near these limits; they bound what a hostile text can cost.
MAX_DEPTH = 100
MAX_YAML_SIZE = 50_000  # nodes with aliases expanded; a long text counts one per 20 characters
MAX_YAML_DIRECTIVES = 100  # libyaml compares each with all before it
MAX_SLOW_YAML_CHARS = 30_000  # the pure-Python reader takes 2 microseconds for a character
MAX_NUMBER_CHARS = 3_000

# libyaml lets these pass, or reads them otherwise than PyYAML's own reader does.
_DOUBTFUL_YAML = re.compile(r"\t|\ufeff|!(?!\S)|\\[uU]|\?[,\[\]{}]|(?<![^\r\n\x85\u2028\u2029])%")


class LimitError(Exception):
    """One way of reading the text went past a limit, named by the reason."""


class BadValueError(Exception):
    """The text is well-formed, but a value in it cannot be built, or a key is not a text."""


def _bounded_int(loader: Any, node: yaml.ScalarNode) -> int:
    """An integer short enough that base 60 can't crawl and `str` can't fail."""
    if len(node.value) > MAX_NUMBER_CHARS:
        raise ValueError("number too long")
    return int(loader.construct_yaml_int(node))


class _Loader(_FastLoader):
    """PyYAML's safe loader over libyaml, except that long numbers are refused."""


class _SlowLoader(yaml.SafeLoader):
    """The same in pure Python: the language that the public evaluator reads."""


_Loader.add_constructor("tag:yaml.org,2002:int", _bounded_int)
_SlowLoader.add_constructor("tag:yaml.org,2002:int", _bounded_int)


def load_yaml(text: str) -> object:
    """The document of a YAML text, none where it is not YAML or has several documents."""
    if text.count("%TAG") > MAX_YAML_DIRECTIVES:
        raise LimitError("too_large")
    is_slow = len(text) <= MAX_SLOW_YAML_CHARS and _DOUBTFUL_YAML.search(text)
    loader: Any = _SlowLoader if is_slow else _Loader
    try:
        is_simple, document = _read_events(text, loader)
        return document if is_simple else yaml.load(text, Loader=loader)
    except (yaml.YAMLError, UnicodeError):  # libyaml fails to encode half a character
        return None
    except RecursionError as error:  # called from deep in a program, Python has fewer levels left
        raise LimitError("too_deep") from error
    # PyYAML's constructors let through what int(), dates and lookups raise on bad scalars.
    except (ValueError, ArithmeticError, LookupError, AttributeError, TypeError) as error:
        raise BadValueError from error


def _read_events(text: str, loader: Any) -> tuple[bool, object]:
    """Check the limits and, where nothing but texts, lists and mappings occurs, build the document.

    Most plans are so simple, and PyYAML's own construction takes as long again.
    """
    get_event: Callable[[], Any] = loader(text).get_event
    implicit_types = loader.yaml_implicit_resolvers
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
                raise LimitError("too_deep")
            is_simple = is_simple and event.tag is None and event.anchor is None
            opened.append((values, event.anchor, size))
            values = []
            size += 1
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            closed: Any = values
            if kind is MappingEndEvent and is_simple:
                is_simple = all(type(key) is str for key in values[::2])
            if kind is MappingEndEvent and is_simple:
                closed = dict(zip(values[::2], values[1::2], strict=True))
            values, anchor, size_before = opened.pop()
            values.append(closed)
            if anchor is not None:
                sizes[anchor] = size - size_before
        elif kind is AliasEvent:
            if any(anchor == event.anchor for _, anchor, _ in opened):
                raise LimitError("too_deep")
            size += sizes.get(event.anchor, 1)
            is_simple = False
            values.append(None)
        elif kind is DocumentStartEvent:
            if is_started:
                return True, None  # several documents are not a plan
            is_started = True
        if size > MAX_YAML_SIZE:
            raise LimitError("too_large")
    return is_simple, values[0] if values else None


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
