"""From the text of a plan to its two graphs: workflows and dependencies, steps and their order.

The outline of a plan is what counts of it, whatever types a model gave to its parts. There are two
ways to take those types. `as_text` takes scalars as texts and leaves out what has a wrong type.
`as_typed` takes every value as it is, as the public evaluator does: where Python would raise an
error there, the outline is not sound.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from datetime import date
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import msgspec
import polars as pl
from polars._typing import PolarsDataType

from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.plans.read_plan import read_plan
from orchbench_analytics.score.plans.totals import with_text_parts
from orchbench_analytics.texts import remembering

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


Node = str | tuple[str, str]


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


def to_text(graph: Graph) -> str:
    """The graph as JSON, by which tables tell graphs apart."""
    return msgspec.json.encode(graph).decode()


def from_text(text: str) -> Graph:
    """The graph that `to_text` wrote."""
    return _decode_graph(text)


_decode_graph = msgspec.json.Decoder(Graph).decode


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


class DrawingRules(NamedTuple):
    """The rules of a profile that decide how a text becomes graphs."""

    plan_search: Literal["thorough", "basic"]
    plan_values: Literal["as_text", "as_typed"]
    structure_edges: Literal["every_dependency", "depends_on_only"]
    component_edges: Literal["every_dependency", "first_present"]


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


class DrawnPlans(NamedTuple):
    """Plans with ids in place of their texts, and what each text gives under each set of rules."""

    plans: pl.DataFrame
    texts: pl.DataFrame


_SIDES = ("label", "answer")
_DRAWN_SCHEMA: dict[str, PolarsDataType] = {
    "text_id": pl.Int64,
    **dict.fromkeys(DrawingRules._fields, pl.String),
    **{
        name: pl.Boolean
        if name.startswith("is_") or name.endswith("_has_loop")
        else pl.Int64
        if name.endswith("_count")
        else pl.String
        for name in Drawn._fields
    },
}


def drawing_rules(profile: Profile) -> DrawingRules:
    """The rules of a profile that decide how a text becomes graphs."""
    return DrawingRules(**{name: getattr(profile, name) for name in DrawingRules._fields})


def draw_plans(plans: pl.DataFrame, all_rules: tuple[DrawingRules, ...]) -> DrawnPlans:
    """Draw every distinct text of labels and answers; from here on, ids stand for the texts."""
    plans = with_text_parts(plans)
    contents = [plans[f"{side}_content"].alias("text") for side in _SIDES]
    texts = pl.concat(contents).unique(maintain_order=True).to_frame().with_row_index("text_id")
    texts = texts.with_columns(pl.col("text_id").cast(pl.Int64))
    for side in _SIDES:
        ids = texts.rename({"text": f"{side}_content", "text_id": f"{side}_text_id"})
        plans = plans.join(
            ids, on=f"{side}_content", how="left", nulls_equal=True, maintain_order="left"
        )
    rows = [
        (text_id, *rules, *drawn)
        for text_id, text in texts.iter_rows()
        for rules, drawn in zip(all_rules, draw(text, all_rules), strict=True)
    ]
    plans = plans.with_columns(is_labelled=pl.col("label_content").is_not_null())
    drawn_texts = pl.DataFrame(rows, schema=_DRAWN_SCHEMA, orient="row")
    return DrawnPlans(plans.drop(f"{side}_content" for side in _SIDES), drawn_texts)


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
