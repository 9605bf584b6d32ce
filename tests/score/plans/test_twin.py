from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from tests.score.test_distance import KINDS, WEIGHTS, random_graph

from orchbench_analytics.score.plans.assignment import cheapest_assignment
from orchbench_analytics.score.plans.ged import networkx_distance, networkx_distance_by_twin
from orchbench_analytics.score.plans.graphs import Graph
from orchbench_analytics.score.plans.twin import OutOfStepsError, twin_distance

MANY_STEPS = 1_000_000


def looped_graph(rng: random.Random, kind: str, most_nodes: int) -> Graph:
    size = rng.randint(1, most_nodes)
    return random_graph(rng, kind, size, rng.randint(1, 2 * size), loops=True)


@pytest.mark.parametrize("values", [(0.0, 1.0), (0.0, 0.2, 0.8, 1.0, 7.0), None])
def test_the_assignment_is_the_one_that_scipy_returns(values: tuple[float, ...] | None) -> None:
    rng = random.Random(f"assignment {values}")
    for _ in range(700):
        size = rng.randint(0, 9)
        row = range(size)
        costs = [[rng.choice(values) if values else rng.random() for _ in row] for _ in row]

        expected = linear_sum_assignment(np.array(costs).reshape(size, size))[1]

        assert cheapest_assignment(costs) == expected.tolist()


@pytest.mark.parametrize(
    "weights",
    [
        WEIGHTS,
        {"agent_weight": 0.5, "status_weight": 0.35},
        {"agent_weight": 0.1, "status_weight": 0.7},
        {"agent_weight": 1.0, "status_weight": 0.0},
    ],
)
def test_it_is_networkx_to_the_last_bit(weights: dict[str, float]) -> None:
    rng = random.Random(f"twin {weights}")
    for number in range(500):
        first, second = (looped_graph(rng, KINDS[number % 3 > 0], 5) for _ in range(2))

        expected = networkx_distance(first, second, **weights)

        assert networkx_distance_by_twin(first, second, **weights, budget=MANY_STEPS) == expected


def test_it_takes_as_many_steps() -> None:
    def outcome(measure: Any, *graphs: Graph, budget: int) -> float | None:
        try:
            return float(measure(*graphs, **WEIGHTS, budget=budget))
        except OutOfStepsError:
            return None

    rng = random.Random("steps")
    outcomes = []
    for _ in range(40):
        pair = [looped_graph(rng, "component", 5) for _ in range(2)]
        for budget in (3, 10, 30, 100):
            outcomes.append(outcome(networkx_distance_by_twin, *pair, budget=budget))
            assert outcomes[-1] == outcome(networkx_distance, *pair, budget=budget)
    assert len(set(outcomes)) > 10
    assert 10 < outcomes.count(None) < 150


def test_a_loop_passes_for_another_edge() -> None:
    same = [[0.0, 1.0], [1.0, 0.0]]

    assert twin_distance(same, [(0, 1), (1, 1)], [(0, 1), (1, 0)], budget=MANY_STEPS) == 0.0
    assert twin_distance(same, [(0, 1), (1, 0)], [(0, 1)], budget=MANY_STEPS) == 1.0


def test_loops_of_single_nodes_cost_nothing() -> None:
    assert twin_distance([[0.2]], [(0, 0)], [(0, 0)], budget=MANY_STEPS) == 0.2
