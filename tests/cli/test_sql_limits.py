"""What a query may take: time, memory and disk; and that it ends when it is told to."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import psutil
import pytest

from orchbench_analytics import open_warehouse
from tests.processes import ORCHBENCH, run_and_weigh

ENDLESS = "select count(*) from range(100000000000), range(100000)"
# Not even DuckDB can stop it: a function that takes hours and listens to nobody.
DEAF = "select levenshtein(repeat('a', 2000000), repeat('b', 2000000)) as n"
CPU_SECONDS_TO_START = 2.0
LARGE_SORT = "select i, repeat('x', 60) || i as text from range({}) as rows(i) order by hash(i)"
PEAK_MB = 600


def start(*arguments: object, **options: object) -> subprocess.Popen[str]:
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    return subprocess.Popen([*ORCHBENCH, "sql", *map(str, arguments)], **piped)  # type: ignore[call-overload]


def test_a_query_has_so_much_time(demo: Path) -> None:
    with start(demo / "warehouse", ENDLESS, "--timeout", 0.5) as started:
        _, said = started.communicate(timeout=300)

    assert started.returncode == 124
    assert said == "orchbench: the query took longer than 0.5 seconds and was stopped\n"


def test_a_query_in_time_is_answered(demo: Path, orchbench: Callable) -> None:
    done = orchbench("sql", demo / "warehouse", "select 1 as n", "--timeout", 600, "-f", "csv")

    assert done.stdout == "n\n1\n"


def test_a_query_that_hears_nothing_is_left_behind(demo: Path) -> None:
    with start(demo / "warehouse", DEAF, "--timeout", 1) as started:
        _, said = started.communicate(timeout=300)

    assert started.returncode == 124
    assert said == "orchbench: the query took longer than 1 seconds and was stopped\n"


@pytest.mark.parametrize("query", [DEAF, ENDLESS])
def test_an_interrupted_query_ends_with_one_line(demo: Path, tmp_path: Path, query: str) -> None:
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    with start(demo / "warehouse", query, "-f", "jsonl", env=env) as started:
        while sum(psutil.Process(started.pid).cpu_times()[:2]) < CPU_SECONDS_TO_START:
            time.sleep(0.05)
        started.send_signal(signal.SIGINT)
        _, said = started.communicate(timeout=300)

    assert started.returncode == 130
    assert said == "orchbench: interrupted; what was finished before is kept\n"
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_has_seen_enough_ends_the_query(demo: Path) -> None:
    with start(demo / "warehouse", "from range(100000000000)", "-f", "csv") as started:
        assert started.stdout is not None
        assert started.stderr is not None
        started.stdout.readline()
        started.stdout.close()
        said = started.stderr.read()

    assert (started.returncode, said) == (0, "")


def test_a_limit_of_rows_ends_the_query(demo: Path, orchbench: Callable) -> None:
    endless = "select i from range(100000000000) as rows(i)"
    done = orchbench("sql", demo / "warehouse", endless, "-f", "csv", "--limit", 2)

    assert done.stdout == "i\n0\n1\n"


def test_a_query_past_its_limits_is_said(demo: Path, tmp_path: Path, orchbench: Callable) -> None:
    target = tmp_path / "rows.parquet"
    query = LARGE_SORT.format(3_000_000)
    limits = ("--memory", 0.1, "--spill", 0.01)
    done = orchbench("sql", demo / "warehouse", query, *limits, "-o", target)

    assert done.returncode == 2
    assert done.stderr.startswith(
        "orchbench: the query needs more than its limits of memory and disk, --memory and --spill: "
    )
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_what_does_not_fit_into_memory_goes_to_the_disk_and_is_gone_after(
    demo: Path, tmp_path: Path
) -> None:
    target, place = tmp_path / "rows.parquet", tmp_path / "place"
    place.mkdir()
    env = {**os.environ, "TMPDIR": str(place)}
    query = LARGE_SORT.format(2_000_000)
    with start(demo / "warehouse", query, "--memory", 0.1, "-o", target, env=env) as started:
        said = started.communicate(timeout=300)

    assert said == ("", "")  # not even the progress bar of a query that takes long
    assert pl.scan_parquet(target).select(pl.len()).collect().item() == 2_000_000
    assert list(place.iterdir()) == []


def test_rows_are_not_gathered_in_memory(demo: Path) -> None:
    query = "select i, repeat('x', 1000) as text from range(600000) as rows(i)"
    call = ("sql", demo / "warehouse", query, "-f", "csv")
    ended = run_and_weigh(*ORCHBENCH, *call, stdout=subprocess.DEVNULL)

    assert ended.returncode == 0
    assert 50 < ended.peak_megabytes < PEAK_MB


def test_python_has_the_same_limits_of_memory(demo: Path) -> None:
    relation = open_warehouse(demo / "warehouse").sql(
        "select current_setting('temp_directory'), current_setting('max_temp_directory_size')"
    )
    ((directory, size),) = relation.fetchall()

    assert Path(directory).is_dir()
    assert size == "14.9 GiB"
