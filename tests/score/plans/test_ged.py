from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchbench_analytics.score.plans import ged
from orchbench_analytics.score.plans.ged import (
    Distance,
    GraphPair,
    Weights,
    evaluator_distance,
    exact_distance,
    similarity,
    to_networkx,
)
from orchbench_analytics.score.plans.graphs import Graph, to_text
from tests.oracle.distances import networkx_distance

WEIGHTS = Weights(0.8, 0.2)
KINDS = ("structure", "component")


def random_graph(
    rng: random.Random, kind: str, size: int, edge_count: int, *, loops: bool
) -> Graph:
    if kind == "structure":
        nodes: Any = tuple(f"workflow_{i}" for i in rng.sample(range(9), size))
    else:
        labels = [(f"agent_{a}", f"status_{s}") for a in range(4) for s in range(3)]
        nodes = tuple(rng.sample(labels, size))
    ends = [(s, t) for s in range(size) for t in range(size) if loops or s != t]
    return Graph(nodes, tuple(rng.sample(ends, min(edge_count, len(ends)))))


def shuffled(rng: random.Random, graph: Graph) -> tuple[Graph, list[int]]:
    order = rng.sample(range(len(graph.nodes)), len(graph.nodes))
    position = {node: i for i, node in enumerate(order)}
    edges = [(position[s], position[t]) for s, t in graph.edges]
    rng.shuffle(edges)
    return Graph(tuple(graph.nodes[i] for i in order), tuple(edges)), order


def altered(rng: random.Random, kind: str, graph: Graph) -> Graph:
    """A graph like another: some nodes renamed, some edges gone or new, as answers are."""
    other = random_graph(rng, kind, len(graph.nodes), 2, loops=False)
    nodes = dict.fromkeys(
        b if rng.random() < 0.3 and b not in graph.nodes else a
        for a, b in zip(graph.nodes, other.nodes, strict=True)
    )
    edges = [e for e in graph.edges if rng.random() < 0.7] + list(other.edges)
    kept = [(s, t) for s, t in dict.fromkeys(edges) if s < len(nodes) and t < len(nodes)]
    return Graph(tuple(nodes), tuple(kept))


@cache
def all_mappings(size: int, other_size: int) -> np.ndarray[Any, Any]:
    """Every partial one-to-one mapping as a row; a node mapped to `other_size` is deleted."""
    rows = []
    for count in range(min(size, other_size) + 1):
        for sources in combinations(range(size), count):
            for targets in permutations(range(other_size), count):
                row = [other_size] * size
                for source, target in zip(sources, targets, strict=True):
                    row[source] = target
                rows.append(row)
    return np.array(rows, dtype=np.intp).reshape(len(rows), size)


def brute_force(first: Graph, second: Graph) -> float:
    """The least cost over all mappings, each counted from the definition, in fifths."""
    size, other_size = len(first.nodes), len(second.nodes)
    mappings = all_mappings(size, other_size)
    costs = np.full((size, other_size + 1), 5)
    for i, a in enumerate(first.nodes):
        for j, b in enumerate(second.nodes):
            if isinstance(a, str) or a == b:
                costs[i, j] = 0
            else:
                costs[i, j] = 1 if a[0] == b[0] else 4 if a[1] == b[1] else 5
    adjacent = np.zeros((other_size + 1, other_size + 1), dtype=int)
    for s, t in second.edges:
        adjacent[s, t] = 1
    total = costs[np.arange(size), mappings].sum(axis=1)
    total = total + 5 * (other_size - (mappings < other_size).sum(axis=1))
    kept = np.zeros(len(mappings), dtype=int)
    for s, t in first.edges:
        kept += adjacent[mappings[:, s], mappings[:, t]]
    total = total + 5 * (len(first.edges) + len(second.edges) - 2 * kept)
    return int(total.min()) / 5


def cost_of(first: Graph, second: Graph, distance: Distance) -> float:
    """What the mapping of a distance costs, counted from the definition."""
    cost = len(second.nodes) + len(first.edges) + len(second.edges) + 0.0
    for a, target in zip(first.nodes, distance.mapping, strict=True):
        if target is None:
            cost += 1
            continue
        b = second.nodes[target]
        cost -= 1
        if not isinstance(a, str) and a != b:
            cost += 0.2 if a[0] == b[0] else 0.8 if a[1] == b[1] else 1
    kept = {(distance.mapping[s], distance.mapping[t]) for s, t in first.edges}
    return cost - 2 * len(kept & set(second.edges))


