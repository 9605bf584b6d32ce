"""Directories appear complete or not at all, and stay while someone may read them."""

import subprocess
import sys
import time
from pathlib import Path

import msgspec
import polars as pl
import pytest

from orchbench_analytics.errors import WarehouseError
from orchbench_analytics.schema import Column, Table
from orchbench_analytics.store.directories import (
    GRACE_SECONDS,
    collect_garbage,
    collect_objects,
    with_table,
    write_directory,
)
from orchbench_analytics.store.files import MANIFEST
from orchbench_analytics.store.manifest import (
    Manifest,
    Part,
    named_files,
    save_manifest,
)
from orchbench_analytics.store.parquet import Frame, to_arrow
from tests.documents import run, runs_document, scenario_path, write, write_sweep
from tests.store.roots import Bucket, Root
from tests.warehouses import ingest

NUMBERS = Table("steps", "number", (Column("name", "text", "Its name."),))
TAGS = pl.DataFrame({"model": ["m"], "experiment": [None], "size": [7]})
ONE = [("steps", to_arrow(NUMBERS, [("one",)]))]
WRITE_OFTEN = """
import sys
from pathlib import Path
from tests.store.test_directories import ONE, write_directory
sys.stdin.readline()
for number in range(int(sys.argv[2])):
    write_directory(Path(sys.argv[1]), f"parts/{number}", ONE)
"""


def names_below(directory: Path) -> set[str]:
    files = (path for path in directory.rglob("*") if path.is_file())
    return {path.relative_to(directory).as_posix() for path in files}


def test_a_directory_appears_complete_or_not_at_all(tmp_path: Path) -> None:
    write_directory(tmp_path, "parts/a", ONE, note=b"{}")
    write_directory(tmp_path, "parts/a", ONE, note=b"other")

    assert names_below(tmp_path / "parts/a") == {"steps.parquet", "note.json", "files.json"}
    assert (tmp_path / "parts/a/note.json").read_bytes() == b"{}"
    assert list((tmp_path / "staging").iterdir()) == []


def test_nothing_appears_where_writing_fails(tmp_path: Path) -> None:
    bad = to_arrow(NUMBERS, []).drop_columns(["name"])

    with pytest.raises(AttributeError):
        write_directory(tmp_path, "parts/a", [*ONE, ("none", None), ("bad", bad)])
    assert not (tmp_path / "parts").exists()


@pytest.mark.parametrize("damage", [b"", b"PAR1", None])
def test_a_damaged_directory_of_the_same_name_is_replaced(
    tmp_path: Path, damage: bytes | None
) -> None:
    file = tmp_path / "parts/a/steps.parquet"
    write_directory(tmp_path, "parts/a", ONE)
    whole = file.read_bytes()
    file.unlink() if damage is None else file.write_bytes(damage)

    write_directory(tmp_path, "parts/a", ONE)

    assert file.read_bytes() == whole


@pytest.mark.long
def test_many_processes_may_write_the_same_parts_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITE_OFTEN, str(tmp_path), "100"]
    writers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(8)
    ]

    told = [writer.communicate("go\n") for writer in writers]

    assert [error for _, error in told] == [""] * 8
    assert len(list((tmp_path / "parts").iterdir())) == 100
    assert len(list(tmp_path.glob("parts/*/steps.parquet"))) == 100
    assert list((tmp_path / "staging").iterdir()) == []


def part(directory: str) -> Part:
    return Part(
        part_id=directory,
        directory=directory,
        row_counts={"steps": 1},
        model="m",
        experiment="e",
        language="EN",
    )


