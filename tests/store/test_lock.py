"""One writer at a time, and what those are told who have to wait."""

import errno
import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from orchbench_analytics.changes import hold
from orchbench_analytics.errors import WarehouseError
from tests.store.roots import Root

HOLD_IT = """
import sys
from pathlib import Path
from orchbench_analytics.changes import hold
with hold(Path(sys.argv[1]), wait=False, on_wait=print):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def another_writer(root: Path) -> Iterator["subprocess.Popen[bytes]"]:
    command = [sys.executable, "-c", HOLD_IT, str(root)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        yield holder
        holder.kill()


def test_who_does_not_wait_is_told_who_writes(root: Root) -> None:
    with another_writer(root.path) as holder:
        words = f"{root.address} is being written by process {holder.pid}; try again"
        with (
            pytest.raises(WarehouseError, match=words),
            hold(root.path, wait=False, on_wait=print),
        ):
            pass


def test_the_lock_ends_with_a_process_that_is_killed(root: Root) -> None:
    said: list[str] = []
    with another_writer(root.path) as holder:

        def kill_it(text: str) -> None:
            said.append(text)
            holder.kill()

        with hold(root.path, wait=True, on_wait=kill_it):
            pass
    assert said == [f"{root.address} is being written by process {holder.pid}; waiting"]


def test_the_lock_ends_with_its_block(root: Root) -> None:
    for _ in range(2):
        with (
            pytest.raises(ZeroDivisionError),
            hold(root.path, wait=False, on_wait=print),
        ):
            raise ZeroDivisionError


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with (
        pytest.raises(WarehouseError, match="file/warehouse cannot be written: Not a directory"),
        hold(tmp_path / "file/warehouse", wait=False, on_wait=print),
    ):
        pass


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSYS, "is on a file system without locks; name another"),
        (errno.ENOLCK, "is on a file system without locks; name another"),
        (errno.EOPNOTSUPP, "is on a file system without locks; name another"),
        (errno.EIO, "cannot be written: Input/output error"),
    ],
)
def test_a_file_system_without_locks_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, words: str
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)  # no such file system is at hand everywhere

    with pytest.raises(WarehouseError, match=words), hold(tmp_path, wait=False, on_wait=print):
        pass
