"""A way to run commands in this process, and a demo to run them on."""

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from orchbench_analytics.cli import main
from tests.sample_sweep import build_demo


@pytest.fixture(scope="session")
def demo(make_once) -> Path:
    return make_once("demo", build_demo)


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def orchbench(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Done]:
    """Run a command in this process, which has imported everything already."""
    monkeypatch.delenv("ORCHBENCH_WAREHOUSE", raising=False)

    def run(*arguments: object, text: str = "") -> Done:
        monkeypatch.setattr(sys, "argv", ["orchbench", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        return Done(code if isinstance(code, int) else 0, *capsys.readouterr())

    return run
