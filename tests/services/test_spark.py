"""Spark with two executor processes: the same warehouse, byte by byte, whatever happens to them."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from orchbench_analytics import open_warehouse
from orchbench_analytics.engines.spark import SparkEngine
from orchbench_analytics.errors import EngineError, WarehouseError
from orchbench_analytics.ingest.update import IngestSummary
from tests.conftest import MakeOnce
from tests.sample_sweep import build_demo
from tests.services.spark import executor_processes, failed_task_count

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")


@pytest.fixture(scope="session")
def sweep(make_once: MakeOnce) -> Path:
    """A demo sweep with a file that cannot be read, and its local warehouse."""

    def build(directory: Path) -> None:
        build_demo(directory)
        model = next((directory / "results").rglob("*_out.json"))
        model.with_name("99_out.json").write_text('{"history": {"run #1"')
        open_warehouse(directory / "warehouse").ingest(directory / "results", jobs=1)

    return make_once("sweep_with_refused", build)


class Recorded(SparkEngine):
    """Spark, with the names of the functions that it ran."""

    def __init__(self, session: SparkSession, **options: Any) -> None:
        super().__init__(session, **options)
        self.ran: list[str] = []

    def run(
        self, function: Callable[[Any], Any], tasks: Iterable[Any], *, is_small: bool = False
    ) -> Iterator[Any]:
        listed = list(tasks)
        self.ran += [function.__name__] * len(listed)
        return super().run(function, listed)


def contents(warehouse: Path) -> dict[str, bytes]:
    """Every Parquet file that readers see, by its name below the warehouse."""
    names = ("parts", "scores", "gathered", "tool_parameters")
    files = (file for name in names for file in (warehouse / name).rglob("*.parquet"))
    return {file.relative_to(warehouse).as_posix(): file.read_bytes() for file in files}


def ingest_on(engine: SparkEngine, sweep: Path, into: Path) -> IngestSummary:
    warehouse = open_warehouse(into, create=True, engine=engine)
    return warehouse.ingest(sweep / "results", agent_cards=[sweep / "agent_cards"])


def build_local(sweep: Path, into: Path) -> IngestSummary:
    return open_warehouse(into, create=True).ingest(
        sweep / "results", agent_cards=[sweep / "agent_cards"], jobs=1
    )


def test_tables_are_the_same_bytes_as_local_and_a_refused_file_fails_no_task(
    session: SparkSession, sweep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_local(sweep, tmp_path / "local")
    monkeypatch.chdir(tmp_path)
    failed_before = failed_task_count(session)

    summary = ingest_on(SparkEngine(session), sweep, Path("relative/warehouse"))

    assert [Path(source.path).name for source in summary.refused] == ["99_out.json"]
    assert failed_task_count(session) == failed_before
    local, spark = tmp_path / "local", tmp_path / "relative" / "warehouse"
    assert contents(spark) == contents(local)
    assert len(contents(spark)) > 20
    assert open_warehouse(spark).verify() == []
    # The stamp says as well when the file was looked at.
    ours, theirs = (open_warehouse(path).sources().drop("file_stamp") for path in (local, spark))
    assert ours.equals(theirs)


def test_an_incremental_run_reads_nothing_on_either_engine(
    session: SparkSession, sweep: Path, tmp_path: Path
) -> None:
    engine = Recorded(session)
    ingest_on(engine, sweep, tmp_path / "spark")
    assert {"build_part", "score_group"} < set(engine.ran)
    engine.ran.clear()

    again = ingest_on(engine, sweep, tmp_path / "spark")

    assert set(engine.ran) == {"_unseen"}
    assert (again.taken, again.unchanged > 50) == (0, True)
    locally = build_local(sweep, tmp_path / "spark")
    assert (locally.taken, locally.unchanged) == (0, again.unchanged)
    build_local(sweep, tmp_path / "local")
    of_local = ingest_on(engine, sweep, tmp_path / "local")
    assert (of_local.taken, of_local.unchanged) == (0, again.unchanged)


def test_an_executor_that_is_killed_costs_nothing_but_time(
    session: SparkSession, sweep: Path, tmp_path: Path
) -> None:
    killed: list[tuple[int, int]] = []

    def kill_one(done: int, total: int) -> None:
        if not killed and 0 < done < total and total > 4:
            executor_processes()[0].kill()
            killed.append((done, total))

    ingest_on(SparkEngine(session, progress=kill_one), sweep, tmp_path / "spark")

    assert killed
    build_local(sweep, tmp_path / "local")
    assert contents(tmp_path / "spark") == contents(tmp_path / "local")


def linger_at_first(directory: Path) -> str:
    """Note that an attempt was made; the first one takes its time."""
    attempt = directory / f"{os.getpid()}-{time.monotonic_ns()}"
    try:
        (directory / "first").touch(exist_ok=False)
    except FileExistsError:
        attempt.touch()
        return "quick"
    attempt.touch()
    time.sleep(60)
    return "slow"


def test_a_task_that_lingers_is_tried_elsewhere(session: SparkSession, tmp_path: Path) -> None:
    directories = [tmp_path / str(number) for number in range(6)]
    for directory in directories:
        directory.mkdir()
        if directory.name != "5":
            (directory / "first").touch()

    results = list(SparkEngine(session).run(linger_at_first, directories))

    assert results == ["quick"] * 6
    assert len(list(directories[5].iterdir())) >= 3  # the mark, and two attempts


def test_all_executors_take_part(session: SparkSession) -> None:
    workers = set(SparkEngine(session).run(parent_process, range(20)))
    assert len(workers) >= 2


def test_the_driver_does_without_the_second_compiler(session: SparkSession) -> None:
    bean = session._jvm.java.lang.management.ManagementFactory.getRuntimeMXBean()
    assert "-XX:TieredStopAtLevel=1" in list(bean.getInputArguments())


def parent_process(_: int) -> int:
    time.sleep(0.2)
    return os.getppid()


def refuse(_: int) -> None:
    raise WarehouseError("a file is damaged; build it again")


def test_a_wrong_call_is_said_as_it_is_without_a_retry(session: SparkSession) -> None:
    failed_before = failed_task_count(session)
    with pytest.raises(WarehouseError, match="a file is damaged"):
        list(SparkEngine(session).run(refuse, [1]))
    assert failed_task_count(session) == failed_before


def test_a_path_that_executors_cannot_see_is_said(
    session: SparkSession, sweep: Path, tmp_path: Path
) -> None:
    descriptor = os.open(sweep / "results", os.O_RDONLY)
    only_here = Path(f"/proc/self/fd/{descriptor}")
    warehouse = open_warehouse(tmp_path / "warehouse", create=True, engine=SparkEngine(session))
    try:
        with pytest.raises(EngineError, match=f"cannot see {only_here}"):
            warehouse.ingest(only_here)
    finally:
        os.close(descriptor)
    assert not (tmp_path / "warehouse" / "manifest.json").exists()


def test_executors_that_lack_a_module_are_told_how_to_get_it(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "only_the_driver_has.py").write_text("def work(task): return task\n")
    monkeypatch.syspath_prepend(tmp_path)
    import only_the_driver_has  # type: ignore[import-not-found]

    with pytest.raises(EngineError, match=r"lack the module only_the_driver_has.*spark\.archives"):
        list(SparkEngine(session).run(only_the_driver_has.work, [1]))
    del sys.modules["only_the_driver_has"]


def test_the_conformance_pack_gives_the_same_bytes(
    session: SparkSession, conformance_pack: Path, tmp_path: Path
) -> None:
    ingest_on(SparkEngine(session), conformance_pack, tmp_path / "spark")

    build_local(conformance_pack, tmp_path / "local")
    assert contents(tmp_path / "spark") == contents(tmp_path / "local")


def test_the_command_line_runs_on_spark(sweep: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "orchbench_analytics", "ingest", str(sweep / "results")]
    options = ["--into", "warehouse", "--engine", "spark", "--master", "local[1]"]

    done = subprocess.run(
        [*command, *options], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert "1 refused" in done.stderr
    assert (
        open_warehouse(tmp_path / "warehouse").leaderboard(profile="strict")["model"][0]
        == "perfect"
    )
