"""The conformance pack ingests with one refused file; counts equal an independent count."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.ingest.update import IngestSummary
from tests.warehouses import ingest, rows

Count = Counter[str]


@pytest.fixture(scope="module")
def summary(conformance_pack: Path, warehouse: Path) -> IngestSummary:
    return ingest(warehouse, conformance_pack / "results", conformance_pack / "agent_cards")


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("conformance") / "warehouse"


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def count_runs(path: Path, document: Any) -> Count:
    """What a scenario file has in it, in the words of the table `scenarios`."""
    counts = Counter({"run_count": len(document["history"])})
    for run in document["history"].values():
        labels = run["label"]
        steps = {k for k, label in labels.items() if "-" not in k and label.get("agent_id")}
        plans = {k for k, label in labels.items() if str(label["content"]).startswith("workflow_")}
        answered = [str(answer["step_id"]) for answer in run["sub_agent_history"]]
        counts["step_count"] += len(steps)
        counts["call_key_count"] += sum(f"{step}-1" in labels for step in steps)
        counts["plan_count"] += len(plans)
        counts["step_answer_count"] += len(answered)
        counts["plan_answer_count"] += len(run["main_agent_history"])
        counts["missing_answer_count"] += len(steps - set(answered))
        counts["surplus_answer_count"] += len(answered) - len(steps & set(answered))
    return counts


def count_asked_keys(document: Any) -> int:
    """Keys of a judge's log that were not settled without the judge, and so asked about."""
    asked = 0
    for question in document["input_data"]:
        calls = (question["predicted_call"], question["actual_call"])
        keys = {key for call in calls for key in call["arguments"]}
        asked += len(keys - {result["key"] for result in question["auto_results"]})
    return asked


def test_only_the_file_that_is_cut_off_is_refused(
    conformance_pack: Path, summary: IngestSummary
) -> None:
    (refused,) = summary.refused

    assert Path(refused.path).name == "999_out.json"
    assert (refused.model, refused.language) == ("sim-chaotic", "EN")
    assert (refused.reason, refused.message) == (
        "truncated",
        "the JSON ends before it is complete",
    )
    assert refused.place == f"byte {Path(refused.path).stat().st_size}"


def test_every_file_is_in_sources_once(
    conformance_pack: Path, warehouse: Path, summary: IngestSummary
) -> None:
    files = [
        str(path)
        for directory in ("results", "agent_cards")
        for path in (conformance_pack / directory).rglob("*.json")
    ]
    summaries = sum(path.endswith("_comprehensive_evaluation.json") for path in files)

    assert sorted(rows(warehouse, "sources")["path"]) == sorted(files)
    assert summary.ignored == summaries
    assert summary.taken == len(files) - summaries - 1


def test_runs_steps_and_plans_are_all_there(
    conformance_pack: Path, warehouse: Path, summary: IngestSummary
) -> None:
    expected: dict[tuple[str, str], Count] = {}
    for path in conformance_pack.glob("results/*/*/step_wise_evaluation_*/*/*_out.json"):
        if path.name != "999_out.json":
            key = (path.parent.name, path.parts[-3][-2:])
            expected.setdefault(key, Counter()).update(count_runs(path, load(path)))

    names = sorted(next(iter(expected.values())))
    by_model = rows(warehouse, "scenarios").group_by("model", "language").agg(pl.col(names).sum())
    found = {row[:2]: Counter(dict(zip(names, row[2:], strict=True))) for row in by_model.rows()}

    assert found == expected
    steps, plans = rows(warehouse, "steps"), rows(warehouse, "plans")
    total = sum(expected.values(), Counter[str]())
    assert len(steps) == total["step_answer_count"] + total["missing_answer_count"]
    labelled = pl.col("label_content").is_not_null() & (pl.col("answer_number").fill_null(1) == 1)
    assert len(plans.filter(labelled)) == total["plan_count"]


def test_judged_keys_are_all_there(
    conformance_pack: Path, warehouse: Path, summary: IngestSummary
) -> None:
    expected = Counter[tuple[str, str]]()
    for path in conformance_pack.glob("results/*/*/llm_evaluation_logs_*/*_out_trial_*.json"):
        expected[path.parts[-4], path.parts[-2][-2:]] += count_asked_keys(load(path))

    asked = rows(warehouse, "judgements").filter("is_asked").group_by("model", "language").len()

    assert {row[:2]: row[2] for row in asked.rows()} == {k: n for k, n in expected.items() if n}


def test_reported_figures_are_those_of_the_result_files(
    conformance_pack: Path, warehouse: Path, summary: IngestSummary
) -> None:
    reported = rows(warehouse, "reported_models")
    for path in conformance_pack.glob("results/*/*/evaluation_result_*.json"):
        statistics = load(path)["overall_statistics"]
        of_file = reported.filter(
            pl.col("model") == path.parts[-3], pl.col("language") == path.stem[-2:]
        )
        figures = dict(of_file.select("figure", "value").rows())
        assert figures["key_metrics.Average"] == statistics["key_metrics"]["Average"]
        assert figures["total_files"] == statistics["total_files"]


def test_result_files_under_other_names_are_placed_by_what_they_say(
    conformance_pack: Path, tmp_path: Path
) -> None:
    summary = ingest(tmp_path / "warehouse", conformance_pack / "expected_without_judge")

    assert (summary.taken, summary.refused) == (18, [])
    keys = open_warehouse(tmp_path / "warehouse").table("reported_models")
    placed = keys.select("model", "experiment", "language").unique().collect()
    files = (conformance_pack / "expected_without_judge").glob("*.json")
    assert set(placed.rows()) == {(f.stem[:-3], "seed11", f.stem[-2:]) for f in files}


def test_the_tables_are_small(warehouse: Path, summary: IngestSummary) -> None:
    stored = sum(path.stat().st_size for path in warehouse.rglob("*.parquet"))

    assert stored < 15 * 2**20
