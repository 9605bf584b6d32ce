"""What the benchmark's own harness leaves behind, as far as the conformance pack has it."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.warehouse import Warehouse
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
def harness(make_once: Callable[[str, Callable[[Path], object]], Path]) -> Warehouse:
    """A warehouse of the trees, each as a model named by what is in it."""
    pack = make_once("harness_pack", partial(unpack, PACK)) / "harness"

    def build(directory: Path) -> None:
        warehouse = open_warehouse(directory, create=True)
        for model, tree in TREES.items():
            warehouse.ingest(pack / tree, model=model, experiment="x", jobs=1)

    return open_warehouse(make_once("harness_warehouse", build))


def test_readings_of_a_counter_are_never_summed(harness: Warehouse) -> None:
    usage = harness.view("model_usage")

    assert usage["usage_basis"].unique().to_list() == ["unknown"]
    assert usage["used_cost"].null_count() == usage["used_call_count"].null_count() == 10
    rows = {(row["model"], row["language"]): row for row in usage.to_dicts()}
    english = rows["opensource", "EN"]
    assert english["doubtful_usage_file_count"] == 12
    assert english["least_token_count"] == 365_694  # the greatest reading is 1,097,082 of 3 runs
    assert english["least_cost"] == pytest.approx(18.82269 / 3)
