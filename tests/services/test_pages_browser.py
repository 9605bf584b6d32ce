"""The report in a real browser: from a file, without a network, with nothing to complain of."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.expected_conditions import staleness_of

from orchbench_analytics import open_warehouse
from orchbench_analytics.engines import Here
from orchbench_analytics.metrics import HEADLINE, METRICS
from orchbench_analytics.pages.report import ReportOptions, make_report
from orchbench_analytics.store.manifest import load_manifest
from tests import documents
from tests.pages.test_report import pieces
from tests.pages.unpack import frame_of_columns
from tests.services.conftest import wait_until
from tests.sweep import write_sweep

VIEWS = (
    "#/",
    "#/differences",
    "#/decisions",
    "#/tools",
    "#/plans",
    "#/consistency",
    "#/cost",
    "#/rules",
    "#/scenarios",
    "#/compare",
    "#/compare/graded-1/baseline/graded-2/baseline",
    "#/model/graded-2/baseline",
    "#/model/graded-2/baseline/steps",
    "#/model/graded-2/baseline/plans",
)
Open = Callable[..., None]


@pytest.fixture
def open_page(browser: Chrome, page: Path) -> Open:
    def open_(hash_: str = "#/", file: Path = page) -> None:
        browser.get("about:blank")
        browser.get(file.as_uri() + hash_)
        settle(browser)

    return open_


def settle(browser: Chrome) -> None:
    script = "return document.querySelector('main')?.dataset.address === location.hash"
    wait_until(browser, lambda found: found.execute_script(script))


def follow(browser: Chrome, selector: str) -> str:
    """Click the first link that fits, and say which heading it leads to."""
    link = browser.find_element(By.CSS_SELECTOR, selector)
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", link)
    link.click()
    wait_until(browser, staleness_of(link))
    settle(browser)
    return heading(browser)


def heading(browser: Chrome) -> str:
    """The heading of the view, read at once: between two calls another view may be drawn."""
    return str(browser.execute_script("return document.querySelector('h1')?.textContent ?? ''"))


def complaints(browser: Chrome) -> list[str]:
    return [entry["message"] for entry in browser.get_log("browser")]


def requests(browser: Chrome) -> list[str]:
    """The addresses that anything asked for, files and data inside the page apart."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [e["params"] for e in events if e["method"] == "Network.requestWillBeSent"]
    urls = [event["request"]["url"] for event in asked]
    return [url for url in urls if not url.startswith(("file:", "data:", "about:"))]


def violations(browser: Chrome) -> list[tuple[str, list[str]]]:
    """What axe finds wrong with the view: rules, and the elements that break them."""
    axe = os.environ.get("AXE")
    if not axe:
        pytest.skip("AXE does not say where axe-core is; see: make test-services")
    script = Path(axe).read_text(encoding="utf-8")
    browser.execute_cdp_cmd("Runtime.evaluate", {"expression": script})
    found = browser.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
    return [(v["id"], [node["html"][:160] for node in v["nodes"][:3]]) for v in found["violations"]]


def test_requests_and_complaints_would_be_seen(browser: Chrome, open_page: Open) -> None:
    address = "http://127.0.0.1:9/x"
    complaints(browser), requests(browser)

    browser.get("about:blank")
    browser.execute_script("fetch(arguments[0], {mode: 'no-cors'}).catch(() => 0)", address)
    wait_until(browser, lambda found: address in requests(found))
    open_page()
    browser.execute_script("new Image().src = arguments[0]", address)

    wait_until(browser, complaints)  # the page's own policy stops it
    assert requests(browser) == [address]


@pytest.mark.parametrize("hash_", VIEWS)
def test_every_view_opens_without_a_request_or_complaint(
    browser: Chrome, open_page: Open, hash_: str
) -> None:
    complaints(browser), requests(browser)

    open_page(hash_)

    assert heading(browser) not in ("Nothing here", "This cannot be shown")
    assert complaints(browser) == []
    assert requests(browser) == []


def test_every_link_of_the_leaderboard_is_reached(browser: Chrome, open_page: Open) -> None:
    open_page()
    links = browser.execute_script(
        "return [...document.querySelectorAll('main tbody tr')].flatMap(row =>"
        " [...row.querySelectorAll('a')].map(a => [row.querySelector('.model a').textContent,"
        " a.getAttribute('href')]))"
    )

    assert len(links) == 9 * 5  # the model and its four figures
    for model, address in links:
        browser.execute_script("location.hash = arguments[0]", address)
        settle(browser)
        assert model in heading(browser), address


