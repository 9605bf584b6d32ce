"""Damage to a warehouse: every changed byte is found, named, and made good where it can be."""

import errno
import io
import random
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import WarehouseError
from orchbench_analytics.store.directories import mark_unfinished
from orchbench_analytics.store.files import MANIFEST
from orchbench_analytics.store.manifest import (
    bring_tables,
    is_damaged,
    named_files,
    naming_damage,
    verify,
    without_damaged_scores,
)
from orchbench_analytics.warehouse import Warehouse
from tests.documents import agent_card, scenario_path, write, write_sweep
from tests.store.roots import Bucket, Root
from tests.warehouses import ingest

FLIPS = 60
DAMAGE: dict[str, Callable[[bytes], bytes | None]] = {
    "gone": lambda _: None,
    "empty": lambda _: b"",
    "cut short": lambda content: content[:50],
    "changed": lambda content: flipped(content, 8 * 100),
}


def flipped(content: bytes, bit: int) -> bytes:
    """The content of a file with one bit changed."""
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def flip(file: Path, bit: int) -> None:
    file.write_bytes(flipped(file.read_bytes(), bit))


@pytest.fixture
def warehouse(root: Root, demo: Path) -> Root:
    """The place of a warehouse of eight models."""
    made = open_warehouse(demo / "warehouse")
    for name in (MANIFEST, *named_files(made.manifest())):
        root.write(name, (made.path / name).read_bytes())
    return root


@pytest.fixture
def small(root: Root, tmp_path: Path) -> Root:
    """The place of a warehouse of two models, whose results lie in `tree`."""
    write(tmp_path / "tree/agent_cards/EN/weather.json", agent_card())
    root.open().ingest(write_sweep(tmp_path / "tree", models=2), jobs=1)
    return root


def test_a_whole_warehouse_has_no_damage(warehouse: Root) -> None:
    opened = warehouse.fresh()
    manifest = opened.manifest()

    assert opened.verify() == []
    assert not any(is_damaged(opened.path, part, read=True) for part in manifest.parts)
    assert without_damaged_scores(opened.path, manifest, verify=True) is manifest
    assert all(named_files(manifest).values())


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("pattern", ["scores/*/scored_steps.parquet", "parts/*/steps.parquet"])
def test_a_damaged_file_is_found(warehouse: Root, damage: str, pattern: str) -> None:
    name = warehouse.damage(pattern, DAMAGE[damage])

    assert [finding.name for finding in warehouse.fresh().verify()] == [name]


def test_sizes_alone_show_what_is_gone_or_cut_short(tmp_path: Path) -> None:
    """A bucket does not lose objects, so this is asked on a disk alone."""
    opened = open_warehouse(tmp_path / "small", create=True)
    opened.ingest(write_sweep(tmp_path / "tree", models=3), jobs=1)
    manifest = opened.manifest()
    changed, gone, cut = (opened.path / p.directory / "steps.parquet" for p in manifest.parts)
    flip(changed, 800)
    gone.unlink()
    cut.write_bytes(cut.read_bytes()[:50])

    found = verify(opened.path, manifest, read=False)
    assert [opened.path / finding.name for finding in found] == [gone, cut]
    assert [is_damaged(opened.path, p, read=False) for p in manifest.parts] == [False, True, True]
    assert [is_damaged(opened.path, p, read=True) for p in manifest.parts] == [True, True, True]


