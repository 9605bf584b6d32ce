"""A real browser without a network, reports to open in it, a Spark cluster, and warehouses."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

from orchbench_analytics import open_warehouse
from orchbench_analytics.warehouse import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WAIT = 60  # seconds for what a browser shows at last, on a machine that does much else
Found = TypeVar("Found")

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1400,1000",
)


def wait_until(browser: webdriver.Chrome, condition: Callable[[webdriver.Chrome], Found]) -> Found:
    """Wait for what a browser shows at last; an element that is drawn again is looked up again."""
    wait = WebDriverWait(browser, WAIT, ignored_exceptions=[StaleElementReferenceException])
    return wait.until(condition)  # type: ignore[return-value]  # falsy values are waited out


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.fail("chromium and chromedriver are needed; see: make test-services")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chrome = webdriver.Chrome(options=options, service=Service(driver))
    chrome.set_script_timeout(WAIT)
    chrome.execute_cdp_cmd("Network.enable", {})
    chrome.execute_cdp_cmd(
        "Network.emulateNetworkConditions",
        {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0},
    )
    yield chrome
    chrome.quit()


@pytest.fixture(scope="session")
def demo(demo: Path) -> Path:
    return demo / "warehouse"


@pytest.fixture(scope="session")
def page(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("page") / "report.html"
    return open_warehouse(demo).report(target, jobs=1).page


@pytest.fixture(scope="session")
def pack_warehouse(conformance_warehouse: Warehouse) -> Path:
    """A warehouse of the conformance pack."""
    return conformance_warehouse.path


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    from tests.services.spark import spark_cluster  # Superset is tested without Spark

    with spark_cluster(tmp_path_factory.mktemp("spark")) as started:
        yield started