def board_cells(browser: Chrome) -> dict[tuple[str, str], dict[str, str]]:
    """What stands on the leaderboard, by model and experiment and then by heading."""
    heads, rows = browser.execute_script(
        "const cells = (row, of) => [...row.cells].map(cell =>"
        " (cell.querySelector(of) ?? cell).textContent.trim());"
        "return [cells(document.querySelector('main thead tr'), 'button'),"
        " [...document.querySelectorAll('main tbody tr')].map(row =>"
        " cells(row, '.model a, .rank'))]"
    )
    named = [dict(zip(heads, row, strict=True)) for row in rows]
    return {(row["Model"], row.get("Experiment", "")): row for row in named}


@pytest.mark.parametrize("language", ["mean", "EN", "KO"])
def test_figures_on_screen_are_the_views(
    browser: Chrome, open_page: Open, demo: Path, language: str
) -> None:
    ranks = open_warehouse(demo).table("language_ranks").filter(language=language).collect()
    for profile in ("spec", "strict", "upstream"):
        chosen = "" if language == "mean" else f"&language={language}"
        open_page(f"#/?profile={profile}{chosen}")
        shown = board_cells(browser)
        own = ranks.filter(profile=profile)

        assert len(shown) == len(own)
        for row in own.iter_rows(named=True):
            expected = {
                **{METRICS[name].label: f"{100 * row[name]:.1f}" for name in HEADLINE},
                "Rank": "–" if row["rank_number"] is None else str(row["rank_number"]),
            }
            cells = shown[row["model"], row["experiment"]]
            assert {head: cells[head] for head in expected} == expected


def test_a_score_tells_four_digits_on_hover(browser: Chrome, open_page: Open, demo: Path) -> None:
    open_page()
    best = open_warehouse(demo).leaderboard(profile="spec").row(1, named=True)

    titles = browser.execute_script(
        "return [...document.querySelectorAll('main tbody tr:nth-child(2) a.plain')]"
        ".map(link => link.title)"
    )

    assert titles == [f"{best[name]:.4f}" for name in HEADLINE]


def test_a_comparison_shows_the_interval_of_its_verdict(
    browser: Chrome, open_page: Open, page: Path
) -> None:
    pairs = frame_of_columns(pieces(page)["comparisons"]["pairs"])
    for language in ("mean", "KO"):
        for profile in ("spec", "upstream"):
            chosen = "" if language == "mean" else f"&language={language}"
            pair = "#/compare/graded-1/baseline/graded-2/baseline"
            open_page(f"{pair}?profile={profile}{chosen}")
            shown = browser.execute_script(
                "return [...document.querySelector('main tbody').rows].map(row =>"
                " [...row.cells].slice(0, 4).map(cell =>"
                " (cell.querySelector('.badge, .quiet') ?? cell).textContent))"
            )
            rows = pairs.filter(
                profile=profile, language=language, baseline_model="graded-1",
                candidate_model="graded-2", candidate_experiment="baseline",
            )  # fmt: skip
            assert [tuple(cells) for cells in shown] == [
                (
                    METRICS[row["metric"]].label, signed(row["difference"]), row["verdict"],
                    "–"
                    if row["low"] is None  # too little data
                    else f"{signed(row['low'])} to {signed(row['high'])}",
                )
                for row in rows.iter_rows(named=True)
            ]  # fmt: skip
            assert ("in KO" if chosen else "over all languages") in text(browser)


def signed(value: float) -> str:
    rounded = f"{100 * value:.1f}"
    return (f"+{rounded}" if value > 0 else rounded).replace("-", "−")


def text(browser: Chrome) -> str:
    return browser.find_element(By.TAG_NAME, "main").text


def test_the_user_speaks_first_on_a_step(browser: Chrome, open_page: Open, tmp_path: Path) -> None:
    write_sweep(tmp_path, models=6, scenarios=1, runs=1)
    warehouse = open_warehouse(tmp_path / "w", create=True)
    warehouse.ingest(tmp_path / "results", jobs=1)
    file = warehouse.report(tmp_path / "r.html", jobs=1).page
    open_page("#/model/format-breaker/baseline/steps?actual=call", file)

    follow(browser, "main tbody th a")

    headings = [found.text for found in browser.find_elements(By.CSS_SELECTOR, "main h2")]
    assert headings[:2] == ["Asked", "Label and answer"]
    assert browser.find_element(By.CSS_SELECTOR, ".asked-text").text
    rows = browser.find_elements(By.CSS_SELECTOR, ".differences tbody tr")
    marked = browser.find_elements(By.CSS_SELECTOR, ".differences tr:has(mark)")
    assert 0 < len(marked) <= len(rows)


