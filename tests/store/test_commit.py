"""Durability: what a manifest names is on the disk before the manifest is."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from orchbench_analytics.store.manifest import load_manifest, named_files
from tests.documents import scenario_path, write, write_sweep

# Says, in order, which file was synced (by its number) and what was renamed, in all threads.
RECORDED_INGEST = """
import json, os, sys
sync, events = os.fsync, []

def renamed(event, arguments):
    if event == "os.rename":
        events.append(("rename", os.fspath(arguments[1])))

def recorded_sync(descriptor):
    sync(descriptor)
    events.append(("sync", os.fstat(descriptor).st_ino))

os.fsync = recorded_sync
sys.addaudithook(renamed)
from orchbench_analytics import open_warehouse
open_warehouse(sys.argv[1], create=True).ingest(sys.argv[2], jobs=1)
print(json.dumps(events))
"""


def record(warehouse: Path, tree: Path) -> list[list[str | int]]:
    """What an ingest in a process of its own syncs and renames, in order."""
    command = [sys.executable, "-c", RECORDED_INGEST, str(warehouse), str(tree)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def inode(path: Path) -> int:
    return path.stat().st_ino


def test_every_named_file_is_synced_before_the_manifest(tmp_path: Path) -> None:
    warehouse = tmp_path / "warehouse"
    tree = write_sweep(tmp_path / "tree", models=2)
    known: set[str] = set()
    for scenario in ("1", "77"):
        write(scenario_path(tree, "model-0", scenario))

        events = record(warehouse, tree)

        at = events.index(["rename", str(warehouse / "manifest.json")])
        synced = {what for kind, what in events[:at] if kind == "sync"}
        files = {warehouse / name for name in named_files(load_manifest(warehouse)).keys() - known}
        directories = {parent for file in files for parent in file.relative_to(warehouse).parents}
        assert len(files) > 5
        assert synced >= {inode(file) for file in files}
        assert synced >= {inode(warehouse / directory) for directory in directories}
        assert inode(warehouse / "manifest.json") in synced
        assert events[at + 1 :] == [["sync", inode(warehouse)]]
        known |= named_files(load_manifest(warehouse)).keys()


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_the_system_sees_the_same_order(tmp_path: Path) -> None:
    warehouse, tree = tmp_path / "warehouse", write_sweep(tmp_path / "tree", models=1)
    trace = tmp_path / "trace"
    code = "import sys; from orchbench_analytics import open_warehouse as o; "
    code += "o(sys.argv[1], create=True).ingest(sys.argv[2], jobs=1)"
    calls = ["strace", "-f", "-y", "-e", "trace=fsync,rename", "-o", str(trace)]
    command = [*calls, sys.executable, "-c", code, str(warehouse), str(tree)]
    if subprocess.run([*calls, "true"], capture_output=True, check=False).returncode:
        pytest.skip("strace may not trace here")
    subprocess.run(command, capture_output=True, check=True)

    # Where another thread comes between, a call is told in two lines, and the first has no bracket.
    before, _, after = trace.read_text(encoding="utf-8").partition(f'"{warehouse}/manifest.json"')
    assert after
    for name in named_files(load_manifest(warehouse)):
        assert f"<{warehouse / name}>" in before
    assert f"<{warehouse}>" in after
