"""What counts of a plan whose parts have odd types, as texts and as Python has them."""

from __future__ import annotations

from datetime import date
from itertools import pairwise
from typing import Any

import networkx as nx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from orchbench_analytics.score.plans.graphs import (
    Outline,
    Workflow,
    component_graph,
    outline,
    structure_graph,
    typed_text,
)

STEP = {"agent_id": "a", "status": "new"}


def as_text(part: Any) -> Outline:
    return outline({"workflow_1": part})


def as_typed(part: Any) -> Outline:
    return outline({"workflow_1": part}, values="as_typed")


def only(found: Outline) -> Workflow:
    (workflow,) = found.workflows
    return workflow


class TestSteps:
    @pytest.mark.parametrize("steps", [{}, "", 0, False])
    def test_falsy_ones_are_none_and_flagged_only_as_texts(self, steps: Any) -> None:
        assert only(as_text({"steps": steps})).steps == only(as_typed({"steps": steps})).steps == ()
        assert not as_text({"steps": steps}).is_sound
        assert as_typed({"steps": steps}).is_sound

    @pytest.mark.parametrize("steps", [True, 7, "text", {"a": 1}, ["text"], [None], [[]]])
    def test_other_things_are_flagged_or_fail(self, steps: Any) -> None:
        assert only(as_text({"steps": steps})).steps == ()
        assert not as_text({"steps": steps}).is_sound
        assert not as_typed({"steps": steps}).is_sound

    @pytest.mark.parametrize("agent", [None, "", 0, 0.0, False, [], {}])
    def test_a_falsy_agent_falls_to_the_name(self, agent: Any) -> None:
        part = {"steps": [{"agent_id": agent, "name": "b", "status": "new"}]}

        assert only(as_text(part)).steps == only(as_typed(part)).steps == (("b", "new"),)
        assert as_typed(part).is_sound

    @pytest.mark.parametrize("agent", [None, "", 0, False])
    def test_a_step_with_neither_is_no_step(self, agent: Any) -> None:
        part = {"steps": [{"agent_id": agent, "name": agent, "status": []}]}

        assert only(as_text(part)).steps == only(as_typed(part)).steps == ()
        assert as_typed(part).is_sound

    @pytest.mark.parametrize(
        ("status", "text", "typed"),
        [
            (None, "UNK", "<None>"),
            ("", "UNK", ""),
            (0, "UNK", "<0>"),
            (False, "UNK", "<0>"),
            (1, "1", "<1>"),
            (True, "True", "<1>"),
            ("1", "1", "1"),
        ],
    )
    def test_only_an_absent_status_is_unknown_where_types_count(
        self, status: Any, text: str, typed: str
    ) -> None:
        part = {"steps": [{"agent_id": "a", "status": status}]}

        assert only(as_text(part)).steps == (("a", text),)
        assert only(as_typed(part)).steps == (("a", typed),)
        assert only(as_typed({"steps": [{"agent_id": "a"}]})).steps == (("a", "UNK"),)

    @pytest.mark.parametrize(
        "step", [{"agent_id": ["a"]}, {"agent_id": {"a": 1}}, STEP | {"status": {}}]
    )
    def test_what_cannot_be_a_node_is_flagged_or_fails(self, step: Any) -> None:
        assert not as_text({"steps": [step]}).is_sound
        assert not as_typed({"steps": [step]}).is_sound


class TestDependencies:
    @pytest.mark.parametrize(
        ("given", "text", "typed"),
        [
            (["x", "y"], ("x", "y"), ("x", "y")),
            ("xyx", ("xyx",), ("x", "y")),
            ({"x": 1, "y": 2}, (), ("x", "y")),
            ([""], (), ("",)),
            ([1, True, "1"], ("1",), ("<1>", "<1>", "1")),
            (None, (), ()),
            ({}, (), ()),
            (0, (), ()),
        ],
    )
    def test_depends_on(self, given: Any, text: Any, typed: Any) -> None:
        part = {"depends_on": given}

        assert only(as_text(part)).every_dependency == text
        assert only(as_typed(part)).depends_on_only == typed
        assert as_typed(part).is_sound

    @pytest.mark.parametrize("given", [7, 1.5, True, [None], [[]], [{}]])
    def test_of_other_kinds_are_none_and_flagged_or_fail(self, given: Any) -> None:
        assert only(as_text({"depends_on": given})).every_dependency == ()
        assert not as_text({"depends_on": given}).is_sound
        assert not as_typed({"depends_on": given}).is_sound

    @pytest.mark.parametrize(
        ("other", "typed"),
        [
            ("xyx", ("xyx",)),
            (["x"], ("x",)),
            ({"x": 1}, ("x",)),
            ([None, 1], ("<None>", "<1>")),
            (None, ()),
        ],
    )
    def test_depend_on_counts_for_steps(self, other: Any, typed: Any) -> None:
        part = {"depend_on": other, "steps": [STEP]}

        assert only(as_typed(part)).first_present == typed
        assert only(as_typed(part | {"depends_on": ["z"]})).first_present == ("z",)
        assert as_typed(part).is_sound

    @pytest.mark.parametrize("other", [5, True, [[]]])
    def test_depend_on_is_read_only_where_there_is_a_step(self, other: Any) -> None:
        assert not as_typed({"depend_on": other, "steps": [STEP]}).is_sound
        for steps in ([], [{"status": "new"}]):
            assert as_typed({"depend_on": other, "steps": steps}).is_sound
        assert as_typed({"depend_on": other, "depends_on": ["x"], "steps": [STEP]}).is_sound


