"""A bound on work that only a runaway breaks, however busy the machine is."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

RUNAWAY_SECONDS = 30.0
"""Work in proportion takes about a second of CPU here; squared work takes minutes."""


@contextmanager
def no_runaway() -> Iterator[None]:
    """Fail where the body takes CPU time that no busy machine explains."""
    started = time.process_time()
    yield
    assert time.process_time() - started < RUNAWAY_SECONDS
