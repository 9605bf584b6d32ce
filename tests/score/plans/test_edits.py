from __future__ import annotations

import random
from typing import Any

import pytest

from orchbench_analytics.score.plans.ged import (
    Edit,
    Match,
    Weights,
    exact_distance,
    plan_edits,
    plan_matches,
)
from orchbench_analytics.score.plans.graphs import Graph

WEIGHTS = Weights(0.8, 0.2)


def edits_between(answer: Graph, label: Graph) -> list[Edit]:
    is_structure = all(isinstance(node, str) for node in answer.nodes + label.nodes)
    mapping = exact_distance(answer, label, WEIGHTS).mapping
    return plan_edits("structure" if is_structure else "component", answer, label, mapping, WEIGHTS)


def random_graph(rng: random.Random, kind: str) -> Graph:
    size = rng.randint(0, 6)
    names: Any = [f"workflow_{i}" for i in range(8)]
    steps: Any = [(f"agent_{a}", f"status_{s}") for a in range(4) for s in range(2)]
    nodes = rng.sample(names if kind == "structure" else steps, size)
    ends = [(s, t) for s in range(size) for t in range(size)]
    return Graph(tuple(nodes), tuple(rng.sample(ends, rng.randint(0, min(8, len(ends))))))


@pytest.mark.parametrize("kind", ["structure", "component"])
@pytest.mark.parametrize("budget", [20, 100_000])
def test_costs_add_up_to_the_distance(kind: str, budget: int) -> None:
    rng = random.Random(f"{kind} {budget}")
    for _ in range(500):
        answer, label = random_graph(rng, kind), random_graph(rng, kind)
        distance = exact_distance(answer, label, WEIGHTS, budget=budget)
        edits = plan_edits(kind, answer, label, distance.mapping, WEIGHTS)
        assert sum(edit.cost for edit in edits) == pytest.approx(distance.value, abs=1e-12)


def test_equal_plans_need_no_edit() -> None:
    graph = Graph((("a", "pending"), ("b", "pending")), ((0, 1), (1, 1)))
    assert edits_between(graph, graph) == []


def test_workflows_and_dependencies() -> None:
    label = Graph(("workflow_1", "workflow_2", "workflow_3"), ((0, 1), (1, 2)))
    answer = Graph(("workflow_1", "workflow_2"), ((0, 1),))
    assert edits_between(answer, label) == [
        Edit("missing_workflow", "workflow_3", "workflow_3", None, 1.0),
        Edit("missing_dependency", "workflow_3", "workflow_2", None, 1.0),
    ]
    assert edits_between(label, answer) == [
        Edit("extra_workflow", "workflow_3", None, "workflow_3", 1.0),
        Edit("extra_dependency", "workflow_3", None, "workflow_2", 1.0),
    ]


def test_steps_and_transitions() -> None:
    label = Graph((("a", "pending"), ("b", "pending"), ("c", "pending")), ((0, 1),))
    answer = Graph((("a", "done"), ("x", "pending")), ((1, 1),))
    kinds = [(edit.kind, edit.wanted, edit.given) for edit in edits_between(answer, label)]
    assert kinds == [
        ("wrong_status", "pending", "done"),
        ("wrong_agent", "b", "x"),
        ("missing_step", "c (pending)", None),
        ("extra_transition", None, "x (pending)"),
        ("missing_transition", "a (pending)", None),
    ]


def test_a_step_with_nothing_right_is_a_wrong_step() -> None:
    label, answer = Graph((("a", "pending"),), ()), Graph((("x", "done"),), ())
    assert edits_between(answer, label) == [
        Edit("wrong_step", "a (pending)", "a (pending)", "x (done)", 1.0)
    ]


def test_an_empty_answer_misses_everything() -> None:
    label = Graph((("a", "pending"),), ((0, 0),))
    kinds = [edit.kind for edit in edits_between(Graph((), ()), label)]
    assert kinds == ["missing_step", "missing_transition"]


def test_matched_nodes_of_other_names_are_kept() -> None:
    label = Graph(("workflow_1", "workflow_2"), ((0, 1),))
    answer = Graph(("first", "workflow_2"), ((0, 1),))
    mapping = exact_distance(answer, label, WEIGHTS).mapping
    assert plan_matches(answer, label, mapping) == [Match("first", "workflow_1")]
