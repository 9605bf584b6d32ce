"""A query in a process of its own, which can be ended at any moment and has bounded memory.

DuckDB has limits too, but not all of it obeys them: planning takes memory that it does not count,
and some functions ignore an interrupt. A process can be killed, and the system bounds its memory.
The process starts when a `Sandbox` is made, so that the caller can do other work meanwhile.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from orchbench_analytics import errors
from orchbench_analytics.errors import OrchbenchError, QueryError, QueryTimeout
from orchbench_analytics.store.replace import staging_beside

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from orchbench_analytics.views.catalog import Scope

_DEFAULT_SPILL_GB = 16.0
_MEGABYTE = 10**6
# Beside DuckDB's memory limit: what planning and Arrow take, and a stack for each thread.
_OTHER_MEMORY = 256 * _MEGABYTE
_THREAD_MEMORY = 24 * _MEGABYTE
_BATCH_ROWS = 20_000
_BATCHES_AHEAD = 2
_TICK_SECONDS = 0.1  # polars restarts a longer wait that a signal interrupts
_WATCH_SECONDS = 0.05
_FAILED = 3
_DAYS = (-719_162, 2_932_896)  # from year 1 to year 9999, as Python's dates
_UNITS_A_DAY = {"s": 86_400, "ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}


class Limits(NamedTuple):
    """How much a query may use, in gigabytes; null is half of the machine's memory."""

    memory_gb: float | None = None
    spill_gb: float = _DEFAULT_SPILL_GB


