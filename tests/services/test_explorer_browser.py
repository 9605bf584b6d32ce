"""The explorer in a real browser: first paint, SQL, search, news, and nothing to complain of."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from signal import SIGINT

import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By

from orchbench_analytics import open_warehouse
from tests.pages.test_report import HOSTILE, hostile_warehouse
from tests.services.conftest import WAIT, wait_until
from tests.services.test_pages_browser import complaints, heading, settle, violations


@pytest.fixture(scope="module")
def online(browser: Chrome) -> Iterator[Chrome]:
    """The browser with a network, for as long as these tests take."""

    def connect(*, is_offline: bool) -> None:
        browser.execute_cdp_cmd(
            "Network.emulateNetworkConditions",
            {"offline": is_offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1},
        )

    connect(is_offline=False)
    yield browser
    connect(is_offline=True)


def serving(warehouse: Path) -> Iterator[str]:
    """The address of an explorer of a warehouse, which ends afterwards."""
    command = [sys.executable, "-m", "orchbench_analytics", "view", str(warehouse), "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        yield run.stdout.readline().strip()
        run.send_signal(SIGINT)
        run.wait(WAIT)


@pytest.fixture(scope="module")
def address(demo: Path) -> Iterator[str]:
    yield from serving(demo)


def open_view(browser: Chrome, address: str, hash_: str = "#/") -> None:
    browser.get("about:blank")
    browser.get(address + hash_)
    wait_until(browser, lambda found: "/pieces" not in found.current_url)
    settle(browser)


def wait_for(browser: Chrome, selector: str) -> str:
    """The text of the first element that fits, once there is one; read at once, as it may go."""
    script = "return document.querySelector(arguments[0])?.innerText ?? ''"
    return str(wait_until(browser, lambda b: b.execute_script(script, selector)))


def run_query(browser: Chrome, query: str) -> None:
    box = browser.find_element(By.ID, "query")
    box.clear()
    box.send_keys(query)
    box.send_keys(Keys.ESCAPE)
    browser.find_element(By.ID, "run").click()


def test_the_first_page_is_the_leaderboard(online: Chrome, address: str) -> None:
    complaints(online)
    open_view(online, address)
    assert heading(online) == "Leaderboard"
    assert len(online.find_elements(By.CSS_SELECTOR, "main tbody tr")) == 9
    assert complaints(online) == []


@pytest.mark.parametrize(
    "hash_",
    ["#/decisions", "#/compare/graded-1/baseline/graded-2/baseline", "#/model/graded-2/baseline"],
)
def test_pieces_come_when_they_are_asked_for(online: Chrome, address: str, hash_: str) -> None:
    complaints(online)
    open_view(online, address, hash_)
    assert heading(online) not in ("Nothing here", "This cannot be shown")
    assert complaints(online) == []


def test_a_query_gives_a_table_a_chart_and_a_file(online: Chrome, address: str) -> None:
    open_view(online, address, "#/sql")
    run_query(online, "select model, average_score from main.leaderboard where profile = 'spec'")
    assert "perfect" in wait_for(online, ".result table")
    assert len(online.find_elements(By.CSS_SELECTOR, ".result tbody tr")) >= 9
    online.find_element(By.CSS_SELECTOR, ".chart summary").click()
    assert "average_score" in wait_for(online, ".chart .bars caption")
    assert "query=" in online.current_url  # so that a reload finds it again


def test_a_query_that_writes_is_refused_in_words(online: Chrome, address: str) -> None:
    open_view(online, address, "#/sql")
    run_query(online, "drop view main.steps")
    assert "may only read" in wait_for(online, ".result .wrong")


def test_names_are_completed(online: Chrome, address: str) -> None:
    open_view(online, address, "#/sql")
    box = online.find_element(By.ID, "query")
    box.clear()
    box.send_keys("from main.leaderb")
    assert wait_for(online, "#completions:not([hidden]) li") == "main.leaderboard"
    box.send_keys(Keys.TAB)
    assert box.get_property("value") == "from main.leaderboard"


def test_a_table_is_told_by_its_name_once(online: Chrome, address: str) -> None:
    open_view(online, address, "#/sql")
    summary = wait_for(online, "main details:not(.chart) summary")
    assert summary == "main.sources One row per input file."


def test_rules_say_how_the_explorer_shows_them(online: Chrome, address: str) -> None:
    open_view(online, address, "#/rules")
    assert "orchbench view DIR --audit" in wait_for(online, "main > .note")


def test_search_leads_to_the_step(online: Chrome, address: str) -> None:
    open_view(online, address, "#/search")
    box = online.find_element(By.ID, "search")
    box.send_keys("NAME", Keys.ENTER)
    marked = wait_for(online, ".snippet mark")
    assert marked.lower() == "name"
    online.find_element(By.CSS_SELECTOR, ".answers-found a").click()
    wait_until(online, lambda b: "/step/" in b.current_url)
    settle(online)
    assert heading(online) not in ("Nothing here", "This cannot be shown")


def test_hostile_answers_are_text(online: Chrome, tmp_path: Path) -> None:
    complaints(online)
    for address in serving(hostile_warehouse(tmp_path)):
        open_view(online, address, "#/search?text=alert")
        assert "alert" in wait_for(online, ".snippet")
        open_view(online, address, "#/sql")
        run_query(online, "select answer_content from main.steps")
        assert HOSTILE[:20] in wait_for(online, ".result table")
        assert complaints(online) == []
        assert not online.find_elements(By.CSS_SELECTOR, "main img, main script")


def test_new_results_are_a_button_away(online: Chrome, demo: Path, tmp_path: Path) -> None:
    results, later = tmp_path / "results", tmp_path / "silent"
    shutil.copytree(demo.parent / "results", results)
    shutil.move(results / "silent", later)
    warehouse = open_warehouse(tmp_path / "warehouse", create=True)
    warehouse.ingest(results, jobs=1)
    for address in serving(warehouse.path):
        open_view(online, address)
        assert len(online.find_elements(By.CSS_SELECTOR, "main tbody tr")) == 8
        shutil.move(later, results / "silent")
        assert "not in the warehouse yet" in wait_for(online, ".news:not([hidden]) span")
        warehouse.ingest(results, jobs=1)
        wait_for(online, "#refresh")
        online.find_element(By.ID, "refresh").click()
        wait_until(online, lambda b: len(b.find_elements(By.CSS_SELECTOR, "main tbody tr")) == 9)


@pytest.mark.parametrize("hash_", ["#/", "#/sql?query=from main.profiles", "#/search?text=name"])
def test_axe_finds_nothing(online: Chrome, address: str, hash_: str) -> None:
    open_view(online, address, hash_.replace(" ", "%20"))
    if "sql" in hash_:
        wait_for(online, ".result table")
    assert violations(online) == []
