"""Odd answers: `upstream` equals the public evaluator in every figure of every kind of mutation.

The pack has one "model" per kind. A kind is compared three times, so that a failure names its
part: figures of calls and decisions, figures of plans, and figures of both together.
"""

import json
import tarfile
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.metrics import SCENARIO_FIGURES
from orchbench_analytics.outputs.results import overall_statistics
from orchbench_analytics.profiles import UPSTREAM
from orchbench_analytics.warehouse import Warehouse
from tests.conftest import MakeOnce
from tests.packs import unpack
from tests.score.figures import Figures, figures_of

ODD = Path(__file__).parents[3] / "shared" / "conformance" / "odd.tar.xz"
TREES = ("odd", "odd_judged")
PLAN_WORDS = ("workflow", "GED", "Plan", "comparison_steps")
JOINT_FIGURES = ("key_metrics.Average",)
KIND_COUNT = 352
HEADLINES = ("average_score", "call_rejection_f1", "function_call_f1", "workflow_similarity")


class Difference(NamedTuple):
    """A figure of a file, or of all files, that is not the evaluator's."""

    place: str
    figure: str
    wanted: float
    given: float | None


def kinds() -> list[str]:
    """Every kind as `tree/kind`, from the archive's names; none where it is absent."""
    if not ODD.exists():
        return []
    with tarfile.open(ODD) as archive:
        paths = [Path(name) for name in archive.getnames()]
    return sorted(
        f"{path.parts[0]}/{path.stem.removesuffix('_EN')}"
        for path in paths
        if path.parent.name == "expected"
    )


@pytest.fixture(scope="session")
def odd_pack(make_once: MakeOnce) -> Path:
    """The unpacked trees `odd` and `odd_judged`."""
    if not ODD.exists():
        pytest.skip(f"the pack of odd answers is not at {ODD}")

    return make_once("odd_pack", partial(unpack, ODD))


@pytest.fixture(scope="session")
def odd_warehouses(odd_pack: Path, make_once: MakeOnce) -> Path:
    """A warehouse for each tree, by its name."""

    def ingest(directory: Path) -> None:
        for tree in TREES:
            warehouse = open_warehouse(directory / tree, create=True)
            cards = odd_pack / tree / "agent_cards"
            warehouse.ingest(odd_pack / tree / "results", agent_cards=[cards])

    return make_once("odd_warehouses", ingest)


@pytest.fixture(scope="session")
def differences(
    odd_pack: Path, odd_warehouses: Path, make_once: MakeOnce
) -> dict[str, list[Difference]]:
    """What differs from the evaluator's figures, by kind; an equal kind has an empty list."""

    def compare(directory: Path) -> None:
        directory.mkdir(parents=True)
        found = {}
        for tree in TREES:
            found |= differences_in(odd_pack / tree, open_warehouse(odd_warehouses / tree))
        (directory / "differences.json").write_text(json.dumps(found))

    made = make_once("odd_differences", compare)
    found = json.loads((made / "differences.json").read_text())
    return {kind: [Difference(*d) for d in listed] for kind, listed in found.items()}


def differences_in(tree: Path, warehouse: Warehouse) -> dict[str, list[Difference]]:
    """Compare every figure of each kind of a tree."""
    is_upstream = pl.col("profile") == "upstream"
    models = warehouse.table("model_scores").collect().filter(is_upstream)
    files = (
        warehouse.table("scenario_scores")
        .filter(is_upstream)
        .collect()
        .partition_by("model", as_dict=True)
    )
    found = {}
    for row in models.iter_rows(named=True):
        kind = row["model"]
        wanted = json.loads((tree / "expected" / f"{kind}_EN.json").read_bytes())
        given = {
            file["scenario"]: {name: file[column] for name, column in SCENARIO_FIGURES.items()}
            for file in files[(kind,)].iter_rows(named=True)
        }
        overall = overall_statistics(row, UPSTREAM)
        results = wanted["detailed_results"]
        found[f"{tree.name}/{kind}"] = [
            *unequal("overall", figures_of(wanted["overall_statistics"]), figures_of(overall)),
            *(
                difference
                for result in results
                for scenario in [Path(result["file_path"]).stem.removesuffix("_out")]
                for difference in unequal(scenario, figures_of(result), given[scenario])
            ),
        ]
    return found


