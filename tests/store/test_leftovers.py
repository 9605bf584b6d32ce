"""After kills and damage: leftovers go, what was done stays done, and the rest is said."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.warehouse import Warehouse
from tests.documents import scenario_path, write_sweep
from tests.killable import kill_at_change
from tests.processes import ORCHBENCH
from tests.store.roots import Root
from tests.store.test_verify import flip, flipped
from tests.torture.leftovers import leftovers
from tests.torture.processes import start

pytestmark = pytest.mark.long


def tag(root: Path) -> None:
    open_warehouse(root).tag(root.parent / "tags.csv", replace=True)


def score(root: str | Path) -> None:
    open_warehouse(root).score(profile=root.parent / "mine.toml", jobs=1)


def remove(root: Path) -> None:
    open_warehouse(root).remove(models=["model-0"], profiles=["mine"], jobs=1)


def verify(root: Path) -> None:
    open_warehouse(root).ingest(root.parent / "tree", verify=True, jobs=1)


_LONGEST_SECONDS = 60
COMMANDS = (tag, score, remove, verify)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Results of two models, beside tags and a profile of their own."""
    (tmp_path / "tags.csv").write_text("model,size\nmodel-0,7\n", encoding="utf-8")
    (tmp_path / "mine.toml").write_text('base = "spec"\nsilence = "call"\n', encoding="utf-8")
    return write_sweep(tmp_path / "tree", models=2)


@pytest.fixture
def small(tree: Path) -> Warehouse:
    """A warehouse beside its tree."""
    opened = open_warehouse(tree.parent / "small", create=True)
    opened.ingest(tree, jobs=1)
    return opened


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [*ORCHBENCH, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def run_and_die(command: Callable[[Path], None], root: Path, change: int) -> None:
    kill_at_change(change)
    command(root)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_repeated_after_a_kill_is_done_and_leaves_nothing(
    small: Warehouse, tmp_path: Path, command: Callable[[Path], None]
) -> None:
    if command is remove:
        score(small.path)
    if command is verify:
        flip(next(small.path.glob("parts/*/steps.parquet")), 800)
    pristine = shutil.copytree(small.path, tmp_path / "pristine")
    found = set()
    for change in count(1, step=2):
        shutil.rmtree(small.path)
        shutil.copytree(pristine, small.path)
        running = start(run_and_die, command, small.path, change)
        running.process.join(_LONGEST_SECONDS)
        found |= leftovers(small.path)
        command(small.path)
        assert leftovers(small.path) == set()
        assert small.verify() == []
        if running.process.exitcode == 0:
            break
    assert found


def test_what_was_removed_is_removed_again_and_a_typing_error_is_not(
    root: Root, tree: Path
) -> None:
    opened = root.open()
    opened.ingest(tree, jobs=1)
    opened.score(profile=tree.parent / "mine.toml", jobs=1)
    removed = ["model-0/exp", "mine"]
    for _ in range(2):
        assert root.fresh().remove(models=["model-0"], profiles=["mine"], jobs=1) == removed

    told = run("remove", root.address, "--model", "modle-0")
    assert told.returncode == 2
    assert "no model 'modle-0'" in told.stderr


def test_tags_that_cannot_be_rebuilt_are_named_with_the_command_that_mends(
    root: Root, tree: Path
) -> None:
    opened = root.open()
    opened.ingest(tree, jobs=1)
    opened.tag(tree.parent / "tags.csv")
    name = root.damage("model_tags/*", lambda content: flipped(content, 800))
    remedy = f"give all tags again with: orchbench tag {root.address} FILE --replace"
    again = ("ingest", tree, "--into", root.address, "--verify")
    root.fresh()

    told = run(*again)
    assert told.returncode == 1
    said = f"{root.address}/{name} is damaged: its content has changed; {remedy}\n"
    assert said in told.stderr

    told = run("check", root.address)
    assert told.returncode == 1
    assert told.stderr.endswith(f"{remedy}\n")

    told = run("tag", root.address, tree.parent / "tags.csv")
    assert told.returncode == 2
    assert told.stderr.endswith(f"{remedy}\n")

    told = run("tag", root.address, tree.parent / "tags.csv", "--replace")
    assert told.returncode == 0
    assert run(*again).returncode == 0


def test_a_part_that_cannot_be_rebuilt_is_named(root: Root, tree: Path) -> None:
    root.open().ingest(tree, jobs=1)
    part = root.fresh().manifest().parts[0]
    scenario_path(tree, part.model, "1").unlink()
    root.damage(f"{part.directory}/steps.parquet", lambda content: flipped(content, 800))
    again = ("ingest", tree, "--into", root.address, "--verify")
    root.fresh()

    told = run(*again)
    assert told.returncode == 1
    assert "bring its input files back, or forget those that are gone with: " in told.stderr
    assert run(*again, "--prune").returncode == 0
    assert root.fresh().verify() == []


def test_what_a_killed_query_left_goes_with_the_next_one(small: Warehouse, tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()
    env = {**os.environ, "TMPDIR": str(tmp_path / "scratch")}
    asked = "from orchbench_analytics import open_warehouse as o; import os\n"
    asked += f"print(o({str(small.path)!r}).sql('select 1')); os._exit(9)\n"
    subprocess.run([sys.executable, "-c", asked], env=env, check=False)
    assert len(list((tmp_path / "scratch").iterdir())) == 1

    subprocess.run([*ORCHBENCH, "sql", str(small.path), "select 1"], env=env, check=True)

    assert list((tmp_path / "scratch").iterdir()) == []
