"""Worker processes: all tasks get done, and a worker that dies is said in plain words."""

import gc
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from orchbench_analytics.engines import Engine, Here, Local
from orchbench_analytics.errors import OrchbenchError


def process_of(_: int) -> int:
    return os.getpid()


def slow_process_of(_: int) -> int:
    time.sleep(0.1)
    return os.getpid()


@pytest.mark.parametrize("engine", [Here(), Local(1), Local(3)], ids=["here", "one", "three"])
def test_every_task_comes_back_with_its_result(engine: Engine) -> None:
    assert sorted(engine.run(abs, range(-20, 0))) == list(range(1, 21))


def test_no_process_is_started_for_little_work() -> None:
    with Local(4) as engine:
        assert set(engine.run(process_of, range(3), is_small=True)) == {os.getpid()}


def test_work_runs_in_as_many_processes_as_jobs() -> None:
    with Local(2) as engine:
        processes = Counter(engine.run(slow_process_of, range(40)))

    assert len(processes) == 2
    assert os.getpid() in processes


def test_one_task_runs_in_a_worker() -> None:
    with Local(2) as engine:
        assert os.getpid() not in set(engine.run(process_of, range(1)))


def test_cycles_are_looked_for_as_before_once_the_work_is_done() -> None:
    before = gc.get_threshold()
    with Local(1):
        assert gc.get_threshold()[0] > before[0]
    assert gc.get_threshold() == before


def test_only_a_few_tasks_are_under_way() -> None:
    begun: list[int] = []

    def tasks() -> Iterator[int]:
        for number in range(100):
            begun.append(number)
            yield number

    with Local(2) as engine:
        next(engine.run(abs, tasks()))
        assert len(begun) < 10


def test_a_worker_that_dies_is_said_in_plain_words() -> None:
    with (
        pytest.raises(OrchbenchError, match="worker process was killed"),
        Local(2) as engine,
    ):
        list(engine.run(os._exit, [1]))


def test_workers_import_nothing_from_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / "pyarrow.py").write_text("raise SystemExit('the wrong pyarrow')")
    (tmp_path / "orchbench_analytics.py").write_text("raise SystemExit('the wrong package')")
    script = (
        "from orchbench_analytics.engines import Local\n"
        "with Local(2) as engine:\n"
        "    print(list(engine.run(abs, [-1])))\n"
    )
    command = [sys.executable, "-P", "-c", script]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}

    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True)

    assert (done.stdout, done.stderr) == (b"[1]\n", b"")
