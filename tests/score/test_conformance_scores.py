"""The conformance pack: `upstream` equals the public evaluator, `spec` and `strict` are honest."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.outputs.results import result_document
from orchbench_analytics.profiles import UPSTREAM
from orchbench_analytics.warehouse import Warehouse
from tests.conftest import MakeOnce
from tests.packs import unpack
from tests.score.figures import figures_of

PACKS = Path(__file__).parents[3] / "shared" / "conformance"
LANGUAGES = ("EN", "KO")
EXPERIMENT = "seed11"
HEADLINES = ("average_score", "call_rejection_f1", "function_call_f1", "workflow_similarity")


@pytest.fixture(scope="session")
def without_judge(conformance_pack: Path, make_once: MakeOnce) -> Warehouse:
    """The same runs in a tree that has no judge logs beside them."""

    def link(root: Path) -> None:
        for runs in (conformance_pack / "results").glob("*/*/step_wise_evaluation_*"):
            place = root / runs.relative_to(conformance_pack / "results")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(runs)

    def build(root: Path) -> None:
        tree, cards = make_once("tree_without_judge", link), conformance_pack / "agent_cards"
        open_warehouse(root, create=True).ingest(tree, agent_cards=[cards], jobs=1)

    return open_warehouse(make_once("without_judge", build))


def test_upstream_equals_the_public_evaluator_in_every_figure(
    conformance_pack: Path, conformance_warehouse: Warehouse, without_judge: Warehouse
) -> None:
    judged = conformance_pack.glob("results/*/*/evaluation_result_*.json")
    unjudged = conformance_pack.glob("expected_without_judge/*.json")

    compared_judged = figures_compared(
        conformance_warehouse, {(p.parents[1].name, EXPERIMENT, p.stem[-2:]): p for p in judged}
    )
    compared_unjudged = figures_compared(
        without_judge, {(p.stem[:-3], EXPERIMENT, p.stem[-2:]): p for p in unjudged}
    )

    assert compared_judged == 11_544
    assert compared_unjudged == 17_316
    assert compared_judged + compared_unjudged == 28_860


def unpacked(name: str, make_once: MakeOnce) -> Path:
    """The directory of a pack; tests that need it are skipped where it is absent."""
    pack = PACKS / f"{name}.tar.xz"
    if not pack.exists():
        pytest.skip(f"the conformance pack is not at {pack}")
    return make_once(f"pack_{name}", partial(unpack, pack))


@pytest.mark.parametrize(
    "runs", ["4", *(pytest.param(n, marks=pytest.mark.long) for n in ("6", "8")), "10", "4_judged"]
)
def test_any_number_of_runs_is_added_up_as_the_evaluator_does(
    make_once: MakeOnce, tmp_path: Path, runs: str
) -> None:
    pack = unpacked("runs", make_once) / "runs"
    tree = pack / runs / "results"
    warehouse = open_warehouse(tmp_path / "warehouse", create=True)
    warehouse.ingest(tree, agent_cards=pack / "agent_cards", jobs=1)
    judged = tree.glob("*/*/evaluation_result_*.json")
    unjudged = (pack / runs).glob("expected_without_judge/*.json")
    (experiment,) = set(warehouse.models()["experiment"])
    reports = {(p.parents[1].name, experiment, p.stem[-2:]): p for p in judged}
    reports |= {(p.stem[:-3], experiment, p.stem[-2:]): p for p in unjudged}

    assert figures_compared(warehouse, reports) == 3_252


@pytest.mark.parametrize(
    ("tree", "count"), [("default_layout", 564), ("results_dir", 1_692), ("odd/two_aliases", 1_128)]
)
def test_the_benchmarks_own_trees_have_its_evaluators_figures(
    make_once: MakeOnce, tmp_path: Path, tree: str, count: int
) -> None:
    harness = unpacked("harness", make_once) / "harness"
    warehouse = open_warehouse(tmp_path / "warehouse", create=True)
    warehouse.ingest(harness / tree, agent_cards=harness / "data", jobs=1)
    sources = warehouse.sources().filter(kind="results", status="taken")
    reports = sources.select("model", "experiment", "language", "path").iter_rows()

    assert figures_compared(warehouse, {tuple(key): Path(path) for *key, path in reports}) == count
    assert warehouse.check().differences["explanation"].null_count() == 0


@pytest.mark.parametrize("layout", ["pipeline", "by_hand", "by_default"])
def test_result_files_alone_have_their_own_key_metrics(
    make_once: MakeOnce, tmp_path: Path, layout: str
) -> None:
    tree = unpacked("runs", make_once) / "reported_only" / layout
    warehouse = open_warehouse(tmp_path / "warehouse", create=True)
    assert warehouse.ingest(tree, jobs=1).refused == []
    sources = warehouse.sources().filter(kind="results", status="taken")
    assert len(sources) == len(list(tree.rglob("*.json")))
    for row in sources.to_dicts():
        wanted = json.loads(Path(row["path"]).read_bytes())["overall_statistics"]
        key = {name: row[name] for name in ("model", "experiment", "language")}
        given = warehouse.results(**key)
        assert given["profile"] == "reported"
        assert given["overall_statistics"]["key_metrics"] == wanted["key_metrics"]


def figures_compared(warehouse: Warehouse, reports: dict[tuple[str, str, str], Path]) -> int:
    """How many figures were compared, by model, experiment and language; all of them are equal."""
    compared = 0
    with warehouse.connect() as connection:
        for (model, experiment, language), path in sorted(reports.items()):
            wanted = json.loads(path.read_bytes())
            given = result_document(
                connection, UPSTREAM, model=model, experiment=experiment, language=language
            )
            for place, figures in pairs_of(wanted, given):
                for name, (value, ours) in figures.items():
                    where = f"{model} {language} {place}: {name}"
                    assert ours == pytest.approx(value, rel=0, abs=1e-9), where
                compared += len(figures)
    return compared


def pairs_of(wanted: Any, given: Any) -> Iterator[tuple[str, dict[str, tuple[float, float]]]]:
    """Each part of two result documents: its name, and its figures on both sides."""
    overall = figures_of(given["overall_statistics"])
    yield (
        "overall",
        {
            name: (value, overall[name])
            for name, value in figures_of(wanted["overall_statistics"]).items()
        },
    )
    ours = {Path(row["file_path"]).name: figures_of(row) for row in given["detailed_results"]}
    for row in wanted["detailed_results"]:
        if "error" not in row:
            name = Path(row["file_path"]).name
            yield name, {key: (value, ours[name][key]) for key, value in figures_of(row).items()}


@pytest.mark.parametrize("profile", ["spec", "strict"])
@pytest.mark.parametrize(("model", "score"), [("sim-oracle", 1.0), ("sim-silent", 0.0)])
def test_copying_labels_scores_one_and_silence_zero(
    conformance_warehouse: Warehouse, profile: str, model: str, score: float
) -> None:
    scores = (
        conformance_warehouse.table("model_scores").collect().filter(profile=profile, model=model)
    )

    assert sorted(scores["language"]) == list(LANGUAGES)
    for headline in HEADLINES:
        assert scores[headline].to_list() == [score, score], headline


def test_the_truncated_file_is_counted_and_nothing_else_is_lost(
    conformance_warehouse: Warehouse,
) -> None:
    scores = conformance_warehouse.table("model_scores").collect().filter(profile="upstream")

    refused = scores.filter(scores["refused_file_count"] > 0)
    assert refused.select("model", "language", "refused_file_count").rows() == [
        ("sim-chaotic", "EN", 1)
    ]
    assert (scores["file_count"] - scores["scored_file_count"]).sum() == 1
