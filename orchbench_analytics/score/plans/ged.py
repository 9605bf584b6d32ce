"""Graph edit distance between two plans: exact where it can be, bounded in steps everywhere."""

from __future__ import annotations

from collections.abc import Hashable, MutableMapping
from contextlib import suppress
from fractions import Fraction
from functools import cache
from math import lcm
from typing import Any, NamedTuple

from orchbench_analytics.score.plans.graphs import Graph, Node, to_networkx
from orchbench_analytics.score.plans.search import (
    Costs,
    Edges,
    Label,
    Shape,
    best_mapping,
    most_saved,
)
from orchbench_analytics.score.plans.twin import OutOfStepsError, twin_distance

BUDGET = 200_000  # pairs of nodes weighed; the benchmark's plans need a few hundred
NETWORKX_BUDGET = 5_000  # branches weighed; the benchmark's plans need a few hundred
MAX_NETWORKX_SIZE = 100  # nodes and edges of both
MAX_TWIN_NODES = 40  # of both; for more, networkx itself is faster

_Known = MutableMapping[Hashable, "Distance"]


class Distance(NamedTuple):
    """A distance, the least it can be, and what each node of the first graph becomes.

    A node that becomes None is deleted; nodes of the second graph that none becomes are inserted.
    """

    value: float
    lower_bound: float
    is_exact: bool
    mapping: tuple[int | None, ...]


def edit_distance(
    first: Graph,
    second: Graph,
    *,
    agent_weight: float,
    status_weight: float,
    budget: int = BUDGET,
    known: _Known | None = None,
) -> Distance:
    """The least cost of edits that turn one graph into the other, from 0 to all nodes and edges.

    Past the budget it is the best found, with a lower bound. `known` serves pairs of one shape.
    """
    if first == second:
        return Distance(0.0, 0.0, True, tuple(range(len(first.nodes))))
    labels_1, labels_2 = _labels(first, second)
    # With its nodes sorted, a graph is the same in whatever order they appeared.
    order_1 = sorted(range(len(labels_1)), key=labels_1.__getitem__)
    order_2 = sorted(range(len(labels_2)), key=labels_2.__getitem__)
    shape_1 = _shape(labels_1, first.edges, order_1)
    shape_2 = _shape(labels_2, second.edges, order_2)
    key = (shape_1, shape_2, _is_structure(first, second), agent_weight, status_weight, budget)
    found = None if known is None else known.get(key)
    if found is None:
        costs = _costs(first, second, agent_weight, status_weight)
        found = _distance(shape_1, shape_2, costs, budget)
        if known is not None:
            known[key] = found
    mapping: list[int | None] = [None] * len(order_1)
    for source, target in zip(order_1, found.mapping, strict=True):
        mapping[source] = None if target is None else order_2[target]
    return found._replace(mapping=tuple(mapping))


def upstream_distance(
    first: Graph,
    second: Graph,
    *,
    agent_weight: float,
    status_weight: float,
    budget: int = BUDGET,
    known: _Known | None = None,
) -> Distance:
    """The distance as the public evaluator has it: with self-loops, whatever networkx returns.

    The mapping stays that of the true distance, which networkx can fall short of.
    """
    weights = {"agent_weight": agent_weight, "status_weight": status_weight}
    true = edit_distance(first, second, **weights, budget=budget, known=known)
    # Where one side has no edge, networkx has none to mistake a loop for.
    if not ((first.has_loop or second.has_loop) and first.edges and second.edges):
        return true
    # What networkx returns depends on the order of appearance, so this key keeps it.
    shapes = (*_labels(first, second), first.edges, second.edges)
    key = ("networkx", *shapes, _is_structure(first, second), agent_weight, status_weight)
    found = None if known is None else known.get(key)
    if found is None:
        found = true
        if true.value > _floor(first, second, **weights):
            found = true._replace(lower_bound=0.0, is_exact=False)
            if _most(first, second) <= MAX_NETWORKX_SIZE:
                is_small = len(first.nodes) + len(second.nodes) <= MAX_TWIN_NODES
                search = networkx_distance_by_twin if is_small else networkx_distance
                with suppress(OutOfStepsError):
                    value = search(first, second, **weights, budget=NETWORKX_BUDGET)
                    found = Distance(value, value, True, ())
        if known is not None:
            known[key] = found
    return found._replace(mapping=true.mapping)


def _floor(first: Graph, second: Graph, *, agent_weight: float, status_weight: float) -> float:
    """What networkx can't go below: it may pair an edge with a wrong edge, but only with one.

    Nor can it go above the true distance, so where that is the floor, there is nothing to ask.
    """
    shapes = zip(_labels(first, second), (first.edges, second.edges), strict=True)
    small, large = sorted((Shape(*shape) for shape in shapes), key=lambda s: len(s.labels))
    costs = _costs(first, second, agent_weight, status_weight)
    return _value(small, large, costs, most_saved(small, large, costs))


def networkx_distance_by_twin(
    first: Graph, second: Graph, *, agent_weight: float, status_weight: float, budget: int
) -> float:
    """What `networkx_distance` returns, without networkx; for two graphs that have nodes."""
    becoming = _becoming(first, second, agent_weight, status_weight)
    costs = [[becoming[node, other] for other in second.nodes] for node in first.nodes]
    return twin_distance(costs, first.edges, second.edges, budget=budget)


