"""The golden pack: the figures of all profiles, and what networkx has to do with them."""

import json
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from orchbench_analytics.engines import Here
from orchbench_analytics.profiles import BUILT_IN
from orchbench_analytics.score.plans import ged
from orchbench_analytics.score.plans.ged import Weights, exact_distance
from orchbench_analytics.score.plans.graphs import from_text
from orchbench_analytics.score.plans.score import prepare_plans
from orchbench_analytics.warehouse import Warehouse, open_warehouse
from tests.golden.pack import FIGURES, PACK, figures_of, golden_warehouse
from tests.oracle.distances import networkx_distance


@pytest.fixture(scope="module")
def warehouse(make_once) -> Warehouse:
    return open_warehouse(make_once("golden", golden_warehouse) / "warehouse")


def test_the_figures_are_what_they_were(warehouse: Warehouse) -> None:
    expected = json.loads(FIGURES.read_text(encoding="utf-8"))
    found = figures_of(warehouse)
    for view, rows in expected.items():
        assert len(found[view]) == len(rows)
        for row, wanted in zip(found[view], rows, strict=True):
            assert row == pytest.approx(wanted, abs=1e-12, nan_ok=False)
    assert {row["profile"] for row in expected["model_scores"]} == BUILT_IN.keys()


def test_upstream_asks_networkx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    measure = nx.graph_edit_distance

    def spy(*graphs: Any, **options: Any) -> float:
        asked.append(graphs)
        return float(measure(*graphs, **options))

    monkeypatch.setattr(nx, "graph_edit_distance", spy)
    ged._ask_networkx.cache_clear()
    warehouse = open_warehouse(tmp_path / "warehouse", engine=Here(), create=True)
    warehouse.ingest(PACK / "results", score=False)
    warehouse.score(profile="spec")
    assert len(asked) == 0  # the fast path, proven equal below
    warehouse.score(profile="upstream")

    assert len(asked) > 5  # pairs that networkx could measure as less
    assert all(any(graph.has_edge(n, n) for graph in pair for n in graph) for pair in asked)


def assert_definition_and_fast_path_agree(warehouse: Warehouse) -> int:
    pairs = prepare_plans(warehouse.table("plans").collect(), [*BUILT_IN.values()]).measured
    distinct = pairs.select("answer_graph", "label_graph").unique().sort("answer_graph")
    for texts in distinct.iter_rows():
        graphs = [from_text(text) for text in texts]
        exact = exact_distance(*graphs, Weights(0.8, 0.2))
        assert exact.is_exact
        assert exact.value == pytest.approx(networkx_distance(*graphs, Weights(0.8, 0.2)), abs=1e-9)
    return len(distinct)


def test_the_definition_and_the_fast_path_agree_on_every_pair(warehouse: Warehouse) -> None:
    assert assert_definition_and_fast_path_agree(warehouse) > 50


def test_they_agree_on_every_pair_of_the_conformance_pack(
    conformance_warehouse: Warehouse,
) -> None:
    assert assert_definition_and_fast_path_agree(conformance_warehouse) > 500
