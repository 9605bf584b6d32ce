"""Killed at any moment: readers see the last complete state, and the next ingest completes it."""

import random
import shutil
import time
from itertools import count
from pathlib import Path

import polars as pl
import psutil
import pytest

from orchbench_analytics.store.manifest import load_manifest
from tests.documents import (
    agent_card,
    judge_log,
    results_document,
    run,
    runs_document,
    scenario_path,
    write,
)
from tests.killable import start_ingest
from tests.warehouses import assert_same_contents, contents, fresh_contents, ingest

pytestmark = pytest.mark.long

MODELS = ("alpha", "org/beta", "감마")
SCENARIOS = 6
Contents = dict[str, pl.DataFrame]


def write_tree(tree: Path) -> None:
    write(tree / "agent_cards/EN/weather.json", agent_card())
    for model in MODELS:
        for scenario in range(SCENARIOS):
            write(scenario_path(tree, model, str(scenario)))
        write(tree / model / "exp/llm_evaluation_logs_EN/0_out_trial_run #1.json", judge_log())
        write(tree / model / "exp/evaluation_result_EN.json", results_document())


def change_tree(tree: Path, chance: random.Random) -> None:
    """Change, add, break, mend and remove some files."""
    for model in MODELS:
        for scenario in range(2 * SCENARIOS):
            path = scenario_path(tree, model, str(scenario))
            match chance.randrange(7):
                case 0:
                    write(path, runs_document(scenario_id=str(chance.random())))
                case 1:
                    write(path, runs_document({"run #1": run()}))
                case 2:
                    write(path, b'{"history": ')
                case 3:
                    path.unlink(missing_ok=True)
    name = chance.choice(("getForecast", "getStorms"))
    write(tree / "agent_cards/EN/weather.json", agent_card(tool=name))


def is_same(left: Contents, right: Contents) -> bool:
    return all(left[table].equals(right[table]) for table in left)


def assert_complete(warehouse: Path, before: Contents, after: Contents) -> bool:
    """Readers see everything as it was before the ingest, or everything as it is after (true)."""
    now = contents(warehouse)
    is_after = is_same(now, after)
    assert is_after or is_same(now, before)
    return is_after


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    write_tree(tmp_path / "tree")
    return tmp_path / "tree"


def fresh(tree: Path) -> Contents:
    scratch = tree.with_name("fresh")
    shutil.rmtree(scratch, ignore_errors=True)
    return fresh_contents(scratch, tree)


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_at_random_moments_over_a_changing_tree(tree: Path, seed: int) -> None:
    chance = random.Random(seed)
    warehouse = tree.with_name("warehouse")
    ingest(warehouse, tree)
    kills = 0
    longest = 0.3
    while kills < 26:
        before = contents(warehouse)
        change_tree(tree, chance)
        after = fresh(tree)
        for _ in range(4):
            process, started = start_ingest(warehouse, tree)
            started.recv()
            time.sleep(chance.uniform(0, longest))
            process.kill()
            process.join()
            kills += process.exitcode != 0
            assert_complete(warehouse, before, after)
        start = time.monotonic()
        ingest(warehouse, tree, prune=True)
        longest = time.monotonic() - start
        assert_same_contents(warehouse, after)


def test_killed_right_before_every_kind_of_change_on_disk(tree: Path) -> None:
    warehouse = tree.with_name("warehouse")
    ingest(warehouse, tree)
    change_tree(tree, random.Random(3))
    before, after = contents(warehouse), fresh(tree)
    pristine = shutil.copytree(warehouse, tree.with_name("pristine"))
    seen = set()
    for change in count(1, step=2):
        shutil.rmtree(warehouse)
        shutil.copytree(pristine, warehouse)
        process, _ = start_ingest(warehouse, tree, killed_at_change=change)
        process.join()
        if process.exitcode == 0:
            break
        is_after = assert_complete(warehouse, before, after)
        seen.add((is_after, (warehouse / "unfinished").exists()))
        ingest(warehouse, tree, prune=True)
        assert_same_contents(warehouse, after)
    assert change > 30
    assert seen >= {(False, False), (False, True)}


def test_killed_after_the_manifest_was_written_there_is_nothing_left_to_do(tree: Path) -> None:
    warehouse = tree.with_name("warehouse")
    ingest(warehouse, tree)
    for scenario in range(10, 20):  # so that small parts were joined and lie there beside the joint
        write(scenario_path(tree, "alpha", str(scenario)))
        ingest(warehouse, tree)
    before = load_manifest(warehouse)
    (warehouse / "unfinished").touch()

    ingest(warehouse, tree)

    assert load_manifest(warehouse).parts == before.parts
    assert not (warehouse / "unfinished").exists()
    assert_same_contents(warehouse, fresh(tree))


def test_a_first_ingest_can_be_killed_before_there_is_anything(tree: Path) -> None:
    after = fresh(tree)
    warehouse = tree.with_name("warehouse")
    for change in (1, 2, 3, 5, 8, 14, 20):
        process, _ = start_ingest(warehouse, tree, killed_at_change=change)
        process.join()
        assert process.exitcode != 0
        assert not (warehouse / "manifest.json").exists()

    ingest(warehouse, tree)

    assert_same_contents(warehouse, after)


def processes_below(pid: int | None) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def test_killed_with_worker_processes_that_end_as_well(tree: Path) -> None:
    chance = random.Random(4)
    warehouse = tree.with_name("warehouse")
    ingest(warehouse, tree)
    kills = 0
    while kills < 4:
        before = contents(warehouse)
        change_tree(tree, chance)
        after = fresh(tree)
        process, started = start_ingest(warehouse, tree, jobs=2)
        started.recv()
        time.sleep(chance.uniform(0.1, 1.2))
        below = processes_below(process.pid)
        process.kill()
        process.join()
        kills += process.exitcode != 0
        _, alive = psutil.wait_procs(below, timeout=10)
        assert alive == []
        assert_complete(warehouse, before, after)

    ingest(warehouse, tree, prune=True)

    assert_same_contents(warehouse, fresh(tree))


def test_finished_parts_of_a_killed_ingest_are_not_read_again(tree: Path) -> None:
    warehouse = tree.with_name("warehouse")
    process, _ = start_ingest(warehouse, tree, killed_at_change=25)
    process.join()
    finished = len(list(warehouse.glob("parts/*")))
    files: list[int] = []

    ingest(warehouse, tree, progress=lambda count, *_: files.append(count))

    assert finished > 0
    assert sum(files) < len(list(tree.rglob("*.json"))) - 1
    assert not (warehouse / "unfinished").exists()
    live = {part.directory for part in load_manifest(warehouse).parts}
    assert {str(p.relative_to(warehouse)) for p in warehouse.glob("parts/*")} == live
