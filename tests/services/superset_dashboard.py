"""The bundle in a real Superset: imported over REST, asked for every figure, and looked at.

`make test-superset` runs this; it is not part of `make test-services`.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from orchbench_analytics import open_warehouse
from orchbench_analytics.exports.superset import TEMPLATE
from orchbench_analytics.metrics import HEADLINE, METRICS
from orchbench_analytics.warehouse import Warehouse
from tests.services.conftest import FLAGS
from tests.services.postgres import postgres_server, server_programs
from tests.services.superset_server import PASSWORD, USER, Superset, superset_server

CHARTS = yaml.safe_load(TEMPLATE.read_bytes())["charts"]
PROGRAM = Path(os.environ["SUPERSET"])
PICTURE = Path(os.environ.get("SUPERSET_PICTURE", tempfile.gettempdir() + "/superset.png"))
KEYS = ("model", "experiment", "language")
_DRAWN = """
const holders = document.querySelectorAll('[data-test="dashboard-component-chart-holder"]');
return [...holders].filter(holder => holder.querySelector('canvas, table')).length;
"""


@pytest.fixture(scope="module")
def superset(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Superset]:
    with superset_server(PROGRAM, tmp_path_factory.mktemp("superset")) as running:
        yield running


@pytest.fixture(scope="module")
def warehouse(demo: Path) -> Warehouse:
    return open_warehouse(demo)


@pytest.fixture(scope="module", params=["duckdb", "postgres"])
def uri(
    request: pytest.FixtureRequest, warehouse: Warehouse, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """A star in a database, by the address that Superset has for it."""
    if request.param == "duckdb":
        path = tmp_path_factory.mktemp("star") / "star.duckdb"
        warehouse.export(path, star=True)
        yield f"duckdb:///{path}"
        return
    programs = server_programs()
    if programs is None:
        pytest.skip("Postgres is not installed; make test-services installs it")
    with postgres_server(programs) as server:
        warehouse.export(server, star=True)
        yield server


@pytest.fixture(scope="module")
def charts(
    superset: Superset, uri: str, warehouse: Warehouse, tmp_path_factory: Any
) -> dict[str, Any]:
    """The charts of the imported bundle, by title."""
    bundle = tmp_path_factory.mktemp("bundle") / "superset.zip"
    warehouse.superset_bundle(bundle, uri=uri)
    superset.upload("/api/v1/dashboard/import/", "formData", bundle)
    superset.upload("/api/v1/assets/import/", "bundle", bundle)  # as a later version would be
    newest = max(board["id"] for board in superset.get("/api/v1/dashboard/")["result"])
    found = superset.get(f"/api/v1/dashboard/{newest}/charts")["result"]
    return {"dashboard": newest} | {chart["slice_name"]: chart for chart in found}


def rows(
    superset: Superset, chart: dict[str, Any], columns: list[str], measures: list[str], profile: str
) -> list[dict[str, Any]]:
    """What the dataset of a chart answers under a profile."""
    number, kind = chart["form_data"]["datasource"].split("__")
    query = {
        "columns": columns,
        "metrics": measures,
        "filters": [{"col": "profile", "op": "IN", "val": [profile]}],
        "row_limit": 50_000,
    }
    datasource = {"id": int(number), "type": kind}
    asked = {"datasource": datasource, "queries": [query], "result_type": "full", "force": True}
    answer: list[dict[str, Any]] = superset.post("/api/v1/chart/data", asked)["result"][0]["data"]
    return answer


def expected(warehouse: Warehouse, view: str, columns: list[str], profile: str) -> dict[Any, Any]:
    """The same from a view of the warehouse: figures by key."""
    frame = warehouse.table(view).collect()
    kept = frame.filter(frame["profile"] == profile).select(columns).rows()
    count = sum(name not in METRICS for name in columns)
    return {row[:count]: row[count:] for row in kept}


def keyed(found: list[dict[str, Any]], keys: list[str], measures: list[str]) -> dict[Any, Any]:
    return {tuple(r[key] for key in keys): tuple(r[name] for name in measures) for r in found}


def same(found: dict[Any, Any], wanted: dict[Any, Any]) -> None:
    assert found.keys() == wanted.keys()
    assert found
    for key, figures in wanted.items():
        for got, figure in zip(found[key], figures, strict=True):
            assert got == figure if figure is None else got == pytest.approx(figure, abs=1e-12)


@pytest.mark.parametrize("profile", ["spec", "strict", "upstream"])
@pytest.mark.parametrize("chart", ["Leaderboard", "Languages"])
def test_every_metric_is_that_of_model_scores(
    superset: Superset, charts: Any, warehouse: Warehouse, chart: str, profile: str
) -> None:
    found = rows(superset, charts[chart], [*KEYS], [*METRICS], profile)
    wanted = expected(warehouse, "model_scores", [*KEYS, *METRICS], profile)
    same(keyed(found, [*KEYS], [*METRICS]), wanted)


@pytest.mark.parametrize("profile", ["spec", "strict", "upstream"])
def test_the_leaderboard_is_the_leaderboard(
    superset: Superset, charts: Any, warehouse: Warehouse, profile: str
) -> None:
    keys = ["model", "experiment"]
    found = rows(superset, charts["Leaderboard"], keys, [*HEADLINE], profile)
    wanted = expected(warehouse, "leaderboard", [*keys, *HEADLINE], profile)
    same(keyed(found, keys, [*HEADLINE]), wanted)


def test_every_chart_has_data_of_its_own(superset: Superset, charts: Any) -> None:
    for chart in CHARTS:
        title = chart["slice_name"]
        answer = superset.get(f"/api/v1/chart/{charts[title]['id']}/data/")["result"][0]
        assert answer["rowcount"] > 0, title
        asked = [*chart["columns"], *chart["metrics"]]
        names = (HEADLINE if name == "${headline}" else (name,) for name in asked)
        assert {name for several in names for name in several} == set(answer["colnames"])


def test_confusion_tools_and_costs_are_those_of_the_views(
    superset: Superset, charts: Any, warehouse: Warehouse
) -> None:
    connection = warehouse.connect()
    for title, columns, measures, view in (
        ("Confusion matrix", [*KEYS, "actual", "predicted"], ["step_count"], "confusion_matrix"),
        ("Tools", [*KEYS, "tool"], ["tool_precision", "tool_recall", "tool_f1"], "tool_scores"),
        ("Plan errors", [*KEYS, "graph", "kind"], ["edit_count"], "plan_error_kinds"),
        ("Cost against score", [*KEYS], ["mean_run_cost"], "score_costs"),
    ):
        found = keyed(rows(superset, charts[title], columns, measures, "spec"), columns, measures)
        asked = ", ".join((*columns, *measures))
        wanted = connection.sql(f"select {asked} from {view} where profile = 'spec'").fetchall()
        n = len(columns)
        # A step that does not count has a decision all the same.
        same({k: v for k, v in found.items() if v != (0,)}, {r[:n]: r[n:] for r in wanted})


def test_the_dashboard_opens_and_shows_every_chart(
    superset: Superset, charts: Any, uri: str, tmp_path: Path
) -> None:
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for flag in (*FLAGS, f"--user-data-dir={tmp_path}", "--window-size=1600,1650"):
        options.add_argument(flag)
    with webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver")) as browser:
        wait = WebDriverWait(browser, 180)
        browser.get(f"{superset.address}/login/")
        wait.until(lambda page: page.find_elements(By.CSS_SELECTOR, "input[type=password]"))
        browser.find_element(By.CSS_SELECTOR, "#username, [type=text]").send_keys(USER)
        browser.find_element(By.CSS_SELECTOR, "input[type=password]").send_keys(f"{PASSWORD}\n")
        wait.until(lambda page: "/login" not in page.current_url)
        browser.get(f"{superset.address}/superset/dashboard/{charts['dashboard']}/?standalone=1")
        wait.until(lambda page: page.execute_script(_DRAWN) == len(CHARTS))
        time.sleep(3)  # for charts to grow to their full size
        text = browser.find_element(By.TAG_NAME, "body").text
        browser.save_screenshot(str(PICTURE.with_stem(f"{PICTURE.stem}-{uri.split(':')[0]}")))
    assert all(chart["slice_name"] in text for chart in CHARTS)
    assert "error" not in text.replace("Plan errors", "").lower()
    assert "1.000" in text  # the best model's average
