"""Plan pictures: what is marked adds up to the distance, and nothing hides anything."""

from pathlib import Path

import polars as pl
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.pages.plan_picture import (
    CHANGED,
    EXTRA,
    MISSING,
    SAME,
    Picture,
    PlanEdit,
    draw_pictures,
    picture,
)
from orchbench_analytics.profiles import BUILT_IN
from orchbench_analytics.score.plans.graphs import Graph
from orchbench_analytics.score.plans.score import with_text_parts

STEP = ["model", "experiment", "language", "scenario", "run", "step_id", "answer_position"]


def states(drawn: Picture) -> dict[str, int]:
    return {node.name: node.state for node in drawn.nodes}


def cost_of(drawn: Picture) -> float:
    """What the marked elements cost together."""
    return sum(part.cost for part in (*drawn.nodes, *drawn.edges))


def test_missing_and_extra_parts_are_marked() -> None:
    answer = Graph(("workflow_1", "workflow_9"), ())
    label = Graph(("workflow_1", "workflow_2"), ((0, 1),))
    edits = [PlanEdit("structure", "extra_workflow", "workflow_9", None, "workflow_9", 1.0)]

    drawn = picture(answer, label, edits, {})

    assert states(drawn) == {"workflow_1": SAME, "workflow_2": MISSING, "workflow_9": EXTRA}
    assert [edge.state for edge in drawn.edges] == [MISSING]
    assert cost_of(drawn) == 3


def test_a_renamed_workflow_is_one_node_with_both_names() -> None:
    drawn = picture(
        Graph(("workflow_b",), ()), Graph(("workflow_a",), ()), [], {"workflow_b": "workflow_a"}
    )

    assert [(node.name, node.answer_name, node.state) for node in drawn.nodes] == [
        ("workflow_a", "workflow_b", SAME)
    ]


def test_a_namesake_of_a_renamed_node_is_extra() -> None:
    answer = Graph(("workflow_a", "workflow_b"), ())
    edits = [PlanEdit("structure", "extra_workflow", "workflow_a", None, "workflow_a", 1.0)]

    drawn = picture(answer, Graph(("workflow_a",), ()), edits, {"workflow_b": "workflow_a"})

    assert [(node.name, node.answer_name, node.state) for node in drawn.nodes] == [
        ("workflow_a", "workflow_b", SAME),
        ("workflow_a", None, EXTRA),
    ]


def test_a_changed_status_costs_what_its_edit_costs() -> None:
    answer, label = (Graph((("bank_agent", status),), ()) for status in ("done", "pending"))
    given, wanted = "bank_agent (done)", "bank_agent (pending)"
    edits = [PlanEdit("component", "wrong_status", wanted, "pending", "done", 0.2)]

    drawn = picture(answer, label, edits, {given: wanted})

    assert [(node.state, node.cost) for node in drawn.nodes] == [(CHANGED, 0.2)]


def test_a_loop_is_an_edge_from_a_node_to_itself() -> None:
    looped = Graph(("workflow_1",), ((0, 0),))

    drawn = picture(Graph(("workflow_1",), ()), looped, [], {})

    assert [(e.source, e.target, e.state) for e in drawn.edges] == [(0, 0, MISSING)]


def test_layers_follow_the_edges_and_cycles_share_one() -> None:
    graph = Graph(("a", "b", "c", "d"), ((0, 1), (1, 2), (2, 1), (1, 3), (0, 3)))

    drawn = picture(graph, graph, [], {})

    assert [node.layer for node in drawn.nodes] == [0, 1, 1, 2]


def test_a_long_edge_has_a_place_that_no_node_has() -> None:
    graph = Graph(("a", "b", "c"), ((0, 1), (1, 2), (0, 2)))

    drawn = picture(graph, graph, [], {})

    (place,) = drawn.edges[2].places_between
    assert {place, drawn.nodes[1].place} == {0, 1}
    assert drawn.layer_sizes == (1, 2, 1)


def test_a_plan_of_a_thousand_nodes_is_listed_and_not_drawn() -> None:
    large = Graph(tuple(f"workflow_{n}" for n in range(1000)), ())

    drawn = picture(large, large, [], {})

    assert not drawn.is_drawn
    assert drawn.nodes == ()


def marked_costs(warehouse: Path) -> pl.DataFrame:
    """The distances of every compared plan, and what the marks of its pictures cost."""
    opened = open_warehouse(warehouse)
    plans = with_text_parts(opened.table("plans").collect()).with_row_index("row")
    numbers = plans.select("row", *STEP)

    def rows(table: str) -> pl.DataFrame:
        found = opened.table(table).filter(pl.col("profile").is_in(["spec", "strict"])).collect()
        return found.join(numbers, on=STEP, nulls_equal=True).drop(*STEP, "plan_key")

    compared = rows("scored_plans").filter(
        pl.col("structure_distance").is_not_null(), pl.col("is_ged_exact")
    )
    texts = compared.join(plans.select("row", "label_content", "answer_content"), on="row")
    edits = rows("plan_edits").sort("row", "graph", "edit_number").drop("edit_number")
    drawn = draw_pictures(
        texts.select("profile", "row", "label_content", "answer_content"),
        edits,
        rows("plan_matches"),
        BUILT_IN,
    )
    costs = pl.DataFrame(
        [
            (number, cost_of(parts["structure"]), cost_of(parts["component"]))
            for number, (parts, _) in enumerate(drawn.drawings)
            if parts["structure"].is_drawn and parts["component"].is_drawn
        ],
        schema=["picture", "structure_cost", "component_cost"],
        orient="row",
    )
    return compared.join(drawn.numbers, on=["profile", "row"]).join(costs, on="picture")


@pytest.fixture(scope="module")
def demo_costs(demo: Path) -> pl.DataFrame:
    return marked_costs(demo)


@pytest.mark.parametrize("graph", ["structure", "component"])
def test_marks_add_up_to_the_distance_over_the_demo(demo_costs: pl.DataFrame, graph: str) -> None:
    difference = (pl.col(f"{graph}_cost") - pl.col(f"{graph}_distance")).abs()

    assert demo_costs.filter(pl.col(f"{graph}_distance") > 0).height > 20
    assert demo_costs.filter(difference > 1e-9).is_empty()


@pytest.mark.long
def test_marks_add_up_to_the_distance_over_the_pack(conformance_pack: Path, tmp_path: Path) -> None:
    open_warehouse(tmp_path / "w", create=True).ingest(conformance_pack / "results", jobs=1)

    costs = marked_costs(tmp_path / "w")

    for graph in ("structure", "component"):
        difference = (pl.col(f"{graph}_cost") - pl.col(f"{graph}_distance")).abs()
        assert costs.filter(pl.col(f"{graph}_distance") > 0).height > 100
        assert costs.filter(difference > 1e-9).is_empty()