def test_garbage_is_what_no_manifest_knows(tmp_path: Path) -> None:
    kept, gone, staged = (letter * 20 for letter in "abc")
    for name in (kept, gone):
        write_directory(tmp_path, f"parts/{name}", ONE)
    earlier = with_table(tmp_path, Manifest(), "model_tags", Frame(TAGS))
    later = with_table(tmp_path, earlier, "model_tags", Frame(TAGS))
    for name in (
        f"staging/{staged:0<32}/plans.parquet",
        f"manifest.json.{staged:0<32}",
    ):
        write(tmp_path / name, b"")

    collect_garbage(tmp_path, msgspec.structs.replace(later, parts=[part(f"parts/{kept}")]))

    assert names_below(tmp_path) == {
        f"{later.tables['model_tags'].directory}/model_tags.parquet",
        f"{later.tables['model_tags'].directory}/files.json",
        f"parts/{kept}/steps.parquet",
        f"parts/{kept}/files.json",
    }


OTHERS = (
    "manifest.json.bak",
    "manifest.json.20240101",
    "sources/notes.txt",
    "sources/2024.parquet",
    "sources/000099.parquet",
    "model_tags/000077.parquet",
    "parts/backup/steps.parquet",
    "parts/0123456789abcdef0123/thesis.txt",
    "parts/0123456789abcdef0123/mine/steps.parquet.txt",
    "scores/0123456789ABCDEF0123/steps.parquet",
    "staging/x/steps.parquet",
    "staging/0123456789abcdef0123456789abcdef/thesis.txt",
    "gathered/.DS_Store",
    "thesis.txt",
)


# In a bucket, where there are no notes, its name says that it was left by a killed writer.
UNMARKED = "parts/0123456789abcdef0123/steps.parquet"