class TestKeys:
    def test_that_are_no_text_fail_where_types_count(self) -> None:
        plan: dict[Any, Any] = {"workflow_1": {}, 1: "x"}

        assert outline(plan).is_sound
        assert not outline(plan, values="as_typed").is_sound

    def test_without_workflow_are_ignored(self) -> None:
        assert outline({"workflow_1": {}, "note": 7}, values="as_typed").is_sound

    @pytest.mark.parametrize("part", [None, False, [], "text"])
    def test_of_workflows_that_are_no_mapping(self, part: Any) -> None:
        assert as_text(part) == as_typed(part) == Outline((), False)


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from([0.0, 1.0, 1.5, "1", "<1>", "<<1>", "None", "", "a", date(2024, 1, 2)])
)
VALUES = st.recursive(
    SCALARS,
    lambda v: st.lists(v, max_size=3) | st.dictionaries(st.sampled_from("ab"), v, max_size=2),
)
NAMES = st.sampled_from(["workflow_1", "workflow_2", "other_workflow", "note"])
STEPS = st.lists(
    st.fixed_dictionaries(
        {}, optional=dict.fromkeys(("agent_id", "name", "status"), SCALARS | VALUES)
    ),
    max_size=3,
)
WORKFLOWS = st.fixed_dictionaries(
    {},
    optional={
        "depends_on": st.lists(NAMES, max_size=2) | VALUES,
        "depend_on": NAMES | st.lists(NAMES, max_size=2) | VALUES,
        "steps": STEPS | VALUES,
    },
)


@given(SCALARS, SCALARS)
def test_texts_of_values_are_equal_just_where_the_values_are(one: Any, other: Any) -> None:
    assert (typed_text(one) == typed_text(other)) == (one == other)


@settings(max_examples=400)
@given(st.dictionaries(NAMES | st.just(7), WORKFLOWS | VALUES, max_size=3))
@example({"workflow_1": {"depends_on": [1, 1.0, True, "1"]}})
def test_typed_graphs_are_those_that_python_draws(plan: dict[Any, Any]) -> None:
    found = outline(plan, values="as_typed")
    try:
        structure, component = drawn(plan)
    except (TypeError, AttributeError, ValueError):
        assert not found.is_sound
        return
    assert found.is_sound
    graph = structure_graph(found.workflows, edges="depends_on_only")
    assert list(graph.nodes) == [typed_text(node) for node in structure]
    assert len(graph.edges) == structure.number_of_edges()
    graph = component_graph(found.workflows, edges="first_present")
    assert list(graph.nodes) == [tuple(map(typed_text, node)) for node in component]
    assert len(graph.edges) == component.number_of_edges()


def drawn(plan: dict[Any, Any]) -> tuple[nx.DiGraph[Any], nx.DiGraph[Any]]:
    """The two graphs, with every value taken as it comes; errors come as they come, too."""
    structure: nx.DiGraph[Any] = nx.DiGraph()
    component: nx.DiGraph[Any] = nx.DiGraph()
    paths: dict[str, list[Any]] = {}
    for name, workflow in plan.items():
        if "workflow" in name:
            structure.add_node(name)
            for dependency in workflow.get("depends_on") or []:
                structure.add_edge(dependency, name)
            paths[name] = []
            for step in workflow.get("steps") or []:
                agent = step.get("agent_id") or step.get("name")
                if agent:
                    paths[name].append((agent, step.get("status", "UNK")))
            for node in paths[name]:
                component.add_node(node)
    for name, path in paths.items():
        component.add_edges_from((a, b) for a, b in pairwise(path) if a != b)
        if path:
            dependencies = plan[name].get("depends_on")
            if not dependencies:
                dependencies = plan[name].get("depend_on") or []
                dependencies = [dependencies] if isinstance(dependencies, str) else dependencies
            for dependency in dependencies:
                if paths.get(dependency):
                    component.add_edge(paths[dependency][-1], path[0])
    return structure, component
