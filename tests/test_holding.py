"""Nothing of the user's ever changes: generated targets, through every command that writes.

A target is somebody's file or directory under our names, results, a warehouse, an export of ours or
of another tool, with or without something of somebody else in it; or a parent, a child or a link of
one. What we did not write is the same afterwards, to the byte, whatever the command said.
"""

import hashlib
import json
import os
import random
import shutil
import sqlite3
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import duckdb
import openpyxl
import polars as pl
import pytest
import typer

from orchbench_analytics import open_warehouse
from orchbench_analytics.cli import program
from orchbench_analytics.engines import Here
from orchbench_analytics.errors import OrchbenchError
from orchbench_analytics.pages.report import ReportOptions, make_report
from orchbench_analytics.store.manifest import load_manifest
from tests.documents import write_sweep
from tests.pages.quick import quick_reports

pytestmark = pytest.mark.long

TARGETS = 200
URI = "duckdb:////data/star.duckdb"
STRANGE_NAMES = (
    "thesis.txt", "manifest.json", "manifest.json.bak", "index.html", "pieces/core.js",
    "pieces/mine.js", "sources/notes.txt", "sources/000001.parquet", "sources/1_out.json",
    "parts/0123456789abcdef0123/steps.parquet", "parts/mine/x", "scores/x", "staging/x",
    f"staging/{'0f' * 16}/thesis.txt", "gathered/x", "model_tags/000001.parquet",
    "tool_parameters/x", "lock", "writer", "unfinished", "export_manifest/_delta_log/0.json",
    "sources/_delta_log/00000000000000000000.json", "sources.parquet", "sources.csv",
    "catalog.db", "orchbench/x", ".orchbench", "made-with.txt", "metrics.yaml", ".DS_Store",
    "warehouse/thesis.txt", "results/1_out.json", "new", "steps/model=a/part-0.parquet",
)  # fmt: skip
BESIDE = (
    ".out.20240101.old/x", ".out.7.part/x", ".out.duckdb.1.part", ".orchbench-1.part/x",
    f".orchbench-{'ab' * 16}.part/thesis.txt", ".report-abc/x", "warehouse-report.html",
    "warehouse-report/index.html", "out.sqlite-journal", "manifest.json.12",
)  # fmt: skip


class World(NamedTuple):
    """Results, a warehouse of them with something of others in it, exports of ours, and a room."""

    path: Path

    @property
    def results(self) -> Path:
        return self.path / "sweep/results"

    @property
    def warehouse(self) -> Path:
        return self.path / "warehouse"

    @property
    def room(self) -> Path:
        return self.path / "room"

    def opened(self):
        return open_warehouse(self.warehouse)


def cli(*arguments: object) -> None:
    program()(list(map(str, arguments)), standalone_mode=False)


def export(kind: str, *tables: str) -> Callable[[World, Path, bool], object]:
    def run(world: World, target: Path, overwrite: bool) -> object:
        options = {"tables": tables or ["sources"], "overwrite": overwrite}
        return world.opened().export(kind.format(target), **options)

    return run


def report(world: World, target: Path, overwrite: bool) -> None:
    cli("report", world.warehouse, target, "--jobs", 1, "--profile", "spec")


def large_report(world: World, target: Path, overwrite: bool) -> None:
    options = ReportOptions(profiles=["spec"], largest_page=10)
    make_report(world.warehouse, load_manifest(world.warehouse), target, options, Here())


def figure(world: World, target: Path, overwrite: bool) -> None:
    cli("figure", world.warehouse, "leaderboard", target)


def change(*command: str) -> Callable[[World, Path, bool], None]:
    """A command that changes a warehouse: the target, if it is one, and the one at hand."""

    def run(world: World, target: Path, overwrite: bool) -> None:
        for place in (target, world.warehouse):
            try:
                cli(command[0], place, *command[1:])
            except (OrchbenchError, OSError, typer.Exit):
                if place == world.warehouse:
                    raise

    return run


def tag(world: World, target: Path, overwrite: bool) -> None:
    tags = world.path / "tags.csv"
    change("tag", str(tags))(world, target, overwrite)


def ingest_into(world: World, target: Path, overwrite: bool) -> None:
    cli("ingest", world.results, "--into", target, "--jobs", 1, "-q", "--no-score")


def ingest_from(world: World, target: Path, overwrite: bool) -> None:
    cli("ingest", target, "--into", world.warehouse, "--jobs", 1, "-q", "--prune")


def ingest_around(world: World, target: Path, overwrite: bool) -> None:
    """The target into its parent, and into a directory within it."""
    for into in (target.parent, target / "new"):
        try:
            cli("ingest", target, "--into", into, "--jobs", 1, "-q", "--no-score")
        except (OrchbenchError, OSError, typer.Exit):
            continue


def rows(*command: str) -> Callable[[World, Path, bool], None]:
    def run(world: World, target: Path, overwrite: bool) -> None:
        cli(command[0], world.warehouse, *command[1:], "--output", target)

    return run