def test_a_call_that_was_written_as_text_stands_beside_its_label(
    browser: Chrome, open_page: Open, demo: Path
) -> None:
    steps = (
        open_warehouse(demo)
        .table("scored_steps")
        .filter(profile="spec", model="text-writer", call_source="content", value_f1=1.0)
    )
    row = steps.sort("language", "scenario", "run", "step_id").collect().row(0, named=True)
    run, step = quote(row["run"]), quote(row["step_id"])
    scenario = f"#/model/text-writer/{row['experiment']}/scenario/{row['language']}"

    open_page(f"{scenario}/{row['scenario']}/run/{run}/step/{step}")

    label, answer = (
        [cell.text for cell in browser.find_elements(By.CSS_SELECTOR, f".differences td{place}")]
        for place in (":nth-of-type(1)", ":nth-of-type(2)")
    )
    assert label == answer
    assert label[0] == json.loads(row["label_tools"])[0]
    assert not browser.find_elements(By.CSS_SELECTOR, ".differences mark, .differences .bad")


def test_lines_of_plans_that_differ_are_marked(browser: Chrome, open_page: Open) -> None:
    open_page("#/model/format-breaker/baseline/plans?kind=missing_workflow")
    follow(browser, "main tbody th a")

    assert browser.find_elements(By.CSS_SELECTOR, ".side pre mark")