@pytest.mark.parametrize("kind", KINDS)
def test_it_equals_brute_force_with_self_loops(kind: str) -> None:
    rng = random.Random(f"brute force {kind}")
    for _ in range(2_000):
        sizes = (rng.randint(0, 6), rng.randint(0, 6))
        first, second = (
            random_graph(rng, kind, size, rng.randint(0, 2 * size), loops=True) for size in sizes
        )
        distance = exact_distance(first, second, WEIGHTS)
        assert distance.is_exact
        assert distance.value == distance.lower_bound == brute_force(first, second)
        assert cost_of(first, second, distance) == pytest.approx(distance.value, abs=1e-12)


def test_it_equals_networkx_without_self_loops() -> None:
    rng = random.Random("networkx")
    for number in range(2_000):
        kind = KINDS[number % 2]
        if number % 73 == 0:
            first = random_graph(rng, kind, 8 - number % 3, 5, loops=False)
            second = altered(rng, kind, first)
        else:
            first, second = (
                random_graph(rng, kind, rng.randint(1, 4), rng.randint(0, 4), loops=False)
                for _ in range(2)
            )
        distance = exact_distance(first, second, WEIGHTS)
        assert distance.value == pytest.approx(networkx_distance(first, second, WEIGHTS), abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_symmetric_and_independent_of_node_order(kind: str) -> None:
    rng = random.Random(f"order {kind}")
    for number in range(600):
        # Small budgets too: a distance that is only a bound has to be the same bound.
        budget = (10, 200, 100_000)[number % 3]
        first, second = (
            random_graph(rng, kind, rng.randint(1, 9), rng.randint(0, 12), loops=True)
            for _ in range(2)
        )
        forth = exact_distance(first, second, WEIGHTS, budget=budget)
        back = exact_distance(second, first, WEIGHTS, budget=budget)
        (mixed_1, order_1), (mixed_2, order_2) = shuffled(rng, first), shuffled(rng, second)
        mixed = exact_distance(mixed_1, mixed_2, WEIGHTS, budget=budget)
        assert forth[:2] == back[:2] == mixed[:2]
        became = {s: t for s, t in enumerate(forth.mapping) if t is not None}
        assert {t: s for s, t in enumerate(back.mapping) if t is not None} == became
        mixed_became = {s: t for s, t in enumerate(mixed.mapping) if t is not None}
        assert {order_1[s]: order_2[t] for s, t in mixed_became.items()} == became


@pytest.mark.parametrize("kind", KINDS)
def test_equal_graphs_are_at_distance_zero(kind: str) -> None:
    rng = random.Random(f"equal {kind}")
    for _ in range(300):
        graph = random_graph(rng, kind, rng.randint(0, 9), rng.randint(0, 20), loops=True)
        mixed, _ = shuffled(rng, graph)
        for other in (graph, mixed):
            distance = exact_distance(graph, other, WEIGHTS, budget=0)
            assert distance[:2] == (0.0, 0.0)
            assert similarity(distance.value, graph, other) == 1.0


def test_names_of_workflows_do_not_count() -> None:
    first = Graph(("workflow_1", "workflow_2"), ((0, 1),))
    second = Graph(("workflow_8", "workflow_7"), ((0, 1),))
    assert exact_distance(first, second, WEIGHTS).value == 0.0


def test_of_equally_good_mappings_namesakes_are_preferred() -> None:
    label = Graph(("workflow_1", "workflow_2", "workflow_3", "workflow_4"), ((0, 3), (1, 0)))
    answer = Graph(("workflow_4", "workflow_3", "workflow_1"), ((0, 2),))
    distance = exact_distance(answer, label, WEIGHTS)
    assert distance.value == 2.0
    assert distance.mapping[1] == 2


def test_a_structure_without_edges_needs_no_search() -> None:
    first = Graph(tuple(f"workflow_{i}" for i in range(5)), ())
    second = Graph(("workflow_8", "workflow_9"), ((0, 1), (1, 1)))
    assert exact_distance(first, second, WEIGHTS, budget=0)[:2] == (5.0, 5.0)


def test_a_self_loop_is_an_edge_like_any_other() -> None:
    loop, edge = Graph(("a", "b"), ((0, 0),)), Graph(("a", "b"), ((0, 1),))
    assert exact_distance(loop, edge, WEIGHTS).value == 2.0
    assert exact_distance(loop, Graph(("b", "a"), ((0, 0),)), WEIGHTS).value == 0.0


def test_costs_are_exact_to_the_last_digit() -> None:
    statuses = Graph(tuple((f"agent_{i}", "pending") for i in range(3)), ())
    paused = Graph(tuple((f"agent_{i}", "paused") for i in range(3)), ())
    agents = Graph((("one", "a"), ("two", "b"), ("three", "c")), ())
    others = Graph((("four", "a"), ("five", "b"), ("six", "c")), ())
    assert exact_distance(statuses, paused, WEIGHTS).value == 0.6  # not 0.2 + 0.2 + 0.2
    assert exact_distance(agents, others, WEIGHTS).value == 2.4
    found = exact_distance(statuses, paused, Weights(1.0, 0.1))
    assert found.value == 0.3


def test_the_budget_counts_steps_and_bounds_stay_true() -> None:
    rng = random.Random("budget")
    was_cut = 0
    for _ in range(60):
        first, second = (random_graph(rng, "component", 6, 10, loops=True) for _ in range(2))
        true = brute_force(first, second)
        for budget in (0, 50, 300):
            distance = exact_distance(first, second, WEIGHTS, budget=budget)
            assert distance == exact_distance(first, second, WEIGHTS, budget=budget)
            assert distance.lower_bound <= true <= distance.value
            assert distance.is_exact == (distance.lower_bound == distance.value)
            assert cost_of(first, second, distance) == pytest.approx(distance.value, abs=1e-12)
            was_cut += not distance.is_exact
    assert was_cut > 60


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [20, 40, 1_000])
def test_large_graphs_are_bounded(kind: str, size: int) -> None:
    rng = random.Random(size)

    def graph(offset: int) -> Graph:
        names: Any = [f"workflow_{i}" for i in range(offset, size + offset)]
        steps: Any = [(f"agent_{i % 50}", f"status_{i}") for i in range(offset, size + offset)]
        edges = {(rng.randrange(size), rng.randrange(size)): None for _ in range(2 * size)}
        return Graph(tuple(names if kind == "structure" else steps), tuple(edges))

    first, second = graph(0), graph(3)
    exact = exact_distance(first, second, WEIGHTS)
    asked = evaluator_distance(first, second, WEIGHTS, otherwise=exact)
    for distance in (exact, asked):
        assert not distance.is_exact
        assert distance.lower_bound < distance.value
        assert 0 < similarity(distance.value, first, second) < 1


