"""Trees in the shape in which the benchmark's own commands leave them: names, kinds and figures."""

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import PathError
from tests.conftest import MakeOnce
from tests.golden.pack import ALIASES, HARNESS, Alias, golden_warehouse
from tests.packs import unpack
from tests.warehouses import ingest, rows

PACK = Path(__file__).parents[3] / "shared" / "conformance" / "harness.tar.xz"
MODEL = ["model", "client_model", "experiment", "language"]


def placed(warehouse: Path) -> dict[tuple[str, ...], Counter[str]]:
    """How many files of each kind were taken for each model, experiment and language."""
    found: dict[tuple[str, ...], Counter[str]] = {}
    taken = rows(warehouse, "sources").filter(pl.col("model").is_not_null(), status="taken")
    for *key, kind in taken.select(*MODEL, "kind").rows():
        found.setdefault(tuple(key), Counter())[kind] += 1
    return found


def golden_warehouse_of_harness(directory: Path) -> None:
    """A warehouse of the benchmark's trees of the golden pack."""
    warehouse = open_warehouse(directory / "warehouse", create=True)
    trees = sorted({alias.tree for alias in ALIASES})
    warehouse.ingest(*trees, agent_cards=HARNESS / "data", jobs=1)


def figures(warehouse: Path, model: str, experiment: str) -> list[dict[str, Any]]:
    """Every score of a model's scenarios, without its name."""
    scores = rows(warehouse, "scenario_scores")
    of_model = scores.filter(model=model, experiment=experiment).drop("model", "experiment")
    return of_model.sort("profile", "language", "scenario").to_dicts()


@pytest.mark.parametrize("alias", ALIASES, ids=lambda alias: alias.directory)
def test_the_figures_are_those_of_the_same_answers_elsewhere(
    make_once: MakeOnce, alias: Alias
) -> None:
    here = make_once("golden_harness", golden_warehouse_of_harness) / "warehouse"
    plain = make_once("golden", golden_warehouse) / "warehouse"
    model, experiment = alias.golden.split("/")

    found = figures(here, alias.model, alias.experiment)

    expected = figures(plain, model, experiment)
    assert found == [row for row in expected if row["language"] in alias.languages]
    assert len(found) == 3 * len(alias.languages)


def test_every_file_is_taken_or_known(make_once: MakeOnce) -> None:
    warehouse = make_once("golden_harness", golden_warehouse_of_harness) / "warehouse"

    def files_of(alias: Alias, language: str) -> Counter[str]:
        log = HARNESS / alias.directory / f"scenario_processing_{language}.log"
        kinds = {"results": not alias.is_stopped, "run_log": log.exists()}
        return Counter({"runs": 1, "judge_log": 2} | {kind: 1 for kind in kinds if kinds[kind]})

    assert placed(warehouse) == {
        (alias.model, alias.client, alias.experiment, language): files_of(alias, language)
        for alias in ALIASES
        for language in alias.languages
    }
    others = rows(warehouse, "sources").filter(pl.col("status") != "taken")
    assert dict(others.group_by("kind").len().rows()) == {
        "evaluator_summary": 12,
        "unfinished_results": 1,
    }
    named = rows(warehouse, "scenarios").filter(model="second")["client_model"]
    assert named.to_list() == ["client-4", "client-4"]


@pytest.mark.parametrize("alias", ALIASES[:5], ids=lambda alias: alias.directory)
@pytest.mark.parametrize("depth", ["alias", "experiment", "here"])
def test_one_may_point_at_a_part_of_the_tree(
    tmp_path: Path, alias: Alias, depth: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = HARNESS / alias.directory.removesuffix("/orchestration_bench")
    monkeypatch.chdir(experiment)
    path = {"alias": experiment.parent, "experiment": experiment, "here": Path()}[depth]

    summary = ingest(tmp_path / "warehouse", path)

    assert summary.refused == []
    assert {key[:3] for key in placed(tmp_path / "warehouse")} == {
        (alias.model, alias.client, alias.experiment)
    }


def test_the_benchmarks_data_gives_cards_and_nothing_else(tmp_path: Path) -> None:
    data = HARNESS / "data"
    summary = ingest(tmp_path / "w", HARNESS / "lm_eval_style_result.json.gz", agent_cards=data)

    assert (summary.taken, summary.ignored, summary.refused) == (16, 1, [])
    cards = rows(tmp_path / "w", "sources").filter(kind="agent_card")
    assert dict(cards.group_by("language").len().rows()) == {"EN": 8, "KO": 8}


def test_a_directory_without_cards_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PathError, match=r"no agent cards at or below .*/scenario_data"):
        ingest(tmp_path / "w", HARNESS / "killed", agent_cards=HARNESS / "data/EN/scenario_data")


@pytest.fixture(scope="module")
def harness(make_once: MakeOnce) -> Path:
    """The trees that the benchmark wrote."""
    if not PACK.exists():
        pytest.skip(f"the pack is not at {PACK}")
    return make_once("harness_pack", partial(unpack, PACK)) / "harness"


@pytest.mark.parametrize(
    ("tree", "models", "taken", "ignored"),
    [
        ("default_layout", {("stub-a", "org_stub-a", "20261117_120728")}, 99, 24),
        (
            "results_dir",
            {
                ("org/stub-b", "org_stub-b", "exp1"),
                ("stub-oai", "stub-oai-2026-01-01", "exp1"),
                ("stub-claude", "claude-stub-4", "exp1"),
            },
            286,
            72,
        ),
        (
            "odd/two_aliases",
            {
                ("stub-claude", "claude-stub-4", "exp1"),
                ("stub-claude-second", "claude-stub-4", "exp1"),
            },
            198,
            48,
        ),
        ("odd/killed_evaluation", {("m", "gemini-stub-2", "exp1")}, 24, 8),
    ],
)
def test_nothing_that_the_benchmark_wrote_is_refused(
    harness: Path,
    tmp_path: Path,
    tree: str,
    models: set[tuple[str, str, str]],
    taken: int,
    ignored: int,
) -> None:
    cards = 34

    summary = ingest(tmp_path / "warehouse", harness / tree, agent_cards=harness / "data")

    assert (summary.taken - cards, summary.ignored, summary.refused) == (taken, ignored, [])
    assert {key[:3] for key in placed(tmp_path / "warehouse")} == models


def test_steps_run_by_hand_are_placed(harness: Path, tmp_path: Path) -> None:
    tree = harness / "odd/separate_steps"

    summary = ingest(tmp_path / "warehouse", tree)

    assert placed(tmp_path / "warehouse") == {
        ("org_stub-a", "org_stub-a", "default", "EN"): Counter(runs=12, judge_log=36, results=1)
    }
    (second,) = summary.refused  # the evaluator ran twice
    assert second.path == f"{tree}/step_wise_evaluation/org_stub-a/org_stub-a-result.json"
    assert f"about the same as {tree}/evaluation_output.json" in str(second.message)