def test_intervals_have_an_axis_and_outliers_an_arrow(browser: Chrome, open_page: Open) -> None:
    open_page()

    ticks = browser.find_elements(By.CSS_SELECTOR, "main thead .axis text")
    widths = browser.execute_script(
        "return [...document.querySelectorAll('main tbody .span')].map(s => s.getBBox().width)"
    )

    assert len(ticks) >= 3
    assert sorted(widths)[len(widths) // 2] > 10
    silent = browser.find_element(By.XPATH, "//main//tr[.//a='silent']")
    assert silent.find_elements(By.CSS_SELECTOR, "path.point")
    assert browser.find_elements(By.CSS_SELECTOR, "tr.new-tier")


def test_back_finds_the_view_as_it_was(browser: Chrome, open_page: Open) -> None:
    open_page("#/model/format-breaker/baseline/steps")
    browser.find_element(By.CSS_SELECTOR, "input.filter").send_keys("run #1")
    browser.find_element(By.XPATH, "//main//th/button[text()='Wanted']").click()
    browser.execute_script("document.querySelector('.long').scrollTo(0, 300); scrollTo(0, 120)")
    state = (
        "return [document.querySelector('.filter').value, scrollY,"
        " document.querySelector('.long').scrollTop,"
        " document.querySelector('[aria-sort=ascending], [aria-sort=descending]').textContent,"
        " document.querySelectorAll('main tbody tr').length]"
    )
    wait_until(browser, lambda found: found.execute_script(state)[1:3] == [120, 300])
    # The page hears of a scroll before the next frame is drawn.
    frame = "requestAnimationFrame(() => requestAnimationFrame(arguments[0]))"
    browser.execute_async_script(frame)
    before = browser.execute_script(state)
    browser.execute_script("location.hash = '#/decisions'")
    settle(browser)
    assert browser.execute_script("return scrollY") == 0

    browser.back()
    settle(browser)

    assert browser.execute_script(state) == before


def test_focus_goes_to_the_heading_and_few_tabs_reach_a_model(
    browser: Chrome, open_page: Open
) -> None:
    open_page("#/decisions")
    browser.execute_script("location.hash = '#/'")
    settle(browser)
    assert browser.switch_to.active_element.tag_name == "h1"

    tabs = 0
    while not browser.execute_script("return document.activeElement.closest('.model') !== null"):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        tabs += 1
    assert tabs <= 9  # three sentences, three choices, the table, its head, the model


def test_heads_stay_on_long_tables(browser: Chrome, open_page: Open) -> None:
    open_page("#/model/format-breaker/baseline/steps")
    browser.execute_script("document.querySelector('.long').scrollTo(0, 800)")

    gap = browser.execute_script(
        "const part = document.querySelector('.long');"
        "return part.querySelector('th').getBoundingClientRect().top"
        " - part.getBoundingClientRect().top"
    )

    assert abs(gap) < 3


def test_a_long_name_leaves_the_metrics_in_reach(
    browser: Chrome, open_page: Open, tmp_path: Path
) -> None:
    for model in ("m" * 135, "other"):
        path = documents.scenario_path(tmp_path / "results", model=model)
        documents.write(path, documents.runs_document({"run #1": documents.run()}))
    warehouse = open_warehouse(tmp_path / "w", create=True)
    warehouse.ingest(tmp_path / "results", jobs=1)

    open_page("#/", warehouse.report(tmp_path / "r.html", jobs=1).page)

    end = browser.execute_script(
        "const heads = [...document.querySelectorAll('main thead th')];"
        "return heads.at(-1).getBoundingClientRect().right"
    )
    assert end <= 1400


def test_bars_are_aligned(browser: Chrome, open_page: Open) -> None:
    open_page("#/scenarios")

    starts = browser.execute_script(
        "return [...document.querySelectorAll('td.bar-cell .share')]"
        ".map(bar => Math.round(bar.getBoundingClientRect().left))"
    )

    assert len(starts) > 3
    assert len(set(starts)) == 1


def test_a_phone_shows_the_active_tab(browser: Chrome, open_page: Open) -> None:
    metrics = {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        open_page("#/scenarios")
        right = browser.execute_script(
            "return document.querySelector('.sections [aria-current]')"
            ".getBoundingClientRect().right"
        )
        assert 0 < right <= 390
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_phone_breaks_no_word_and_holds_every_choice(browser: Chrome, open_page: Open) -> None:
    metrics = {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        open_page("#/scenarios")
        ends = browser.execute_script(
            "return [...document.querySelectorAll('select')]"
            ".map(list => list.getBoundingClientRect().right)"
        )
        assert max(ends) <= 390
        open_page("#/model/graded-2/baseline/steps?actual=call&predicted=call")
        follow(browser, "main tbody th a")
        heights = browser.execute_script(
            "return [...document.querySelectorAll('.counts tbody th')].map(th => th.offsetHeight)"
        )
        assert len(heights) == 3
        assert max(heights) < 50  # one line
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_finder_is_moved_through_and_closes(browser: Chrome, open_page: Open) -> None:
    open_page()
    box = browser.find_element(By.ID, "finder")
    box.send_keys("nothing of this name")
    wait_until(browser, lambda b: "no match" in b.find_element(By.ID, "found").text)
    box.clear()
    box.send_keys("graded")
    wait_until(browser, lambda b: len(b.find_elements(By.CSS_SELECTOR, "#found a")) > 2)
    box.send_keys(Keys.ARROW_DOWN)
    browser.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    place = "return [...document.querySelectorAll('#found a')].indexOf(document.activeElement)"
    assert browser.execute_script(place) == 1

    browser.find_element(By.TAG_NAME, "h1").click()

    wait_until(browser, lambda b: not b.find_element(By.ID, "found").is_displayed())

    box.send_keys("-1")
    wait_until(browser, lambda b: len(b.find_elements(By.CSS_SELECTOR, "#found a")) == 1)
    browser.find_element(By.CSS_SELECTOR, "#found a").click()
    wait_until(browser, lambda b: "graded-1" in b.find_element(By.TAG_NAME, "h1").text)


def test_there_are_six_tabs_and_three_sentences(browser: Chrome, open_page: Open) -> None:
    open_page()

    assert len(browser.find_elements(By.CSS_SELECTOR, "nav.sections:not(.below) a")) == 6
    sentences = browser.execute_script(
        "return [...document.querySelectorAll('.findings a')].map(a => a.getAttribute('href'))"
    )
    assert len(sentences) == 3
    for address in sentences:
        browser.execute_script("location.hash = arguments[0]", address)
        settle(browser)
        assert heading(browser) not in ("Nothing here", "This cannot be shown")


def test_a_model_that_lacks_scenarios_has_its_coverage_and_no_rank(
    browser: Chrome, open_page: Open, tmp_path: Path
) -> None:
    for model, scenarios in (("whole", ("1", "2")), ("half", ("1",))):
        for scenario in scenarios:
            path = documents.scenario_path(tmp_path / "results", model=model, scenario=scenario)
            documents.write(path, documents.runs_document({"run #1": documents.run()}))
    warehouse = open_warehouse(tmp_path / "w", create=True)
    warehouse.ingest(tmp_path / "results", jobs=1)

    open_page("#/", warehouse.report(tmp_path / "r.html", jobs=1).page)

    shown = {model: row for (model, _), row in board_cells(browser).items()}
    assert (shown["half"]["Coverage"], shown["half"]["Rank"]) == ("50.0 %", "–")
    assert (shown["whole"]["Coverage"], shown["whole"]["Rank"]) == ("100.0 %", "1")


# Where a count stands, and how many rows the view has that it leads to.
COUNTED = {
    "#/model/format-breaker/baseline": ".heat td.number a[href*='predicted=']",
    "#/decisions?actual=call&predicted=failed": "td.number a[href*='/steps?actual=']",
    "#/decisions": ".heat a[href*='failure_reason='], .heat a[href*='read_as=']",
}


@pytest.mark.parametrize("hash_", COUNTED)
def test_a_count_leads_to_as_many_rows(browser: Chrome, open_page: Open, hash_: str) -> None:
    open_page(hash_)
    found = browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])]"
        ".map(a => [a.textContent.replace(',', ''), a.getAttribute('href')])",
        COUNTED[hash_],
    )

    assert len(found) > 3
    for number, address in found:
        browser.execute_script("location.hash = arguments[0]", address)
        settle(browser)
        note = browser.find_element(By.CSS_SELECTOR, "main .note").text
        assert note.replace(",", "").split()[0] == number, address


