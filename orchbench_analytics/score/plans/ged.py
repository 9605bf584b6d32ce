"""The graph edit distance of plans: a pair of graphs in, its distance and its edits out.

`networkx.graph_edit_distance` with our costs defines the distance. It pairs a self-loop with any
edge of its node, so self-loops are folded into the costs of nodes, and then it is exact.
`exact_distance` finds the same distance many times faster, and also the mapping of nodes; tests
hold the two against each other.

The public evaluator gives its self-loops to networkx as they are. `evaluator_distance` does so too:
what networkx returns there can be less than the distance, and depends on the order of nodes. Its
lock file names networkx 3.5, which overlooks a self-loop that only one of two graphs of at most one
node has: `lone_loop` says whether such a loop counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from math import lcm
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from orchbench_analytics.score.plans.graphs import Graph, Node, from_text

if TYPE_CHECKING:  # imported where it is asked: most processes never do
    import networkx as nx

BUDGET = 200_000  # pairs of nodes weighed; the benchmark's plans need a few hundred
MAX_SEARCHED_NODES = 40
NETWORKX_BUDGET = 5_000  # branches weighed; the benchmark's plans need a few hundred
MAX_NETWORKX_SIZE = 100  # nodes and edges of both graphs

Label = tuple[int, int]
Edges = tuple[tuple[int, int], ...]
Substitutions = tuple[tuple[int, ...], ...]  # costs in whole units, by the positions of both nodes
_WORDS = {"structure": ("workflow", "dependency"), "component": ("step", "transition")}


class Weights(NamedTuple):
    """The cost of a step with another agent, and of a step with another status."""

    agent: float
    status: float


class GraphPair(NamedTuple):
    """Two graphs as text, and how they are measured.

    The method is `exact`, or `networkx` as it is; a lone self-loop is `counted` or `free`.
    """

    graph: str
    answer_graph: str
    label_graph: str
    method: str
    lone_loop: str
    agent_weight: float
    status_weight: float


class Measured(NamedTuple):
    """How far an answer's graph is from the label's; edits and matches are JSON lists."""

    distance: float
    lower_bound: float
    is_exact: bool
    similarity: float
    edits: str
    matches: str


def measure(pair: GraphPair) -> Measured:
    """Measure one pair of graphs."""
    answer, label = from_text(pair.answer_graph), from_text(pair.label_graph)
    weights = Weights(pair.agent_weight, pair.status_weight)
    exact = exact_distance(answer, label, weights)
    found = exact
    if pair.method == "networkx":
        found = evaluator_distance(answer, label, weights, otherwise=exact)
    if pair.lone_loop == "free" and has_lone_loop(answer, label):
        found = found._replace(value=found.value - 1, lower_bound=found.lower_bound - 1)
    return Measured(
        found.value,
        found.lower_bound,
        found.is_exact,
        similarity(found.value, answer, label),
        _json(plan_edits(pair.graph, answer, label, found.mapping, weights)),
        _json(plan_matches(answer, label, found.mapping)),
    )


class Distance(NamedTuple):
    """A distance, the least it can be, and what each node of the first graph becomes.

    A node that becomes None is deleted; nodes of the second graph that none becomes are inserted.
    `is_least` is that nothing could cost less even if every edge could stand for every other one.
    """

    value: float
    lower_bound: float
    mapping: tuple[int | None, ...]
    is_least: bool = False

    @property
    def is_exact(self) -> bool:
        """Whether the search came to its end within its budget."""
        return self.value == self.lower_bound


def exact_distance(
    first: Graph, second: Graph, weights: Weights, *, budget: int = BUDGET
) -> Distance:
    """The least cost of edits that turn one graph into the other, from 0 to all nodes and edges.

    Past the budget it is the least cost found, with a lower bound.
    """
    if first == second:
        return Distance(0.0, 0.0, tuple(range(len(first.nodes))), is_least=True)
    labels_1, labels_2 = labels_of(first, second)
    # With its nodes sorted, a graph is the same in whatever order they appeared.
    order_1 = sorted(range(len(labels_1)), key=labels_1.__getitem__)
    order_2 = sorted(range(len(labels_2)), key=labels_2.__getitem__)
    found = _distance_of_shapes(
        _shape(labels_1, first.edges, order_1),
        _shape(labels_2, second.edges, order_2),
        units(first, second, weights),
        budget,
    )
    mapping: list[int | None] = [None] * len(order_1)
    for source, target in zip(order_1, found.mapping, strict=True):
        mapping[source] = None if target is None else order_2[target]
    return found._replace(mapping=tuple(mapping))


def _shape(labels: tuple[Label, ...], edges: Edges, order: list[int]) -> Shape:
    position = {node: i for i, node in enumerate(order)}
    renumbered = sorted([(position[source], position[target]) for source, target in edges])
    return Shape(tuple([labels[node] for node in order]), tuple(renumbered))


@lru_cache(maxsize=20_000)  # plans of other names often have the same shape
def _distance_of_shapes(first: Shape, second: Shape, costs: Costs, budget: int) -> Distance:
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
    unsaved = len(large.labels) - len(small.labels) + len(small.edges) + len(large.edges)
    value, lower_bound = (
        (unsaved * costs.one - saved) / costs.one for saved in (found.saved, found.ceiling)
    )
    is_least = found.saved == most_saved(small, large, costs)
    return Distance(value, lower_bound, tuple(mapping), is_least)


class Shape(NamedTuple):
    """A graph whose labels are numbers: they only tell which are equal in the two graphs."""

    labels: tuple[Label, ...]
    edges: Edges


class Costs(NamedTuple):
    """Costs in whole units, so that sums are exact and ties are ties."""

    one: int
    agent: int
    status: int
    both: int

    def of_becoming(self, first: Label, second: Label) -> int:
        """What it costs that a node with one label becomes a node with another."""
        if first[0] == second[0]:
            return 0 if first[1] == second[1] else self.status
        return self.agent if first[1] == second[1] else self.both


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


class Mapping(NamedTuple):
    """Where each node of the smaller graph goes, what that saves, and the most any could save.

    An edge that is kept saves its deletion and its insertion; a new label takes away its cost.
    """

    targets: tuple[int, ...]
    saved: int
    ceiling: int


def best_mapping(small: Shape, large: Shape, costs: Costs, *, budget: int) -> Mapping:
    """The mapping that saves most; past the budget, or for large graphs, the best one found."""
    targets = _paired_by_label(small, large)
    first = Mapping(targets, _saved(small, large, costs, targets), most_saved(small, large, costs))
    if first.saved == first.ceiling or len(large.labels) > MAX_SEARCHED_NODES:
        return first
    found = _Search(small, large, costs, first, budget).run()
    return _with_namesakes(small, large, costs, found)


def _paired_by_label(small: Shape, large: Shape) -> tuple[int, ...]:
    """Pair equal labels, then equal agents, then equal statuses, then the rest in order."""
    targets = [-1] * len(small.labels)
    likenesses: tuple[Callable[[Label], object], ...] = (tuple, itemgetter(0), itemgetter(1), bool)
    for likeness in likenesses:
        unpaired = [source for source, target in enumerate(targets) if target < 0]
        if not unpaired:
            break
        taken = set(targets)
        free: dict[object, list[int]] = {}
        for target in range(len(large.labels) - 1, -1, -1):
            if target not in taken:
                free.setdefault(likeness(large.labels[target]), []).append(target)
        for source in unpaired:
            alike = free.get(likeness(small.labels[source]))
            if alike:
                targets[source] = alike.pop()
    return tuple(targets)


def _saved(small: Shape, large: Shape, costs: Costs, targets: Sequence[int]) -> int:
    edges = set(large.edges)
    kept = sum([(targets[source], targets[target]) in edges for source, target in small.edges])
    became = [large.labels[target] for target in targets]
    return 2 * costs.one * kept - sum(map(costs.of_becoming, small.labels, became))


def most_saved(small: Shape, large: Shape, costs: Costs) -> int:
    """What no mapping exceeds: all edges of the sparser graph kept, each node at its cheapest."""
    labels = set(large.labels)
    unlike = [label for label in small.labels if label not in labels]
    least = 0
    if unlike:
        agents, statuses = ({label[part] for label in labels} for part in (0, 1))
        for agent, status in unlike:
            with_agent = costs.status if agent in agents else costs.both
            with_status = costs.agent if status in statuses else costs.both
            least += min(with_agent, with_status)
    return 2 * costs.one * min(len(small.edges), len(large.edges)) - least


def _with_namesakes(small: Shape, large: Shape, costs: Costs, found: Mapping) -> Mapping:
    """Of equally good mappings prefer one that leaves a node its name: it reads better."""
    targets = list(found.targets)
    namesakes = {label: target for target, label in enumerate(large.labels)}
    for source, label in enumerate(small.labels):
        namesake = namesakes.get(label, targets[source])
        if namesake != targets[source]:
            swapped = [targets[source] if target == namesake else target for target in targets]
            swapped[source] = namesake
            if _saved(small, large, costs, swapped) == found.saved:
                targets = swapped
    return found._replace(targets=tuple(targets))


class _Search:
    """Depth first: the node with the fewest good targets goes next, to its best target first."""

    def __init__(
        self, small: Shape, large: Shape, costs: Costs, first: Mapping, budget: int
    ) -> None:
        self.one = costs.one
        self.costs = [[costs.of_becoming(a, b) for b in large.labels] for a in small.labels]
        # The smaller graph as lists of neighbours, the larger one as bitmasks; self-loops apart.
        self.after: list[list[int]] = [[] for _ in small.labels]
        self.before: list[list[int]] = [[] for _ in small.labels]
        self.loops = {source for source, target in small.edges if source == target}
        for source, target in small.edges:
            if source != target:
                self.after[source].append(target)
                self.before[target].append(source)
        after, before = [0] * len(large.labels), [0] * len(large.labels)
        loops = {source for source, target in large.edges if source == target}
        for source, target in large.edges:
            if source != target:
                after[source] |= 1 << target
                before[target] |= 1 << source
        self.larger = [(after[n], before[n], n in loops) for n in range(len(large.labels))]
        # Targets alike in every respect lead to the same costs, so one of each kind is tried.
        kinds: dict[object, int] = {}
        likes = zip(zip(*self.costs, strict=True), self.larger, strict=True)
        self.kinds = [kinds.setdefault(like, len(kinds)) for like in likes]
        self.targets = [-1] * len(small.labels)
        self.best = first
        self.open_ceiling = first.saved
        self.budget = budget

    def run(self) -> Mapping:
        """The best mapping, with a ceiling that is what it saves unless branches were left open."""
        degrees = [len(a) + len(b) for a, b in zip(self.after, self.before, strict=True)]
        sources = sorted(range(len(degrees)), key=degrees.__getitem__, reverse=True)
        self.visit(sources, list(range(len(self.kinds))), 0)
        ceiling = min(self.best.ceiling, max(self.best.saved, self.open_ceiling))
        return self.best._replace(ceiling=ceiling)

    def visit(self, sources: list[int], free: list[int], saved: int) -> None:
        """Map the sources left to the targets that are free."""
        if not sources:
            if saved > self.best.saved:
                self.best = self.best._replace(targets=tuple(self.targets), saved=saved)
            return
        choices = list({self.kinds[target]: target for target in reversed(free)}.values())
        rows = self.weigh(sources, free, choices)
        tops = [max(row)[0] for row in rows]
        ceiling = saved + sum(tops)
        slack = ceiling - self.best.saved
        good = [sum(top - w < slack for w, _ in row) for top, row in zip(tops, rows, strict=True)]
        index = good.index(min(good))
        source, rest = sources[index], sources[:index] + sources[index + 1 :]
        losses = sorted(
            (tops[index] - most, target, sure)
            for (most, sure), target in zip(rows[index], choices, strict=True)
        )
        for loss, target, sure in losses:
            if ceiling - loss <= self.best.saved or self.best.saved == self.best.ceiling:
                return
            if self.budget <= 0:
                self.open_ceiling = max(self.open_ceiling, ceiling - loss)
                return
            self.targets[source] = target
            self.visit(rest, [other for other in free if other != target], saved + sure)

    def weigh(
        self, sources: list[int], free: list[int], choices: list[int]
    ) -> list[list[tuple[int, int]]]:
        """What each source saves with each target, as pairs: at most, and for certain.

        At most means with half of each edge whose other end is still open.
        """
        self.budget -= len(sources) * len(choices)
        left, free_mask = set(sources), sum(1 << target for target in free)
        columns = [
            (t, a, b, x, (a & free_mask).bit_count(), (b & free_mask).bit_count())
            for t, (a, b, x) in ((target, self.larger[target]) for target in choices)
        ]
        rows = []
        for source in sources:
            gone_after, gone_before = (
                sum(1 << self.targets[node] for node in nodes if node not in left)
                for nodes in (self.after[source], self.before[source])
            )
            out_left = len(left.intersection(self.after[source]))
            in_left = len(left.intersection(self.before[source]))
            loop, costs = source in self.loops, self.costs[source]
            row = []
            for target, a, b, x, o, i in columns:
                kept = (a & gone_after).bit_count() + (b & gone_before).bit_count() + (x and loop)
                sure = 2 * self.one * kept - costs[target]
                row.append((sure + self.one * (min(o, out_left) + min(i, in_left)), sure))
            rows.append(row)
        return rows


def evaluator_distance(
    first: Graph,
    second: Graph,
    weights: Weights,
    *,
    otherwise: Distance,
    budget: int = NETWORKX_BUDGET,
) -> Distance:
    """What networkx makes of the graphs with their self-loops, as the public evaluator asks it.

    Past the budget it is the distance given, not proven. The mapping is always that one's:
    networkx's own is not one that its distance belongs to. It pairs self-loops with too many edges,
    never with too few, so it cannot return more than the distance: where nothing could cost less,
    it is not asked. Of graphs of at most one node releases of networkx disagree, and the newer
    ones return the distance given.
    """
    if otherwise.is_least or max(len(first.nodes), len(second.nodes)) <= 1:
        return otherwise
    unproven = otherwise._replace(lower_bound=0.0)
    if size_of(first, second) > MAX_NETWORKX_SIZE:
        return unproven
    costs = units(first, second, weights)
    sides = [(len(graph.nodes), graph.edges) for graph in (first, second)]
    value = _ask_networkx(*sides, substitution_costs(first, second, costs), costs.one, budget)
    return unproven if value is None else Distance(value, value, otherwise.mapping)


def substitution_costs(first: Graph, second: Graph, costs: Costs) -> Substitutions:
    """What it costs that each node of the first graph becomes each node of the second."""
    labels_1, labels_2 = labels_of(first, second)
    return tuple([tuple([costs.of_becoming(a, b) for b in labels_2]) for a in labels_1])


@lru_cache(maxsize=5_000)  # plans of other names often cost the same
def _ask_networkx(
    first: tuple[int, Edges],
    second: tuple[int, Edges],
    substitutions: Substitutions,
    one: int,
    budget: int,
) -> float | None:
    """What networkx returns for graphs of so many nodes and these edges; null if it takes long."""
    import networkx as nx

    graph_1, graph_2 = to_networkx(*first), to_networkx(*second)
    bound: Any = _CountedBound(
        graph_1.order() + graph_1.size() + graph_2.order() + graph_2.size(), budget
    )
    try:
        value = nx.graph_edit_distance(
            graph_1,
            graph_2,
            node_subst_cost=lambda a, b: substitutions[a["position"]][b["position"]] / one,
            node_del_cost=lambda _: 1.0,
            node_ins_cost=lambda _: 1.0,
            edge_subst_cost=lambda *_: 0.0,
            edge_del_cost=lambda _: 1.0,
            edge_ins_cost=lambda _: 1.0,
            upper_bound=bound,
        )
    except _OutOfBudgetError:
        return None
    return float(value)


def to_networkx(node_count: int, edges: Edges) -> nx.DiGraph[int]:
    """A graph in networkx: positions as nodes, and as the attribute that costs are given."""
    import networkx as nx

    drawn: nx.DiGraph[int] = nx.DiGraph()
    for position in range(node_count):
        drawn.add_node(position, position=position)
    drawn.add_edges_from(edges)
    return drawn


class _OutOfBudgetError(Exception):
    """networkx weighed more branches than it may."""


class _CountedBound:
    """An upper bound that stands only so many comparisons: networkx itself counts seconds."""

    __array_ufunc__ = None  # numpy then leaves comparisons to us

    def __init__(self, most: float, budget: int) -> None:
        self.most = most
        self.left = budget

    def __lt__(self, cost: float) -> bool:
        self.left -= 1
        if self.left < 0:
            raise _OutOfBudgetError
        return self.most < cost


def has_lone_loop(first: Graph, second: Graph) -> bool:
    """Whether neither graph has more than one node, and exactly one of the two has a self-loop."""
    is_small = max(len(first.nodes), len(second.nodes)) <= 1
    return is_small and bool(first.edges) != bool(second.edges)


def similarity(distance: float, first: Graph, second: Graph) -> float:
    """1 - distance / (nodes and edges of both), from 0 to 1; two empty graphs are alike: 1."""
    most = size_of(first, second)
    # networkx adds up floats, and may end a rounding error above the most.
    return max(0.0, 1.0 - distance / most) if most else 1.0


def size_of(first: Graph, second: Graph) -> int:
    """All nodes and edges of both graphs: no distance is greater."""
    return len(first.nodes) + len(first.edges) + len(second.nodes) + len(second.edges)


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
    graph: str, answer: Graph, label: Graph, mapping: Sequence[int | None], weights: Weights
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


def plan_matches(answer: Graph, label: Graph, mapping: Sequence[int | None]) -> list[Match]:
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


def _json(items: Sequence[Any]) -> str:
    return msgspec.json.encode(items).decode()
