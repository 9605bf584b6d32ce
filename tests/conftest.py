"""What many tests share: demos and the conformance pack, made once, a way to run commands in this
process, and a bucket on loopback."""

import io
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from filelock import FileLock
from hypothesis import settings

from orchbench_analytics import open_warehouse
from orchbench_analytics.cli import main
from orchbench_analytics.demo import write_sweep
from orchbench_analytics.warehouse import Warehouse
from tests.packs import unpack
from tests.sample_sweep import build_demo
from tests.services.buckets import Server, environment, forget_stores, running_server

PACK = Path(__file__).parents[2] / "shared" / "conformance" / "pack.tar.xz"
# How long an example takes says more about the machine than about the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

Build = Callable[[Path], object]
MakeOnce = Callable[[str, Build], Path]


@pytest.fixture(scope="session")
def make_once(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> MakeOnce:
    """A function that builds a directory by name, once for all worker processes of a test run."""
    base = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):  # a worker of pytest-xdist has a place of its own
        base = base.parent

    def make(name: str, build: Build) -> Path:
        directory = base / "made_once" / name
        directory.parent.mkdir(exist_ok=True)
        with FileLock(directory.with_suffix(".lock")):
            if not directory.exists():
                unfinished = directory.with_suffix(".unfinished")
                shutil.rmtree(unfinished, ignore_errors=True)  # of a worker that failed at it
                build(unfinished)
                unfinished.rename(directory)
        return directory

    return make


@pytest.fixture(scope="session")
def conformance_pack(make_once: MakeOnce) -> Path:
    """The conformance pack's directory: `results`, `agent_cards`, `expected_without_judge`."""
    if not PACK.exists():
        pytest.skip(f"the conformance pack is not at {PACK}")

    return make_once("conformance_pack", partial(unpack, PACK))


@pytest.fixture(scope="session")
def conformance_warehouse(make_once: MakeOnce, conformance_pack: Path) -> Warehouse:
    """The warehouse of the conformance pack: six of nine models have judge logs."""

    def build(root: Path) -> None:
        cards = [conformance_pack / "agent_cards"]
        open_warehouse(root, create=True).ingest(
            conformance_pack / "results", agent_cards=cards, jobs=1
        )

    return open_warehouse(make_once("conformance_warehouse", build))


def _build_demo(directory: Path) -> None:
    write_sweep(directory)
    warehouse = open_warehouse(directory / "warehouse", create=True)
    warehouse.ingest(directory / "results", agent_cards=[directory / "agent_cards"], jobs=1)


@pytest.fixture(scope="session")
def demo_directory(make_once: MakeOnce) -> Path:
    """What `orchbench demo` makes, only to be read: `results`, `agent_cards`, `warehouse`."""
    return make_once("demo_directory", _build_demo)


@pytest.fixture(scope="session")
def demo(make_once: MakeOnce) -> Path:
    """A smaller demo, only to be read: `results`, `agent_cards`, `warehouse`."""
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


@pytest.fixture(scope="session")
def s3() -> Iterator[Server]:
    """An S3 on loopback."""
    with running_server() as server:
        yield server


@pytest.fixture
def bucket(s3: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of an empty bucket, with credentials in the environment and a new cache."""
    for name, value in environment(s3).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ORCHBENCH_CACHE", str(tmp_path / "cache"))
    forget_stores()
    yield f"s3://{s3.new_bucket()}"
    forget_stores()  # what comes next may lie elsewhere
