"""The edits of an optimal path in users' words; their costs add up to the distance."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from orchbench_analytics.score.plans.ged import Distance
from orchbench_analytics.score.plans.graphs import Graph, Node


class Edit(msgspec.Struct, frozen=True):
    """One thing to change so that the answer becomes the label, and what it costs.

    For a dependency or transition the subject is what waits, wanted or given what it waits for.
    """

    graph: str
    kind: str
    subject: str
    wanted: str | None
    given: str | None
    cost: float


class _Words(NamedTuple):
    graph: str
    node: str
    edge: str


_STRUCTURE = _Words("structure", "workflow", "dependency")
_COMPONENT = _Words("component", "step", "transition")


def plan_edits(
    answer: Graph,
    label: Graph,
    distance: Distance,
    *,
    agent_weight: float,
    status_weight: float,
) -> list[Edit]:
    """The edits from answer to label along the distance's mapping: nodes first, then edges."""
    is_structure = all(isinstance(node, str) for node in answer.nodes + label.nodes)
    words = _STRUCTURE if is_structure else _COMPONENT
    edits = []
    for node, target in zip(answer.nodes, distance.mapping, strict=True):
        if target is None:
            edits.append(_extra(words.graph, words.node, _name(node), _name(node)))
        else:
            edits += _substitution(node, label.nodes[target], agent_weight, status_weight)
    kept_nodes = set(distance.mapping)
    edits += [
        _missing(words.graph, words.node, _name(node), _name(node))
        for position, node in enumerate(label.nodes)
        if position not in kept_nodes
    ]
    wanted = set(label.edges)
    kept_edges = set()
    for source, target in answer.edges:
        became = (distance.mapping[source], distance.mapping[target])
        if became in wanted:
            kept_edges.add(became)
        else:
            waiting, waited_for = _name(answer.nodes[target]), _name(answer.nodes[source])
            edits.append(_extra(words.graph, words.edge, waiting, waited_for))
    edits += [
        _missing(words.graph, words.edge, _name(label.nodes[target]), _name(label.nodes[source]))
        for source, target in label.edges
        if (source, target) not in kept_edges
    ]
    return edits


def _name(node: Node) -> str:
    return node if isinstance(node, str) else f"{node[0]} ({node[1]})"


def _extra(graph: str, what: str, subject: str, given: str) -> Edit:
    return Edit(graph, f"extra_{what}", subject, None, given, 1.0)


def _missing(graph: str, what: str, subject: str, wanted: str) -> Edit:
    return Edit(graph, f"missing_{what}", subject, wanted, None, 1.0)


def _substitution(
    given: Node, wanted: Node, agent_weight: float, status_weight: float
) -> list[Edit]:
    # A workflow's name is the model's to choose: another name is no edit.
    if isinstance(given, str) or isinstance(wanted, str) or given == wanted:
        return []
    subject = _name(wanted)
    if given[0] == wanted[0]:
        return [Edit("component", "wrong_status", subject, wanted[1], given[1], status_weight)]
    if given[1] == wanted[1]:
        return [Edit("component", "wrong_agent", subject, wanted[0], given[0], agent_weight)]
    return [Edit("component", "wrong_step", subject, subject, _name(given), 1.0)]