def test_what_others_put_into_a_warehouse_stays(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = write_sweep(tmp_path / "tree", models=1)
    root.open().ingest(tree, jobs=1)
    first = root.fresh().manifest().parts[0].directory
    others = [*OTHERS, f"{first}/notes.txt", *([] if isinstance(root, Bucket) else [UNMARKED])]
    for name in others:
        root.write(name, b"mine")

    now = time.time
    for day in range(4):
        monkeypatch.setattr(time, "time", lambda later=day * 90_000: now() + later)
        change_a_file(tree, day)
        root.open().ingest(tree, jobs=1, prune=True)

    contents = root.contents()
    assert {name: contents.get(name) for name in others} == dict.fromkeys(others, b"mine")
    assert [name for name in contents if name.startswith(first)] == [f"{first}/notes.txt"]


@pytest.mark.parametrize("name", ["lock", "writer", "unfinished"])
def test_a_link_in_place_of_a_file_of_ours_is_not_written_through(
    tmp_path: Path, name: str
) -> None:
    tree = write_sweep(tmp_path / "tree", models=1)
    ingest(tmp_path / "warehouse", tree)
    write(tmp_path / "thesis.txt", b"mine")
    (tmp_path / "warehouse" / name).unlink(missing_ok=True)
    (tmp_path / "warehouse" / name).symlink_to(tmp_path / "thesis.txt")

    with pytest.raises(WarehouseError, match="is a symbolic link; remove it"):
        ingest(tmp_path / "warehouse", tree)

    assert (tmp_path / "thesis.txt").read_bytes() == b"mine"


OLD = "parts/01d01d01d01d01d01d01"


def collect(root: Root, saved: Manifest, *, grace_seconds: int = GRACE_SECONDS) -> None:
    collect_garbage(root.path, saved, grace_seconds=grace_seconds)
    collect_objects(root.path, saved, grace_seconds=grace_seconds)


def test_what_was_named_until_a_while_ago_stays(root: Root) -> None:
    write_directory(root.path, OLD, ONE)
    first = save_manifest(root.path, Manifest(parts=[part(OLD)]))
    saved = save_manifest(root.path, msgspec.structs.replace(first, parts=[]))
    later = save_manifest(root.path, saved)

    assert later.unreferenced == saved.unreferenced
    assert list(saved.unreferenced) == [OLD]
    collect(root, later)
    assert f"{OLD}/steps.parquet" in root.contents()

    collect(root, later, grace_seconds=-5)  # what was put is as old as the clocks say
    assert root.contents().keys() == {MANIFEST}


def test_what_is_named_again_is_not_garbage(root: Root) -> None:
    write_directory(root.path, OLD, ONE)
    first = save_manifest(root.path, Manifest(parts=[part(OLD)]))
    removed = save_manifest(root.path, msgspec.structs.replace(first, parts=[]))

    again = save_manifest(root.path, msgspec.structs.replace(removed, parts=first.parts))

    assert again.unreferenced == {}
    collect(root, again, grace_seconds=-5)
    assert root.fresh().verify() == []


def change_a_file(tree: Path, number: int) -> None:
    write(scenario_path(tree, "model-0", "1"), runs_document({"run #1": run()}, n=number))


def test_readers_hold_on_through_several_ingests(root: Root, tmp_path: Path) -> None:
    tree = write_sweep(tmp_path / "tree", models=1)
    root.open().ingest(tree, jobs=1)
    opened = root.fresh()
    lazy, connection = opened.table("steps"), opened.connect()
    before, named = lazy.collect(), named_files(opened.manifest())

    for number in range(5):
        change_a_file(tree, number)
        root.open().ingest(tree, jobs=1, prune=True)

    assert lazy.collect().equals(before)
    assert connection.sql("select count(*) from main.steps").fetchall() == [(len(before),)]
    assert len(root.fresh().table("steps").collect()) < len(before)
    assert named.keys() <= root.contents().keys()


def test_an_ingest_deletes_what_nobody_needs_any_more(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = write_sweep(tmp_path / "tree", models=1)
    opened = root.open()
    opened.ingest(tree, jobs=1)
    first = opened.manifest()
    change_a_file(tree, 1)
    opened.ingest(tree, jobs=1)
    gone = [first.tables["sources"].directory, first.parts[0].directory]
    assert opened.manifest().unreferenced.keys() >= set(gone)
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + GRACE_SECONDS + 5)

    change_a_file(tree, 2)
    opened.ingest(tree, jobs=1)

    assert not [name for name in root.contents() if name.rpartition("/")[0] in gone]
    assert root.fresh().verify() == []
    assert len(root.fresh().table("steps").collect()) > 0


READ_EVERYTHING = """
import os, sys
from pathlib import Path
warehouse = Path(sys.argv[1])
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT

def refuse(event, arguments):
    changes = event in ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink")
    if event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITING:
        changes = True
    if changes and str(arguments[0]).startswith(str(warehouse)):
        print(event, arguments[0], flush=True)

sys.addaudithook(refuse)
from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import WarehouseError
opened = open_warehouse(warehouse)
opened.leaderboard()
opened.check()
opened.verify()
opened.audit(jobs=1)
opened.sql("select * from main.steps")
opened.tables()
opened.table("steps").collect()
"""


@pytest.mark.parametrize("root", ["bucket"], indirect=True)
@pytest.mark.long
def test_readers_change_nothing_in_a_bucket(root: Root, tmp_path: Path) -> None:
    root.open().ingest(write_sweep(tmp_path / "tree", models=1), jobs=1)
    before = root.contents()
    reader = root.fresh()
    reader.leaderboard()
    reader.check()
    reader.verify()
    reader.audit(jobs=1)
    reader.sql("select * from main.steps")
    reader.table("steps").collect()
    assert root.contents() == before


def test_readers_change_nothing_in_the_warehouse(tmp_path: Path) -> None:
    warehouse = tmp_path / "warehouse"
    ingest(warehouse, write_sweep(tmp_path / "tree", models=1), score=True)
    for path in (warehouse, *warehouse.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = {path: path.stat().st_mtime_ns for path in (warehouse, *warehouse.rglob("*"))}

    command = [sys.executable, "-c", READ_EVERYTHING, str(warehouse)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert before == {path: path.stat().st_mtime_ns for path in (warehouse, *warehouse.rglob("*"))}
    for path in (warehouse, *warehouse.rglob("*")):
        path.chmod(0o755)
