"""One sweep of every template for all tests of the demo that only read."""

import pytest

from orchbench_analytics.demo import SweepSummary, write_sweep
from orchbench_analytics.demo.world import templates


@pytest.fixture(scope="session")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> SweepSummary:
    root = tmp_path_factory.mktemp("sweep")
    return write_sweep(root, scenarios=len(templates()), write_judge_logs=True)