def test_unstable_steps_are_those_that_were_counted(
    browser: Chrome, open_page: Open, demo: Path
) -> None:
    flips = open_warehouse(demo).consistency("flips")
    row = flips.filter(model="format-breaker", language="EN").row(0, named=True)

    open_page("#/model/format-breaker/baseline/steps?unstable=yes&language=EN")

    steps = browser.execute_script(
        "return [...document.querySelectorAll('main tbody tr')]"
        ".map(row => row.cells[0].textContent + ' ' + row.cells[2].textContent)"
    )
    assert len(set(steps)) == row["unstable_step_count"] > 0


def test_an_argument_leads_to_the_models_and_their_steps(
    browser: Chrome, open_page: Open, demo: Path
) -> None:
    scores = open_warehouse(demo).table("argument_scores").collect().filter(profile="spec")
    worst = scores.sort("value_false_negative_count", "argument_key").row(-1, named=True)
    of_key = {"argument_key": worst["argument_key"], "label_tools": worst["label_tools"]}
    missed = scores.filter(**of_key)["value_false_negative_count"].sum()

    open_page("#/tools")
    link = browser.find_element(
        By.XPATH,
        f"//main//tr[td='{json.loads(worst['label_tools'])[0]}']/th/a[.='{worst['argument_key']}']",
    )
    browser.execute_script("location.hash = arguments[0]", link.get_attribute("href").split("#")[1])
    settle(browser)

    shown = browser.execute_script(
        "const heads = [...document.querySelectorAll('main thead th')];"
        "const at = heads.findIndex(head => head.getAttribute('aria-sort') === 'descending');"
        "return [...document.querySelectorAll('main tbody tr')]"
        ".map(row => +row.cells[at].textContent)"
    )
    assert sum(shown) == missed
    assert follow(browser, "main tbody td a").startswith("Steps of")
    assert browser.find_elements(By.CSS_SELECTOR, "main tbody tr")


def test_a_language_shows_its_own_scores(browser: Chrome, open_page: Open, demo: Path) -> None:
    open_page("#/model/graded-2/baseline")

    shown = browser.execute_script(
        "const rows = [...document.querySelector('.heat').tBodies[0].rows];"
        "return rows.find(row => row.cells[0].textContent === 'EN').cells[1].textContent"
    )

    scores = open_warehouse(demo).table("model_scores").collect()
    row = scores.filter(profile="spec", model="graded-2", experiment="baseline", language="EN")
    assert shown == f"{100 * row['average_score'].item():.1f}"


