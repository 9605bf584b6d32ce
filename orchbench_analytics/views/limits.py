"""How much a query may take: memory, and room on the disk for what does not fit into it."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from typing import NamedTuple

import duckdb

_GIGABYTE = 10**9
_DEFAULT_MEMORY = "50%"  # of the machine's, so that others on it go on working
_DEFAULT_SPILL_GB = 16.0


class Limits(NamedTuple):
    """What a query may take, in gigabytes; null is half of the machine's memory."""

    memory_gb: float | None = None
    spill_gb: float = _DEFAULT_SPILL_GB


def set_limits(connection: duckdb.DuckDBPyConnection, limits: Limits) -> None:
    """Bound the memory of a connection, and what it may put on the disk instead.

    Without a temporary place that can be written, nothing is put on the disk.
    """
    memory = _DEFAULT_MEMORY if limits.memory_gb is None else _bytes(limits.memory_gb)
    connection.execute("set memory_limit = $memory", {"memory": memory})
    connection.execute("set temp_directory = $directory", {"directory": _spill_directory()})
    connection.execute("set max_temp_directory_size = $size", {"size": _bytes(limits.spill_gb)})


def _bytes(gigabytes: float) -> str:
    return f"{round(gigabytes * _GIGABYTE)}B"


@cache
def _spill_directory() -> str:
    """A directory that is removed when this process ends; an empty text if none can be made.

    A relation may outlive its connection, so the directory does too.
    """
    try:
        directory = tempfile.mkdtemp(prefix="orchbench-sql-")
    except OSError:
        return ""
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory


def remove_spilled() -> None:
    """Remove what queries put on the disk, before a process ends without its exit functions."""
    if _spill_directory.cache_info().currsize and _spill_directory():
        shutil.rmtree(_spill_directory(), ignore_errors=True)
