"""What it costs that a node of one graph becomes a node of another."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import lcm
from typing import NamedTuple

from orchbench_analytics.score.plans.graphs import Graph, Node
from orchbench_analytics.score.plans.search import Costs, Label


class Weights(NamedTuple):
    """The cost of a step with another agent, and of a step with another status."""

    agent: float
    status: float


def substitution_costs(
    first: Graph, second: Graph, weights: Weights
) -> dict[tuple[Node, Node], float]:
    """The cost of each substitution, as networkx is told."""
    costs = units(first, second, weights)
    sides = zip((first, second), labels_of(first, second), strict=True)
    nodes_1, nodes_2 = (list(zip(graph.nodes, labels, strict=True)) for graph, labels in sides)
    return {
        (node, other): costs.of_becoming(label, other_label) / costs.one
        for node, label in nodes_1
        for other, other_label in nodes_2
    }


def units(first: Graph, second: Graph, weights: Weights) -> Costs:
    """The costs in whole units; in structure graphs any workflow may become any other."""
    return Costs(1, 0, 0, 0) if _is_structure(first, second) else _units(weights)


@cache
def _units(weights: Weights) -> Costs:
    # As written, 0.2 is a fifth; as a float it is not quite.
    agent, status = (Fraction(str(weight)) for weight in weights)
    one = lcm(agent.denominator, status.denominator)
    return Costs(one, int(agent * one), int(status * one), one)


def labels_of(first: Graph, second: Graph) -> tuple[tuple[Label, ...], tuple[Label, ...]]:
    """The nodes as numbers that keep nothing but their order and which are equal."""
    nodes = {*first.nodes, *second.nodes}
    if _is_structure(first, second):
        labels = {name: (rank, rank) for rank, name in enumerate(sorted(nodes))}
    else:
        agents, statuses = (_ranks({node[side] for node in nodes}) for side in (0, 1))
        labels = {node: (agents[node[0]], statuses[node[1]]) for node in nodes}
    return tuple([labels[n] for n in first.nodes]), tuple([labels[n] for n in second.nodes])


def _ranks(texts: set[str]) -> dict[str, int]:
    return {text: rank for rank, text in enumerate(sorted(texts))}


def _is_structure(first: Graph, second: Graph) -> bool:
    nodes = first.nodes or second.nodes
    return not nodes or isinstance(nodes[0], str)