def test_a_comparison_leads_to_two_answers(browser: Chrome, open_page: Open) -> None:
    open_page("#/compare/graded-1/baseline/format-breaker/baseline")
    assert "difference" in browser.find_element(By.CSS_SELECTOR, "main").text.lower()

    heading_ = follow(browser, "main tbody th a")
    assert heading_.endswith("of two models")
    pair = browser.current_url
    row = browser.find_element(By.XPATH, "//main//tbody/tr[count(td/a) = 2]")
    cells = [link.get_attribute("href") for link in row.find_elements(By.CSS_SELECTOR, "td a")]

    texts = []
    for address in cells:
        assert address is not None
        browser.get(address)
        settle(browser)
        wait_until(browser, lambda found: found.find_elements(By.CSS_SELECTOR, ".sides .side"))
        sides = browser.find_elements(By.CSS_SELECTOR, ".sides .side")
        texts.append([side.text for side in sides])
    assert pair not in cells
    assert all(len(sides) == 2 and sides[0].startswith("Label") for sides in texts)
    assert texts[0][0] == texts[1][0]


def test_drilling_down_from_model_to_step(browser: Chrome, open_page: Open) -> None:
    open_page("#/model/format-breaker/baseline")

    assert follow(browser, "main #scenarios ~ .wide tbody th a").startswith("Scenario")
    assert "tep" in follow(browser, "main .matrix td a")
    follow(browser, ".trail a:nth-of-type(4)")
    assert "step" not in browser.current_url


def test_a_run_and_a_step_without_a_name_can_be_opened(
    browser: Chrome, open_page: Open, tmp_path: Path
) -> None:
    label, answer = documents.run()["label"], documents.run()["sub_agent_history"][0]
    nameless = documents.run(
        label={"1": label["1"], "": label["3"], "-1": label["3-1"]},
        main_agent_history=[],
        sub_agent_history=[answer | {"step_id": ""}],
    )
    path = documents.scenario_path(tmp_path / "results")
    documents.write(path, documents.runs_document({"": nameless, "run #2": documents.run()}))
    warehouse = open_warehouse(tmp_path / "w", create=True)
    warehouse.ingest(tmp_path / "results", jobs=1)
    steps = warehouse.table("scored_steps").collect().filter(run="")["step_id"].unique().to_list()
    file = warehouse.report(tmp_path / "report.html", jobs=1).page

    opened = "#/model/m/exp/scenario/EN/12/run//step/"
    open_page(opened + steps[0], file)

    assert steps == [""]
    assert "step" in heading(browser).lower()
    assert "getForecast" in browser.find_element(By.TAG_NAME, "main").text
    open_page("#/model/m/exp/scenario/EN/12", file)
    links = browser.find_elements(By.CSS_SELECTOR, f"main a[href^='{opened}']")
    assert links
    assert complaints(browser) == []


def test_a_plan_picture_shows_its_distance(browser: Chrome, open_page: Open) -> None:
    open_page("#/model/format-breaker/baseline/plans?kind=missing_workflow")
    follow(browser, "main tbody th a")

    figures = browser.find_elements(By.CSS_SELECTOR, "figure.plan")
    assert len(figures) == 2
    for figure in figures:
        distance = figure.find_element(By.CSS_SELECTOR, ".distance").text.split()[-1]
        totals = figure.find_elements(By.CSS_SELECTOR, ".edits tfoot td")
        assert [total.text for total in totals] in ([distance], [])
    assert browser.find_elements(By.CSS_SELECTOR, ".node.missing")


def test_coloured_elements_add_up_to_the_distance(browser: Chrome, open_page: Open) -> None:
    open_page("#/model/format-breaker/baseline/plans")
    links = browser.execute_script(
        "return [...document.querySelectorAll('main tbody tr')]"
        ".filter(row => !row.textContent.includes('unread')).map(row => row.querySelector('a'))"
        ".map(link => link.getAttribute('href'))"
    )

    marked = 0
    for address in links[:40]:
        browser.execute_script("location.hash = arguments[0]", address)
        settle(browser)
        for distance, costs in browser.execute_script(
            "return [...document.querySelectorAll('figure.plan')].map(figure =>"
            " [+figure.querySelector('.distance').textContent.split(' ')[1],"
            " [...figure.querySelectorAll('.node:not(.same) title')]"
            ".map(title => +title.textContent.split('costs ')[1])"
            ".concat([...figure.querySelectorAll('.edge:not(.same)')].map(() => 1))])"
        ):
            assert sum(costs) == pytest.approx(distance), address
            marked += bool(costs)
    assert marked > 10


def plans_page(directory: Path, label: str, answers: list[str]) -> Path:
    """A report on one plan, answered in as many ways as there are answers."""
    labels = documents.run()["label"] | {"2": {"role": "assistant", "content": label}}
    history = {
        f"run #{number}": documents.run(
            label=labels,
            main_agent_history=[{"step_id": 2, "role": "assistant", "content": content}],
        )
        for number, content in enumerate(answers, 1)
    }
    path = documents.scenario_path(directory / "results", model="planner")
    documents.write(path, documents.runs_document(history))
    warehouse = open_warehouse(directory / "w", create=True)
    warehouse.ingest(directory / "results", jobs=1)
    return warehouse.report(directory / "r.html", jobs=1).page


