"""The store: safe paths, a manifest written last, one writer at a time."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import WarehouseError
from orchbench_analytics.schema import Column, Table
from orchbench_analytics.store import manifest as store
from orchbench_analytics.store import parquet
from orchbench_analytics.store.manifest import Manifest, Part
from orchbench_analytics.tables import TOOL_PARAMETERS
from tests.documents import run, runs_document, scenario_path, write, write_sweep
from tests.warehouses import ingest

NUMBERS = Table("numbers", "number", (Column("name", "text", "Its name."),))


def part(part_id: str) -> Part:
    return Part(
        part_id=part_id,
        directory=f"parts/{part_id}",
        row_counts={"steps": 1},
        model="m",
        experiment="e",
        language="EN",
    )


def test_a_missing_warehouse_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match="is not there; make one with: orchbench ingest"):
        store.load_manifest(tmp_path / "nowhere")
    with pytest.raises(WarehouseError, match="is no warehouse"):
        store.load_manifest(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"generation": "seven"}', b"\xff"])
def test_a_damaged_manifest_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "manifest.json").write_bytes(content)

    with pytest.raises(WarehouseError, match=r"manifest\.json cannot be read"):
        store.load_manifest(tmp_path)
    with pytest.raises(WarehouseError, match=r"manifest\.json cannot be read"):
        store.load_or_start(tmp_path)


def test_a_warehouse_of_another_format_is_not_touched(tmp_path: Path) -> None:
    store.save_manifest(tmp_path, Manifest(format_version=99))

    with pytest.raises(WarehouseError, match="has format 99, this version reads"):
        store.load_or_start(tmp_path)


def test_damaged_sources_are_named(tmp_path: Path) -> None:
    write_sweep(tmp_path / "tree")
    ingest(tmp_path / "warehouse", tmp_path / "tree")
    for path in (tmp_path / "warehouse/sources").iterdir():
        path.write_bytes(b"damaged")

    with pytest.raises(WarehouseError, match=r"parquet is damaged"):
        ingest(tmp_path / "warehouse", tmp_path / "tree")


def test_a_new_warehouse_needs_an_empty_place(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "full").mkdir()
    (tmp_path / "full/thesis.txt").touch()
    (tmp_path / "started").mkdir()
    for name in (
        "lock",
        "unfinished",
        "parts",
        "manifest.json.123",
    ):  # as a killed ingest leaves it
        (tmp_path / "started" / name).touch()

    with pytest.raises(WarehouseError, match="is a file; a warehouse is a directory"):
        store.load_or_start(tmp_path / "file")
    with pytest.raises(WarehouseError, match="holds other things"):
        store.load_or_start(tmp_path / "full")
    assert store.load_or_start(tmp_path / "started") == Manifest()
    assert store.load_or_start(tmp_path / "new") == Manifest()


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    manifest = Manifest(generation=3, sources="sources/000003.parquet", parts=[part("a")])

    store.save_manifest(tmp_path, manifest)

    assert store.load_manifest(tmp_path) == manifest
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


def test_who_holds_the_warehouse_is_said_to_those_who_wait(tmp_path: Path) -> None:
    said: list[str] = []
    hold_it = (
        "import sys; from pathlib import Path\n"
        "from orchbench_analytics.store.manifest import hold\n"
        "with hold(Path(sys.argv[1]), wait=False, on_wait=print):\n"
        "    print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", hold_it, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        holder.stdout.readline()

        with (
            pytest.raises(WarehouseError, match=f"is being written by process {holder.pid}"),
            store.hold(tmp_path, wait=False, on_wait=said.append),
        ):
            pass

        def let_go(text: str) -> None:
            said.append(text)
            holder.kill()

        with store.hold(tmp_path, wait=True, on_wait=let_go):
            assert (tmp_path / "lock").read_text() == f"process {os.getpid()}\n"
    assert said == [f"{tmp_path} is being written by process {holder.pid}; waiting"]


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with (
        pytest.raises(WarehouseError, match="file/warehouse cannot be written: Not a directory"),
        store.hold(tmp_path / "file/warehouse", wait=False, on_wait=print),
    ):
        pass


def test_nulls_where_none_may_be_are_caught() -> None:
    with pytest.raises(AssertionError, match=r"numbers\.name has nulls"):
        parquet.to_arrow(NUMBERS, [("one",), (None,)])


def test_a_table_without_rows_has_its_columns() -> None:
    table = parquet.to_arrow(TOOL_PARAMETERS, [])

    assert (table.num_rows, tuple(table.column_names)) == (0, TOOL_PARAMETERS.column_names)


def test_a_directory_appears_complete_or_not_at_all(tmp_path: Path) -> None:
    table = parquet.to_arrow(NUMBERS, [("one",)])

    store.write_directory(tmp_path, "parts/a/b/c", [("numbers", table)], note=b"{}")
    store.write_directory(tmp_path, "parts/a/b/c", [("numbers", table)], note=b"other")

    files = {path.name for path in (tmp_path / "parts/a/b/c").iterdir()}
    assert files == {"numbers.parquet", "part.json"}
    assert (tmp_path / "parts/a/b/c/part.json").read_bytes() == b"{}"
    assert list((tmp_path / "staging").iterdir()) == []


def test_texts_that_repeat_are_stored_once(tmp_path: Path) -> None:
    labels = [(f"{'long label ' * 300} {number % 7}",) for number in range(10_000)]

    parquet.write_table(parquet.to_arrow(NUMBERS, labels), tmp_path / "numbers.parquet")

    assert (tmp_path / "numbers.parquet").stat().st_size < 50_000


def test_garbage_is_what_no_manifest_knows(tmp_path: Path) -> None:
    kept, gone = part("kept"), part("gone")
    for one in (kept, gone):
        write(tmp_path / one.directory / "steps.parquet", b"")
    for name in (
        "sources/000001.parquet",
        "sources/000002.parquet",
        "staging/x/y",
        "manifest.json.7",
    ):
        write(tmp_path / name, b"")
    manifest = Manifest(sources="sources/000002.parquet", parts=[kept])

    store.collect_garbage(tmp_path, manifest)

    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {"sources/000002.parquet", f"{kept.directory}/steps.parquet"}


def test_the_state_before_is_kept_for_readers_that_are_still_at_it(tmp_path: Path) -> None:
    tree = write_sweep(tmp_path / "tree", models=1)
    warehouse = tmp_path / "warehouse"
    ingest(warehouse, tree)
    reader = open_warehouse(warehouse).table("steps")
    before = reader.collect()

    write(scenario_path(tree, "model-0", "1"), runs_document({"run #1": run()}))
    ingest(warehouse, tree)

    assert reader.collect().equals(before)
    assert len(open_warehouse(warehouse).table("steps").collect()) < len(before)


def test_names_of_models_stand_in_files_alone(tmp_path: Path) -> None:
    write(tmp_path / "tree/12_out.json")
    ingest(tmp_path / "warehouse", tmp_path / "tree", model="org/model:tag", language="EN")

    frame = pl.scan_parquet(
        tmp_path / "warehouse/parts/**/steps.parquet", hive_partitioning=False
    ).collect()

    assert frame["model"].unique().to_list() == ["org/model:tag"]
    paths = [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("warehouse/**/*")]
    assert not [path for path in paths if "model" in path and "model_tags" not in path]
    assert not [path for path in paths if "=" in path]


def test_a_reader_of_a_removed_warehouse_is_told(tmp_path: Path) -> None:
    write_sweep(tmp_path / "tree")
    ingest(tmp_path / "warehouse", tmp_path / "tree")
    shutil.rmtree(tmp_path / "warehouse")

    with pytest.raises(WarehouseError, match="is not there"):
        open_warehouse(tmp_path / "warehouse").table("steps")


def test_arrow_types_are_the_declared_ones() -> None:
    table = parquet.to_arrow(TOOL_PARAMETERS, [("EN", "a", "t", "k", None, True, None, 1)])

    assert table.schema.field("has_enum").type == pa.bool_()
    assert table.schema.field("tool_order").type == pa.int64()
