"""What networkx makes of two small graphs, self-loops and all, found by the same search.

With self-loops, `networkx.graph_edit_distance` can return less than the distance, and how much
less depends on the order of its search and on how its sums round. So here is that search once
more, in the same order and with the same sums. Importing networkx, with the scipy it needs, takes
longer than all comparisons of a small sweep.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import NamedTuple

from orchbench_analytics.score.plans.assignment import cheapest_assignment

_Edge = tuple[int, int]
_Edges = frozenset[_Edge]
_Found = Mapping[int | None, int | None]  # nodes of one graph, and what they are in the other


class OutOfStepsError(Exception):
    """The search needed more steps than it was given."""


def twin_distance(
    costs: Sequence[Sequence[float]],
    edges_1: Sequence[_Edge],
    edges_2: Sequence[_Edge],
    *,
    budget: int,
) -> float:
    """What networkx returns where node i becomes node j at `costs[i][j]`, and all else costs 1.

    No node may cost more to become another than to be deleted and inserted. Neither graph may be
    without nodes.
    """
    search = _Search(costs, len(edges_1) + len(edges_2), budget)
    sources, targets = tuple(range(len(costs))), tuple(range(len(costs[0])))
    left = _Left(sources, targets, frozenset(edges_1), frozenset(edges_2))
    search.visit(left, search.outlook(left), 0.0, {}, {})
    return search.best


class _Left(NamedTuple):
    """What is not settled yet: nodes of both graphs in their order, and edges."""

    sources: tuple[int, ...]
    targets: tuple[int, ...]
    edges_1: _Edges
    edges_2: _Edges

    @property
    def least_edge_cost(self) -> int:
        """The least that edges can cost, if each can become any other."""
        return abs(len(self.edges_1) - len(self.edges_2))

    def without(self, source: int | None, target: int | None) -> _Left:
        """What is left once these two nodes are settled, and their edges are not."""
        return self._replace(
            sources=tuple(node for node in self.sources if node != source),
            targets=tuple(node for node in self.targets if node != target),
        )


class _Outlook(NamedTuple):
    """The cheapest that can become of the nodes left, edges aside, and what that costs."""

    goals: _Found
    cost: float


class _Way(NamedTuple):
    """A way to go on: what a node becomes, what that costs, and what lies ahead then.

    Without a source the target is inserted; without a target the source is deleted.
    """

    source: int | None
    target: int | None
    cost: float
    left: _Left
    outlook: _Outlook

    @property
    def least_cost(self) -> float:
        """What it costs at least; sums elsewhere start with what is spent, and round otherwise."""
        return self.cost + self.outlook.cost + self.left.least_edge_cost


class _Search:
    """Depth first, the cheapest outlook first; a way that promises no better is not taken."""

    def __init__(self, costs: Sequence[Sequence[float]], edge_count: int, budget: int) -> None:
        self.costs = costs
        node_count = len(costs) + len(costs[0])
        self.most = node_count + edge_count
        self.forbidden = sum(map(sum, costs)) + node_count + 1
        self.best = inf
        self.budget = budget

    def visit(
        self, left: _Left, outlook: _Outlook, spent: float, found_1: _Found, found_2: _Found
    ) -> None:
        """Settle what is left; `found_1` and `found_2` say what settled nodes are."""
        if self.is_hopeless(spent + outlook.cost + left.least_edge_cost):
            return
        if not left.sources and not left.targets:
            self.best = min(self.best, spent)  # loops may be left, and then they cost nothing
            return
        for way in self.ways(left, outlook, spent, found_1, found_2):
            if not self.is_hopeless(spent + way.cost + way.outlook.cost + way.left.least_edge_cost):
                self.visit(
                    way.left,
                    way.outlook,
                    spent + way.cost,
                    found_1 if way.source is None else {**found_1, way.source: way.target},
                    found_2 if way.target is None else {**found_2, way.target: way.source},
                )

    def ways(
        self, left: _Left, outlook: _Outlook, spent: float, found_1: _Found, found_2: _Found
    ) -> Iterator[_Way]:
        """What the first source can become: by the outlook, then all else, cheapest first.

        Where targets are not fewer, the others are what can become of the first one's target.
        """
        sources, targets = left.sources, left.targets
        source = sources[0] if sources else None
        target = targets[0] if source is None else outlook.goals[source]
        cost = self.cost(source, target)
        rest = left.without(source, target)
        edge_cost, next_left = _settle(rest, source, target, found_1, found_2)
        if not self.is_hopeless(spent + outlook.cost + edge_cost + next_left.least_edge_cost):
            next_outlook = outlook._replace(cost=outlook.cost - cost)
            yield _Way(source, target, cost + edge_cost, next_left, next_outlook)
        others: list[tuple[int | None, int | None]] = []
        if source is not None and len(sources) <= len(targets):
            others = [*((other, target) for other in sources[1:]), (None, target)]
        elif source is not None:
            others = [(source, other) for other in (*targets, None) if other != target]
        ways = (self.other_way(left, spent, found_1, found_2, *other) for other in others)
        yield from sorted(filter(None, ways), key=lambda way: way.least_cost)

    def other_way(
        self,
        left: _Left,
        spent: float,
        found_1: _Found,
        found_2: _Found,
        source: int | None,
        target: int | None,
    ) -> _Way | None:
        """The way on where the source becomes the target; none if it promises no better."""
        cost = self.cost(source, target)
        if self.is_hopeless(spent + cost + left.least_edge_cost):
            return None
        rest = left.without(source, target)
        outlook = self.outlook(rest)
        if self.is_hopeless(spent + cost + outlook.cost + left.least_edge_cost):
            return None
        edge_cost, next_left = _settle(rest, source, target, found_1, found_2)
        spent_then = spent + cost + outlook.cost + edge_cost
        if self.is_hopeless(spent_then) or self.is_hopeless(spent_then + next_left.least_edge_cost):
            return None
        return _Way(source, target, cost + edge_cost, next_left, outlook)

    def is_hopeless(self, cost: float) -> bool:
        """Whether a way that costs this at least can't lead to a better result."""
        self.budget -= 1
        if self.budget < 0:
            raise OutOfStepsError
        return cost > self.most or cost >= self.best

    def cost(self, source: int | None, target: int | None) -> float:
        """What it costs that the source becomes the target, edges aside."""
        return 1.0 if source is None or target is None else self.costs[source][target]

    def outlook(self, left: _Left) -> _Outlook:
        """The cheapest that can become of nodes, in a matrix with room to delete and insert all."""
        sources, targets = left.sources, left.targets
        becoming = [[self.costs[source][target] for target in targets] for source in sources]
        deleting, inserting = self.each_alone(len(sources)), self.each_alone(len(targets))
        matrix = [
            *(row + room for row, room in zip(becoming, deleting, strict=True)),
            *(row + [0.0] * len(sources) for row in inserting),
        ]
        columns = cheapest_assignment(matrix)
        cost = 0.0  # added up one by one: Python's own sum rounds otherwise
        for row, column in enumerate(columns):
            cost += matrix[row][column]
        goals = (targets[column] if column < len(targets) else None for column in columns)
        return _Outlook(dict(zip(sources, goals, strict=False)), cost)

    def each_alone(self, count: int) -> list[list[float]]:
        """A matrix in which each row can only go to its own column."""
        return [[1.0 if i == j else self.forbidden for j in range(count)] for i in range(count)]