def test_odd_plans_are_shown(browser: Chrome, open_page: Open, tmp_path: Path) -> None:
    step = "{{agent_id: {}, status: {}}}"
    asked = step.format("a", "x")
    loop = f"workflow_1: {{steps: [{asked}], depends_on: [workflow_1]}}"
    renamed = f"workflow_9: {{steps: [{asked}], depends_on: [workflow_9]}}"
    many = "\n".join(f"workflow_{n}: {{steps: []}}" for n in range(1000))
    hebrew = "אין כאן תוכנית"
    file = plans_page(tmp_path, loop, [loop, renamed, many, hebrew])

    def opened(number: int) -> str:
        open_page(f"#/model/planner/exp/scenario/EN/12/run/run%20%23{number}/step/2", file)
        return browser.find_element(By.TAG_NAME, "main").text

    opened(1)
    arcs = browser.find_elements(By.CSS_SELECTOR, "figure.plan .edge.same")
    assert arcs
    assert all("C" in (arc.get_attribute("d") or "") for arc in arcs)
    assert "≙ workflow_9" in opened(2)
    assert not browser.find_elements(By.CSS_SELECTOR, ".node:not(.same)")
    assert "too large to draw" in opened(3)
    assert "no workflow could be read" in opened(4)
    block = browser.find_elements(By.CSS_SELECTOR, ".side pre.text")[1]
    assert (block.text, block.value_of_css_property("direction")) == (hebrew, "rtl")


def test_keys_find_and_move(browser: Chrome, open_page: Open) -> None:
    open_page()
    body = browser.find_element(By.TAG_NAME, "body")
    body.send_keys("/")
    box = browser.switch_to.active_element
    assert box.get_attribute("id") == "finder"
    box.send_keys("graded-1")
    wait_until(browser, lambda b: b.find_elements(By.CSS_SELECTOR, ".found a"))
    box.send_keys(Keys.ENTER)
    wait_until(browser, lambda b: heading(b).startswith("graded-1"))


def test_a_filter_reaches_rows_that_are_not_shown_yet(
    browser: Chrome, open_page: Open, tmp_path: Path
) -> None:
    for number in range(160):
        path = documents.scenario_path(tmp_path / "results", model=f"model-{number:03}")
        documents.write(path, documents.runs_document({"run #1": documents.run()}))
    warehouse = open_warehouse(tmp_path / "w", create=True)
    warehouse.ingest(tmp_path / "results", jobs=1)
    open_page("#/", warehouse.report(tmp_path / "r.html", jobs=1).page)
    assert len(browser.find_elements(By.CSS_SELECTOR, "main tbody tr")) == 100

    browser.find_element(By.CSS_SELECTOR, "input.filter").send_keys("model-15")
    browser.find_element(By.XPATH, "//main//th/button[text()='Model']").click()

    rows = browser.find_elements(By.CSS_SELECTOR, "main tbody tr:not([hidden]) .model a")
    assert [row.text for row in rows] == [f"model-{number}" for number in range(150, 160)]


