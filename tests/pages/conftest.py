"""What tests of pages look at."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def demo(demo: Path) -> Path:
    """The warehouse of the demo."""
    return demo / "warehouse"
