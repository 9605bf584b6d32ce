"""The warehouse as people hold it in Python."""

import doctest
import inspect
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import orchbench_analytics
from orchbench_analytics import OrchbenchError, open_warehouse
from orchbench_analytics import warehouse as warehouse_module
from orchbench_analytics.cli.app import GROUPS
from orchbench_analytics.errors import PathError, SelectionError
from orchbench_analytics.warehouse import Warehouse
from tests import documents


@pytest.fixture(scope="module")
def warehouse(demo: Path) -> Warehouse:
    return open_warehouse(demo / "warehouse")


def test_the_package_offers_what_is_public() -> None:
    assert {"open_warehouse", "Warehouse", "OrchbenchError"} <= {*dir(orchbench_analytics)}


def test_a_missing_path_is_said_unless_it_is_to_be_made(tmp_path: Path) -> None:
    with pytest.raises(OrchbenchError, match="is not there"):
        open_warehouse(tmp_path / "nowhere")
    assert "not there yet" in repr(open_warehouse(tmp_path / "nowhere", create=True))
    assert not (tmp_path / "nowhere").exists()


def test_tables_and_views_are_read_alike(warehouse: Warehouse) -> None:
    assert isinstance(warehouse.table("steps"), pl.LazyFrame)
    assert isinstance(warehouse.table("leaderboard"), pl.LazyFrame)
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
    columns = ["model", "experiment", "language", "scenario_count", "scored_from"]
    assert warehouse.models().columns == columns


def test_a_single_name_or_path_is_one_where_several_are_expected(
    warehouse: Warehouse, demo: Path, tmp_path: Path
) -> None:
    compared = warehouse.compare("silent", "perfect", metrics="Plan")
    assert set(compared["metric"]) == {"workflow_similarity"}
    made = warehouse.report(tmp_path / "r.html", models="perf*", profiles="spec", jobs=1)
    assert made.model_count == 1
    assert len(warehouse.export(tmp_path / "x.duckdb", tables="leaderboard").relations) == 1
    with pytest.raises(OrchbenchError, match="no model 'nobody'"):
        warehouse.remove(models="nobody")
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

    (described,) = re.findall(r"^Args:\n((?: {4,}.+\n)+)", text, re.MULTILINE) or [""]
    assert re.findall(r"^ {4}(\w+): ", described, re.MULTILINE) == parameters
    assert re.search(r"^Returns:\n {4}\S", text, re.MULTILINE)
    assert ">>> " in text


def test_every_command_is_a_method() -> None:
    elsewhere = {"demo"}  # makes a warehouse
    commands = {name for names in GROUPS.values() for name in names}
    assert {*public_methods()} >= commands - elsewhere


def test_profiles_and_choices_are_named() -> None:
    named = {"profile", "profiles", "models", "experiments", "languages"}
    for method in public_methods().values():
        if method.__name__ != "profile":
            for parameter in inspect.signature(method).parameters.values():
                assert parameter.name not in named or parameter.kind is parameter.KEYWORD_ONLY


def test_a_relative_path_survives_a_change_of_directory(
    demo: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(demo)
    opened = open_warehouse("warehouse")
    table = opened.table("scenarios")
    monkeypatch.chdir(tmp_path)

    assert opened.leaderboard().height
    assert opened.sql("select count(*) as n from main.steps").item()
    assert table.collect().height


def test_home_is_expanded_and_addresses_are_refused(
    demo: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(demo))
    monkeypatch.chdir(tmp_path)
    assert open_warehouse("~/warehouse").leaderboard().height
    for address in ("file:/wh", "s3:/wh", "hdfs://host/wh", "", "a\udcff"):
        with pytest.raises(PathError):
            open_warehouse(address, create=True)
    assert [*tmp_path.iterdir()] == []
    with pytest.raises(PathError, match="is an address"):
        open_warehouse("~/warehouse").export("delta:s3:/out")


def test_a_name_with_two_meanings_is_refused_everywhere(tmp_path: Path) -> None:
    for model, experiment in (("a/b", "base"), ("a", "b"), ("c", "base")):
        path = documents.scenario_path(tmp_path / model.replace("/", "-") / experiment)
        documents.write(path, documents.runs_document())
        made = open_warehouse(tmp_path / "warehouse", create=True)
        root = path.parents[1]
        made.ingest(root, model=model, experiment=experiment, language="EN", jobs=1)

    for ask in (
        lambda: made.leaderboard(models="a/b"),
        lambda: made.leaderboard(models="a/b", intervals=True),
        lambda: made.compare("a/b", "c"),
        lambda: made.compare(models=["a/b", "c"]),
        lambda: made.drivers("c", "a/b"),
        lambda: made.gates("c", "a/b", ["Plan > 0"]),
        lambda: made.show("a/b"),
        lambda: made.results("a/b"),
        lambda: made.consistency(models="a/b"),
        lambda: made.audit(models="a/b"),
        lambda: made.report(tmp_path / "r.html", models="a/b"),
        lambda: made.remove(models="a/b"),
    ):
        with pytest.raises(SelectionError, match=r"'a/b' may mean model 'a/b' .* or model 'a' "):
            ask()
    assert made.models().height == 3
    assert made.show("a/b", experiments="b")["model"].to_list() == ["a"]
    assert made.show("a/b/base")["model"].to_list() == ["a/b"]
    assert set(made.compare(("a", "b"), "c")["baseline_model"]) == {"a"}
    assert made.remove(models="a/b", experiments="base", jobs=1) == ["a/b/base"]


def test_what_is_chosen_is_chosen_before_anything_is_computed(warehouse: Warehouse) -> None:
    graded = warehouse.leaderboard(models="graded-*")
    assert graded["rank_number"].to_list() == list(range(1, graded.height + 1))
    assert set(graded["sweep_scenario_count"]) == set(
        warehouse.leaderboard()["sweep_scenario_count"]
    )
    ranks = warehouse.leaderboard(models="graded-*", intervals=True)
    assert ranks["rank_high"].max() <= graded.height
    chosen = ["perfect", "graded-1", "silent"]
    pairs = warehouse.compare(models=chosen)
    assert pairs.height == 3
    among_all = warehouse.compare("perfect").filter(candidate_model="graded-1")
    alone = warehouse.compare("perfect", models=chosen).filter(candidate_model="graded-1")
    assert alone["p_value"].item() <= among_all["p_value"].item()
    english = warehouse.compare("perfect", "graded-1", languages="en")
    assert set(english["language"]) == {"EN"}
    spread = warehouse.consistency("spread", models="graded-*", languages="EN")
    assert not spread.equals(warehouse.consistency("spread").filter(language="EN"))


@pytest.mark.long
def test_the_examples_of_docstrings_work(
    demo: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    copied = tmp_path / "orchbench-demo"
    copied.mkdir()
    shutil.copytree(demo / "warehouse", copied / "warehouse")
    (copied / "results").symlink_to(demo / "results")
    (tmp_path / "sizes.csv").write_text("model,size\nperfect,70\ngraded-1,30\nsilent,7\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("webbrowser.open", lambda url: True)
    opened = open_warehouse("orchbench-demo/warehouse")

    done = doctest.testmod(warehouse_module, extraglobs={"warehouse": opened})

    assert done.failed == 0
    assert done.attempted >= len(public_methods())
