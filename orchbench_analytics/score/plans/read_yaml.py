"""Reading YAML that a model wrote, as PyYAML's pure-Python reader has it, within limits."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

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