def unequal(place: str, wanted: Figures, given: dict[str, Any]) -> list[Difference]:
    return [
        Difference(place, name, value, given.get(name))
        for name, value in wanted.items()
        if given.get(name) != pytest.approx(value, rel=0, abs=1e-9)
    ]


def part_of(figure: str) -> str:
    if figure in JOINT_FIGURES:
        return "both"
    return "plans" if any(word in figure for word in PLAN_WORDS) else "calls"


def listed(found: dict[str, list[Difference]], kind: str, part: str) -> str:
    return "\n".join(str(d) for d in found[kind] if part_of(d.figure) == part)


def answer_counts(tree: Path) -> dict[tuple[str, str], int]:
    """How many entries the sub-agents' histories of each file have, by kind and scenario."""
    counts = {}
    for path in tree.glob("results/*/*/*/*/*_out.json"):
        runs = json.loads(path.read_bytes())["history"].values()
        histories = [run.get("sub_agent_history") for run in runs]
        key = (path.parent.name, path.stem.removesuffix("_out"))
        counts[key] = sum(len(h) for h in histories if isinstance(h, list))
    return counts


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("profile", ["spec", "strict", "upstream"])
def test_every_answer_is_scored_or_left_out_with_its_reason(
    tree: str, profile: str, odd_pack: Path, odd_warehouses: Path
) -> None:
    warehouse = open_warehouse(odd_warehouses / tree)
    with warehouse.connect() as connection:
        steps = connection.execute(
            """
            select model, scenario, answer_position is not null as is_answered,
                is_scored, left_out_reason
            from main.scored_steps where profile = $profile
            """,
            {"profile": profile},
        ).fetchall()

    answered = Counter(
        (model, scenario) for model, scenario, is_answered, *_ in steps if is_answered
    )
    expected = answer_counts(odd_pack / tree)
    assert answered == {key: count for key, count in expected.items() if count}
    assert all(is_scored == (reason is None) for *_, is_scored, reason in steps)
    if profile != "upstream":
        assert {reason for *_, reason in steps} <= {
            None,
            "unlabelled_answer",
            "surplus_answer",
            "unusable_label",
        }


@pytest.mark.parametrize("tree", TREES)
def test_all_counts_add_up(tree: str, odd_warehouses: Path) -> None:
    differences = open_warehouse(odd_warehouses / tree).check().differences

    # A judge's negative counts lift a value F1 above 1, and the evaluator prints it so.
    is_negative = (pl.col("check_name") == "scores_are_shares") & (pl.col("model") == "judge_neg")
    assert differences.filter(~is_negative).rows() == []


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize("profile", ["spec", "strict"])
def test_every_kind_has_all_headline_scores(tree: str, profile: str, odd_warehouses: Path) -> None:
    scores = (
        open_warehouse(odd_warehouses / tree)
        .table("model_scores")
        .collect()
        .filter(profile=profile)
    )

    assert len(scores) == len([kind for kind in kinds() if kind.startswith(f"{tree}/")])
    assert scores.select(HEADLINES).null_count().row(0) == (0,) * len(HEADLINES)


def test_every_kind_is_compared(differences: dict[str, list[Difference]]) -> None:
    assert len(differences) == KIND_COUNT
    assert sorted(differences) == kinds()


@pytest.mark.parametrize("kind", kinds())
def test_call_figures_of(kind: str, differences: dict[str, list[Difference]]) -> None:
    assert not listed(differences, kind, "calls")


@pytest.mark.parametrize("kind", kinds())
def test_plan_figures_of(kind: str, differences: dict[str, list[Difference]]) -> None:
    assert not listed(differences, kind, "plans")


@pytest.mark.parametrize("kind", kinds())
def test_joint_figures_of(kind: str, differences: dict[str, list[Difference]]) -> None:
    assert not listed(differences, kind, "both")