def test_no_flipped_bit_goes_unseen(small: Root) -> None:
    """Notes aside: no figure is read from what `verify` does not know."""
    draw = random.Random(13)
    known = {*named_files(small.fresh().manifest()), MANIFEST}
    contents = {name: content for name, content in sorted(small.contents().items()) if content}
    unknown = set()
    for _ in range(FLIPS):
        name = draw.choice(list(contents))
        small.write(name, flipped(contents[name], draw.randrange(8 * len(contents[name]))))
        if name == MANIFEST:
            with pytest.raises(WarehouseError):
                small.fresh().verify()
        elif name in known:
            assert [finding.name for finding in small.fresh().verify()] == [name]
        else:
            unknown.add(name.rpartition("/")[2])
        small.write(name, contents[name])
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
    orchbench, warehouse: Root, tmp_path: Path, command: list[str], pattern: str, damage: str
) -> None:
    (tmp_path / "mine.toml").write_text('base = "spec"\nsilence = "call"\n', encoding="utf-8")
    damaged = warehouse.damage(pattern, DAMAGE[damage])

    name, *options = [str(tmp_path / o) if o.endswith(".toml") else o for o in command]
    told = orchbench(name, warehouse.address, *options)

    assert told.returncode == 2
    assert told.stderr.startswith(f"orchbench: {warehouse.address}/{damaged} is ")
    assert told.stderr.endswith(
        f"build it again with: orchbench ingest PATH --into {warehouse.address} --verify\n"
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
    orchbench, warehouse: Root, tmp_path: Path, command: tuple[str, ...], table: str
) -> None:
    damaged = warehouse.damage(f"{table}.parquet", lambda c: flipped(c, 8 * (len(c) // 3)))

    name, *options = (str(tmp_path / "out") if word == "OUT" else word for word in command)
    told = orchbench(name, warehouse.address, *options)

    assert (told.returncode, told.stdout) == (2, "")
    said = f"{warehouse.address}/{damaged} is damaged: its content has changed; "
    assert said in told.stderr
    remedy = "ingest again" if table == "sources/*/sources" else "ingest PATH --into"
    assert remedy in told.stderr
    assert not (tmp_path / "out").exists()


def test_a_query_verifies_the_checksums_of_pages(warehouse: Root) -> None:
    """A flipped bit in a table of steps either has no effect on the rows, or is named."""
    query = "select * from main.scored_steps order by all"
    opened = warehouse.fresh()
    files = [n for n in named_files(opened.manifest()) if n.endswith("scored_steps.parquet")]
    before = opened.sql(query)
    draw = random.Random(24)
    named = 0
    for _ in range(20):
        name = draw.choice(files)
        whole = warehouse.read(name)
        warehouse.write(name, flipped(whole, draw.randrange(8 * len(whole))))
        try:
            rows, said = warehouse.fresh().sql(query), None
        except WarehouseError as error:
            rows, said = before, str(error)
        assert_frame_equal(rows, before)
        if said is not None:
            assert said.startswith(
                f"{warehouse.address}/{name} is damaged: its content has changed"
            )
            named += 1
        warehouse.write(name, whole)
    assert named > 10


@pytest.mark.parametrize("damage", DAMAGE)
def test_check_names_every_damaged_file(orchbench, warehouse: Root, damage: str) -> None:
    patterns = ("parts/*/plans.parquet", "sources/*/sources.parquet")
    names = [warehouse.damage(pattern, DAMAGE[damage]) for pattern in patterns]

    told = orchbench("check", warehouse.address)

    assert told.returncode == 1
    assert all(f"{warehouse.address}/{name} is " in told.stderr for name in names)


def test_python_names_the_damaged_file(warehouse: Root) -> None:
    name = warehouse.damage(
        "scores/*/scenario_scores.parquet",
        lambda content: b"x" * len(content),  # of the right size, so that it is opened
    )

    opened = warehouse.fresh()
    said = f"{warehouse.address}/{name} is damaged: its content has changed"
    for read in (
        opened.leaderboard,
        opened.check,
        lambda: opened.table("model_scores").collect(),
    ):
        with pytest.raises(WarehouseError, match=said):
            read()


@pytest.mark.parametrize("table", ["steps", "scored_steps", "scenario_scores"])
def test_a_file_of_another_size_is_never_opened(warehouse: Root, table: str) -> None:
    name = warehouse.damage(f"*/{table}.parquet", one_row)

    with pytest.raises(WarehouseError, match=f"{name} is damaged: it has .* bytes instead of"):
        warehouse.fresh().sql(f"select count(*) from main.{table}")


def one_row(content: bytes) -> bytes:
    """The first row of a file."""
    row = io.BytesIO()
    pl.read_parquet(content).head(1).write_parquet(row)
    return row.getvalue()


def one_row_of_the_same_size(content: bytes) -> bytes:
    row = pq.ParquetFile(io.BytesIO(content)).read().slice(0, 1)
    length = 0
    for _ in range(5):  # the length of the padding is itself written in some bytes
        padded = io.BytesIO()
        with pq.ParquetWriter(padded, row.schema) as writer:
            writer.write_table(row)
            writer.add_key_value_metadata({"padding": "x" * length})
        length += len(content) - padded.tell()
    assert padded.tell() == len(content)
    return padded.getvalue()


@pytest.mark.parametrize(
    ("table", "pattern"),
    [("scored_plans", "scores/*/scored_plans.parquet"), ("sources", "sources/*/sources.parquet")],
)
def test_a_file_of_other_rows_is_never_opened(warehouse: Root, table: str, pattern: str) -> None:
    name = warehouse.damage(pattern, one_row_of_the_same_size)

    said = f"{warehouse.address}/{name} is damaged: its content has changed"
    with pytest.raises(WarehouseError, match=said):
        warehouse.fresh().table(table)


def test_an_error_without_damage_stays_what_it_is(small: Root, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), naming_damage(small.path):
        raise ZeroDivisionError
    with pytest.raises(OSError, match="gone"), naming_damage(tmp_path / "nowhere"):
        raise OSError(errno.ENOENT, "gone")


def test_what_the_system_says_is_not_looked_for_in_every_byte(small: Root) -> None:
    """What libraries read are the files that lie here: those of a bucket are copies."""
    warehouse = small.open()
    manifest = warehouse.manifest()
    bring_tables(warehouse.path, manifest.parts, ["steps"])
    file = Path(warehouse.path, manifest.parts[0].directory, "steps.parquet")
    whole = file.read_bytes()
    for error in (OSError(errno.EIO, "broken"), OSError("not Parquet")):
        file.write_bytes(flipped(whole, 8 * 100))
        with pytest.raises(OSError, match="full"), naming_damage(warehouse.path):
            raise OSError(errno.ENOSPC, "full")
        with pytest.raises(WarehouseError, match=r"steps\.parquet"), naming_damage(warehouse.path):
            raise error


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    opened = open_warehouse(tmp_path / "small", create=True)
    opened.ingest(write_sweep(tmp_path / "tree", models=1), jobs=1)
    (opened.path / opened.manifest().parts[0].directory / "steps.parquet").unlink()
    with pytest.raises(WarehouseError, match="is gone"), naming_damage(opened.path):
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
    small: Root, tmp_path: Path, damage: str, pattern: str
) -> None:
    before = contents(small.fresh())
    small.damage(pattern, DAMAGE[damage])

    small.fresh().ingest(tmp_path / "tree", verify=True, jobs=1)

    after = small.fresh()
    assert after.verify() == []
    assert len(before["tool_parameters"]) > 0
    for name, frame in contents(after).items():
        assert_frame_equal(frame, before[name])


def test_gathered_rows_are_made_again(root: Root, tmp_path: Path) -> None:
    tree = write_sweep(tmp_path / "tree", models=10, scenarios=1)
    root.open().ingest(tree, jobs=1)
    before = root.fresh().leaderboard()
    root.damage("gathered/*", DAMAGE["changed"])

    root.fresh().ingest(tree, verify=True, jobs=1)

    assert root.fresh().verify() == []
    assert_frame_equal(root.fresh().leaderboard(), before)


def test_files_of_another_tree_are_read_again_where_they_were(small: Root, tmp_path: Path) -> None:
    before = contents(small.fresh())
    small.damage("parts/*/steps.parquet", DAMAGE["gone"])
    (tmp_path / "other").mkdir()

    # An ordinary ingest looks for files that are gone on disks alone.
    small.fresh().ingest(tmp_path / "other", verify=isinstance(small, Bucket), jobs=1)

    assert small.fresh().verify() == []
    for name, frame in contents(small.fresh()).items():
        assert_frame_equal(frame, before[name])


def test_a_part_stays_where_a_file_of_it_is_gone(small: Root, tmp_path: Path) -> None:
    part = small.fresh().manifest().parts[0]
    lost = scenario_path(tmp_path / "tree", part.model, "1")
    lost.unlink()
    file = f"{part.directory}/steps.parquet"
    small.damage(file, DAMAGE["changed"])

    small.fresh().ingest(tmp_path / "tree", verify=True, jobs=1)

    kept = small.fresh()
    assert [finding.name for finding in kept.verify()] == [file]
    assert str(lost) in kept.table("sources").collect()["path"]

    small.fresh().ingest(tmp_path / "tree", verify=True, prune=True, jobs=1)

    pruned = small.fresh()
    assert pruned.verify() == []
    assert str(lost) not in pruned.table("sources").collect()["path"]
    assert_frame_equal(*(as_fresh(w, "steps") for w in (pruned, fresh(tmp_path))))


def fresh(tmp_path: Path) -> Warehouse:
    ingest(tmp_path / "fresh", tmp_path / "tree")
    return open_warehouse(tmp_path / "fresh")


def as_fresh(warehouse: Warehouse, table: str) -> pl.DataFrame:
    frame = warehouse.table(table).collect()
    return frame.sort(frame.columns)


def test_a_damaged_part_of_a_killed_ingest_is_not_taken_over(root: Root, tmp_path: Path) -> None:
    tree = write_sweep(tmp_path / "tree", models=1)
    root.open().ingest(tree, jobs=1)
    root.delete(MANIFEST)
    mark_unfinished(root.path)
    flip(next(root.path.glob("parts/*/steps.parquet")), 800)

    root.open().ingest(tree, jobs=1)

    assert root.fresh().verify() == []
    assert_frame_equal(*(as_fresh(w, "steps") for w in (root.fresh(), fresh(tmp_path))))


def test_ingest_verifies_on_demand(orchbench, small: Root, tmp_path: Path) -> None:
    name = small.damage("parts/*/steps.parquet", DAMAGE["changed"])
    write(scenario_path(tmp_path / "tree", "model-9", "99"))

    assert orchbench("ingest", tmp_path / "tree", "--into", small.address).returncode == 0
    assert [finding.name for finding in small.fresh().verify()] == [name]
    assert (
        orchbench("ingest", tmp_path / "tree", "--into", small.address, "--verify").returncode == 0
    )
    assert small.fresh().verify() == []
