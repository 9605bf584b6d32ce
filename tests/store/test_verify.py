"""Damage to a warehouse: the file is named, and nobody sees a traceback."""

import shutil
import subprocess
from pathlib import Path

import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.store.verify import damaged_files
from orchbench_analytics.warehouse import Warehouse
from tests.processes import ORCHBENCH
from tests.sample_sweep import build_demo


@pytest.fixture
def warehouse(make_once, tmp_path: Path) -> Warehouse:
    shutil.copytree(make_once("demo", build_demo) / "warehouse", tmp_path / "warehouse")
    return open_warehouse(tmp_path / "warehouse")


def first_file(warehouse: Warehouse, pattern: str) -> Path:
    return sorted(warehouse.path.glob(pattern))[0]


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [*ORCHBENCH, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_whole_warehouse_has_no_damage(warehouse: Warehouse, tmp_path: Path) -> None:
    assert damaged_files(warehouse.path) == []
    assert damaged_files(tmp_path) == damaged_files(tmp_path / "nowhere") == []


@pytest.mark.parametrize("content", [None, b"", b"PAR1", b"PAR1 and no more", b"other, then PAR1"])
def test_damaged_files_are_found(warehouse: Warehouse, content: bytes | None) -> None:
    table = first_file(warehouse, "scores/*/scored_steps.parquet")
    sources = first_file(warehouse, "sources/*.parquet")
    for file in (table, sources):
        file.unlink() if content is None else file.write_bytes(content)

    assert set(damaged_files(warehouse.path)) == {table, sources}


@pytest.mark.parametrize("is_gone", [False, True])
@pytest.mark.parametrize(
    ("command", "pattern"),
    [
        (["leaderboard"], "scores/*/scored_plans.parquet"),
        (["check"], "parts/*/steps.parquet"),
        (["score", "--profile", "mine.toml"], "parts/*/steps.parquet"),
    ],
)
def test_a_command_names_the_damaged_file(
    warehouse: Warehouse, tmp_path: Path, command: list[str], pattern: str, is_gone: bool
) -> None:
    (tmp_path / "mine.toml").write_text('base = "spec"\nsilence = "call"\n', encoding="utf-8")
    shutil.rmtree(warehouse.path / "prepared")
    file = first_file(warehouse, pattern)
    file.unlink() if is_gone else file.write_bytes(file.read_bytes()[:50])

    name, *options = [str(tmp_path / o) if o.endswith(".toml") else o for o in command]
    told = run(name, warehouse.path, *options)

    assert told.returncode == 2
    assert told.stderr == (
        f"orchbench: {file} is damaged or gone; ingest anew into another directory\n"
    )
