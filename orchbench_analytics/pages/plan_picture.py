"""The plan picture: the union of a gold plan and an answered one, in layers.

What the answer lacks, has too much of or has changed is marked with its cost, so that the marked
elements add up to the edit distance.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from orchbench_analytics.pages.plan_layout import layout
from orchbench_analytics.score.plans.graphs import Graph, Node

SAME, MISSING, EXTRA, CHANGED = range(4)
MOST_DRAWN_NODES = 60
MOST_DRAWN_EDGES = 240
_NODE_CHANGES = ("wrong_agent", "wrong_status", "wrong_step")
_EXTRA_NODES = ("extra_workflow", "extra_step")


class PlanEdit(NamedTuple):
    """A row of `plan_edits`, without its key."""

    graph: str
    kind: str
    subject: str
    wanted: str | None
    given: str | None
    cost: float


class PictureNode(NamedTuple):
    """A node of either plan: its name there, its name in the answer if that differs, its place."""

    name: str
    answer_name: str | None
    state: int
    cost: float
    layer: int
    place: int


class PictureEdge(NamedTuple):
    """An edge of either plan, between positions of nodes; equal positions make a loop.

    An edge that passes over layers has a place of its own in each, so that no node hides it.
    """

    source: int
    target: int
    state: int
    cost: float
    places_between: tuple[int, ...] = ()


class Picture(NamedTuple):
    """The union of both graphs; it is not drawn where it is too large, and then it has no parts."""

    nodes: tuple[PictureNode, ...]
    edges: tuple[PictureEdge, ...]
    layer_sizes: tuple[int, ...] = ()
    is_drawn: bool = True


def picture(
    answer: Graph, label: Graph, edits: Iterable[PlanEdit], renamed: Mapping[str, str]
) -> Picture:
    """The union of both graphs along the mapping that the edits and renamed nodes tell."""
    node_count = len(answer.nodes) + len(label.nodes)
    if node_count > 2 * MOST_DRAWN_NODES or len(answer.edges) + len(label.edges) > MOST_DRAWN_EDGES:
        return Picture((), (), is_drawn=False)
    edits = tuple(edits)
    changes = {edit.subject: edit.cost for edit in edits if edit.kind in _NODE_CHANGES}
    extras = {edit.subject for edit in edits if edit.kind in _EXTRA_NODES}
    positions = _union_positions(answer, label, renamed, extras)
    states = _node_states(answer, label, positions, changes)
    edges = _union_edges(answer, label, positions)
    found = layout(len(states), tuple((edge.source, edge.target) for edge in edges))
    nodes = (
        PictureNode(*state, layer, place)
        for state, layer, place in zip(states, found.layers, found.places, strict=True)
    )
    placed = (
        edge._replace(places_between=places) if places else edge
        for edge, places in zip(edges, found.places_between, strict=True)
    )
    return Picture(tuple(nodes), tuple(placed), found.layer_sizes)


def name_of(node: Node) -> str:
    """A node's name, as `plan_edits` and `plan_matches` have it."""
    return node if isinstance(node, str) else f"{node[0]} ({node[1]})"


def _union_positions(
    answer: Graph, label: Graph, renamed: Mapping[str, str], extras: set[str]
) -> list[int]:
    """Where each node of the answer stands among those of the label, and the extra ones after."""
    label_positions = {name_of(node): position for position, node in enumerate(label.nodes)}
    taken = set(renamed.values())
    positions = []
    extra = len(label.nodes)
    for node in answer.nodes:
        name = name_of(node)
        wanted = renamed.get(name, name)
        is_free = name in renamed or (name not in extras and name not in taken)
        position = label_positions.get(wanted) if is_free else None
        if position is None:
            position, extra = extra, extra + 1
        positions.append(position)
    return positions


def _node_states(
    answer: Graph, label: Graph, positions: list[int], changes: Mapping[str, float]
) -> list[tuple[str, str | None, int, float]]:
    """Name, name in the answer, state and cost of each node of the union."""
    given = dict(zip(positions, map(name_of, answer.nodes), strict=True))
    states: list[tuple[str, str | None, int, float]] = []
    for position, name in enumerate(map(name_of, label.nodes)):
        other = given.get(position)
        if other is None:
            states.append((name, None, MISSING, 1.0))
        elif other == name or name not in changes:
            states.append((name, other if other != name else None, SAME, 0.0))
        else:
            states.append((name, other, CHANGED, changes[name]))
    extras = sorted(position for position in given if position >= len(label.nodes))
    return [*states, *((given[position], None, EXTRA, 1.0) for position in extras)]


def _union_edges(answer: Graph, label: Graph, positions: list[int]) -> list[PictureEdge]:
    given = {(positions[source], positions[target]) for source, target in answer.edges}
    wanted = set(label.edges)
    edges = [
        PictureEdge(*edge, SAME, 0.0) if edge in given else PictureEdge(*edge, MISSING, 1.0)
        for edge in label.edges
    ]
    return [*edges, *(PictureEdge(*edge, EXTRA, 1.0) for edge in sorted(given - wanted))]
