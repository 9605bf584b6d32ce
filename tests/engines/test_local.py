"""Worker processes: all tasks get done, and a worker that dies is said in plain words."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from orchbench_analytics.engines.local import begin, map_unordered, workers
from orchbench_analytics.errors import OrchbenchError


@pytest.mark.parametrize("jobs", [1, 3])
def test_every_task_comes_back_with_its_result(jobs: int) -> None:
    with workers(jobs, is_worth_it=True) as pool:
        done = dict(map_unordered(pool, abs, range(-20, 0)))

    assert done == {number: -number for number in range(-20, 0)}


def test_no_process_is_started_for_little_work() -> None:
    with workers(4, is_worth_it=False) as pool:
        assert pool is None


def test_a_worker_that_dies_is_said_in_plain_words() -> None:
    with (
        pytest.raises(OrchbenchError, match="worker process was killed"),
        workers(2, is_worth_it=True) as pool,
    ):
        begin(pool, os._exit, 1).result()


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_function_runs_in_a_worker_if_there_is_one(jobs: int) -> None:
    with workers(jobs, is_worth_it=True) as pool:
        assert (begin(pool, os.getpid).result() == os.getpid()) == (jobs == 1)


def test_the_environment_is_left_as_it_was() -> None:
    before = dict(os.environ)
    with workers(2, is_worth_it=True) as pool:
        assert begin(pool, os.getenv, "OPENBLAS_NUM_THREADS").result() == "1"

    assert dict(os.environ) == before


def test_workers_import_nothing_from_the_working_directory(tmp_path: Path) -> None:
    (tmp_path / "pyarrow.py").write_text("raise SystemExit('the wrong pyarrow')")
    (tmp_path / "orchbench_analytics.py").write_text("raise SystemExit('the wrong package')")
    script = (
        "from orchbench_analytics.engines.local import map_unordered, workers\n"
        "with workers(2, is_worth_it=True) as pool:\n"
        "    print(dict(map_unordered(pool, abs, [-1])))\n"
    )
    command = [sys.executable, "-P", "-c", script]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}

    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True)

    assert (done.stdout, done.stderr) == (b"{-1: 1}\n", b"")
