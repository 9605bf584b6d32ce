"""The warehouse as people hold it in Python."""

import doctest
import inspect
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import orchbench_analytics
from orchbench_analytics import OrchbenchError, open_warehouse
from orchbench_analytics import warehouse as warehouse_room
from orchbench_analytics.warehouse import Warehouse, differences, exports, rows, scores
from tests.conftest import MakeOnce
from tests.sample_sweep import build_demo


@pytest.fixture(scope="module")
def warehouse(make_once) -> Warehouse:
    return open_warehouse(make_once("demo", build_demo) / "warehouse")


def test_the_package_offers_what_is_public() -> None:
    assert {"open_warehouse", "Warehouse", "OrchbenchError"} <= {*dir(orchbench_analytics)}


def test_a_missing_path_is_said_unless_it_is_to_be_made(tmp_path: Path) -> None:
    with pytest.raises(OrchbenchError, match="is not there"):
        open_warehouse(tmp_path / "nowhere")
    assert "not there yet" in repr(open_warehouse(tmp_path / "nowhere", create=True))
    assert not (tmp_path / "nowhere").exists()


def test_a_view_is_pointed_to_where_a_table_is_asked_for(warehouse: Warehouse) -> None:
    with pytest.raises(OrchbenchError, match=r"view\('leaderboard'\)"):
        warehouse.table("leaderboard")
    with pytest.raises(OrchbenchError, match="there are sources"):
        warehouse.table("nope")


def test_profiles_and_tags_are_tables_like_all_others(warehouse: Warehouse) -> None:
    profiles = warehouse.table("profiles").collect()
    assert set(profiles["profile"]) == {"spec", "strict", "upstream", "reported"}
    assert warehouse.table("model_tags").collect().columns == ["model", "experiment"]


def test_a_warehouse_shows_what_it_holds(warehouse: Warehouse) -> None:
    for portrait in (repr(warehouse), warehouse._repr_html_()):
        for word in ("perfect", "EN, KO", "spec, strict, upstream", "input files"):
            assert word in portrait


def test_names_in_html_are_escaped(tmp_path: Path) -> None:
    made = open_warehouse(tmp_path / "<b>", create=True)
    assert "<b>" not in made._repr_html_()


def test_sources_and_models_are_frames(warehouse: Warehouse) -> None:
    assert set(warehouse.sources()["status"]) <= {"taken", "ignored", "refused"}
    columns = ["model", "experiment", "language", "scenario_count", "scored_from"]
    assert warehouse.models().columns == columns


def test_a_single_name_or_path_is_one_where_several_are_expected(
    warehouse: Warehouse, make_once: MakeOnce, tmp_path: Path
) -> None:
    compared = warehouse.compare("silent", "perfect", metrics="Plan")
    assert set(compared["metric"]) == {"workflow_similarity"}
    assert warehouse.report(tmp_path / "r.html", models="perf*", jobs=1).model_count == 1
    assert len(warehouse.export(tmp_path / "x.duckdb", relations="leaderboard").relations) == 1
    with pytest.raises(OrchbenchError, match="no model 'nobody'"):
        warehouse.remove(models="nobody")
    demo = make_once("demo", build_demo)
    added = open_warehouse(tmp_path / "w", create=True)
    added.ingest(demo / "results" / "perfect", agent_cards=str(demo / "agent_cards"), jobs=1)
    assert added.table("tool_parameters").collect().height


def public_methods() -> dict[str, Callable[..., Any]]:
    members = inspect.getmembers(Warehouse, inspect.isfunction)
    return {name: method for name, method in members if not name.startswith("_")}


@pytest.mark.parametrize("name", public_methods())
def test_a_method_says_what_it_takes_and_returns(name: str) -> None:
    method = public_methods()[name]
    text = inspect.getdoc(method) or ""
    parameters = [name for name in inspect.signature(method).parameters if name != "self"]

    assert re.findall(r"^(\w+): ", text, re.MULTILINE) == parameters
    assert re.search(r"^Returns ", text, re.MULTILINE)
    assert ">>> " in text


@pytest.mark.parametrize("module", [rows, scores, differences, exports, warehouse_room])
def test_the_examples_of_docstrings_work(
    module: ModuleType, make_once: MakeOnce, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    demo = tmp_path / "orchbench-demo"
    demo.mkdir()
    built = make_once("demo", build_demo)
    shutil.copytree(built / "warehouse", demo / "warehouse")
    (demo / "results").symlink_to(built / "results")
    (tmp_path / "sizes.csv").write_text("model,size\nperfect,70\ngraded-1,30\nsilent,7\n")
    monkeypatch.chdir(tmp_path)
    opened = open_warehouse("orchbench-demo/warehouse")

    done = doctest.testmod(module, extraglobs={"warehouse": opened})

    own = [m for m in public_methods().values() if m.__module__ == module.__name__]
    assert done.failed == 0
    assert done.attempted >= len(own) > 2
