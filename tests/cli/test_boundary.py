"""What the system can do to a command: a message, an exit code, and never a traceback."""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import SelectionError
from orchbench_analytics.outputs.leaderboard import tagged_models
from tests.processes import ORCHBENCH

pytestmark = pytest.mark.long

MODULE = (
    "import runpy; runpy.run_module('orchbench_analytics', run_name='__main__', alter_sys=True)"
)
PIPED = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}

# The command line with worker processes for the smallest tree.
WITH_WORKERS = """
import signal
signal.signal(signal.SIGINT, signal.SIG_DFL)
import orchbench_analytics.ingest.update
orchbench_analytics.ingest.update._SMALL_TREE_BYTES = 0
from orchbench_analytics.cli import main
main()
"""


def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    options = {"capture_output": True, "text": True, "check": False} | options
    return subprocess.run([*ORCHBENCH, *map(str, arguments)], **options)  # type: ignore[call-overload]


def test_a_full_disk_is_said(demo: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = run(
            "sql",
            demo / "warehouse",
            "from main.steps",
            "-f",
            "csv",
            capture_output=False,
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert (done.returncode, done.stderr) == (
        74,
        "orchbench: the disk is full; what was there before is untouched\n",
    )


def test_an_output_on_a_full_disk_is_said(demo: Path) -> None:
    done = run("leaderboard", demo / "warehouse", "-o", "/dev/full", "-f", "csv")
    assert done.returncode == 2
    assert done.stderr == "orchbench: /dev/full cannot be written: No space left on device\n"


def test_a_file_that_may_not_grow_is_said(demo: Path, tmp_path: Path) -> None:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    target = tmp_path / "x.csv"
    done = run("sql", demo / "warehouse", "from main.steps", "-o", target, preexec_fn=limit)
    assert done.returncode == 2
    assert "cannot be written: File too large" in done.stderr


@pytest.mark.parametrize(
    "call",
    [
        ("ingest", "{demo}/results", "--into", "{out}/w"),
        ("export", "{demo}/warehouse", "{out}/x.duckdb"),
        ("export", "{demo}/warehouse", "{out}/x.sqlite"),
        ("export", "{demo}/warehouse", "delta:{out}/delta"),
        ("export", "{demo}/warehouse", "iceberg:{out}/iceberg"),
        ("export", "{demo}/warehouse", "{out}/x.xlsx"),
        ("score", "{out}/copy", "--profile", "{out}/mine.toml", "--jobs", "1"),
        ("score", "{out}/copy", "--profile", "{out}/mine.toml", "--jobs", "2"),
        ("report", "{demo}/warehouse", "{out}/x.html"),
    ],
    ids=" ".join,
)
def test_a_system_error_in_the_words_of_a_library_is_said(
    demo: Path, tmp_path: Path, call: tuple[str, ...]
) -> None:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    places = {"demo": demo, "out": tmp_path}
    shutil.copytree(demo / "warehouse", tmp_path / "copy")
    (tmp_path / "mine.toml").write_text('silence = "call"\n', encoding="utf-8")
    done = run(*(part.format(**places) for part in call), preexec_fn=limit)
    assert "Traceback" not in done.stderr
    assert done.returncode == 74
    assert re.search("a file (may not grow|could not be read or written)", done.stderr)


def interrupted(call: list[str], *, after: float, cwd: Path, code: str = MODULE) -> tuple[int, str]:
    """How a command ends that gets Ctrl-C, as all processes of its terminal do, after a while."""
    start = [sys.executable, "-c", code, *call]
    with subprocess.Popen(start, start_new_session=True, cwd=cwd, **PIPED) as started:
        time.sleep(after)
        with suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGINT)
        _, said = started.communicate(timeout=120)
    return started.returncode, said


@pytest.mark.parametrize(
    "call",
    [
        ("export", "{demo}/warehouse", "x.duckdb"),
        ("export", "{demo}/warehouse", "x.xlsx"),
        ("compare", "{demo}/warehouse"),
        ("ingest", "{demo}/results", "--into", "w", "--jobs", "2"),
        ("report", "{demo}/warehouse", "x.html"),
    ],
    ids=" ".join,
)
def test_an_interrupt_is_one_line_whenever_it_comes(
    demo: Path, tmp_path: Path, call: tuple[str, ...]
) -> None:
    """From the first imports on; a command may also be over before the interrupt comes."""
    words = [word.format(demo=demo) for word in call]
    code = WITH_WORKERS if call[0] == "ingest" else MODULE
    for number in range(6):
        place = tmp_path / str(number)
        place.mkdir()
        ended, said = interrupted(words, after=0.15 + 0.35 * number, cwd=place, code=code)
        assert "Traceback" not in said
        assert ended in (0, 130, -signal.SIGINT)
        if ended != 0:
            stopped = "orchbench: interrupted; what was finished before is kept"
            assert said.splitlines()[-1:] in ([], [stopped])
            assert [*place.glob(".orchbench*")] == []


def test_an_encoding_without_the_characters_is_said(demo: Path) -> None:
    query = ("sql", demo / "warehouse", "select '한국' as x", "-f", "csv")
    done = run(*query, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 74
    assert "its encoding is ascii" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&-"])
def test_closed_streams_are_no_traceback(demo: Path, closed: str) -> None:
    command = f'"$0" "$@" {closed}'
    done = subprocess.run(
        ["bash", "-c", command, *ORCHBENCH, "leaderboard", str(demo / "warehouse")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 74)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["Ctrl-C", "SIGTERM"]
)
def test_an_interrupted_ingest_ends_at_once_and_can_go_on(
    demo: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    cards = ("--agent-cards", str(demo / "agent_cards"))
    call = ["ingest", str(demo / "results"), "--into", str(tmp_path / "w"), *cards]
    started = subprocess.Popen([*ORCHBENCH, *call], start_new_session=True, **PIPED)
    while not (tmp_path / "w" / "lock").exists() and started.poll() is None:
        time.sleep(0.01)
    os.killpg(started.pid, number)
    _, said = started.communicate(timeout=60)
    assert "Traceback" not in said
    assert "semaphore" not in said
    assert started.returncode == code
    assert run(*call, "--jobs", 1).returncode == 0
    again = open_warehouse(tmp_path / "w").table("leaderboard").collect()
    assert again.equals(open_warehouse(demo / "warehouse").table("leaderboard").collect())


def test_a_query_that_is_not_utf_8_is_said(demo: Path) -> None:
    done = subprocess.run(
        [*ORCHBENCH, "sql", str(demo / "warehouse"), "-"],
        input="select 'é'".encode("latin-1"),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert b"standard input is not UTF-8" in done.stderr


def test_what_cannot_be_written_is_said(demo: Path, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        target = Path("/proc/x.csv")
    else:
        target = tmp_path / "x.csv"
        tmp_path.chmod(0o500)
    done = run("leaderboard", demo / "warehouse", "-o", target)
    assert done.returncode == 2
    assert "cannot be written" in done.stderr


def ingest_with_workers(demo: Path, into: Path) -> list[str]:
    call = ["ingest", str(demo / "results"), "--into", str(into), "--jobs", "2", "--no-score"]
    return [sys.executable, "-c", WITH_WORKERS, *call]


def test_without_shared_memory_work_is_done_in_one_process(demo: Path, tmp_path: Path) -> None:
    without = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs -o ro none /dev/shm && exec "$0" "$@"']
    if subprocess.run([*without, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this user may not take /dev/shm away")

    call = [*without, *ingest_with_workers(demo, tmp_path / "w")]
    done = subprocess.run(call, capture_output=True, text=True, check=False)

    assert "Traceback" not in done.stderr
    assert done.returncode == 0


def test_a_tag_named_like_a_column_of_scores_is_said(demo: Path, tmp_path: Path) -> None:
    tags = ["average_score", "language", "RANK_NUMBER", "model_count"]
    rows = f"model,{','.join(tags)}\nperfect,1,2,3,4\nsilent,2,3,4,5\n"
    (tmp_path / "tags.csv").write_text(rows, encoding="utf-8")
    shutil.copytree(demo / "warehouse", tmp_path / "w")
    warehouse = open_warehouse(tmp_path / "w")
    warehouse.tag(tmp_path / "tags.csv")

    with warehouse.connect() as connection:
        for tag in tags:
            with pytest.raises(SelectionError, match=f"{tag!r} is a column of scores as well"):
                tagged_models(connection, tag)
    with pytest.raises(SelectionError, match="'average_score' is a column of scores as well"):
        warehouse.leaderboard(by="average_score")


def test_killed_workers_are_said_and_the_next_ingest_completes_it(
    demo: Path, tmp_path: Path
) -> None:
    with subprocess.Popen(ingest_with_workers(demo, tmp_path / "w"), **PIPED) as started:
        workers: list[psutil.Process] = []
        while not workers and started.poll() is None:
            below = psutil.Process(started.pid).children(recursive=True)
            workers = [p for p in below if "spawn_main" in " ".join(p.cmdline())]
        for worker in workers:
            worker.kill()
        _, said = started.communicate(timeout=300)

    assert (started.returncode, said.splitlines()[-1]) == (
        2,
        "orchbench: a worker process was killed, perhaps for want of memory; try --jobs 1",
    )
    assert "Traceback" not in said
    assert run("ingest", demo / "results", "--into", tmp_path / "w").returncode == 0
    models = open_warehouse(tmp_path / "w").models()
    assert models.equals(open_warehouse(demo / "warehouse").models())


@pytest.mark.parametrize("swallowed", ["import swallows", "swallow()"])
def test_an_interrupt_that_a_library_swallows_ends_the_command(
    tmp_path: Path, swallowed: str
) -> None:
    swallow = "try:\n    signal.raise_signal(signal.SIGINT)\nexcept BaseException:\n    pass\n"
    (tmp_path / "swallows.py").write_text(f"import signal\n{swallow}", encoding="utf-8")
    indented = swallow.replace("\n", "\n    ")
    script = (
        "import signal\nfrom orchbench_analytics.cli.app import run_guarded\n"
        f"def swallow():\n    {indented}\ndef run():\n    {swallowed}\nrun_guarded(run)\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "orchbench: interrupted; what was finished before is kept\n"