def looped_pairs(
    seed: str, count: int, *, nodes: tuple[int, int], edges: tuple[int, int]
) -> Iterator[tuple[Graph, Graph]]:
    """Random pairs of graphs with self-loops, of so many nodes and edges at least and at most."""
    rng = random.Random(seed)
    for number in range(count):
        first, second = (
            random_graph(
                rng, KINDS[number % 2], rng.randint(*nodes), rng.randint(*edges), loops=True
            )
            for _ in range(2)
        )
        yield first, second


def test_the_definition_and_the_fast_path_agree_with_self_loops() -> None:
    for first, second in looped_pairs("definition", 600, nodes=(0, 4), edges=(0, 5)):
        expected = networkx_distance(first, second, WEIGHTS)
        assert exact_distance(first, second, WEIGHTS).value == pytest.approx(expected, abs=1e-9)


def test_the_evaluator_has_what_networkx_makes_of_self_loops() -> None:
    differing = 0
    for first, second in looped_pairs("evaluator", 300, nodes=(1, 4), edges=(0, 4)):
        exact = exact_distance(first, second, WEIGHTS)
        distance = evaluator_distance(first, second, WEIGHTS, otherwise=exact)
        assert distance.is_exact
        assert distance.value <= exact.value + 1e-9
        assert distance.mapping == exact.mapping
        differing += distance.value != pytest.approx(exact.value, abs=1e-9)
    assert differing > 10


def test_networkx_returns_the_distance_where_nothing_could_cost_less() -> None:
    asked = 0
    for first, second in looped_pairs("least", 600, nodes=(2, 4), edges=(0, 5)):
        exact = exact_distance(first, second, WEIGHTS)
        if not exact.is_least:
            continue
        costs = ged.units(first, second, WEIGHTS)
        sides = [(len(graph.nodes), graph.edges) for graph in (first, second)]
        substitutions = ged.substitution_costs(first, second, costs)
        found = ged._ask_networkx(*sides, substitutions, costs.one, ged.NETWORKX_BUDGET)
        assert found == pytest.approx(exact.value, abs=1e-9)
        asked += 1
    assert asked > 100


LOOPED, BARE, NOTHING = Graph(("a",), ((0, 0),)), Graph(("b",), ()), Graph((), ())