def networkx_distance(
    first: Graph,
    second: Graph,
    *,
    agent_weight: float,
    status_weight: float,
    budget: int | None = None,
) -> float:
    """`networkx.graph_edit_distance`: the true distance without self-loops, at times less with."""
    from networkx import graph_edit_distance

    becoming = _becoming(first, second, agent_weight, status_weight)
    most = _most(first, second)
    upper_bound: Any = most if budget is None else _CountedBound(most, budget)
    distance = graph_edit_distance(
        to_networkx(first),
        to_networkx(second),
        node_subst_cost=lambda node, other: becoming[node["node"], other["node"]],
        node_del_cost=lambda _: 1.0,
        node_ins_cost=lambda _: 1.0,
        edge_subst_cost=lambda *_: 0.0,
        edge_del_cost=lambda _: 1.0,
        edge_ins_cost=lambda _: 1.0,
        upper_bound=upper_bound,
    )
    return float(distance)


def _becoming(
    first: Graph, second: Graph, agent_weight: float, status_weight: float
) -> dict[tuple[Node, Node], float]:
    """What it costs that one node becomes another, as networkx is told."""
    costs = _costs(first, second, agent_weight, status_weight)
    sides = zip((first, second), _labels(first, second), strict=True)
    nodes_1, nodes_2 = (list(zip(graph.nodes, labels, strict=True)) for graph, labels in sides)
    return {
        (node, other): costs.of_becoming(label, other_label) / costs.one
        for node, label in nodes_1
        for other, other_label in nodes_2
    }


class _CountedBound:
    """An upper bound that stands only so many comparisons: networkx itself counts seconds."""

    __array_ufunc__ = None  # numpy then leaves comparisons to us

    def __init__(self, most: float, budget: int) -> None:
        self.most = most
        self.left = budget

    def __lt__(self, cost: float) -> bool:
        self.left -= 1
        if self.left < 0:
            raise OutOfStepsError
        return self.most < cost


def similarity(distance: float, first: Graph, second: Graph) -> float:
    """1 - distance / (nodes and edges of both), from 0 to 1; two empty graphs are alike: 1."""
    most = _most(first, second)
    # networkx adds up floats, and may end a rounding error above the most.
    return max(0.0, 1.0 - distance / most) if most else 1.0


def _most(first: Graph, second: Graph) -> int:
    return len(first.nodes) + len(first.edges) + len(second.nodes) + len(second.edges)


def _is_structure(first: Graph, second: Graph) -> bool:
    nodes = first.nodes or second.nodes
    return not nodes or isinstance(nodes[0], str)


def _costs(first: Graph, second: Graph, agent_weight: float, status_weight: float) -> Costs:
    return (
        Costs(1, 0, 0, 0) if _is_structure(first, second) else _units(agent_weight, status_weight)
    )


@cache
def _units(agent_weight: float, status_weight: float) -> Costs:
    # As written, 0.2 is a fifth; as a float it is not quite.
    agent, status = Fraction(str(agent_weight)), Fraction(str(status_weight))
    one = lcm(agent.denominator, status.denominator)
    return Costs(one, int(agent * one), int(status * one), one)


def _labels(first: Graph, second: Graph) -> tuple[tuple[Label, ...], tuple[Label, ...]]:
    """The nodes as numbers that keep nothing but their order and which are equal."""
    nodes = {*first.nodes, *second.nodes}
    if _is_structure(first, second):
        labels = {name: (rank, rank) for rank, name in enumerate(sorted(nodes))}
    else:
        agents, statuses = (_ranks({node[part] for node in nodes}) for part in (0, 1))
        labels = {node: (agents[node[0]], statuses[node[1]]) for node in nodes}
    return tuple([labels[n] for n in first.nodes]), tuple([labels[n] for n in second.nodes])


def _ranks(texts: set[str]) -> dict[str, int]:
    return {text: rank for rank, text in enumerate(sorted(texts))}


def _shape(labels: tuple[Label, ...], edges: Edges, order: list[int]) -> Shape:
    position = {node: i for i, node in enumerate(order)}
    renumbered = sorted([(position[source], position[target]) for source, target in edges])
    return Shape(tuple([labels[node] for node in order]), tuple(renumbered))


def _distance(first: Shape, second: Shape, costs: Costs, budget: int) -> Distance:
    # No substitution costs more than one, so an optimal path deletes and inserts as few nodes as
    # it can: all of the smaller graph is mapped. Choosing that side by its shape makes the result
    # symmetric.
    is_swapped = (len(first.labels), first) > (len(second.labels), second)
    small, large = (second, first) if is_swapped else (first, second)
    found = best_mapping(small, large, costs, budget=budget)
    mapping: list[int | None] = list(found.targets)
    if is_swapped:
        mapping = [None] * len(large.labels)
        for source, target in enumerate(found.targets):
            mapping[target] = source
    value, lower_bound = (
        _value(small, large, costs, saved) for saved in (found.saved, found.ceiling)
    )
    return Distance(value, lower_bound, found.saved == found.ceiling, tuple(mapping))


def _value(small: Shape, large: Shape, costs: Costs, saved: int) -> float:
    unsaved = len(large.labels) - len(small.labels) + len(small.edges) + len(large.edges)
    return (unsaved * costs.one - saved) / costs.one
