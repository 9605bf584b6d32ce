"""The notebooks run from top to bottom, on many models, on one, and on real data."""

import html
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.warehouse import Warehouse
from tests.conftest import MakeOnce
from tests.pages.unpack import unpacked
from tests.sweep import write_sweep

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
PIECE = re.compile(r'data-piece="excerpt">([^<]*)</script>')


class Ran(NamedTuple):
    """What a notebook showed: its text, and the data of its pictures."""

    text: str
    excerpts: list[dict[str, Any]]
    defined: Mapping[str, Any]

    def kinds(self) -> list[str]:
        return [excerpt["kind"] for excerpt in self.excerpts]


def run(notebook: str, warehouse: Path, monkeypatch: pytest.MonkeyPatch) -> Ran:
    monkeypatch.setattr(sys, "argv", [notebook, "--warehouse", str(warehouse)])
    spec = spec_from_file_location(notebook, NOTEBOOKS / f"{notebook}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    outputs, defined = module.app.run()
    text = "".join(_texts(outputs))
    return Ran(text, [unpacked(found) for found in PIECE.findall(text)], defined)


def _texts(outputs: tuple[Any, ...]) -> Iterator[str]:
    for output in outputs:
        yield html.unescape(html.unescape(getattr(output, "text", "") or ""))


@pytest.fixture(scope="module")
def many(demo: Path) -> Path:
    return demo / "warehouse"


@pytest.fixture(scope="module")
def single(make_once: MakeOnce) -> Path:
    def build(directory: Path) -> None:
        write_sweep(directory, models=1, scenarios=2, runs=2)
        warehouse = open_warehouse(directory / "warehouse", create=True)
        warehouse.ingest(directory / "results", jobs=1)

    return make_once("single_model", build) / "warehouse"


def test_the_tour_shows_the_figures_of_the_warehouse(
    many: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = run("tour", many, monkeypatch)

    assert ran.kinds() == ["ranking", "confusion", "bars", "plan", "verdicts", "table"]
    board = open_warehouse(many).leaderboard()
    shown = ran.excerpts[0]["rows"]["columns"]["average_score"]["values"]
    assert shown == pytest.approx(board["average_score"].to_list(), abs=1e-7)
    best, next_best = board["model"].head(2)
    assert re.search(rf"{best} · \w+.* against .*{next_best} · ", ran.text)


def test_the_tour_draws_the_edits_of_the_plan_that_is_chosen(
    many: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = run("tour", many, monkeypatch)

    drawn = ran.excerpts[3]
    costs = sum(edit[5] for edit in drawn["drawn"]["edits"])
    assert costs == pytest.approx(drawn["structure"] + drawn["component"])
    assert costs > 0


def test_a_comparison_goes_down_to_two_answers(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = run("compare", many, monkeypatch)

    assert ran.kinds()[:6] == ["verdicts", "bars", "bars", "table", "answers", "answers"]
    before, after = ran.defined["before"], ran.defined["after"]
    titles = ran.excerpts[5]["rows"]["columns"]["title"]["words"]
    assert titles == [f"Baseline: {' · '.join(before)}", f"Candidate: {' · '.join(after)}"]
    verdicts = ran.excerpts[0]["rows"]["columns"]
    expected = open_warehouse(many).compare(before, after).filter(language="mean")
    assert verdicts["difference"]["values"] == pytest.approx(
        expected["difference"].to_list(), abs=1e-7
    )


@pytest.mark.parametrize("notebook", ["tour", "compare"])
def test_a_warehouse_of_one_model_says_that_a_comparison_takes_two(
    notebook: str, single: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = run(notebook, single, monkeypatch)

    assert "A comparison takes two models" in ran.text
    assert "verdicts" not in ran.kinds()


@pytest.mark.parametrize(
    ("notebook", "kinds"),
    [
        ("tour", {"ranking", "confusion", "bars", "plan", "verdicts"}),
        ("compare", {"verdicts", "bars", "table", "answers"}),
    ],
)
def test_notebooks_run_on_real_data(
    notebook: str,
    kinds: set[str],
    conformance_warehouse: Warehouse,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert kinds <= set(run(notebook, conformance_warehouse.path, monkeypatch).kinds())


@pytest.mark.long
@pytest.mark.parametrize("notebook", ["tour", "compare"])
def test_a_notebook_becomes_a_page_without_errors(
    notebook: str, single: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    command = [sys.executable, "-m", "marimo", "export", "html", NOTEBOOKS / f"{notebook}.py"]
    options = ["-o", page, "--no-include-code", "--", "--warehouse", single]
    done = subprocess.run(
        [*command, *options], capture_output=True, text=True, timeout=240, check=False
    )

    assert done.returncode == 0, done.stderr
    assert "ailed" not in done.stderr  # of cells
    assert "A comparison takes two models" in page.read_text(encoding="utf-8")
