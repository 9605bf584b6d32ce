"""The README's pictures: `python -m tests.services.screenshots` makes them from the demo."""

import subprocess
import tempfile
from pathlib import Path
from urllib.parse import quote

from orchbench_analytics import open_warehouse
from tests.processes import ORCHBENCH
from tests.services.terminal_picture import write_terminal

PICTURES = Path(__file__).parent / "pictures"
_CHROMIUM = (
    "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic",
    "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--hide-scrollbars", "--virtual-time-budget=5000",
)  # fmt: skip
# A plan with something missing, something extra and something changed.
_PLAN = """
    select model, experiment, language, scenario, run, step_id
    from main.scored_plans
    where profile = 'spec' and model = 'graded-4' and structure_distance >= 2
        and component_distance between 2 and 3 and language = 'EN'
    order by all limit 1
"""


def take(page: Path, address: str, picture: Path, *, width: int, height: int) -> None:
    """A screenshot of a page at an address of its own."""
    with tempfile.TemporaryDirectory() as profile:
        arguments = (
            f"--user-data-dir={profile}",
            f"--window-size={width},{height}",
            f"--screenshot={picture}",
            f"{page.as_uri()}{address}",
        )
        subprocess.run([*_CHROMIUM, *arguments], check=True, capture_output=True, timeout=120)


_COMMANDS = [
    ("leaderboard", "demo/warehouse", "--model", "graded-*", "--intervals"),
    ("compare", "demo/warehouse", "graded-5", "graded-3"),
]


def take_terminal(demo: Path, scratch: Path) -> None:
    """A picture of a terminal in which two questions were asked."""
    page = scratch / "terminal.html"
    lines = write_terminal(page, _COMMANDS, cwd=demo.parent, columns=80)
    take(page, "", PICTURES / "terminal.png", width=800, height=62 + 21 * lines)


def main() -> None:
    """Make the demo, its report, and the pictures."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        demo, page = Path(scratch) / "demo", Path(scratch) / "report.html"
        subprocess.run([*ORCHBENCH, "demo", demo, "-q"], check=True)
        warehouse = open_warehouse(demo / "warehouse")
        warehouse.report(page)
        row = warehouse.sql(_PLAN).row(0)
        model, experiment, language, scenario, run, step = (quote(part, safe="") for part in row)
        plan = f"#/model/{model}/{experiment}/scenario/{language}/{scenario}/run/{run}/step/{step}"
        take(page, "", PICTURES / "leaderboard.png", width=1200, height=760)
        take(page, plan, PICTURES / "plan.png", width=1200, height=860)
        take_terminal(demo, Path(scratch))


if __name__ == "__main__":
    main()