class Sandbox:
    """A process that answers one query."""

    def __init__(self) -> None:
        start = f"import sys; sys.path[:] = {sys.path!r}; import {__name__} as s; s.serve()"
        self._process = subprocess.Popen(
            [sys.executable, "-c", start],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # Arrow's own allocator reserves a gigabyte, which would count as used.
            env={**os.environ, "ARROW_DEFAULT_MEMORY_POOL": "system"},
            # Ctrl-C is for this process, which then ends the other one.
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            with suppress(OSError):  # the last bytes of a request have no reader
                pipe.close()  # type: ignore[union-attr]

    def stop(self) -> None:
        """End the query from another thread; its frames end with an error."""
        self._process.kill()

    def frames(
        self,
        root: Path,
        query: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        unsafe: bool = False,
        limits: Limits | None = None,
        scope: Scope | None = None,
        timeout: float | None = None,
    ) -> Generator[pl.DataFrame]:
        """The rows of a query, a batch at a time; the first frame has no rows, but the columns.

        The query ends with the iteration, however that ends, and after so many seconds.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        batches: Queue[pa.RecordBatch | pa.Table | None] = Queue(_BATCHES_AHEAD)
        given = {"limits": limits, "scope": scope}
        with spill_directory() as directory:
            request: dict[str, Any] = {name: value for name, value in given.items() if value}
            request |= {"root": root, "query": query, "parameters": parameters, "unsafe": unsafe}
            reader = Thread(target=self._receive, args=(batches,), daemon=True)
            try:
                self._send(request | {"spill_directory": directory})
                reader.start()
                while (batch := _next(batches, deadline, timeout)) is not None:
                    yield _frame_of(batch)
                self._require_success()
            finally:
                self._process.kill()
                while reader.is_alive():  # it may wait for room
                    with suppress(Empty):
                        batches.get(timeout=_TICK_SECONDS)
                self.close()

    def frame(
        self, root: Path, query: str, *, limits: Limits | None = None, **options: Any
    ) -> pl.DataFrame:
        """All rows of a query, if they fit into the limit of memory; options as of `frames`."""
        with closing(self.frames(root, query, limits=limits, **options)) as frames:
            return gather(frames, most_bytes=memory_bytes(limits))

    def _send(self, request: dict[str, Any]) -> None:
        with suppress(BrokenPipeError):  # what it died of is read from its other pipes
            self._process.stdin.write(pickle.dumps(request))  # type: ignore[union-attr]
            self._process.stdin.flush()  # type: ignore[union-attr]

    def _receive(self, batches: Queue[pa.RecordBatch | pa.Table | None]) -> None:
        import pyarrow as pa

        with suppress(pa.ArrowException, OSError, ValueError):  # the exit code says more
            reader = pa.ipc.open_stream(self._process.stdout)
            batches.put(reader.schema.empty_table())
            for batch in reader:
                batches.put(batch)
        batches.put(None)

    def _require_success(self) -> None:
        """Raise the error that the process reported or died of."""
        said = self._process.stderr.read()  # type: ignore[union-attr]
        code = self._process.wait()
        if code == 0:
            return
        if code == _FAILED:
            kind, message = json.loads(said.splitlines()[-1])
            raise getattr(errors, kind)(message)
        raise QueryError(
            f"the process of the query died (exit code {code}), probably because it needs more "
            "memory than its limit, --memory"
        )


def gather(frames: Iterator[pl.DataFrame], *, most_bytes: int) -> pl.DataFrame:
    """One frame of all rows; an error if it would take more memory than this."""
    import polars as pl

    gathered: list[pl.DataFrame] = []
    size = 0.0
    for frame in frames:
        size += frame.estimated_size()
        if size > most_bytes:
            raise QueryError(
                "the rows need more than the limit of memory, --memory: ask for fewer, or have "
                "them written one after another: --format csv, jsonl or parquet"
            )
        gathered.append(frame)
    return pl.concat(gathered)


def memory_bytes(limits: Limits | None) -> int:
    """The most memory a query may use: as given, or half of the machine's."""
    if limits is not None and limits.memory_gb is not None:
        return round(limits.memory_gb * 1000 * _MEGABYTE)
    if hasattr(os, "sysconf"):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    return sys.maxsize


def out_of_time(seconds: float | None) -> QueryTimeout:
    """The error for a query that took longer than it may."""
    return QueryTimeout(f"the query took longer than {seconds:g} seconds and was stopped")


def _next(
    batches: Queue[pa.RecordBatch | pa.Table | None],
    deadline: float | None,
    timeout: float | None,
) -> pa.RecordBatch | pa.Table | None:
    """The next batch; an error when the time is up."""
    while True:
        if deadline is not None and time.monotonic() >= deadline:
            raise out_of_time(timeout)
        with suppress(Empty):
            return batches.get(timeout=_TICK_SECONDS)


def _frame_of(batch: pa.RecordBatch | pa.Table) -> pl.DataFrame:
    import polars as pl
    import pyarrow as pa

    try:
        return pl.DataFrame(batch)
    except (pl.exceptions.PolarsError, pa.ArrowException, TypeError, ValueError) as error:
        raise QueryError(f"the rows have values that cannot be shown: {error}") from error


@contextmanager
def spill_directory() -> Iterator[str]:
    """A directory for what memory cannot hold; an empty text if none can be made."""
    with ExitStack() as stack:
        try:
            place = Path(tempfile.gettempdir()) / "sql"
            directory = str(stack.enter_context(staging_beside(place)))
        except OSError:
            directory = ""
        yield directory


def serve() -> None:
    """Answer the query that comes on stdin: rows go to stdout, an error goes to stderr."""
    import pyarrow.dataset  # noqa: F401 (imported while the other process prepares the request)

    from orchbench_analytics.store.manifest import naming_damage

    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints is not mixed with the rows
    try:
        request = pickle.load(sys.stdin.buffer)
    except EOFError:
        os._exit(1)
    Thread(target=_exit_with_parent, daemon=True).start()
    try:
        with naming_damage(request["root"]):
            _answer(output, **request)
    except OrchbenchError as error:
        code = _report(output, type(error).__name__, str(error))
    except BrokenPipeError:  # the reader is gone
        code = 1
    except Exception as error:  # noqa: BLE001 (a foreign one; it crosses to the other process)
        from orchbench_analytics.views.query import query_error

        code = _report(output, "QueryError", str(query_error(error)))
    else:
        output.close()
        code = 0
    os._exit(code)  # DuckDB may still be at work on it


def _report(output: BinaryIO, kind: str, message: str) -> int:
    with suppress(OSError):
        output.close()
    sys.stderr.write("\n" + json.dumps([kind, message]) + "\n")
    sys.stderr.flush()
    return _FAILED


def _answer(output: BinaryIO, *, root: Path, query: str, **options: Any) -> None:
    import duckdb
    import pyarrow as pa

    from orchbench_analytics.store.manifest import load_manifest
    from orchbench_analytics.views.query import is_unreadable, portable, query_error, run_query

    manifest = load_manifest(root)
    _bound_memory(memory_bytes(options.get("limits")))
    relation = run_query(root, manifest, query, **options)
    try:
        reader = portable(relation).to_arrow_reader(_BATCH_ROWS)
        with pa.ipc.new_stream(output, reader.schema) as writer:
            for batch in reader:
                _require_dates(batch)
                writer.write_batch(batch)
    except BrokenPipeError:
        raise
    except (duckdb.Error, pa.ArrowException, OSError) as error:  # pyarrow wraps DuckDB's
        if is_unreadable(error):  # the caller looks for the damaged file
            raise
        raise query_error(error) from error


def _require_dates(batch: pa.RecordBatch) -> None:
    """Refuse dates that neither Python nor most formats have, such as infinity."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if pa.types.is_date32(column.type):
            numbers, units = column.view(pa.int32()), 1
        elif pa.types.is_timestamp(column.type):
            numbers, units = column.view(pa.int64()), _UNITS_A_DAY[column.type.unit]
        else:
            continue
        found = pc.min_max(numbers).as_py()
        first, last = (day * units for day in _DAYS)
        if found["min"] is not None and (found["min"] < first or found["max"] >= last + units):
            raise QueryError(
                f"{name!r} has dates outside the years 1 to 9999: cast it to varchar to show them"
            )


def _exit_with_parent() -> None:
    """End when the pipe from the other process closes: its reader is gone."""
    sys.stdin.buffer.read(1)
    os._exit(1)


def _bound_memory(most_bytes: int) -> None:
    """Let this process use so much memory beside what it already has.

    Linux bounds it. Elsewhere a thread watches; Windows has no such figure in Python, so there
    DuckDB's own limit is the only one.
    """
    try:
        import resource
    except ImportError:
        return
    others = _OTHER_MEMORY + _THREAD_MEMORY * (os.cpu_count() or 1)
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[5])
        limit = pages * os.sysconf("SC_PAGE_SIZE") + most_bytes + others
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    else:

        def used() -> int:
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

        Thread(target=_watch, args=(used, used() + most_bytes + others), daemon=True).start()


def _watch(used: Callable[[], int], most_bytes: int) -> None:
    while used() <= most_bytes:
        time.sleep(_WATCH_SECONDS)
    os._exit(1)
