"""One writer at a time: a lock that ends with its process, however that ends."""

from __future__ import annotations

import errno
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout

from orchbench_analytics.errors import WarehouseError
from orchbench_analytics.store.files import LOCK, WRITER

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


@contextmanager
def hold(root: Path, *, wait: bool, on_wait: Callable[[str], None]) -> Iterator[None]:
    """Be the only writer of the warehouse; who holds it is said to those who must wait."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        lock = _acquire(root, wait=wait, on_wait=on_wait)
    except NotImplementedError as error:
        raise WarehouseError(f"{root} is on a file system without locks; name another") from error
    except OSError as error:
        said = f"cannot be written: {error.strerror or error}"
        if error.errno in _NO_LOCKS:
            said = "is on a file system without locks; name another"
        raise WarehouseError(f"{root} {said}") from error
    try:
        yield
    finally:
        lock.release()


def _acquire(root: Path, *, wait: bool, on_wait: Callable[[str], None]) -> BaseFileLock:
    for name in (LOCK, WRITER):
        if (root / name).is_symlink():  # to lock or write it would change what it points to
            raise WarehouseError(f"{root / name} is a symbolic link; remove it")
    lock = FileLock(root / LOCK)
    try:
        with warnings.catch_warnings():
            # The lock that filelock would fall back to outlives a killed process.
            warnings.simplefilter("error", UserWarning)
            lock.acquire(blocking=False)
    except UserWarning as warning:
        raise NotImplementedError from warning
    except Timeout:
        said = f"{root} is being written by {_writer(root)}"
        if not wait:
            raise WarehouseError(f"{said}; try again") from None
        on_wait(f"{said}; waiting")
        lock.acquire()
    # In a file of its own, since a locked file cannot be read on Windows.
    (root / WRITER).write_text(f"process {os.getpid()}\n", encoding="utf-8")
    return lock


def _writer(root: Path) -> str:
    try:
        return (root / WRITER).read_text(encoding="utf-8").strip() or "another process"
    except (OSError, UnicodeDecodeError):
        return "another process"
