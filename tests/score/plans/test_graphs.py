from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchbench_analytics.score.plans.graphs import (
    Graph,
    component_graph,
    outline,
    structure_graph,
)
from tests.bounded import no_runaway


def workflow(*steps: Any, **more: Any) -> dict[str, Any]:
    return {"steps": [dict(zip(("agent_id", "status"), s, strict=False)) for s in steps], **more}


def structure(plan: dict[str, Any], *, upstream: bool = False) -> Graph:
    edges: Any = "depends_on_only" if upstream else "every_dependency"
    values: Any = "as_typed" if upstream else "as_text"
    return structure_graph(outline(plan, values=values).workflows, edges=edges)


def component(plan: dict[str, Any], *, upstream: bool = False) -> Graph:
    edges: Any = "first_present" if upstream else "every_dependency"
    values: Any = "as_typed" if upstream else "as_text"
    return component_graph(outline(plan, values=values).workflows, edges=edges)


def named(graph: Graph) -> set[tuple[Any, Any]]:
    return {(graph.nodes[source], graph.nodes[target]) for source, target in graph.edges}


def test_every_key_with_workflow_in_it_is_a_workflow() -> None:
    plan: dict[Any, Any] = {"workflow_1": {}, "interrupted_workflow_1-1": {}, "note": {}, 7: {}}
    assert structure(plan) == Graph(("workflow_1", "interrupted_workflow_1-1"), ())


def test_dependencies_of_both_spellings_and_forms_are_one_set() -> None:
    plan = {
        "workflow_1": {},
        "workflow_2": {"depend_on": "workflow_1", "depends_on": ["workflow_1", "workflow_2"]},
        "workflow_3": {"depends_on": "workflow_2", "depend_on": ["workflow_9"]},
    }
    assert structure(plan).nodes == ("workflow_1", "workflow_2", "workflow_3", "workflow_9")
    assert named(structure(plan)) == {
        ("workflow_1", "workflow_2"),
        ("workflow_2", "workflow_2"),
        ("workflow_2", "workflow_3"),
        ("workflow_9", "workflow_3"),
    }


def test_upstream_knows_one_spelling_and_splits_a_text() -> None:
    plan = {
        "workflow_1": {"depend_on": ["workflow_2"]},
        "workflow_2": {"depends_on": ["workflow_1"]},
        "workflow_3": {"depends_on": "aba"},
    }
    graph = structure(plan, upstream=True)
    assert graph.nodes == ("workflow_1", "workflow_2", "workflow_3", "a", "b")
    assert named(graph) == {
        ("workflow_1", "workflow_2"),
        ("a", "workflow_3"),
        ("b", "workflow_3"),
    }


def test_a_workflow_is_followed_by_dependencies_not_seen_before() -> None:
    plan = {
        "workflow_2": {"depends_on": ["workflow_9", "workflow_1"]},
        "workflow_3": {"depends_on": ["workflow_2", "workflow_8"]},
        "workflow_1": {},
    }
    order = ("workflow_2", "workflow_9", "workflow_1", "workflow_3", "workflow_8")
    for upstream in (False, True):
        assert structure(plan, upstream=upstream).nodes == order


def test_all_steps_come_before_any_edge() -> None:
    plan = {
        "workflow_2": workflow(("b", "x"), ("c", "x"), depends_on=["workflow_1"]),
        "workflow_1": workflow(("a", "x"), ("b", "x")),
    }
    for upstream in (False, True):
        graph = component(plan, upstream=upstream)
        assert graph.nodes == (("b", "x"), ("c", "x"), ("a", "x"))
        assert named(graph) == {
            (("b", "x"), ("c", "x")),
            (("b", "x"), ("b", "x")),
            (("a", "x"), ("b", "x")),
        }


def test_steps_are_distinct_and_linked_to_what_differs() -> None:
    plan = {
        "workflow_1": workflow(("a", "done"), ("a", "done"), ("b", "pending"), ("a", "done")),
        "workflow_2": workflow(("b", "pending")),
    }
    graph = component(plan)
    assert graph.nodes == (("a", "done"), ("b", "pending"))
    assert graph.edges == ((0, 1), (1, 0))


def test_a_dependency_leads_from_last_step_to_first() -> None:
    plan = {
        "workflow_1": workflow(("a", "done"), ("b", "done")),
        "workflow_2": workflow(("c", "done"), ("d", "done"), depend_on="workflow_1"),
        "workflow_3": workflow(depends_on=["workflow_1"]),
        "workflow_4": workflow(("b", "done"), depends_on=["workflow_1", "workflow_3", "nothing"]),
    }
    assert named(component(plan)) == {
        (("a", "done"), ("b", "done")),
        (("b", "done"), ("c", "done")),
        (("c", "done"), ("d", "done")),
        (("b", "done"), ("b", "done")),
    }