def _settle(
    left: _Left, source: int | None, target: int | None, found_1: _Found, found_2: _Found
) -> tuple[int, _Left]:
    """What edges cost once the source became the target, and what is left.

    Edges are settled with the second of their nodes, loops with their node, but none with the
    first node of all. An edge becomes the one between what its nodes became. A loop becomes any
    edge or loop settled at the same time: here networkx departs from the distance.
    """
    edges_1, edges_2 = left.edges_1, left.edges_2
    if edges_1 and edges_2 and not found_1 and not found_2:
        return 0, left
    settled_1 = {edge for edge in edges_1 if _is_settled(edge, source, found_1)}
    settled_2 = {edge for edge in edges_2 if _is_settled(edge, target, found_2)}
    became = {**found_1, source: target}
    loops_1, loops_2 = (sum(a == b for a, b in edges) for edges in (settled_1, settled_2))
    kept = sum(a != b and (became[a], became[b]) in settled_2 for a, b in settled_1)
    single_1 = len(settled_1) - loops_1 - kept
    single_2 = len(settled_2) - loops_2 - kept
    for_loops_1, for_loops_2 = min(loops_1, single_2), min(loops_2, single_1)
    kept += for_loops_1 + for_loops_2 + min(loops_1 - for_loops_1, loops_2 - for_loops_2)
    cost = len(settled_1) + len(settled_2) - 2 * kept
    return cost, left._replace(edges_1=edges_1 - settled_1, edges_2=edges_2 - settled_2)


def _is_settled(edge: _Edge, node: int | None, found: _Found) -> bool:
    a, b = edge
    if a == b:
        return a == node or a in found
    return (a == node and b in found) or (b == node and a in found)
