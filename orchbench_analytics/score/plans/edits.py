"""The edits of an optimal path in users' words; their costs add up to the distance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from orchbench_analytics.score.plans.graphs import Graph, Node

Mapping = Sequence[int | None]
_WORDS = {"structure": ("workflow", "dependency"), "component": ("step", "transition")}


class Weights(NamedTuple):
    """The cost of a step with another agent, and of a step with another status."""

    agent: float
    status: float


class Edit(msgspec.Struct, frozen=True):
    """One thing to change so that the answer becomes the label, and what it costs.

    For a dependency or transition the subject is what waits, wanted or given what it waits for.
    """

    kind: str
    subject: str
    wanted: str | None
    given: str | None
    cost: float


class Match(msgspec.Struct, frozen=True):
    """A node of the answer that stands for a node of the label with another name."""

    answer_node: str
    label_node: str


def plan_edits(
    graph: str, answer: Graph, label: Graph, mapping: Mapping, weights: Weights
) -> list[Edit]:
    """The edits from answer to label along the mapping: nodes first, then edges."""
    node_word, edge_word = _WORDS[graph]
    edits = []
    for node, target in zip(answer.nodes, mapping, strict=True):
        if target is None:
            edits.append(_extra(node_word, _name(node), _name(node)))
        else:
            edits += _substitution(node, label.nodes[target], weights)
    kept_nodes = set(mapping)
    edits += [
        _missing(node_word, _name(node), _name(node))
        for position, node in enumerate(label.nodes)
        if position not in kept_nodes
    ]
    wanted = set(label.edges)
    kept_edges = set()
    for source, target in answer.edges:
        became = (mapping[source], mapping[target])
        if became in wanted:
            kept_edges.add(became)
        else:
            waiting, waited_for = _name(answer.nodes[target]), _name(answer.nodes[source])
            edits.append(_extra(edge_word, waiting, waited_for))
    edits += [
        _missing(edge_word, _name(label.nodes[target]), _name(label.nodes[source]))
        for source, target in label.edges
        if (source, target) not in kept_edges
    ]
    return edits


def plan_matches(answer: Graph, label: Graph, mapping: Mapping) -> list[Match]:
    """The matched nodes whose names differ; all others are matched with their namesakes."""
    pairs = (
        (node, label.nodes[target])
        for node, target in zip(answer.nodes, mapping, strict=True)
        if target is not None
    )
    return [Match(_name(node), _name(other)) for node, other in pairs if node != other]


def _name(node: Node) -> str:
    return node if isinstance(node, str) else f"{node[0]} ({node[1]})"


def _extra(what: str, subject: str, given: str) -> Edit:
    return Edit(f"extra_{what}", subject, None, given, 1.0)


def _missing(what: str, subject: str, wanted: str) -> Edit:
    return Edit(f"missing_{what}", subject, wanted, None, 1.0)


def _substitution(given: Node, wanted: Node, weights: Weights) -> list[Edit]:
    # A workflow's name is the model's to choose: another name is not an edit.
    if isinstance(given, str) or isinstance(wanted, str) or given == wanted:
        return []
    subject = _name(wanted)
    if given[0] == wanted[0]:
        return [Edit("wrong_status", subject, wanted[1], given[1], weights.status)]
    if given[1] == wanted[1]:
        return [Edit("wrong_agent", subject, wanted[0], given[0], weights.agent)]
    return [Edit("wrong_step", subject, subject, _name(given), 1.0)]
