"""Reports that say next to nothing: for tests of where a report goes, not of what it says."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from orchbench_analytics.pages import report
from orchbench_analytics.pages.report import PiecesTask, ReportOptions
from orchbench_analytics.pages.source import Source


@contextmanager
def quick_reports() -> Iterator[None]:
    """While this is open, a report has three pieces, one of them long, and asks nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "_tasks", _few_pieces)
        patch.setattr(Source, "step_count", lambda _: 0)
        patch.setattr(Source, "gather", lambda _: None)
        yield


def _few_pieces(source: Source, pieces: Path, options: ReportOptions) -> Iterator[PiecesTask]:
    yield PiecesTask(
        lambda _: [("core", "x" * 2000), ("labels", []), ("model-0", [])], source, pieces
    )
