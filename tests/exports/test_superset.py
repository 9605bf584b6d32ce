"""The Superset bundle: whole, the same every time, and true in the databases that it points to."""

import json
import shutil
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import PathError, SelectionError
from orchbench_analytics.exports.superset import without_secret
from orchbench_analytics.metrics import METRICS
from orchbench_analytics.warehouse import Warehouse
from tests.exports.test_star import build_star, close

URI = "duckdb:////data/star.duckdb"


@pytest.fixture(scope="module")
def exported(make_once, demo: Warehouse) -> Path:
    return make_once("demo_star", lambda directory: build_star(demo, directory))


def documents(path: Path) -> dict[str, Any]:
    with zipfile.ZipFile(path) as bundle:
        return {name: yaml.safe_load(bundle.read(name)) for name in bundle.namelist()}


@pytest.fixture(scope="module")
def bundle(demo: Warehouse, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("bundle") / "superset.zip"
    demo.superset_bundle(path, uri=URI)
    return documents(path)


def of_kind(bundle: dict[str, Any], kind: str) -> list[Any]:
    return [content for name, content in bundle.items() if name.startswith(f"orchbench/{kind}/")]


def name_of(dataset: dict[str, Any]) -> str:
    """Its name without that of the database."""
    return str(dataset["table_name"]).removeprefix("star_")


def test_everything_refers_to_what_is_there(bundle: dict[str, Any]) -> None:
    databases, datasets = of_kind(bundle, "databases"), of_kind(bundle, "datasets")
    charts, (dashboard,) = of_kind(bundle, "charts"), of_kind(bundle, "dashboards")
    ids = [part["uuid"] for part in (*databases, *datasets, *charts, dashboard)]
    assert len(ids) == len(set(ids)) == 1 + 5 + 6 + 1
    assert {part["database_uuid"] for part in datasets} == {databases[0]["uuid"]}
    assert {part["dataset_uuid"] for part in charts} <= {part["uuid"] for part in datasets}
    placed = [part for part in dashboard["position"].values() if isinstance(part, dict)]
    shown = {part["meta"]["uuid"] for part in placed if part["type"] == "CHART"}
    assert shown == {part["uuid"] for part in charts}
    children = {child for part in placed for child in part.get("children", [])}
    assert children == dashboard["position"].keys() - {
        "ROOT_ID", "HEADER_ID", "DASHBOARD_VERSION_KEY",
    }  # fmt: skip
    assert {content["version"] for content in bundle.values()} == {"1.0.0"}


def test_charts_ask_for_what_their_datasets_have(bundle: dict[str, Any]) -> None:
    datasets = {part["uuid"]: part for part in of_kind(bundle, "datasets")}
    for chart in of_kind(bundle, "charts"):
        dataset = datasets[chart["dataset_uuid"]]
        (query,) = json.loads(chart["query_context"])["queries"]
        assert set(query["columns"]) <= {part["column_name"] for part in dataset["columns"]}
        assert set(query["metrics"]) <= {part["metric_name"] for part in dataset["metrics"]}
    for dataset in datasets.values():
        assert all(part["description"] for part in (*dataset["columns"], *dataset["metrics"]))


def test_every_query_and_metric_runs_and_loses_no_row(
    bundle: dict[str, Any], exported: Path
) -> None:
    facts = {
        "scenario_scores": "fact_scenario",
        "steps": "fact_step",
        "tools": "fact_step_tool",
        "plan_edits": "fact_plan_edit",
    }
    opened = sqlite3.connect(exported / "star.sqlite")
    with duckdb.connect(str(exported / "star.duckdb"), read_only=True) as star:
        for dataset in of_kind(bundle, "datasets"):
            query, name = dataset["sql"], name_of(dataset)
            measured = ", ".join(part["expression"] for part in dataset["metrics"])
            for engine in (star, opened):
                answer = engine.execute(f"select * from ({query}) as asked limit 1")
                columns = [part[0] for part in answer.description]
                assert columns == [part["column_name"] for part in dataset["columns"]]
                asked = engine.execute(f"select {measured}, count(*) from ({query}) as asked")
                (*figures, count) = asked.fetchone()
                assert None not in figures
                if name in facts:
                    assert engine.execute(f"select count(*) from {facts[name]}").fetchone() == (
                        count,
                    )
    opened.close()


def test_model_scores_are_the_warehouses(
    bundle: dict[str, Any], exported: Path, demo: Warehouse
) -> None:
    keys = ("profile", "model", "experiment", "language")
    names = ", ".join((*keys, *METRICS))
    wanted = demo.connect().sql(f"select {names} from model_scores order by 1, 2, 3, 4").fetchall()
    (dataset,) = (d for d in of_kind(bundle, "datasets") if name_of(d) == "model_scores")
    query = f"select {names} from ({dataset['sql']}) as asked order by 1, 2, 3, 4"
    opened = sqlite3.connect(exported / "star.sqlite")
    close(opened.execute(query).fetchall(), wanted, len(keys))
    opened.close()
    with duckdb.connect(str(exported / "star.duckdb"), read_only=True) as star:
        close(star.execute(query).fetchall(), wanted, len(keys))


def test_the_same_bundle_is_not_written_again(demo: Warehouse, tmp_path: Path) -> None:
    path = tmp_path / "superset.zip"
    assert not demo.superset_bundle(path, uri=URI).is_unchanged
    before = path.stat().st_mtime_ns
    assert demo.superset_bundle(path, uri=URI).is_unchanged
    assert path.stat().st_mtime_ns == before
    other = demo.superset_bundle(path, uri="postgresql://host/db", profile="strict")
    assert not other.is_unchanged
    (dashboard,) = of_kind(documents(path), "dashboards")
    profile = dashboard["metadata"]["native_filter_configuration"][0]
    assert profile["defaultDataMask"]["filterState"]["value"] == ["strict"]
    with pytest.raises(SelectionError, match="not scored under 'nope'"):
        demo.superset_bundle(path, uri=URI, profile="nope")


def test_a_password_is_left_for_superset_to_ask(demo: Warehouse, tmp_path: Path) -> None:
    uri = "postgresql+psycopg2://me:s3cret:@x@host:5432/db?options=-csearch_path%3Dbench"
    hidden = "postgresql+psycopg2://me:XXXXXXXXXX@host:5432/db?options=-csearch_path%3Dbench"
    summary = demo.superset_bundle(tmp_path / "superset.zip", uri=uri)
    assert summary.uri == hidden
    assert b"s3cret" not in b"".join(
        zipfile.ZipFile(tmp_path / "superset.zip").read(name)
        for name in zipfile.ZipFile(tmp_path / "superset.zip").namelist()
    )
    assert without_secret("duckdb:///star.duckdb") == "duckdb:///star.duckdb"


def test_what_is_not_a_bundle_is_refused(demo: Warehouse, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "mine.zip", "w") as mine:
        mine.writestr("mine.txt", "mine")
    with pytest.raises(PathError, match="already exists and is not"):
        demo.superset_bundle(tmp_path / "mine.zip", uri=URI)
    demo.superset_bundle(tmp_path / "ours.zip", uri=URI)
    with zipfile.ZipFile(tmp_path / "ours.zip", "a") as ours:
        ours.writestr("mine.txt", "mine")
    with pytest.raises(PathError, match="is not a bundle that orchbench wrote"):
        demo.superset_bundle(tmp_path / "ours.zip", uri=URI)
    with pytest.raises(PathError, match=r"name a FILE\.zip"):
        demo.superset_bundle(tmp_path / "superset", uri=URI)
    with pytest.raises(PathError, match="is not an address"):
        demo.superset_bundle(tmp_path / "superset.zip", uri="star.duckdb")
    with pytest.raises(PathError, match="say with --uri"):
        demo.export(tmp_path / "superset.zip")


def test_tags_come_along_and_never_hide_a_column(demo: Warehouse, tmp_path: Path) -> None:
    shutil.copytree(demo.path, tmp_path / "warehouse")
    warehouse = open_warehouse(tmp_path / "warehouse")
    (tmp_path / "tags.csv").write_text("model,Size,tool\nperfect,7,hammer\n", encoding="utf-8")
    warehouse.tag(tmp_path / "tags.csv")
    warehouse.superset_bundle(tmp_path / "superset.zip", uri=URI)
    for dataset in of_kind(documents(tmp_path / "superset.zip"), "datasets"):
        names = [part["column_name"] for part in dataset["columns"]]
        assert "Size" in names
        assert len(names) == len(set(names))
        if name_of(dataset) == "tools":
            assert 'dim_tool."tool"' in dataset["sql"]


def test_the_command_says_what_it_wrote(orchbench, demo: Warehouse, tmp_path: Path) -> None:
    target = tmp_path / "superset.zip"
    done = orchbench("export", demo.path, target, "--uri", URI)
    assert done.returncode == 0
    assert done.stderr.endswith(f"6 charts over 5 datasets of {URI}, written\n")
