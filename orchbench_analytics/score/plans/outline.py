"""The outline of a plan: what of it counts, whatever types a model gave to its parts."""

from __future__ import annotations

from datetime import date
from typing import Any, NamedTuple

Step = tuple[str, str]  # agent and status
_Texts = tuple[str, ...]
_SCALARS = (str, int, float, bytes, date)


class Workflow(NamedTuple):
    """A workflow: its name, its steps, and its dependencies by each way to choose them."""

    name: str
    steps: tuple[Step, ...]
    every_dependency: _Texts
    depends_on_only: _Texts
    first_present: _Texts


class Outline(NamedTuple):
    """The workflows of a plan; not sound where a part has a type that no plan has there.

    A plain one has the same dependencies by every way to choose them.
    """

    workflows: tuple[Workflow, ...]
    is_sound: bool
    is_plain: bool


def outline(plan: dict[str, Any]) -> Outline:
    """What counts of a plan; parts of a wrong type are left out."""
    workflows = []
    is_sound = is_plain = True
    for name, workflow in plan.items():
        if not (isinstance(name, str) and "workflow" in name):  # YAML has keys that are no text
            continue
        if not isinstance(workflow, dict):
            is_sound = False
            continue
        steps = workflow.get("steps")
        given, other = workflow.get("depends_on"), workflow.get("depend_on")
        is_sound = (
            is_sound
            and _are_steps_sound(steps)
            and _is_dependency_sound(given)
            and _is_dependency_sound(other)
        )
        is_plain = is_plain and not other and not isinstance(given, _SCALARS)
        workflows.append(Workflow(_text(name), _steps(steps), *_dependencies(given, other)))
    return Outline(tuple(workflows), is_sound, is_plain)


def _steps(steps: object) -> tuple[Step, ...]:
    found = []
    for step in steps if isinstance(steps, list) else ():
        if isinstance(step, dict):
            agent = _text(step.get("agent_id")) or _text(step.get("name"))
            if agent:
                found.append((agent, _text(step.get("status")) or "UNK"))
    return tuple(found)


def _dependencies(given: object, other: object) -> tuple[_Texts, _Texts, _Texts]:
    """The dependencies by each way: all; `depends_on` as it is; or else `depend_on`.

    The public evaluator iterates a text too: each character of `depends_on` is a dependency.
    """
    as_given = _texts(given)
    if not other and not isinstance(given, _SCALARS):
        return as_given, as_given, as_given
    other_texts = _texts(_as_list(other))
    return _texts(_as_list(given)) + other_texts, as_given, as_given if given else other_texts


def _as_list(dependencies: object) -> object:
    return [dependencies] if dependencies and isinstance(dependencies, _SCALARS) else dependencies


def _texts(dependencies: object) -> _Texts:
    if isinstance(dependencies, str):
        dependencies = list(dict.fromkeys(dependencies))  # a long text has few characters
    if isinstance(dependencies, list | dict):
        return tuple(filter(None, map(_text, dependencies)))
    return ()


def _text(value: object) -> str:
    """A scalar as text that can be stored; empty for null and for anything that is no scalar."""
    if type(value) is str and value.isascii():  # as nearly all are
        return value
    if value is None or not isinstance(value, _SCALARS):
        return ""
    text = str(value)
    # JSON can escape half a character, which no file format takes.
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


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
    if not value:
        return True
    if isinstance(value, list | dict):
        return all(isinstance(item, _SCALARS) for item in value)
    return isinstance(value, str)
