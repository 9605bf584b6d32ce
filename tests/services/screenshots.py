"""The README's pictures: `python -m tests.services.screenshots` makes them from the demo.

It needs chromium and its driver, selenium and Pillow.
"""

import base64
import io
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGINT
from urllib.parse import quote

from PIL import Image
from selenium.webdriver import Chrome, ChromeOptions, Keys
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from orchbench_analytics import open_warehouse
from tests.processes import ORCHBENCH
from tests.services.terminal_picture import write_terminal

PICTURES = Path(__file__).parent / "pictures"
_FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars")
_WIDTH, _HEIGHT = 1200, 760
_WAIT = 30
_SECONDS = 2  # of a screen of the explorer
# A plan with something missing, something extra and something changed.
_PLAN = """
    select model, experiment, language, scenario, run, step_id
    from main.plan_edits
    where profile = 'spec' and language = 'EN'
    group by model, experiment, language, scenario, run, step_id
    having bool_or(graph = 'structure' and kind like 'missing%')
        and bool_or(graph = 'structure' and kind like 'extra%')
        and bool_or(kind like 'wrong%') and count(*) <= 8
    order by count(*) desc, model, scenario, run, step_id limit 1
"""
_QUERY = """select tool, round(100 * avg(tool_recall), 1) as recall
from main.tool_scores
where profile = 'spec' and model <> 'silent'
group by tool
order by recall limit 8"""
_COMMANDS = [
    ("leaderboard", "demo/warehouse", "--model", "graded-*", "--intervals"),
    ("compare", "demo/warehouse", "graded-5", "graded-3"),
]
_SETTLED = "return document.querySelector('main')?.dataset.address === location.hash"


@contextmanager
def browsing() -> Iterator[Chrome]:
    """A browser whose windows have two pixels to the one of a page."""
    options = ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*_FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        browser = Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        try:
            yield browser
        finally:
            browser.quit()


def show(
    browser: Chrome,
    *,
    scale: float,
    is_dark: bool = False,
    width: int = _WIDTH,
    height: int = _HEIGHT,
) -> None:
    """A window of this size, at so many pixels to the one of a page, light or dark."""
    size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})


def open_view(browser: Chrome, address: str) -> None:
    """Open a view of a page, and wait until it is drawn."""
    browser.get("about:blank")
    browser.get(address)
    WebDriverWait(browser, _WAIT).until(lambda found: found.execute_script(_SETTLED))


def taken(browser: Chrome, *, until: str | None = None) -> Image.Image:
    """What the window shows; or the page from its top to the end of an element."""
    options = {"format": "png"}
    if until is not None:
        script = "return document.querySelector(arguments[0]).getBoundingClientRect().bottom"
        bottom = browser.execute_script(script, until) + browser.execute_script("return scrollY")
        clip = {"x": 0, "y": 0, "width": _WIDTH, "height": round(bottom) + 10, "scale": 1}
        options |= {"captureBeyondViewport": True, "clip": clip}
    data = browser.execute_cdp_cmd("Page.captureScreenshot", options)["data"]
    return Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")


def save(picture: Image.Image, name: str) -> None:
    """Save a picture in few colours, which a page has."""
    colours = picture.quantize(128, dither=Image.Dither.NONE)
    colours.save(PICTURES / name, optimize=True)


def take_both(browser: Chrome, address: str, name: str, *, until: str) -> None:
    """A page at twice its size, light and dark."""
    for is_dark in (False, True):
        show(browser, scale=2, is_dark=is_dark)
        open_view(browser, address)
        save(taken(browser, until=until), f"{name}{'-dark' if is_dark else ''}.png")


def take_terminal(browser: Chrome, demo: Path, scratch: Path) -> None:
    """A picture of a terminal in which two questions were asked."""
    page = scratch / "terminal.html"
    lines = write_terminal(page, _COMMANDS, cwd=demo.parent, columns=80)
    show(browser, scale=2, width=800, height=62 + 21 * lines)
    browser.get(page.as_uri())
    save(taken(browser), "terminal.png")


def take_explorer(browser: Chrome, warehouse: Path) -> None:
    """The explorer as a series: the board, a search, the answer it finds, a query, its chart."""
    show(browser, scale=0.75)
    command = [sys.executable, "-m", "orchbench_analytics", "view", str(warehouse), "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        try:
            screens = list(_screens(browser, run.stdout.readline().strip()))
        finally:
            run.send_signal(SIGINT)
    drawn = [screen.quantize(64, dither=Image.Dither.NONE) for screen in screens]
    drawn[0].save(
        PICTURES / "explorer.gif",
        save_all=True,
        append_images=drawn[1:],
        duration=1000 * _SECONDS,
        loop=0,
        optimize=True,
    )


def _screens(browser: Chrome, address: str) -> Iterator[Image.Image]:
    def find(selector: str) -> None:
        wait = WebDriverWait(browser, _WAIT)
        wait.until(lambda found: found.find_elements(By.CSS_SELECTOR, selector))

    open_view(browser, f"{address}#/")
    yield taken(browser)
    open_view(browser, f"{address}#/search")
    browser.find_element(By.ID, "search").send_keys("ribbon valley", Keys.ENTER)
    find(".snippet mark")
    yield taken(browser)
    browser.find_element(By.CSS_SELECTOR, ".answers-found a").click()
    find(".trail")
    yield taken(browser)
    open_view(browser, f"{address}#/sql?query={quote(_QUERY)}")
    find(".result table")
    yield taken(browser)
    browser.find_element(By.CSS_SELECTOR, ".chart summary").click()
    browser.execute_script("document.querySelector('.chart').scrollIntoView({block: 'center'})")
    yield taken(browser)


def main() -> None:
    """Make the demo, its report, and the pictures."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, browsing() as browser:
        demo, page = Path(scratch) / "demo", Path(scratch) / "report.html"
        subprocess.run([*ORCHBENCH, "demo", demo, "-q"], check=True)
        warehouse = open_warehouse(demo / "warehouse")
        warehouse.report(page)
        row = warehouse.sql(_PLAN).row(0)
        model, experiment, language, scenario, run, step = (quote(part, safe="") for part in row)
        plan = f"#/model/{model}/{experiment}/scenario/{language}/{scenario}/run/{run}/step/{step}"
        take_both(browser, f"{page.as_uri()}{plan}", "plan", until=".pictures")
        take_both(browser, f"{page.as_uri()}#/", "leaderboard", until=".wide")
        take_terminal(browser, demo, Path(scratch))
        take_explorer(browser, warehouse.path)


if __name__ == "__main__":
    main()
