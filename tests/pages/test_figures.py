"""Figures for papers: they show the rows of the statistics, in every format, and stay inert."""

import re
from itertools import combinations
from math import hypot
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import polars as pl
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import OrchbenchError, PathError, SelectionError
from orchbench_analytics.pages.figures import FIGURES, cost_figure, require_figure_file
from orchbench_analytics.warehouse import Warehouse
from tests.pages.test_report import hostile_warehouse

WHAT = (*FIGURES, "plan")


@pytest.fixture(scope="module")
def warehouse(demo: Path) -> Warehouse:
    return open_warehouse(demo)


def texts(svg: str) -> list[str]:
    return [text for text in ElementTree.fromstring(svg).itertext() if text.strip()]


@pytest.mark.parametrize("what", FIGURES)
def test_every_model_is_named(warehouse: Warehouse, what: str) -> None:
    shown = texts(warehouse.figure(what).svg)
    models = {*warehouse.models()["model"]}
    for model in models:
        assert any(text.split("/")[0] == model for text in shown), model


@pytest.mark.parametrize("what", WHAT)
def test_every_format_is_what_it_says(warehouse: Warehouse, what: str) -> None:
    figure = warehouse.figure(what, languages=["EN"])
    assert figure.content(".pdf").startswith(b"%PDF")
    assert figure.content(".png").startswith(b"\x89PNG")
    assert figure.content(".svg").decode() == figure._repr_svg_()


def test_names_of_the_cost_figure_stand_apart_and_by_their_points(warehouse: Warehouse) -> None:
    root = ElementTree.fromstring(warehouse.figure("cost").svg)
    marks = {tag: places(root, f"mark-{tag}") for tag in ("symbol", "text")}
    names = [
        (x if anchor == "start" else x - 4.3 * len(text), y, 4.3 * len(text))
        for text, anchor, x, y in marks["text"]
    ]
    assert len(names) == len(marks["symbol"]) == warehouse.costs().height
    for (x, y, width), (other_x, other_y, other_width) in combinations(names, 2):
        is_beside = x + width <= other_x or other_x + other_width <= x
        assert is_beside or abs(y - other_y) >= 8
    for _, _, x, y in marks["text"]:
        assert min(hypot(x - px, y - py) for _, _, px, py in marks["symbol"]) < 40


def places(root: Element, kind: str) -> list[tuple[str, str, float, float]]:
    """Text, anchor and place of each mark of a kind that stands in the chart itself."""
    found = []
    for group in root.iter("{http://www.w3.org/2000/svg}g"):
        classes = group.get("class", "").split()
        if kind in classes and "role-mark" in classes:
            for mark in group:
                x, y = re.findall(r"-?[\d.]+", mark.attrib["transform"])[:2]
                found.append((mark.text or "", mark.get("text-anchor", ""), float(x), float(y)))
    return found


@pytest.mark.parametrize("what", WHAT)
def test_a_figure_is_eight_centimetres_wide(warehouse: Warehouse, what: str) -> None:
    root = ElementTree.fromstring(warehouse.figure(what).svg)
    assert float(root.attrib["width"]) == pytest.approx(302, abs=2)  # pixels of CSS


def test_a_page_of_pdf_is_eight_centimetres_wide(warehouse: Warehouse) -> None:
    found = re.search(rb"/MediaBox \[([^\]]*)\]", warehouse.figure("leaderboard").content(".pdf"))
    assert found is not None
    assert float(found[1].split()[2]) == pytest.approx(8 / 2.54 * 72, abs=2)  # points


def test_the_plan_is_the_one_that_is_asked_for(warehouse: Warehouse) -> None:
    plans = warehouse.table("scored_plans").filter(profile="spec").collect()
    row = plans.drop_nulls("structure_distance").sort("model", "scenario", "run").row(0, named=True)
    svg = warehouse.figure(
        "plan",
        models=[row["model"]],
        languages=[row["language"]],
        scenario=row["scenario"],
        run=row["run"],
        step=row["step_id"],
    ).svg
    assert "Workflows and what they wait for" in texts(svg)
    for word in ("in both", "missing", "extra", "changed"):
        assert word in texts(svg)
    with pytest.raises(SelectionError, match="no plan"):
        warehouse.figure("plan", scenario="nowhere")


def test_hostile_names_are_text(tmp_path: Path) -> None:
    warehouse = open_warehouse(hostile_warehouse(tmp_path))
    svg = warehouse.figure("leaderboard").svg
    tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(svg).iter()}
    assert "script" not in tags
    assert any("<script>" in text for text in texts(svg))


def test_wrong_calls_are_told(warehouse: Warehouse) -> None:
    with pytest.raises(SelectionError, match="there are leaderboard"):
        warehouse.figure("nothing")  # type: ignore[arg-type]
    with pytest.raises(SelectionError, match="figure of a plan"):
        warehouse.figure("pairs", scenario="1")
    with pytest.raises(PathError, match=r"\.svg, \.pdf, \.png"):
        require_figure_file(Path("board.jpg"))
    with pytest.raises(OrchbenchError, match=r"two models|no model"):
        warehouse.figure("pairs", models=["perfect"])


def test_costs_that_are_not_known_are_told() -> None:
    costs = pl.DataFrame(
        {"model": ["a"], "experiment": ["x"], "run_cost": [None], "average_score": [0.5],
         "front": ["off"]},
        schema_overrides={"run_cost": pl.Float64},
    )  # fmt: skip
    with pytest.raises(SelectionError, match="not known"):
        cost_figure(costs)