@pytest.mark.parametrize(
    ("depends_on", "depend_on", "spec_count", "upstream_count"),
    [
        (["workflow_1"], ["workflow_2"], 2, 1),
        (None, "workflow_1", 1, 1),
        ([], ["workflow_1"], 1, 1),
        ("", "workflow_1", 1, 1),
        ("workflow_1", "workflow_2", 2, 0),
        ("workflow_1", None, 1, 0),
    ],
)
def test_which_spelling_counts_for_steps(
    depends_on: Any, depend_on: Any, spec_count: int, upstream_count: int
) -> None:
    plan = {
        "workflow_1": workflow(("a", "done")),
        "workflow_2": workflow(("b", "done")),
        "workflow_3": workflow(("c", "done"), depends_on=depends_on, depend_on=depend_on),
    }
    assert len(component(plan).edges) == spec_count
    assert len(component(plan, upstream=True).edges) == upstream_count


def test_agents_by_either_name_and_unknown_statuses() -> None:
    steps = [
        {"agent_id": "a", "name": "b", "status": "done"},
        {"name": "b"},
        {"agent_id": None, "name": "c", "status": None},
        {"status": "done"},
        {"agent_id": None, "status": "done"},
        {"agent_id": 7, "status": True},
    ]
    nodes = component({"workflow_1": {"steps": steps}}).nodes
    assert nodes == (("a", "done"), ("b", "UNK"), ("c", "UNK"), ("7", "True"))


@pytest.mark.parametrize("steps", [None, []])
def test_no_steps_are_just_no_steps(steps: Any) -> None:
    plan = {"workflow_1": {"steps": steps}, "workflow_2": {}}
    assert outline(plan).is_sound
    assert component(plan) == Graph((), ())


@pytest.mark.parametrize(
    "part",
    [
        None,
        "text",
        ["steps"],
        {"steps": "text"},
        {"steps": {"agent_id": "a"}},
        {"steps": ["text"]},
        {"steps": [None]},
        {"steps": [{"agent_id": ["a"]}]},
        {"steps": [{"agent_id": "a", "status": {}}]},
        {"depends_on": 7},
        {"depends_on": [["workflow_1"]]},
        {"depend_on": [None]},
    ],
)
def test_malformed_parts_are_flagged_and_ignored(part: Any) -> None:
    sound = {"workflow_1": workflow(("a", "done"), ("b", "done"))}
    plan = {**sound, "workflow_2": part}
    assert outline(sound).is_sound
    assert not outline(plan).is_sound
    for upstream in (False, True):
        assert set(structure(plan, upstream=upstream).nodes) >= {"workflow_1"}
        assert component(plan, upstream=upstream).nodes[:2] == (("a", "done"), ("b", "done"))


def test_a_workflow_that_is_no_mapping_is_no_node() -> None:
    assert structure({"workflow_1": None, "workflow_2": {}}) == Graph(("workflow_2",), ())


def test_half_characters_can_be_stored() -> None:
    plan = json.loads('{"workflow_\\ud800": {"depends_on": ["\\udfff"]}, "workflow_2": {}}')
    for name in structure(plan).nodes:
        str(name).encode()


@pytest.mark.parametrize("upstream", [False, True])
def test_a_thousand_workflows_are_drawn(upstream: bool) -> None:
    names = [f"workflow_{i}" for i in range(1_000)]
    plan = {
        name: workflow((f"a{i}", "done"), ("b", str(i)), depends_on=names[i : i + 5])
        for i, name in enumerate(names)
    }
    with no_runaway():
        sizes = [len(draw(plan, upstream=upstream).nodes) for draw in (structure, component)]
    assert sizes == [1_000, 2_000]


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.dates()
VALUES = st.recursive(
    SCALARS, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=3), v, max_size=3)
)
KEYS = st.sampled_from(["workflow_1", "workflow_2", "a workflow", "other"]) | st.integers()
PARTS = st.fixed_dictionaries(
    {},
    optional={
        "depends_on": VALUES | st.sampled_from(["workflow_1", ["workflow_2"]]),
        "depend_on": VALUES,
        "steps": VALUES
        | st.lists(
            VALUES
            | st.fixed_dictionaries(
                {}, optional={"agent_id": VALUES, "name": VALUES, "status": VALUES}
            )
        ),
    },
)


@settings(max_examples=100)
@given(st.dictionaries(KEYS, VALUES | PARTS, max_size=4))
def test_no_plan_breaks_the_drawing(plan: dict[Any, Any]) -> None:
    graphs = [draw(plan, upstream=u) for draw in (structure, component) for u in (False, True)]
    for graph in graphs:
        assert len(set(graph.nodes)) == len(graph.nodes)
        assert len(set(graph.edges)) == len(graph.edges)
        assert all(0 <= end < len(graph.nodes) for edge in graph.edges for end in edge)
        hash(graph)