def test_columns_sort(browser: Chrome, open_page: Open) -> None:
    open_page()
    script = "return [...document.querySelectorAll('main tbody td:nth-of-type(4)')].length"
    assert browser.execute_script(script) > 0
    browser.find_element(By.XPATH, "//main//th/button[text()='FC']").click()
    values = browser.execute_script(
        "const at = [...document.querySelectorAll('main thead th')]"
        ".findIndex(head => head.textContent === 'FC');"
        "const rows = [...document.querySelectorAll('main tbody tr')];"
        "return rows.map(row => +row.cells[at].textContent)"
    )
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("width", [400, 800, 1400])
@pytest.mark.parametrize("hash_", VIEWS)
def test_no_view_is_wider_than_the_screen(
    browser: Chrome, open_page: Open, width: int, hash_: str
) -> None:
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        open_page(hash_)
        script = "return document.documentElement.scrollWidth - innerWidth"
        assert browser.execute_script(script) <= 0
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("hash_", VIEWS)
def test_no_view_is_wider_than_a_sheet_of_paper(
    browser: Chrome, open_page: Open, hash_: str
) -> None:
    metrics = {"width": 1030, "height": 700, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        open_page(hash_)
        script = "return document.documentElement.scrollWidth - innerWidth"
        assert browser.execute_script(script) <= 0
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


HOSTILE = '</script><script>window.hacked=1</script><img src=x onerror="window.hacked=1">‮가'


def hostile_page(directory: Path) -> Path:
    """A report on a model whose every name and text tries to break out of it."""
    link = "javascript:window.hacked=1"
    calls = [documents.call(HOSTILE, json.dumps({HOSTILE: HOSTILE, "url": link}))]
    answers = [
        {"step_id": "3", "agent_id": HOSTILE, "content": HOSTILE, "tool_calls": calls},
        {"step_id": "4", "agent_id": "bank_agent", "content": HOSTILE},
    ]
    steps = [{"agent_id": HOSTILE, "status": HOSTILE}]
    plan = {"workflow_1" + HOSTILE: {"steps": steps, "depends_on": [HOSTILE, link]}}
    many = {f"workflow_{n}": {"steps": [], "depends_on": ["workflow_0"]} for n in range(1000)}
    contents = [json.dumps(plan), json.dumps(many), HOSTILE]
    history = {
        f"{HOSTILE}{number}": documents.run(
            sub_agent_history=answers,
            main_agent_history=[{"step_id": 2, "role": "assistant", "content": content}],
        )
        for number, content in enumerate(contents)
    }
    model = HOSTILE.replace("/", "\u2215")
    for name in (model, "other"):
        path = documents.scenario_path(directory / "results", model=name)
        documents.write(path, documents.runs_document(history))
    warehouse = open_warehouse(directory / "w", create=True)
    warehouse.ingest(directory / "results", jobs=1)
    return warehouse.report(directory / "hostile.html", title=HOSTILE, jobs=1).page


def test_a_hostile_warehouse_is_inert(browser: Chrome, open_page: Open, tmp_path: Path) -> None:
    file = hostile_page(tmp_path)
    complaints(browser), requests(browser)
    open_page("#/", file)
    seen: set[str] = set()
    waiting = ["#/"]
    while waiting and len(seen) < 60:
        address = waiting.pop(0)
        seen.add(address)
        browser.get(file.as_uri() + address)
        settle(browser)
        assert heading(browser) not in ("Nothing here", "This cannot be shown"), address
        links = browser.execute_script(
            "return [...document.querySelectorAll('a:not(.skip)')]"
            ".map(link => link.getAttribute('href'))"
        )
        assert all(link.startswith("#/") for link in links)
        waiting = sorted({*waiting, *links} - seen, key=lambda link: -link.count("/"))
        assert browser.execute_script("return window.hacked ?? null") is None
        assert browser.execute_script("return document.images.length") == 0
    assert any("/step/" in address for address in seen)
    assert complaints(browser) == []
    assert requests(browser) == []
    open_page("#/", file)
    assert "U+202E" in browser.find_element(By.TAG_NAME, "main").text


def test_a_directory_loads_its_pieces(
    browser: Chrome, open_page: Open, demo: Path, tmp_path: Path
) -> None:
    options = ReportOptions(largest_page=1000)
    made = make_report(demo, load_manifest(demo), tmp_path / "out", options, Here())
    complaints(browser), requests(browser)

    for hash_ in VIEWS:
        open_page(hash_, made.page)
        assert heading(browser) not in ("Nothing here", "This cannot be shown")

    assert complaints(browser) == []
    assert requests(browser) == []


# Every kind of page: the views, a scenario, an argument, a pair's answers, a step and a plan.
KINDS = (
    *VIEWS,
    "#/scenario/EN/1",
    "#/model/graded-2/baseline/scenario/EN/1",
    "#/answers/EN/1/graded-1/baseline/graded-2/baseline",
    "step",
    "plan",
)


@pytest.mark.parametrize(
    ("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)]
)
@pytest.mark.parametrize("hash_", KINDS)
def test_nothing_stands_in_the_way(
    browser: Chrome, open_page: Open, hash_: str, scheme: str, width: int
) -> None:
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    rows = {"step": "steps?actual=call", "plan": "plans?kind=missing_workflow"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        if hash_ in rows:
            open_page(f"#/model/format-breaker/baseline/{rows[hash_]}")
            follow(browser, "main tbody th a")
        else:
            open_page(hash_)
        found = violations(browser)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert found == []
