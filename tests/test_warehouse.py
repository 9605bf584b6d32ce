"""The warehouse as people hold it in Python."""

import doctest
from pathlib import Path

import pytest

import orchbench_analytics
import orchbench_analytics.warehouse
from orchbench_analytics import OrchbenchError, open_warehouse
from orchbench_analytics.warehouse import Warehouse
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
    assert set(profiles["profile"]) == {"spec", "strict", "upstream"}
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
    assert warehouse.models().columns == ["model", "experiment", "language", "scenario_count"]


def test_the_example_of_the_docstring_works(make_once, monkeypatch, tmp_path: Path) -> None:
    (tmp_path / "orchbench-demo").symlink_to(make_once("demo", build_demo))
    monkeypatch.chdir(tmp_path)
    done = doctest.testmod(orchbench_analytics.warehouse)
    assert (done.failed, done.attempted > 1) == (0, True)
