"""A query under way: its rows come in batches, and it can be stopped at any moment.

DuckDB works in a thread of its own, from connecting on, so that this one hears Ctrl-C and the
clock: DuckDB calls back into Python, and a Ctrl-C that reaches it there is lost. A function of
DuckDB that does not listen is left behind; the process then ends without waiting for it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator
from queue import Empty, Full, Queue
from typing import TYPE_CHECKING

from orchbench_analytics.errors import QueryTimeout

if TYPE_CHECKING:
    import duckdb
    import polars as pl

    Item = pl.DataFrame | BaseException | None  # the last one is an error or null

BATCH_ROWS = 20_000
_THREAD = "orchbench query"
_BATCHES_AHEAD = 2
_TICK_SECONDS = 0.1
_PATIENCE_SECONDS = 0.5  # most queries stop within milliseconds


def is_left_running() -> bool:
    """Whether a query that was stopped is still at work."""
    return any(thread.name == _THREAD for thread in threading.enumerate())


def in_batches(
    connect: Callable[[], duckdb.DuckDBPyConnection],
    ask: Callable[[duckdb.DuckDBPyConnection], Iterator[pl.DataFrame]],
    *,
    timeout: float | None = None,
) -> Generator[pl.DataFrame]:
    """The frames that `ask` yields by working with a connection, one after another.

    The query ends with the iteration, however that ends, and after so many seconds.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    items: Queue[Item] = Queue(_BATCHES_AHEAD)
    is_stopped = threading.Event()
    connected: list[duckdb.DuckDBPyConnection] = []

    def frames() -> Iterator[pl.DataFrame]:
        connected.append(connect())
        yield from ask(connected[0])

    thread = threading.Thread(
        target=_work, args=(frames, items, is_stopped), name=_THREAD, daemon=True
    )
    thread.start()
    try:
        while (item := _next(items, deadline)) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
        thread.join()
    except Empty:
        raise QueryTimeout(
            f"the query took longer than {timeout:g} seconds and was stopped"
        ) from None
    finally:
        is_stopped.set()
        if thread.is_alive():
            for connection in connected:
                connection.interrupt()
            thread.join(_PATIENCE_SECONDS)


def _next(items: Queue[Item], deadline: float | None) -> Item:
    """The next item; `Empty` is raised when the time is up."""
    while True:
        try:
            return items.get(timeout=_TICK_SECONDS)  # polars lets no signal end a longer wait
        except Empty:
            if deadline is not None and time.monotonic() >= deadline:
                raise


def _work(
    ask: Callable[[], Iterator[pl.DataFrame]],
    items: Queue[Item],
    is_stopped: threading.Event,
) -> None:
    last = None
    try:
        for frame in ask():
            if not _put(items, frame, is_stopped):
                return
    except BaseException as error:  # noqa: BLE001 (it is raised again where the rows are wanted)
        last = error
    _put(items, last, is_stopped)


def _put(
    items: Queue[Item],
    item: Item,
    is_stopped: threading.Event,
) -> bool:
    """Hand an item over as soon as there is room; false if nobody wants it any more."""
    while not is_stopped.is_set():
        try:
            items.put(item, timeout=_TICK_SECONDS)
        except Full:
            continue
        return True
    return False
