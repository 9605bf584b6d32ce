"""Files that are still being written wait, and are refused only once they stand still for long."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.ingest import settle
from orchbench_analytics.ingest.settle import Settling
from orchbench_analytics.ingest.sources import stat_file
from tests.documents import scenario_path, write


def aged(path: Path, seconds: float) -> Path:
    """A file that was written so long ago, by the only time that a test can set."""
    then = time.time() - seconds
    os.utime(path, (then, then))
    return path


def waits(settling: Settling, path: Path, *, age: float) -> bool:
    """Whether a file of this age waits; its other time cannot be set, so the age is put in."""
    file = stat_file(str(path))._replace(changed_at_ns=time.time_ns() - int(age * 1e9))
    return settling.waits(file)


def test_a_file_waits_until_it_stands_still(tmp_path: Path) -> None:
    path = write(scenario_path(tmp_path))
    settling = Settling(quiet_seconds=1, patience_seconds=60)
    assert waits(settling, path, age=0.2)
    assert settling.waiting == {str(path)}
    assert not waits(settling, path, age=1.5)
    assert not settling.waiting


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_file_that_ends_too_early_waits_for_the_rest(tmp_path: Path, share: float) -> None:
    path = write(scenario_path(tmp_path))
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    settling = Settling(quiet_seconds=1, patience_seconds=60)
    assert waits(settling, path, age=5)
    path.write_bytes(data)
    assert not waits(settling, path, age=5)


def test_a_broken_file_does_not_wait_forever(tmp_path: Path) -> None:
    path = scenario_path(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_bytes(b'{"history": ')
    settling = Settling(quiet_seconds=1, patience_seconds=60)
    assert waits(settling, path, age=59)
    assert not waits(settling, path, age=61)


def test_what_changes_while_it_is_read_is_not_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(scenario_path(tmp_path / "results"))
    whole = path.read_bytes()
    monkeypatch.setattr(settle, "_is_whole", lambda _: True)
    warehouse = open_warehouse(tmp_path / "wh", create=True)
    looks = warehouse.watch(tmp_path / "results", jobs=1, every=0.1)
    path.write_bytes(whole[:100])
    has_changed = Settling.has_changed

    def go_on_writing(self: Settling, file: object) -> bool:
        path.write_bytes(whole)
        return has_changed(self, file)  # type: ignore[arg-type]

    monkeypatch.setattr(Settling, "has_changed", go_on_writing)
    for look in looks:
        assert look.summary.refused == []
        if look.summary.taken:
            break
    assert warehouse.sources()["status"].to_list() == ["taken"]


def test_a_file_that_is_written_again_is_not_gone(tmp_path: Path) -> None:
    path = write(scenario_path(tmp_path / "results"))
    write(scenario_path(tmp_path / "results", model="other"))
    warehouse = open_warehouse(tmp_path / "wh", create=True)
    looks = warehouse.watch(tmp_path / "results", jobs=1, every=0.1, prune=True)
    assert next(look for look in looks if look.summary.taken).summary.taken == 2
    path.write_bytes(path.read_bytes()[:50])
    look = next(looks)
    assert (look.waiting, look.summary.removed, look.summary.gone) == (1, 0, [])
    assert len(warehouse.sources()) == 2
