"""The manifest: what is read is what was saved, or an error that says what to do."""

import re
import shutil
from pathlib import Path

import msgspec
import polars as pl
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import PathError, WarehouseError
from orchbench_analytics.store.directories import mark_unfinished
from orchbench_analytics.store.manifest import (
    Manifest,
    Part,
    checksum_of,
    encode_manifest,
    load_manifest,
    load_or_start,
    save_manifest,
)
from tests.documents import write, write_sweep
from tests.warehouses import ingest


def part(part_id: str, directory: str = "parts/a", table: str = "steps") -> Part:
    return Part(
        part_id=part_id,
        directory=directory,
        row_counts={table: 1},
        model="m",
        experiment="e",
        language="EN",
    )


def test_a_missing_warehouse_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(
        WarehouseError, match="is not there; make a warehouse with: orchbench ingest"
    ):
        load_manifest(tmp_path / "nowhere")
    with pytest.raises(WarehouseError, match="is not a warehouse"):
        load_manifest(tmp_path)


def test_a_mistyped_warehouse_is_recognised(tmp_path: Path) -> None:
    (tmp_path / "warehouse").mkdir()
    (tmp_path / "warehouse/manifest.json").write_bytes(b"")
    (tmp_path / "warehous").mkdir()

    meant = re.escape(f"is not there; did you mean {tmp_path / 'warehouse'}?")
    with pytest.raises(WarehouseError, match=meant):
        load_manifest(tmp_path / "warehouses")


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"generation": "seven"}', b"\xff"])
def test_a_damaged_manifest_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "manifest.json").write_bytes(content)

    with pytest.raises(WarehouseError, match=r"manifest\.json cannot be read"):
        load_manifest(tmp_path)
    with pytest.raises(WarehouseError, match=r"manifest\.json cannot be read"):
        load_or_start(tmp_path)


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (3, "it was made by an older release; ingest again into another directory"),
        (99, "it was made by a newer release; update with: pip install --upgrade"),
    ],
)
def test_a_warehouse_of_another_release_says_what_to_do(
    tmp_path: Path, version: int, said: str
) -> None:
    other = {"format_version": version, "parts": "as nobody has them here"}
    (tmp_path / "manifest.json").write_bytes(msgspec.json.encode(other))

    with pytest.raises(WarehouseError, match=f"has format {version}, this release .*: {said}"):
        load_or_start(tmp_path)


OUTSIDE = (
    "/etc",
    "../other",
    "parts/../../other",
    "C:/x",
    "C:x",
    "a\\b",
    "//host/share",
    "",
    "~/x",
    ".",
)


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_manifest_cannot_lead_outside(tmp_path: Path, name: str) -> None:
    for manifest in (
        Manifest(parts=[part("a", directory=name)]),
        Manifest(parts=[part("a", table=f"{name}/x")]),
        Manifest(tables={"model_tags": part("a", directory=name)}),
        Manifest(unreferenced={name: 0}),
    ):
        (tmp_path / "manifest.json").write_bytes(encode_manifest(manifest))

        with pytest.raises(WarehouseError, match="not a path inside the warehouse"):
            load_manifest(tmp_path)


def test_a_manifest_that_was_changed_is_not_believed(tmp_path: Path) -> None:
    save_manifest(tmp_path, Manifest(profiles={"mine": {"call_weight": 0.25}}))
    path = tmp_path / "manifest.json"
    path.write_bytes(path.read_bytes().replace(b"0.25", b"0.75"))

    with pytest.raises(WarehouseError, match=r"manifest\.json is damaged: its checksum is wrong"):
        load_manifest(tmp_path)


def test_damaged_sources_are_named(tmp_path: Path) -> None:
    write_sweep(tmp_path / "tree")
    ingest(tmp_path / "warehouse", tmp_path / "tree")
    for path in (tmp_path / "warehouse").glob("sources/*/*.parquet"):
        path.write_bytes(b"damaged")

    with pytest.raises(WarehouseError, match=r"parquet is damaged"):
        ingest(tmp_path / "warehouse", tmp_path / "tree")


