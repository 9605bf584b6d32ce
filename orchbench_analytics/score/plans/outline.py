"""The outline of a plan: what of it counts, whatever types a model gave to its parts.

There are two ways to take those types. `as_text` takes scalars as texts and leaves out what has a
wrong type. `as_typed` takes every value as it is, as the public evaluator does: where Python would
raise an error there, the outline is not sound.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from datetime import date
from typing import Any, Literal, NamedTuple

Values = Literal["as_text", "as_typed"]
Step = tuple[str, str]  # agent and status
_Texts = tuple[str, ...]
_SCALARS = (str, int, float, bytes, date)
_UNKNOWN_STATUS = "UNK"


class Workflow(NamedTuple):
    """A workflow: its name, its steps, and its dependencies by each way to choose them."""

    name: str
    steps: tuple[Step, ...]
    every_dependency: _Texts
    depends_on_only: _Texts
    first_present: _Texts


class Outline(NamedTuple):
    """The workflows of a plan; not sound where a part has a type that no plan has there."""

    workflows: tuple[Workflow, ...]
    is_sound: bool


class _UnsoundError(Exception):
    """A part has a type with which the public evaluator fails."""


def outline(plan: dict[str, Any], *, values: Values = "as_text") -> Outline:
    """What counts of a plan; parts of a wrong type are left out."""
    workflows = []
    is_sound = True
    for name, workflow in plan.items():
        if not isinstance(name, str):  # YAML has keys that are not texts
            is_sound = is_sound and values == "as_text"
        elif "workflow" not in name:
            continue
        elif not isinstance(workflow, dict):
            is_sound = False
        else:
            found, is_workflow_sound = _workflow(name, workflow, values)
            is_sound = is_sound and is_workflow_sound
            workflows.append(found)
    return Outline(tuple(workflows), is_sound)


def _workflow(name: str, workflow: dict[Any, Any], values: Values) -> tuple[Workflow, bool]:
    """A workflow, and whether its parts are sound."""
    steps, given, other = (workflow.get(part) for part in ("steps", "depends_on", "depend_on"))
    dependencies = _dependencies(given, other)
    if values == "as_text":
        is_sound = _are_steps_sound(steps) and all(map(_is_dependency_sound, (given, other)))
        return Workflow(storable(name), _steps(steps), *dependencies), is_sound
    try:
        typed_steps = tuple(_typed_steps(steps))
        return Workflow(
            storable(name),
            typed_steps,
            dependencies[0],
            tuple(_typed_dependencies(given)),
            tuple(_typed_first_present(given, other)) if typed_steps else (),
        ), True
    except _UnsoundError:
        return Workflow(storable(name), _steps(steps), *dependencies), False


def _steps(steps: object) -> tuple[Step, ...]:
    found = []
    for step in steps if isinstance(steps, list) else ():
        if isinstance(step, dict):
            agent = _text(step.get("agent_id")) or _text(step.get("name"))
            if agent:
                found.append((agent, _text(step.get("status")) or _UNKNOWN_STATUS))
    return tuple(found)


def _dependencies(given: object, other: object) -> tuple[_Texts, _Texts, _Texts]:
    """The dependencies by each way: all; `depends_on` as it is; or else `depend_on`.

    The public evaluator iterates a text too: each character of `depends_on` is a dependency.
    """
    as_given = _texts(given)
    if not other and not isinstance(given, str):
        return as_given, as_given, as_given
    others = _texts([other] if isinstance(other, str) else other)
    every = _texts([given] if isinstance(given, str) else given) + others
    return every, as_given, as_given if given else others


def _texts(dependencies: object) -> _Texts:
    if not isinstance(dependencies, list | str):
        return ()
    distinct = dict.fromkeys(item for item in dependencies if isinstance(item, str) and item)
    return tuple(map(storable, distinct))  # a long text has few characters


def _text(value: object) -> str:
    """A scalar as text that can be stored; empty for what counts as absent."""
    if not value or not isinstance(value, _SCALARS):
        return ""
    return storable(value if isinstance(value, str) else str(value))


def storable(text: str) -> str:
    """The text as it is, with half characters, which no file format takes, as escapes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def typed_text(value: Hashable) -> str:
    """A text for a value, the same for values that Python finds equal: 1, 1.0 and true.

    A text stands for itself, any other value between angle brackets; a text that begins with one
    begins with two.
    """
    if isinstance(value, str):
        return storable(f"<{value}" if value.startswith("<") else value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"<{int(value) if isinstance(value, bool) else value}>"


def _typed_steps(steps: object) -> Iterable[Step]:
    for step in _items(steps):
        if not isinstance(step, dict):
            raise _UnsoundError
        agent = step.get("agent_id") or step.get("name")
        if agent:
            yield _typed_node(agent), _typed_node(step.get("status", _UNKNOWN_STATUS))


def _typed_dependencies(given: object) -> Iterable[str]:
    for item in _items(given):
        if item is None:  # which networkx refuses as a node
            raise _UnsoundError
        yield _typed_node(item)


def _typed_first_present(given: object, other: object) -> Iterable[str]:
    chosen = given or ([other] if isinstance(other, str) else other)
    return map(_typed_node, _items(chosen))


def _items(value: object) -> Iterable[Any]:
    """What Python iterates, each item once; nothing where the value is falsy."""
    if not value:
        return ()
    if isinstance(value, str | bytes):
        return dict.fromkeys(value)  # a long text has few characters
    if isinstance(value, Iterable):
        return value
    raise _UnsoundError


def _typed_node(value: object) -> str:
    if not isinstance(value, (*_SCALARS, type(None))):
        raise _UnsoundError
    return typed_text(value)


def _are_steps_sound(steps: object) -> bool:
    if not isinstance(steps, list):
        return steps is None
    for step in steps:
        if not isinstance(step, dict):
            return False
        for key in ("agent_id", "name", "status"):
            value = step.get(key)
            if value is not None and not isinstance(value, _SCALARS):
                return False
    return True


def _is_dependency_sound(value: object) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, str) and item for item in value)
    return not value or isinstance(value, str)
