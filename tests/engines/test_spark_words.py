"""What is said where Spark lacks something: in our words, with what to do about it."""

import sys
from pathlib import Path

import pytest

from orchbench_analytics.engines.spark.engine import engine_error
from orchbench_analytics.engines.spark.session import parse_conf, start_session
from orchbench_analytics.errors import EngineError


def test_a_missing_pyspark_comes_with_the_line_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(EngineError, match=r"pip install 'orchbench-analytics\[spark\]'"):
        start_session()


def test_a_missing_java_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EngineError, match="needs Java 17 or newer and JAVA_HOME"):
        start_session()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineError, match="needs Java 17 or newer and PATH has none"):
        start_session()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("…\nModuleNotFoundError: No module named 'polars'\n", "lack the module polars; install"),
        ("[PYTHON_VERSION_MISMATCH] Python in worker has …", "another version of Python; install"),
        (
            "Job aborted:\n  File x\nOSError: [Errno 28] No space left on device\n\tat java",
            r"failed: OSError: \[Errno 28\] No space left on device",
        ),
        ("Connection refused", "failed: Connection refused"),
        ("", "failed: it gave no reason"),
    ],
)
def test_what_a_failed_job_says(text: str, said: str) -> None:
    with pytest.raises(EngineError, match=said):
        raise engine_error(RuntimeError(text))


def test_settings_are_names_and_values() -> None:
    assert parse_conf(["spark.a=1", "spark.b=x=y"]) == {"spark.a": "1", "spark.b": "x=y"}
    with pytest.raises(EngineError, match="expected name=value"):
        parse_conf(["spark.a"])
