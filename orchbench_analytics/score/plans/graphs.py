"""From the text of a plan to its two graphs: workflows and dependencies, steps and their order.

`read_plan` finds the plan in the text a model wrote: JSON, YAML, or either wrapped in prose. YAML
is what PyYAML's pure-Python reader takes for it, within limits.

The outline of a plan is what counts of it, whatever types a model gave to its parts. There are two
ways to take those types. `as_text` takes scalars as texts and leaves out what has a wrong type.
`as_typed` takes every value as it is, as the public evaluator does: where Python would raise an
error there, the outline is not sound.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Iterable
from datetime import date
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeGuard

import msgspec
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

from orchbench_analytics.profiles import Profile
from orchbench_analytics.texts import remembering

try:
    from yaml import CSafeLoader as _FastLoader
except ImportError:  # PyYAML built without libyaml
    from yaml import SafeLoader as _FastLoader  # type: ignore[assignment]

Values = Literal["as_text", "as_typed"]
Step = tuple[str, str]  # agent and status
_Texts = tuple[str, ...]
Node = str | tuple[str, str]
_SCALARS = (str, int, float, bytes, date)
_UNKNOWN_STATUS = "UNK"


class DrawingRules(NamedTuple):
    """The rules of a profile that decide how a text becomes graphs."""

    plan_search: Literal["thorough", "basic"]
    plan_values: Literal["as_text", "as_typed"]
    structure_edges: Literal["every_dependency", "depends_on_only"]
    component_edges: Literal["every_dependency", "first_present"]


def drawing_rules(profile: Profile) -> DrawingRules:
    """The rules of a profile that decide how a text becomes graphs."""
    return DrawingRules(**{name: getattr(profile, name) for name in DrawingRules._fields})


class Drawn(NamedTuple):
    """What a text gives under some rules; sizes and graphs are null where no plan was read."""

    is_read: bool
    read_as: str
    is_malformed: bool = False
    workflow_count: int | None = None
    dependency_count: int | None = None
    step_count: int | None = None
    structure_graph: str | None = None
    component_graph: str | None = None
    structure_has_loop: bool = False
    component_has_loop: bool = False


@remembering(10_000, longest=10_000)
def draw(text: str | None, all_rules: tuple[DrawingRules, ...]) -> list[Drawn]:
    """A text as each set of rules reads and draws it."""
    basic = read_plan(text, thorough=False)
    # What the basic search finds, the thorough one finds too: it only goes on where that gives up.
    thorough = basic if basic.plan is not None else read_plan(text, thorough=True)
    readings = {"basic": basic, "thorough": thorough}
    found = []
    for rules in all_rules:
        plan, how = readings[rules.plan_search]
        if plan is None:
            found.append(Drawn(is_read=False, read_as=how))
            continue
        outlined = outline(plan, values=rules.plan_values)
        structure = structure_graph(outlined.workflows, edges=rules.structure_edges)
        component = component_graph(outlined.workflows, edges=rules.component_edges)
        found.append(
            Drawn(
                is_read=True,
                read_as=how,
                is_malformed=not outlined.is_sound,
                workflow_count=len(structure.nodes),
                dependency_count=len(structure.edges),
                step_count=len(component.nodes),
                structure_graph=to_text(structure),
                component_graph=to_text(component),
                structure_has_loop=structure.has_loop,
                component_has_loop=component.has_loop,
            )
        )
    return found


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


class LimitError(Exception):
    """One way of reading the text went past a limit, named by the reason."""


class BadValueError(Exception):
    """The text is well-formed, but a value in it cannot be built, or a key is not a text."""


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
# No plan comes near these limits; they bound what a hostile text can cost.
MAX_DEPTH = 100
MAX_YAML_SIZE = 50_000  # nodes with aliases expanded; a long text counts one per 20 characters
MAX_YAML_DIRECTIVES = 100  # libyaml compares each with all before it
MAX_SLOW_YAML_CHARS = 30_000  # the pure-Python reader takes 2 microseconds for a character
MAX_NUMBER_CHARS = 3_000
# libyaml lets these pass, or reads them otherwise than PyYAML's own reader does.
_DOUBTFUL_YAML = re.compile(r"\t|\ufeff|!(?!\S)|\\[uU]|\?[,\[\]{}]|(?<![^\r\n\x85\u2028\u2029])%")


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


def outline(plan: dict[Any, Any], *, values: Values = "as_text") -> Outline:
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


class Graph(NamedTuple):
    """Distinct nodes and directed edges between their positions, both in order of appearance.

    A node is a workflow's name (structure), or the agent and status of a step (component).
    """

    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, int], ...]

    @property
    def has_loop(self) -> bool:
        """Whether some node has an edge to itself."""
        return any(source == target for source, target in self.edges)


def structure_graph(
    workflows: tuple[Workflow, ...], *, edges: Literal["every_dependency", "depends_on_only"]
) -> Graph:
    """Workflows as nodes, with an edge from each dependency to what depends on it.

    A workflow is followed by those of its dependencies not seen before: networkx minds the order.
    """
    drawing = _Drawing()
    for workflow in workflows:
        position = drawing.node(workflow.name)
        for dependency in getattr(workflow, edges):
            drawing.edge(drawing.node(dependency), position)
    return drawing.graph()


def component_graph(
    workflows: tuple[Workflow, ...], *, edges: Literal["every_dependency", "first_present"]
) -> Graph:
    """Distinct steps as nodes, with edges to the next step and from a dependency's last step."""
    drawing = _Drawing()
    by_name = {workflow.name: workflow for workflow in workflows}
    paths = {name: [drawing.node(s) for s in w.steps] for name, w in by_name.items()}
    for name, workflow in by_name.items():
        path = paths[name]
        for source, target in pairwise(path):
            if source != target:
                drawing.edge(source, target)
        for dependency in getattr(workflow, edges):
            before = paths.get(dependency)
            if before and path:
                drawing.edge(before[-1], path[0])
    return drawing.graph()


class _Drawing:
    """A graph in the making: nodes by value and edges by position, each once."""

    def __init__(self) -> None:
        self._nodes: dict[Node, int] = {}
        self._edges: dict[tuple[int, int], None] = {}

    def node(self, node: Node) -> int:
        return self._nodes.setdefault(node, len(self._nodes))

    def edge(self, source: int, target: int) -> None:
        self._edges[source, target] = None

    def graph(self) -> Graph:
        return Graph(tuple(self._nodes), tuple(self._edges))


def to_text(graph: Graph) -> str:
    """The graph as JSON, by which tables tell graphs apart."""
    return msgspec.json.encode(graph).decode()


def from_text(text: str) -> Graph:
    """The graph that `to_text` wrote."""
    return _decode_graph(text)


_decode_graph = msgspec.json.Decoder(Graph).decode