def test_a_new_warehouse_needs_an_empty_place(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "full").mkdir()
    (tmp_path / "full/thesis.txt").touch()
    for name in ("locked", "started"):  # as an ingest leaves it that is killed
        (tmp_path / name).mkdir()
        for file, text in (("lock", ""), ("writer", "process 7\n"), ("unfinished", "")):
            (tmp_path / name / file).write_text(text, encoding="utf-8")
    mark_unfinished(tmp_path / "started")
    (tmp_path / "started/parts").mkdir()
    (tmp_path / "started" / f"manifest.json.{'0af' * 10}12").touch()

    with pytest.raises(WarehouseError, match="is a file; a warehouse is a directory"):
        load_or_start(tmp_path / "file")
    with pytest.raises(WarehouseError, match="holds other things"):
        load_or_start(tmp_path / "full")
    assert load_or_start(tmp_path / "locked") == Manifest()
    assert load_or_start(tmp_path / "started") == Manifest()
    assert load_or_start(tmp_path / "new") == Manifest()


OUR_NAMES = (
    "sources/1_out.json",
    "staging/1_out.json",
    "scores/notes.txt",
    "parts/0123456789abcdef0123/steps.parquet",
    "model_tags/000001.parquet",
    "gathered/x",
    "tool_parameters/cards.json",
    "manifest.json.bak",
    "lock",
    "writer",
    "unfinished",
)


@pytest.mark.parametrize("name", OUR_NAMES)
def test_files_under_our_names_do_not_make_a_warehouse(tmp_path: Path, name: str) -> None:
    tree = write_sweep(tmp_path / "tree")
    write(tmp_path / "mine" / name, b"PAR1 and what somebody wrote")

    with pytest.raises(WarehouseError, match=r"holds other things .* name a new or empty"):
        ingest(tmp_path / "mine", tree)

    assert [path for path in (tmp_path / "mine").rglob("*") if path.is_file()] == [
        tmp_path / "mine" / name
    ]
    assert (tmp_path / "mine" / name).read_bytes() == b"PAR1 and what somebody wrote"


def test_results_named_like_ours_stay(tmp_path: Path) -> None:
    tree = write_sweep(tmp_path / "proj/sources")
    before = {path: path.read_bytes() for path in tree.rglob("*.json")}

    with pytest.raises(WarehouseError, match=r"holds other things \(sources\)"):
        ingest(tmp_path / "proj", tree)

    assert before == {path: path.read_bytes() for path in tree.rglob("*.json")}
    assert [path.name for path in (tmp_path / "proj").iterdir()] == ["sources"]


def test_a_warehouse_is_not_its_own_source_and_not_within_another(tmp_path: Path) -> None:
    tree = write_sweep(tmp_path / "tree")
    ingest(tmp_path / "tree/warehouse", tree)  # what lies in the tree is passed over
    warehouse = tmp_path / "tree/warehouse"
    before = {path: path.read_bytes() for path in warehouse.rglob("*") if path.is_file()}
    (tmp_path / "link").symlink_to(warehouse / "sources")

    for path in (warehouse, warehouse / "sources", tmp_path / "link"):
        with pytest.raises(PathError, match="lies in the warehouse"):
            ingest(warehouse, path)
    with pytest.raises(WarehouseError, match="lies in the warehouse"):
        ingest(warehouse / "staging/new", tree)

    assert before == {path: path.read_bytes() for path in warehouse.rglob("*") if path.is_file()}


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    saved = save_manifest(tmp_path, Manifest(generation=3, profiles={"spec": {"silence": "x"}}))

    assert load_manifest(tmp_path) == saved
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


def test_a_manifest_never_names_what_is_not_there(tmp_path: Path) -> None:
    save_manifest(tmp_path, Manifest(generation=3))

    with pytest.raises(FileNotFoundError):
        save_manifest(tmp_path, Manifest(generation=4, parts=[part("a")]))
    assert load_manifest(tmp_path).generation == 3


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


def test_a_manifest_from_before_a_field_was_added_opens(tmp_path: Path) -> None:
    save_manifest(tmp_path, Manifest(generation=3))
    path = tmp_path / "manifest.json"
    said = msgspec.json.decode(path.read_bytes())
    del said["removed_models"], said["removed_profiles"]
    content = msgspec.json.encode(said | {"checksum": ""})
    path.write_bytes(
        content.replace(b'"checksum":""', f'"checksum":"{checksum_of(content)}"'.encode())
    )

    assert load_manifest(tmp_path).generation == 3

    path.write_bytes(path.read_bytes().replace(b'"generation":3', b'"generation":4'))
    with pytest.raises(WarehouseError, match="its checksum is wrong"):
        load_manifest(tmp_path)