SMALL = ("--models", 1, "--jobs", 1, "--quiet")
# Every command that writes, by the name of a target that it takes.
COMMANDS: dict[str, tuple[str, Callable[[World, Path, bool], object]]] = {
    "parquet": ("out", export("{}")),
    "csv": ("out.csv", export("{}", "sources", "profiles")),
    "one csv": ("one.csv", export("{}")),
    "duckdb": ("out.duckdb", export("{}")),
    "sqlite": ("out.sqlite", export("{}")),
    "excel": ("out.xlsx", export("{}")),
    "one parquet": ("out.parquet", export("{}")),
    "delta": ("out", export("delta:{}")),
    "iceberg": ("out", export("iceberg:{}")),
    "bundle": ("out.zip", lambda w, t, o: w.opened().superset_bundle(t, uri=URI)),
    "report": ("out.html", report),
    "report to a directory": ("out", report),
    "large report": ("out.html", large_report),
    "large report to a directory": ("out", large_report),
    "figure": ("out.svg", figure),
    "demo": ("out", lambda w, t, o: cli("demo", t, *SMALL)),
    "ingest into": ("out", ingest_into),
    "ingest from": ("out", ingest_from),
    "ingest around": ("sources", ingest_around),
    "leaderboard": ("out.csv", rows("leaderboard")),
    "sql": ("out.json", rows("sql", "select 1 as one")),
    "results": ("out.json", rows("results", "model-0")),
    "profile": ("out.toml", lambda w, t, o: cli("profile", "new", t)),
    "score": ("out", change("score", "--profile", "strict", "--jobs", "1")),
    "tag": ("out", tag),
    "remove": ("out", change("remove", "--model", "model-0", "--jobs", "1")),
}
# What is where a command is to write; the first time it is free, and always taken afterwards for
# what takes a second or more where it succeeds.
KINDS = ("file", "directory", "ours and more", "results", "warehouse", "parent")
MORE_KINDS = ("free", "ours", "ours")
SLOW = {"bundle", "leaderboard", "sql", "results"}
OWN_TEMPLATES = {
    "parquet": "out",
    "csv": "out.csv",
    "one csv": "one.csv",
    "duckdb": "out.duckdb",
    "sqlite": "out.sqlite",
    "excel": "out.xlsx",
    "one parquet": "out.parquet",
    "delta": "delta",
    "iceberg": "iceberg",
    "bundle": "out.zip",
    "report": "out.html",
    "large report": "out.html",
    "report to a directory": "site",
    "large report to a directory": "site",
    "demo": "demo",
}


