"""A Spark cluster of its own for tests: a master and two executor processes on loopback."""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psutil
import pytest
from pyspark.sql import SparkSession

from orchbench_analytics.engines.spark.session import start_session

EXECUTORS = 2
# Fewer threads and no second compiler: a test starts more machines than it warms up.
_BRIEF = "-XX:TieredStopAtLevel=1"
_FRUGAL = "-XX:+UseSerialGC -XX:CICompilerCount=1"
_SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.cores.max": str(EXECUTORS),
    "spark.executor.memory": "1g",
    "spark.driver.extraJavaOptions": _FRUGAL,
    "spark.executor.extraJavaOptions": f"{_BRIEF} {_FRUGAL}",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.executor.heartbeatInterval": "5s",
    # Nearly every task runs twice.
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.25",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.minTaskRuntime": "100ms",
}


@contextmanager
def spark_cluster(directory: Path, **settings: str) -> Iterator[SparkSession]:
    """A session on two workers, each with an executor process; their files lie in a directory.

    The workers have addresses of their own: Spark runs no task a second time on the same host.
    """
    if shutil.which("java") is None:
        pytest.skip("Java is not installed; make test-services installs it")
    port = _free_port()
    with ExitStack() as running:
        master = f"spark://127.0.0.1:{port}"
        address = ("--host", "127.0.0.1", "--port", str(port))
        running.enter_context(_daemon(directory, "master.Master", *address))
        _wait_for(port)
        for number in range(1, EXECUTORS + 1):
            place = ("--host", f"127.0.0.{number}", "--cores", "1", "--memory", "1g")
            running.enter_context(_daemon(directory, "worker.Worker", *place, master))
        tables = {"spark.sql.warehouse.dir": str(directory / "tables")}
        session = start_session(master, {**_SETTINGS, **tables, **settings})
        running.callback(session.stop)
        session.sparkContext.setLogLevel("OFF")
        yield session


@contextmanager
def _daemon(directory: Path, name: str, *arguments: str) -> Iterator[None]:
    """A master or a worker in a process of its own, stopped by its id."""
    (spark_home,) = find_spec("pyspark").submodule_search_locations
    command = [f"{spark_home}/bin/spark-class", f"org.apache.spark.deploy.{name}"]
    surroundings = {
        "SPARK_HOME": spark_home,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": f"{_BRIEF} {_FRUGAL}",
        "SPARK_WORKER_DIR": str(directory / "work"),
        "SPARK_LOCAL_DIRS": str(directory / "local"),
    }
    with (directory / "log").open("ab") as log:
        process = subprocess.Popen(
            [*command, "--webui-port", "0", *arguments],
            env=os.environ | surroundings,
            cwd=directory,
            stdout=log,
            stderr=log,
        )
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _wait_for(port: int) -> None:
    for _ in range(600):
        with socket.socket() as calling:
            if calling.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    pytest.fail("Spark's master did not start")


def executor_processes() -> list[psutil.Process]:
    """The processes of executors that this process's Spark started."""
    children = psutil.Process().children(recursive=True)
    return [child for child in children if _is_executor(child)]


def _is_executor(process: psutil.Process) -> bool:
    try:
        return any("CoarseGrainedExecutorBackend" in word for word in process.cmdline())
    except psutil.Error:  # it has just ended
        return False


def failed_task_count(session: SparkSession) -> int:
    """How many tasks have failed so far, in all stages that the session knows of."""
    tracker = session.sparkContext.statusTracker()
    stages: list[Any] = [tracker.getStageInfo(number) for number in range(1_000)]
    return sum(stage.numFailedTasks for stage in stages if stage)
