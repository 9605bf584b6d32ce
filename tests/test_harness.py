"""What the benchmark's own harness leaves behind, as far as the conformance pack has it."""

from functools import partial
from pathlib import Path

import polars as pl
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.warehouse import Warehouse
from tests.conftest import MakeOnce
from tests.packs import unpack

PACK = Path(__file__).parents[2] / "shared" / "conformance" / "harness.tar.xz"
TREES = {
    "opensource": "default_layout/stub-a",
    "openai": "results_dir/stub-oai",
    "claude": "results_dir/stub-claude",
    "dead": "odd/dead_endpoint/stub-claude",
    "rerun": "odd/rerun_same_id/org/stub-b",
}

pytestmark = pytest.mark.skipif(not PACK.exists(), reason=f"the harness pack is not at {PACK}")


@pytest.fixture(scope="module")
def harness(make_once: MakeOnce) -> Warehouse:
    """A warehouse of the trees, each as a model named by what is in it."""
    pack = make_once("harness_pack", partial(unpack, PACK)) / "harness"

    def build(directory: Path) -> None:
        warehouse = open_warehouse(directory, create=True)
        for model, tree in TREES.items():
            warehouse.ingest(pack / tree, model=model, experiment="x", jobs=1)

    return open_warehouse(make_once("harness_warehouse", build))


def test_readings_of_a_counter_are_never_summed(harness: Warehouse) -> None:
    usage = harness.table("model_usage").collect()

    assert usage["usage_basis"].unique().to_list() == ["unknown"]
    assert usage["used_cost"].null_count() == usage["used_call_count"].null_count() == 10
    rows = {(row["model"], row["language"]): row for row in usage.to_dicts()}
    english = rows["opensource", "EN"]
    assert english["doubtful_usage_file_count"] == 12
    assert english["least_token_count"] == 365_694  # the greatest reading is 1,097,082 of 3 runs
    assert english["least_cost"] == pytest.approx(18.82269 / 3)


def test_lost_and_empty_answers_are_counted_apart(harness: Warehouse) -> None:
    columns = ("label_count", "answer_count", "lost_answer_count", "empty_answer_count")
    found = harness.table("model_problems").collect().select("model", "language", *columns).rows()
    counts = {(model, language): tuple(figures) for model, language, *figures in found}

    assert counts["opensource", "EN"] == (333, 326, 7, 12)
    assert counts["opensource", "KO"] == (210, 201, 9, 6)
    assert counts["openai", "EN"] == (333, 333, 0, 14)
    assert counts["claude", "KO"] == (210, 210, 0, 13)
    assert counts["dead", "EN"] == (333, 0, 333, 0)


def test_failed_requests_are_counted_from_the_log(harness: Warehouse) -> None:
    columns = ("failed_request_count", "rate_limited_request_count", "retried_request_count")
    found = harness.table("model_problems").collect().select("model", "language", *columns).rows()
    counts = {(model, language): tuple(figures) for model, language, *figures in found}

    assert counts["opensource", "EN"][::2] == (10, 0)  # never tried again: answers were lost
    assert counts["openai", "EN"] == (19, 6, 19)
    assert counts["claude", "KO"] == (7, 4, 7)
    logged = harness.table("model_problems").collect().filter(model="dead", language="EN")
    assert logged.select("logged_error_count").item() == 333
    assert logged["first_error"].item().startswith("Error generating Anthropic response")


def test_runs_that_the_judge_failed_on_and_errors_are_kept(harness: Warehouse) -> None:
    columns = ("model", "language", "unjudged_run_count", "reported_error_count")
    found = harness.table("model_problems").collect().select(columns).rows()

    assert {row[:2]: row[2:] for row in found if any(row[2:])} == {
        ("opensource", "KO"): (1, 0),
        ("claude", "KO"): (1, 0),
        ("openai", "EN"): (0, 2),
        ("openai", "KO"): (0, 3),
        ("rerun", "KO"): (1, 0),
        ("dead", "EN"): (36, 0),
        ("dead", "KO"): (36, 0),
    }


def test_a_dead_endpoint_has_no_rank(harness: Warehouse) -> None:
    board = harness.leaderboard().select("model", "rank_number", "rank_status")
    assert board.rows()[-1] == ("dead", None, "no_answers")
    assert board["rank_number"].drop_nulls().to_list() == [1, 2, 3, 4]


def test_results_of_the_run_before_are_stale(harness: Warehouse) -> None:
    report = harness.check()

    assert [sentence.split(":")[0] for sentence in report.stale] == [
        "rerun / x in EN",
        "rerun / x in KO",
    ]
    unexplained = report.differences.filter(pl.col("explanation").is_null())
    assert unexplained.filter(model="rerun")["check_name"].to_list() == [
        "reported_figures_are_current",
        "reported_figures_are_current",
    ]