def other_file(path: Path, chance: random.Random) -> None:
    """A file of somebody else: a text, or what another program writes under that name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = f"mine {chance.random()}"
    match path.suffix if chance.random() < 0.7 else "":
        case ".sqlite" | ".db":
            connection = sqlite3.connect(path)
            connection.execute("create table export_manifest (mine text)")
            connection.execute("insert into export_manifest values (?)", [text])
            connection.commit()
            connection.close()
        case ".duckdb":
            with duckdb.connect(str(path)) as connection:
                connection.execute("create table steps as select $1 as mine", [text])
        case ".xlsx":
            book = openpyxl.Workbook()
            book.active["A1"] = text
            book.save(path)
        case ".parquet":
            pl.DataFrame({"mine": [text]}).write_parquet(path)
        case ".zip":
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("orchbench/metadata.yaml", text)
        case ".html":
            path.write_text(f"<!doctype html>\n<meta name='generator' content='{text}'>")
        case ".js":
            path.write_text(f"mine({chance.random()})")
        case ".json":
            path.write_text(json.dumps({"generation": 1, "relations": {}, "mine": text}))
        case _:
            path.write_text(text, encoding="utf-8")


def other_directory(path: Path, chance: random.Random) -> None:
    path.mkdir(parents=True, exist_ok=True)
    for name in chance.sample(STRANGE_NAMES, chance.randint(1, 5)):
        try:
            other_file(path / name, chance)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            continue  # one of them is in the way of another


def make_target(world: World, command: str, kind: str, chance: random.Random) -> Path:
    """Put something where a command is to write, and say what it is called."""
    name = COMMANDS[command][0]
    target = world.room / name
    templates = world.path / "templates"
    match kind:
        case "file":
            other_file(target, chance)
        case "directory":
            other_directory(target, chance)
        case "ours" | "ours and more":
            made = templates / chance.choice(sorted(path.name for path in templates.iterdir()))
            if chance.random() < 0.6:
                made = templates / OWN_TEMPLATES.get(command, made.name)
            target = world.room / (name if made.suffix == target.suffix else made.name)
            copy = shutil.copytree if made.is_dir() else shutil.copy
            copy(made, target)
            mark = made.with_name(f".{made.name}.orchbench")  # of a CSV file
            if mark.exists():
                shutil.copy(mark, target.with_name(f".{target.name}.orchbench"))
            if kind != "ours":
                if target.is_dir():
                    other_directory(target / chance.choice(["", "", "pieces", "parts"]), chance)
                else:
                    target.write_bytes(target.read_bytes()[:-7] + b"changed")
        case "results":
            below = [world.results, *world.results.rglob("*"), world.results.parent]
            target = chance.choice(below)
        case "warehouse":
            target = chance.choice([world.warehouse, *world.warehouse.rglob("*")])
        case "parent":
            target = chance.choice([world.room, world.path])
    if kind != "free" and command not in SLOW and chance.random() < 0.25 and target.is_dir():
        target = target / name
    elif chance.random() < 0.2:
        link = world.room / f"link-{name}"
        link.symlink_to(target)
        target = link
    return target


def snapshot(path: Path) -> Iterator[tuple[str, str]]:
    """Everything below a path and what it is; links are not followed."""
    for entry in os.scandir(path):
        if entry.is_symlink():
            yield entry.path, f"link to {Path(entry.path).readlink()}"
        elif entry.is_dir():
            yield entry.path, "directory"
            yield from snapshot(Path(entry.path))
        else:
            yield entry.path, hashlib.sha256(Path(entry.path).read_bytes()).hexdigest()


@pytest.fixture(scope="module", autouse=True)
def quick() -> Iterator[None]:
    with quick_reports():
        yield


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, quick: None) -> World:
    world = World(tmp_path_factory.mktemp("world"))
    write_sweep(world.results, 1, 1)
    (world.path / "tags.csv").write_text("model,size\nmodel-0,7\n", encoding="utf-8")
    open_warehouse(world.warehouse, create=True).ingest(world.results, jobs=1)
    templates = world.path / "templates"
    templates.mkdir()
    files = ("duckdb", "sqlite", "excel", "one parquet", "one csv", "bundle")
    for command in ("parquet", "csv", *files):
        name, run = COMMANDS[command]
        run(world, templates / name, False)
    export("delta:{}")(world, templates / "delta", False)
    export("iceberg:{}")(world, templates / "iceberg", False)
    report(world, templates / "out.html", False)
    large_report(world, templates / "site", False)
    cli("demo", templates / "demo", *SMALL)
    for path in (world.warehouse, world.results.parent):
        shutil.copytree(path, world.path / "pristine" / path.name)
    return world


def restore(world: World, chance: random.Random) -> set[str]:
    """The world as it was, with other things of somebody else; returns what of it is ours."""
    for path in (world.warehouse, world.results.parent):
        shutil.rmtree(path)
        shutil.copytree(world.path / "pristine" / path.name, path)
    known = ("sweep", "warehouse", "templates", "pristine", "tags.csv")
    for entry in [entry for entry in world.path.iterdir() if entry.name not in known]:
        is_directory = entry.is_dir() and not entry.is_symlink()
        shutil.rmtree(entry) if is_directory else entry.unlink()
    world.room.mkdir()
    ours = {name for name, _ in snapshot(world.warehouse)}
    for name in chance.sample(STRANGE_NAMES, 3):
        is_free = not (world.warehouse / name).exists()
        if is_free and name not in ("lock", "writer", "unfinished"):
            other_file(world.warehouse / name, chance)
    for name in chance.sample(BESIDE, 2):
        other_file(world.room / name, chance)
        other_file(world.path / name, chance)
    return ours


def test_nothing_that_we_did_not_write_ever_changes(
    world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ORCHBENCH_WAREHOUSE", raising=False)
    chance = random.Random(24)
    written_by_us = {
        digest
        for root in (world.path / "templates", world.path / "pristine/warehouse")
        for _, digest in snapshot(root)
        if digest != "directory"
    }
    names = list(COMMANDS)
    done, refused = Counter[str](), Counter[str]()
    for number in range(TARGETS):
        command, overwrite = names[number % len(names)], chance.random() < 0.5
        ours = restore(world, chance)
        kinds = KINDS if command in SLOW else (*KINDS, *MORE_KINDS)
        kind = chance.choice(kinds) if number >= len(names) else "free"
        target = make_target(world, command, kind, chance)
        before = {
            name: held
            for name, held in snapshot(world.path)
            if name not in ours and held != "directory" and held not in written_by_us
        }
        try:
            COMMANDS[command][1](world, target, overwrite)
            done[command] += 1
        except (OrchbenchError, OSError, typer.Exit):
            refused[command] += 1
        after = dict(snapshot(world.path))
        changed = {name for name, held in before.items() if after.get(name) != held}
        assert not changed, (number, command, target, overwrite, changed)
        capsys.readouterr()
    assert done.total() + refused.total() == TARGETS
    assert set(done) == set(names), set(names) - set(done)
    assert done.total() > TARGETS // 4
    assert refused.total() > TARGETS // 3
