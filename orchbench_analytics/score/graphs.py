"""The two graphs of a plan: its workflows and their dependencies, its steps and their order."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import networkx as nx

Node = str | tuple[str, str]
_NO_DEPENDENCIES: list[str] = []
_SCALARS = (str, int, float, bytes, date)


class Graph(NamedTuple):
    """Distinct nodes and directed edges between their positions, both in order of appearance.

    A node is a workflow's name (structure), or the agent and status of a step (component).
    """

    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, int], ...]


def structure_graph(
    plan: dict[str, Any], *, edges: Literal["every_dependency", "depends_on_only"]
) -> Graph:
    """Workflows as nodes, with an edge from each dependency to what depends on it."""
    drawing = _Drawing()
    for name, _ in _workflows(plan):
        drawing.node(name)
    for name, workflow in _workflows(plan):
        if edges == "every_dependency":
            dependencies = _every_dependency(workflow)
        else:
            # The public evaluator iterates a text too: each character is a dependency.
            dependencies = _texts(workflow.get("depends_on"))
        for dependency in dependencies:
            drawing.edge(drawing.node(dependency), drawing.node(name))
    return drawing.graph()


def component_graph(
    plan: dict[str, Any], *, edges: Literal["every_dependency", "first_present"]
) -> Graph:
    """Distinct steps as nodes, with edges to the next step and from a dependency's last step."""
    drawing = _Drawing()
    workflows = dict(_workflows(plan))
    paths = {name: [drawing.node(s) for s in _steps(w)] for name, w in workflows.items()}
    for name, workflow in workflows.items():
        path = paths[name]
        for source, target in pairwise(path):
            if source != target:
                drawing.edge(source, target)
        if edges == "every_dependency":
            dependencies = _every_dependency(workflow)
        elif workflow.get("depends_on"):
            # A text is iterated here too, and no character is a workflow's name.
            dependencies = _texts(workflow["depends_on"])
        else:
            dependencies = _texts(_as_list(workflow.get("depend_on")))
        for dependency in dependencies:
            before = paths.get(dependency)
            if before and path:
                drawing.edge(before[-1], path[0])
    return drawing.graph()


def is_malformed(plan: dict[str, Any]) -> bool:
    """Whether some part has a type that no plan has there, and so was ignored."""
    return any(
        not (isinstance(workflow, dict) and _is_sound(workflow))
        for name, workflow in plan.items()
        if _is_workflow_name(name)
    )


def is_plain(plan: dict[str, Any]) -> bool:
    """Whether every choice of edges draws the same: dependencies only as `depends_on` lists."""
    return all(
        isinstance(workflow, dict)
        and not workflow.get("depend_on")
        and isinstance(workflow.get("depends_on", _NO_DEPENDENCIES), list)
        for name, workflow in plan.items()
        if _is_workflow_name(name)
    )


def to_networkx(graph: Graph) -> nx.DiGraph[int]:
    """The graph in networkx: positions as nodes, what they stand for as the attribute `node`."""
    import networkx as nx

    drawn: nx.DiGraph[int] = nx.DiGraph()
    for position, node in enumerate(graph.nodes):
        drawn.add_node(position, node=node)
    drawn.add_edges_from(graph.edges)
    return drawn


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


def _is_workflow_name(name: object) -> bool:
    return isinstance(name, str) and "workflow" in name  # YAML has keys that are no text


def _workflows(plan: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, workflow in plan.items():
        if _is_workflow_name(name) and isinstance(workflow, dict):
            yield _text(name), workflow


def _steps(workflow: dict[str, Any]) -> Iterator[tuple[str, str]]:
    steps = workflow.get("steps")
    for step in steps if isinstance(steps, list) else ():
        if isinstance(step, dict):
            agent = _text(step.get("agent_id")) or _text(step.get("name"))
            if agent:
                yield agent, _text(step.get("status")) or "UNK"


def _every_dependency(workflow: dict[str, Any]) -> Iterator[str]:
    for key in ("depends_on", "depend_on"):
        yield from _texts(_as_list(workflow.get(key)))


def _as_list(dependencies: object) -> object:
    return [dependencies] if dependencies and isinstance(dependencies, _SCALARS) else dependencies


def _texts(dependencies: object) -> Iterator[str]:
    if isinstance(dependencies, str):
        dependencies = list(dict.fromkeys(dependencies))  # a long text has few characters
    if isinstance(dependencies, list | dict):
        yield from filter(None, map(_text, dependencies))


def _text(value: object) -> str:
    """A scalar as text that can be stored; empty for null and for anything that is no scalar."""
    if not isinstance(value, _SCALARS):
        return ""
    text = str(value)
    # JSON can escape half a character, which no file format takes.
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _is_sound(workflow: dict[str, Any]) -> bool:
    steps = workflow.get("steps")
    return (
        (steps is None or isinstance(steps, list))
        and all(isinstance(step, dict) and _is_step_sound(step) for step in steps or ())
        and all(_is_dependency_sound(workflow.get(k)) for k in ("depends_on", "depend_on"))
    )


def _is_step_sound(step: dict[str, Any]) -> bool:
    values = (step.get("agent_id"), step.get("name"), step.get("status"))
    return all(value is None or isinstance(value, _SCALARS) for value in values)


def _is_dependency_sound(value: object) -> bool:
    if isinstance(value, list | dict):
        return all(isinstance(item, _SCALARS) for item in value)
    return not value or isinstance(value, str)
