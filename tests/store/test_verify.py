"""Damage to a warehouse: every changed byte is found, named, and made good where it can be."""

import errno
import random
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import WarehouseError
from orchbench_analytics.store.directories import mark_unfinished
from orchbench_analytics.store.manifest import (
    is_damaged,
    load_manifest,
    named_files,
    naming_damage,
    verify,
    without_damaged_scores,
)
from orchbench_analytics.warehouse import Warehouse
from tests.documents import agent_card, scenario_path, write, write_sweep
from tests.processes import ORCHBENCH
from tests.sample_sweep import build_demo
from tests.warehouses import ingest

FLIPS = 60
DAMAGE = {
    "gone": lambda file: file.unlink(),
    "empty": lambda file: file.write_bytes(b""),
    "cut short": lambda file: file.write_bytes(file.read_bytes()[:50]),
    "changed": lambda file: flip(file, 8 * 100),
}


def flip(file: Path, bit: int) -> None:
    """Change one bit of a file, and none of its times."""
    content = bytearray(file.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    file.write_bytes(content)


@pytest.fixture
def warehouse(make_once, tmp_path: Path) -> Warehouse:
    shutil.copytree(make_once("demo", build_demo) / "warehouse", tmp_path / "warehouse")
    return open_warehouse(tmp_path / "warehouse")


@pytest.fixture
def small(tmp_path: Path) -> Warehouse:
    """A warehouse beside its tree of two models."""
    write(tmp_path / "tree/agent_cards/EN/weather.json", agent_card())
    opened = open_warehouse(tmp_path / "small", create=True)
    opened.ingest(write_sweep(tmp_path / "tree", models=2), jobs=1)
    return opened


def first_file(warehouse: Warehouse, pattern: str) -> Path:
    """The first file that fits; of scores one under `spec`, which most commands read."""
    of_others = {g.directory for g in warehouse.manifest().scores if g.profile != "spec"}
    return next(
        path
        for path in sorted(warehouse.path.glob(pattern))
        if path.parent.relative_to(warehouse.path).as_posix() not in of_others
    )


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [*ORCHBENCH, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_whole_warehouse_has_no_damage(warehouse: Warehouse) -> None:
    manifest = warehouse.manifest()

    assert warehouse.verify() == []
    assert not any(is_damaged(warehouse.path, part, read=True) for part in manifest.parts)
    assert without_damaged_scores(warehouse.path, manifest, verify=True) is manifest
    assert all(named_files(manifest).values())


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("pattern", ["scores/*/scored_steps.parquet", "parts/*/steps.parquet"])
def test_a_damaged_file_is_found(warehouse: Warehouse, damage: str, pattern: str) -> None:
    file = first_file(warehouse, pattern)
    DAMAGE[damage](file)

    (finding,) = warehouse.verify()

    assert warehouse.path / finding.name == file
    assert verify(warehouse.path, warehouse.manifest(), read=False) == (
        [] if damage == "changed" else [finding]
    )


def test_a_damaged_part_is_known_by_its_size_or_by_every_byte(small: Warehouse) -> None:
    manifest = small.manifest()
    flip(small.path / manifest.parts[0].directory / "steps.parquet", 800)
    (small.path / manifest.parts[1].directory / "steps.parquet").unlink()

    assert [is_damaged(small.path, p, read=False) for p in manifest.parts] == [False, True]
    assert [is_damaged(small.path, p, read=True) for p in manifest.parts] == [True, True]


def test_no_flipped_bit_goes_unseen(small: Warehouse) -> None:
    """Notes aside: no figure is read from what `verify` does not know."""
    draw = random.Random(13)
    known = {*named_files(small.manifest()), "manifest.json"}
    files = [p for p in sorted(small.path.rglob("*")) if p.is_file() and p.stat().st_size]
    unknown = set()
    for _ in range(FLIPS):
        file = draw.choice(files)
        name = file.relative_to(small.path).as_posix()
        whole = file.read_bytes()
        flip(file, draw.randrange(8 * len(whole)))
        if name == "manifest.json":
            with pytest.raises(WarehouseError):
                small.verify()
        elif name in known:
            assert [finding.name for finding in small.verify()] == [name]
        else:
            unknown.add(file.name)
        file.write_bytes(whole)
    assert unknown <= {"files.json", "note.json", "writer"}


@pytest.mark.parametrize("damage", ["gone", "cut short"])
@pytest.mark.parametrize(
    ("command", "pattern"),
    [
        (["leaderboard"], "scores/*/scenario_scores.parquet"),
        (["score", "--profile", "mine.toml"], "parts/*/steps.parquet"),
    ],
)
def test_a_command_names_the_damaged_file(
    warehouse: Warehouse, tmp_path: Path, command: list[str], pattern: str, damage: str
) -> None:
    (tmp_path / "mine.toml").write_text('base = "spec"\nsilence = "call"\n', encoding="utf-8")
    file = first_file(warehouse, pattern)
    DAMAGE[damage](file)

    name, *options = [str(tmp_path / o) if o.endswith(".toml") else o for o in command]
    told = run(name, warehouse.path, *options)

    assert told.returncode == 2
    assert told.stderr.startswith(f"orchbench: {file} is ")
    assert told.stderr.endswith(
        f"build it again with: orchbench ingest PATH --into {warehouse.path} --verify\n"
    )


FIGURES = {
    "scores/*/scenario_scores": (
        ("leaderboard",),
        ("compare", "perfect", "silent"),
        ("results", "perfect", "-l", "EN", "-p", "spec"),
        ("consistency", "gaps"),
        ("sql", "from main.scenario_scores"),
        ("export", "OUT"),
        ("report", "OUT"),
    ),
    "sources/*/sources": (("leaderboard",), ("export", "OUT"), ("report", "OUT")),
}


@pytest.mark.parametrize(
    ("table", "command"), [(table, command) for table in FIGURES for command in FIGURES[table]]
)
def test_no_figure_comes_from_a_flipped_bit(
    warehouse: Warehouse, tmp_path: Path, command: tuple[str, ...], table: str
) -> None:
    file = first_file(warehouse, f"{table}.parquet")
    flip(file, 8 * (file.stat().st_size // 3))

    name, *options = (str(tmp_path / "out") if word == "OUT" else word for word in command)
    told = run(name, warehouse.path, *options)

    assert (told.returncode, told.stdout) == (2, "")
    assert f"{file} is damaged: its content has changed; " in told.stderr
    remedy = "ingest again" if table == "sources/*/sources" else "ingest PATH --into"
    assert remedy in told.stderr
    assert not (tmp_path / "out").exists()


def test_a_query_verifies_the_checksums_of_pages(warehouse: Warehouse) -> None:
    """A flipped bit in a table of steps either has no effect on the rows, or is named."""
    query = "select * from main.scored_steps order by all"
    files = sorted(warehouse.path.glob("scores/*/scored_steps.parquet"))
    before = warehouse.sql(query)
    draw = random.Random(24)
    named = 0
    for _ in range(20):
        file = draw.choice(files)
        whole = file.read_bytes()
        flip(file, draw.randrange(8 * len(whole)))
        try:
            rows, said = warehouse.sql(query), None
        except WarehouseError as error:
            rows, said = before, str(error)
        assert_frame_equal(rows, before)
        if said is not None:
            assert said.startswith(f"{file} is damaged: its content has changed; ")
            named += 1
        file.write_bytes(whole)
    assert named > 10


@pytest.mark.parametrize("damage", DAMAGE)
def test_check_names_every_damaged_file(warehouse: Warehouse, damage: str) -> None:
    files = [
        first_file(warehouse, p) for p in ("parts/*/plans.parquet", "sources/*/sources.parquet")
    ]
    for file in files:
        DAMAGE[damage](file)

    told = run("check", warehouse.path)

    assert told.returncode == 1
    assert all(f"{file} is " in told.stderr for file in files)


def test_python_names_the_damaged_file(warehouse: Warehouse) -> None:
    file = first_file(warehouse, "scores/*/scenario_scores.parquet")
    file.write_bytes(b"x" * file.stat().st_size)  # of the right size, so that it is opened

    for read in (
        warehouse.leaderboard,
        warehouse.check,
        lambda: warehouse.table("model_scores").collect(),
    ):
        with pytest.raises(WarehouseError, match=f"{file} is damaged: its content has changed"):
            read()


def test_a_file_of_another_size_is_never_opened(warehouse: Warehouse) -> None:
    file = first_file(warehouse, "parts/*/steps.parquet")
    pl.read_parquet(file, hive_partitioning=False).head(1).write_parquet(file)

    with pytest.raises(WarehouseError, match=f"{file} is damaged: it has .* bytes instead of"):
        warehouse.table("steps")


def leave_one_row(file: Path) -> None:
    """Take all rows but one out of a file, and keep its size."""
    size = file.stat().st_size
    row = pq.ParquetFile(file).read().slice(0, 1)
    length = 0
    for _ in range(5):  # the length of the padding is itself written in some bytes
        with pq.ParquetWriter(file, row.schema) as writer:
            writer.write_table(row)
            writer.add_key_value_metadata({"padding": "x" * length})
        length += size - file.stat().st_size
    assert file.stat().st_size == size


@pytest.mark.parametrize(
    ("table", "pattern"),
    [("scored_plans", "scores/*/scored_plans.parquet"), ("sources", "sources/*/sources.parquet")],
)
def test_a_file_of_other_rows_is_never_opened(
    warehouse: Warehouse, table: str, pattern: str
) -> None:
    file = first_file(warehouse, pattern)
    leave_one_row(file)

    assert verify(warehouse.path, warehouse.manifest(), read=False) == []
    with pytest.raises(WarehouseError, match=f"{file} is damaged: its content has changed"):
        warehouse.table(table)


def test_an_error_without_damage_stays_what_it_is(small: Warehouse, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), naming_damage(small.path, tmp_path / "nowhere"):
        raise ZeroDivisionError


def test_what_the_system_says_is_not_looked_for_in_every_byte(small: Warehouse) -> None:
    (file,) = (small.path / small.manifest().parts[0].directory).glob("steps.parquet")
    flip(file, 8 * 100)
    with pytest.raises(OSError, match="full"), naming_damage(small.path):
        raise OSError(errno.ENOSPC, "full")
    for error in (OSError(errno.EIO, "broken"), OSError("not Parquet")):
        with pytest.raises(WarehouseError, match=r"steps\.parquet"), naming_damage(small.path):
            raise error
    file.unlink()
    with pytest.raises(WarehouseError, match="is gone"), naming_damage(small.path):
        raise OSError(errno.ENOENT, "no such file")


def contents(warehouse: Warehouse) -> dict[str, pl.DataFrame]:
    names = ("steps", "plans", "scored_steps", "scored_plans", "tool_parameters")
    frames = {name: warehouse.table(name).collect() for name in names}
    return {name: frame.sort(frame.columns) for name, frame in frames.items()}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize(
    "pattern",
    [
        "parts/*/steps.parquet",
        "scores/*/scored_steps.parquet",
        "scores/*/scenario_scores.parquet",
        "tool_parameters/*/*.parquet",
    ],
)
def test_the_next_ingest_makes_damage_good(
    small: Warehouse, tmp_path: Path, damage: str, pattern: str
) -> None:
    before = contents(small)
    DAMAGE[damage](first_file(small, pattern))

    small.ingest(tmp_path / "tree", verify=True, jobs=1)

    assert small.verify() == []
    assert len(before["tool_parameters"]) > 0
    for name, frame in contents(small).items():
        assert_frame_equal(frame, before[name])


def test_files_of_another_tree_are_read_again_where_they_were(
    small: Warehouse, tmp_path: Path
) -> None:
    before = contents(small)
    first_file(small, "parts/*/steps.parquet").unlink()
    (tmp_path / "other").mkdir()

    small.ingest(tmp_path / "other", jobs=1)

    assert small.verify() == []
    for name, frame in contents(small).items():
        assert_frame_equal(frame, before[name])


def test_a_part_stays_where_a_file_of_it_is_gone(small: Warehouse, tmp_path: Path) -> None:
    part = small.manifest().parts[0]
    lost = scenario_path(tmp_path / "tree", part.model, "1")
    lost.unlink()
    file = small.path / part.directory / "steps.parquet"
    flip(file, 800)

    ingest(small.path, tmp_path / "tree", verify=True)

    assert [finding.name for finding in small.verify()] == [f"{part.directory}/steps.parquet"]
    assert str(lost) in small.table("sources").collect()["path"]

    small.ingest(tmp_path / "tree", verify=True, prune=True, jobs=1)

    assert small.verify() == []
    assert str(lost) not in small.table("sources").collect()["path"]
    assert_frame_equal(*(as_fresh(w, "steps") for w in (small, fresh(tmp_path))))


def fresh(tmp_path: Path) -> Warehouse:
    ingest(tmp_path / "fresh", tmp_path / "tree")
    return open_warehouse(tmp_path / "fresh")


def as_fresh(warehouse: Warehouse, table: str) -> pl.DataFrame:
    frame = warehouse.table(table).collect()
    return frame.sort(frame.columns)


def test_a_damaged_part_of_a_killed_ingest_is_not_taken_over(tmp_path: Path) -> None:
    tree = write_sweep(tmp_path / "tree", models=1)
    warehouse = tmp_path / "warehouse"
    ingest(warehouse, tree)
    (warehouse / "manifest.json").unlink()
    mark_unfinished(warehouse)
    flip(next(warehouse.glob("parts/*/steps.parquet")), 800)

    ingest(warehouse, tree)

    assert verify(warehouse, load_manifest(warehouse)) == []
    assert_frame_equal(
        *(as_fresh(w, "steps") for w in (open_warehouse(warehouse), fresh(tmp_path)))
    )


def test_ingest_verifies_on_demand(small: Warehouse, tmp_path: Path) -> None:
    file = first_file(small, "parts/*/steps.parquet")
    flip(file, 800)
    write(scenario_path(tmp_path / "tree", "model-0", "99"))

    assert run("ingest", tmp_path / "tree", "--into", small.path).returncode == 0
    assert [small.path / finding.name for finding in small.verify()] == [file]
    assert run("ingest", tmp_path / "tree", "--into", small.path, "--verify").returncode == 0
    assert small.verify() == []
