"""What a query may take: time, memory and disk; and that it ends when it is told to."""

import os
import pty
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import psutil
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import QueryError, QueryTimeout
from tests.cli.pseudo_terminal import read_to_end
from tests.processes import ORCHBENCH, run_and_weigh
from tests.torture.queries import hostile_queries, try_query

pytestmark = pytest.mark.long

ENDLESS = "select count(*) from range(100000000000), range(100000)"
# DuckDB cannot interrupt this function, which takes hours.
DEAF = "select levenshtein(repeat('a', 2000000), repeat('b', 2000000)) as n"
CPU_SECONDS_TO_START = 2.0
LARGE_SORT = "select i, repeat('x', 60) || i as text from range({}) as rows(i) order by hash(i)"
PEAK_MB = 600


def start(*arguments: object, **options: object) -> subprocess.Popen[str]:
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    return subprocess.Popen([*ORCHBENCH, "sql", *map(str, arguments)], **piped)  # type: ignore[call-overload]


def cpu_seconds(started: subprocess.Popen[str]) -> float:
    """What a process and those it started have used."""
    process = psutil.Process(started.pid)
    return sum(sum(p.cpu_times()[:2]) for p in (process, *process.children()))


def test_a_query_has_so_much_time(demo: Path) -> None:
    with start(demo / "warehouse", ENDLESS, "--timeout", 0.5) as started:
        _, said = started.communicate(timeout=300)

    assert started.returncode == 124
    assert said == "orchbench: the query took longer than 0.5 seconds and was stopped\n"


@pytest.mark.parametrize("written_as", ["table", "markdown"])
def test_the_time_of_a_query_is_for_its_rows_too(demo: Path, written_as: str) -> None:
    rows = ("from range(1500000)", "-f", written_as)  # quick to find, slow to lay out
    with start(demo / "warehouse", *rows, "--timeout", 0.5, "--memory", 0.2) as started:
        shown, said = started.communicate(timeout=300)

    assert (started.returncode, shown) == (124, "")
    assert said == "orchbench: the query took longer than 0.5 seconds and was stopped\n"


def test_a_query_in_time_is_answered(demo: Path, orchbench: Callable) -> None:
    done = orchbench("sql", demo / "warehouse", "select 1 as n", "--timeout", 600, "-f", "csv")

    assert done.stdout == "n\n1\n"


def test_a_query_that_ignores_an_interrupt_is_ended(demo: Path) -> None:
    with start(demo / "warehouse", DEAF, "--timeout", 1) as started:
        _, said = started.communicate(timeout=300)

    assert started.returncode == 124
    assert said == "orchbench: the query took longer than 1 seconds and was stopped\n"


@pytest.mark.parametrize("query", [DEAF, ENDLESS])
def test_an_interrupted_query_ends_with_one_line(demo: Path, tmp_path: Path, query: str) -> None:
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    with start(demo / "warehouse", query, "-f", "jsonl", env=env) as started:
        while cpu_seconds(started) < CPU_SECONDS_TO_START:
            time.sleep(0.05)
        started.send_signal(signal.SIGINT)
        _, said = started.communicate(timeout=300)

    assert started.returncode == 130
    assert said == "orchbench: interrupted; what was finished before is kept\n"
    assert list(tmp_path.iterdir()) == []


def wait_for_prompt(terminal: int) -> None:
    shown = b""
    while not shown.endswith(b"orchbench> "):
        shown += os.read(terminal, 1)


def test_a_prompt_goes_on_after_every_interrupt(demo: Path) -> None:
    terminal, ours = pty.openpty()
    with start(demo / "warehouse", stdin=ours, stdout=ours, stderr=ours) as started:
        os.close(ours)
        for _ in range(2):
            wait_for_prompt(terminal)
            started.send_signal(signal.SIGINT)
        wait_for_prompt(terminal)
        os.write(terminal, b".quit\n")
        rest = read_to_end(terminal).decode()
    os.close(terminal)

    assert (started.returncode, "interrupted" in rest) == (0, False)


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


def test_python_has_limits_of_time_and_memory(demo: Path) -> None:
    warehouse = open_warehouse(demo / "warehouse")

    rows = warehouse.sql("select $n + 1 as n", parameters={"n": 1}, timeout=60, memory=0.2)
    assert rows.rows() == [(2,)]
    with pytest.raises(QueryTimeout):
        warehouse.sql(DEAF, timeout=1)
    with pytest.raises(QueryError, match="limits of memory"):
        warehouse.sql("select list_distinct(range(100000000))", memory=0.2)


def test_a_query_ends_with_the_process_that_asked(demo: Path) -> None:
    with start(demo / "warehouse", DEAF) as started:
        while not (children := psutil.Process(started.pid).children()):
            time.sleep(0.05)
        started.kill()
    assert psutil.wait_procs(children, timeout=60)[1] == []


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("update extensions", "a query may only read"),
        ("select 'infinity'::date as day", "'day' has dates outside the years 1 to 9999"),
        ("select timestamp '290000-01-01' as at", "'at' has dates outside the years 1 to 9999"),
    ],
)
def test_what_cannot_be_shown_is_a_sentence(
    demo: Path, orchbench: Callable, query: str, said: str
) -> None:
    done = orchbench("sql", demo / "warehouse", query, "-f", "csv")

    assert done.returncode == 2
    assert done.stderr.startswith(f"orchbench: {said}")
    assert done.stderr.count("\n") == 1


def test_lists_are_text_in_csv(demo: Path, orchbench: Callable) -> None:
    done = orchbench("sql", demo / "warehouse", "from duckdb_settings()", "-f", "csv")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("name,value,")


@pytest.mark.parametrize("query", hostile_queries(30, seed=24))
def test_a_hostile_query_is_over_in_time_and_within_a_gigabyte(demo: Path, query: str) -> None:
    assert try_query(demo / "warehouse", query, timeout=1, grace=15).faults == []


def test_python_has_the_same_limits_of_memory(demo: Path) -> None:
    rows = open_warehouse(demo / "warehouse").sql(
        "select current_setting('temp_directory'), current_setting('max_temp_directory_size')"
    )
    directory, size = rows.row(0)

    assert Path(directory).is_dir()
    assert size == "14.9 GiB"
