"""The two graphs of a plan: its workflows and their dependencies, its steps and their order."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal, NamedTuple

import msgspec
import networkx as nx

from orchbench_analytics.score.plans.outline import Workflow

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


def to_networkx(graph: Graph) -> nx.DiGraph[int]:
    """The graph in networkx: positions as nodes, what they stand for as the attribute `node`."""
    drawn: nx.DiGraph[int] = nx.DiGraph()
    for position, node in enumerate(graph.nodes):
        drawn.add_node(position, node=node)
    drawn.add_edges_from(graph.edges)
    return drawn


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
