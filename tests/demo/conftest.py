"""One sweep of every template for all tests of the generator that only read."""

from pathlib import Path

import pytest

from tests.sweep import write_sweep
from tests.sweep.world import templates


@pytest.fixture(scope="session")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("sweep")
    write_sweep(root, scenarios=len(templates()), write_judge_logs=True)
    return root
