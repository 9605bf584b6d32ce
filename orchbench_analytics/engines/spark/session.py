"""Starting Spark for the command line, or saying what it lacks."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from orchbench_analytics.engines.spark.engine import engine_error
from orchbench_analytics.errors import EngineError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PYTHON = "PYSPARK_PYTHON"
# What a batch tool wants and a shell does not: no web page, no bar of Spark's own.
_DEFAULTS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # The driver plans for a minute and ends. Java's second compiler took half of the CPU time of a
    # small leaderboard, and would pay off later. Executors are the cluster's, with more to do.
    "spark.driver.defaultJavaOptions": "-XX:TieredStopAtLevel=1",
}


def start_session(master: str | None = None, conf: Mapping[str, str] | None = None) -> SparkSession:
    """A Spark session on a master; by default on Spark's own, which is this machine's cores.

    Executors use this Python unless `spark.pyspark.python` names another.
    """
    _require_pyspark()
    _require_java()
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("orchbench")
    if master is not None:
        builder = builder.master(master)
    settings = {**_DEFAULTS, **(conf or {})}
    _choose_python(settings.pop("spark.pyspark.python", None))
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of pandas, which is not used here
            return builder.getOrCreate()
    except Exception as error:  # py4j, pyspark and the system have each their own
        raise engine_error(error) from error


def _choose_python(given: str | None) -> None:
    """Tell Spark which Python its executors run: a session asks the environment, not settings."""
    if given is not None:
        os.environ[_PYTHON] = given
    os.environ.setdefault(_PYTHON, sys.executable)


def parse_conf(given: Iterable[str]) -> dict[str, str]:
    """`name=value` texts as Spark settings."""
    settings = {}
    for text in given:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise EngineError(f"--conf {text!r}: expected name=value")
        settings[name] = value
    return settings


def _require_pyspark() -> None:
    if find_spec("pyspark") is None:
        raise EngineError(
            "Spark needs pyspark; install it with: pip install 'orchbench-analytics[spark]'"
        )


def _require_java() -> None:
    """Look where Spark's own script looks: JAVA_HOME first, then the path."""
    home = os.environ.get("JAVA_HOME")
    if shutil.which(str(Path(home) / "bin" / "java") if home else "java") is None:
        where = f"JAVA_HOME ({home})" if home else "PATH"
        raise EngineError(
            f"Spark needs Java 17 or newer and {where} has none; "
            "install it with: apt install openjdk-17-jre-headless"
        )