@pytest.mark.parametrize(
    ("answer", "label", "counted", "free"),
    [
        (LOOPED, BARE, 1.0, 0.0),
        (BARE, LOOPED, 1.0, 0.0),
        (LOOPED, NOTHING, 2.0, 1.0),
        (NOTHING, LOOPED, 2.0, 1.0),
        (LOOPED, LOOPED, 0.0, 0.0),
        (BARE, NOTHING, 1.0, 1.0),
        (LOOPED, Graph(("a", "b"), ()), 2.0, 2.0),
    ],
)
@pytest.mark.parametrize("method", ["exact", "networkx"])
def test_a_lone_self_loop_counts_or_is_free(
    answer: Graph, label: Graph, counted: float, free: float, method: str
) -> None:
    pairs = [
        GraphPair("structure", to_text(answer), to_text(label), method, loop, 0.8, 0.2)
        for loop in ("counted", "free")
    ]
    assert [ged.measure(pair).distance for pair in pairs] == [counted, free]


def test_networkx_is_given_up_after_its_budget() -> None:
    rng = random.Random("give up")
    first, second = (random_graph(rng, "component", 8, 16, loops=True) for _ in range(2))
    exact = exact_distance(first, second, WEIGHTS)
    distance = evaluator_distance(first, second, WEIGHTS, otherwise=exact, budget=50)
    assert (distance.value, distance.is_exact) == (exact.value, False)


def test_pairs_of_one_shape_are_measured_once() -> None:
    ged._distance_of_shapes.cache_clear()
    results = set()
    for a, b, c in (("x", "y", "z"), ("p", "q", "r")):
        first = Graph(((a, "pending"), (b, "done"), (c, "done")), ((0, 1), (1, 1)))
        second = Graph(((c, "pending"), (a, "done")), ((0, 1), (1, 1)))
        results.add(exact_distance(first, second, WEIGHTS))
    assert len(results) == ged._distance_of_shapes.cache_info().misses == 1


def test_networkx_is_asked_once_about_pairs_that_cost_the_same() -> None:
    ged._ask_networkx.cache_clear()
    results = set()
    for a, b, c in (("x", "y", "z"), ("q", "p", "r")):
        first = Graph(((a, "pending"), (b, "done"), (c, "done")), ((0, 1), (1, 1)))
        second = Graph(((c, "pending"), (a, "done")), ((0, 1), (1, 1)))
        exact = exact_distance(first, second, WEIGHTS)
        results.add(evaluator_distance(first, second, WEIGHTS, otherwise=exact).value)
    assert len(results) == ged._ask_networkx.cache_info().misses == 1


def test_networkx_is_given_the_order_of_nodes_and_self_loops() -> None:
    drawn = to_networkx(2, ((1, 0), (0, 0)))
    assert list(drawn.nodes(data="position")) == [(0, 0), (1, 1)]
    assert list(drawn.edges) == [(0, 0), (1, 0)]


def test_the_two_kinds_of_graph_are_kept_apart() -> None:
    edges = (((0, 0), (0, 1)), ((1, 0),))
    names = Graph(("a", "b"), edges[0]), Graph(("c", "d"), edges[1])
    steps = Graph((("a", "a"), ("b", "b")), edges[0]), Graph((("c", "c"), ("d", "d")), edges[1])
    values = [exact_distance(*pair, WEIGHTS).value for pair in (names, steps)]
    assert values[0] < values[1]


def test_similarity_stays_between_zero_and_one() -> None:
    nothing = Graph((), ())
    one = Graph((("a", "b"),), ())
    other = Graph((("c", "d"),), ((0, 0),))
    assert similarity(0.0, nothing, nothing) == 1.0
    assert similarity(exact_distance(nothing, one, WEIGHTS).value, nothing, one) == 0.0
    assert similarity(exact_distance(one, other, WEIGHTS).value, one, other) == 1 - 2 / 3
    assert similarity(3.0000000000000004, one, other) == 0.0


@settings(max_examples=200)
@given(st.integers(0, 10**9), st.floats(0, 1), st.floats(0, 1))
def test_any_weights_keep_the_distance_within_its_range(
    seed: int, agent: float, status: float
) -> None:
    rng = random.Random(seed)
    first, second = (
        random_graph(rng, "component", rng.randint(0, 5), rng.randint(0, 6), loops=True)
        for _ in range(2)
    )
    distance = exact_distance(first, second, Weights(agent, status))
    assert distance.is_exact
    assert 0.0 <= similarity(distance.value, first, second) <= 1.0
