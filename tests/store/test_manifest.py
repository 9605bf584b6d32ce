"""The manifest: what is read is what was saved, or an error that says what to do."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from orchbench_analytics.errors import PathError, WarehouseError
from orchbench_analytics.store.directories import mark_unfinished
from orchbench_analytics.store.files import MANIFEST
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
from tests.store.roots import Root
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


def test_a_missing_warehouse_says_how_to_make_one(root: Root) -> None:
    said = f"is not there; make a warehouse with: orchbench ingest PATH --into {root.address}"
    with pytest.raises(WarehouseError, match=said):
        load_manifest(root.path)


def test_a_first_ingest_that_was_killed_is_to_be_continued(tmp_path: Path) -> None:
    mark_unfinished(tmp_path)
    with pytest.raises(WarehouseError, match="its first ingest has not finished; continue it with"):
        load_manifest(tmp_path)


def test_a_directory_of_other_things_is_not_a_warehouse(tmp_path: Path) -> None:
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
def test_a_damaged_manifest_is_named(root: Root, content: bytes) -> None:
    root.write(MANIFEST, content)

    for load in (load_manifest, load_or_start):
        with pytest.raises(WarehouseError, match=f"{root.address}/{MANIFEST} cannot be read"):
            load(root.path)


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (3, "it was made by an older release; ingest again into another directory"),
        (99, "it was made by a newer release; update with: pip install --upgrade"),
    ],
)
def test_a_warehouse_of_another_release_says_what_to_do(
    root: Root, version: int, said: str
) -> None:
    other = {"format_version": version, "parts": "as nobody has them here"}
    root.write(MANIFEST, msgspec.json.encode(other))

    words = f"{root.address} has format {version}, this release .*: {said}"
    with pytest.raises(WarehouseError, match=words):
        load_or_start(root.path)


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
def test_a_manifest_cannot_lead_outside(root: Root, name: str) -> None:
    for manifest in (
        Manifest(parts=[part("a", directory=name)]),
        Manifest(parts=[part("a", table=f"{name}/x")]),
        Manifest(tables={"model_tags": part("a", directory=name)}),
        Manifest(unreferenced={name: 0}),
    ):
        root.write(MANIFEST, encode_manifest(manifest))

        with pytest.raises(WarehouseError, match="not a path inside the warehouse"):
            load_manifest(root.path)


def test_a_manifest_that_was_changed_is_not_believed(root: Root) -> None:
    content = encode_manifest(Manifest(profiles={"mine": {"call_weight": 0.25}}))
    root.write(MANIFEST, content)
    load_manifest(root.path)
    root.write(MANIFEST, content.replace(b"0.25", b"0.75"))

    with pytest.raises(WarehouseError, match=f"{MANIFEST} is damaged: its checksum is wrong"):
        load_manifest(root.path)


def test_damaged_sources_are_named(root: Root, tmp_path: Path) -> None:
    tree = write_sweep(tmp_path / "tree")
    root.open().ingest(tree, jobs=1)
    name = root.damage("sources/*", lambda _: b"damaged")

    said = f"{root.address}/{name} is damaged: .*; ingest again into another directory"
    for verify in (False, True):
        with pytest.raises(WarehouseError, match=said):
            root.fresh().ingest(tree, jobs=1, verify=verify)


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
    "model_tags/000001.parquet",
    "gathered/x",
    "tool_parameters/cards.json",
    "manifest.json.bak",
    "lock",
    "writer",
    "unfinished",
)


@pytest.mark.parametrize("name", OUR_NAMES)
def test_files_under_our_names_do_not_make_a_warehouse(
    root: Root, tmp_path: Path, name: str
) -> None:
    tree = write_sweep(tmp_path / "tree")
    root.write(name, b"PAR1 and what somebody wrote")

    with pytest.raises(WarehouseError, match=r"holds other things .* name a new or empty"):
        root.open().ingest(tree, jobs=1)

    assert root.contents() == {name: b"PAR1 and what somebody wrote"}


def test_a_table_without_our_notes_does_not_make_a_warehouse(tmp_path: Path) -> None:
    """A bucket holds no notes: what has a name as we make them up is a killed ingest's there."""
    file = write(tmp_path / "mine/parts/0123456789abcdef0123/steps.parquet", b"PAR1")

    with pytest.raises(WarehouseError, match="holds other things"):
        ingest(tmp_path / "mine", write_sweep(tmp_path / "tree"))

    assert file.read_bytes() == b"PAR1"


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


def test_a_manifest_is_read_as_it_was_written(root: Root) -> None:
    root.path.mkdir(exist_ok=True)
    saved = save_manifest(root.path, Manifest(generation=3, profiles={"spec": {"silence": "x"}}))

    assert load_manifest(root.path) == root.fresh().manifest() == saved
    assert root.contents().keys() == {MANIFEST}


def test_a_manifest_never_names_what_is_not_there(root: Root) -> None:
    root.path.mkdir(exist_ok=True)
    saved = save_manifest(root.path, Manifest(generation=3))

    with pytest.raises(FileNotFoundError):
        save_manifest(root.path, msgspec.structs.replace(saved, generation=4, parts=[part("a")]))
    assert root.fresh().manifest().generation == 3


def test_names_of_models_stand_in_files_alone(root: Root, tmp_path: Path) -> None:
    write(tmp_path / "tree/12_out.json")
    root.open().ingest(tmp_path / "tree", model="org/model:tag", language="EN", jobs=1)

    steps = root.fresh().table("steps").collect()
    assert steps["model"].unique().to_list() == ["org/model:tag"]
    assert not [name for name in root.contents() if "model" in name or "=" in name]


def test_a_reader_of_a_removed_warehouse_is_told(root: Root, tmp_path: Path) -> None:
    opened = root.open()
    opened.ingest(write_sweep(tmp_path / "tree"), jobs=1)
    for name in root.contents():
        root.delete(name)

    for reader in (opened.leaderboard, root.fresh):
        with pytest.raises(WarehouseError, match="orchbench ingest"):
            reader()


def with_fields(content: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    """A stored manifest with other fields, and the checksum that these have."""
    fields = msgspec.json.decode(content)
    change(fields)
    bare = msgspec.json.encode(fields | {"checksum": ""})
    return bare.replace(b'"checksum":""', f'"checksum":"{checksum_of(bare)}"'.encode())


def test_a_manifest_from_before_a_field_was_added_opens(root: Root) -> None:
    content = with_fields(
        encode_manifest(Manifest(generation=3)), lambda fields: fields.pop("removed_models")
    )
    root.write(MANIFEST, content)

    assert load_manifest(root.path).generation == 3

    root.write(MANIFEST, content.replace(b'"generation":3', b'"generation":4'))
    with pytest.raises(WarehouseError, match="its checksum is wrong"):
        load_manifest(root.path)


def test_a_manifest_with_a_field_of_another_release_is_whole(root: Root) -> None:
    content = encode_manifest(Manifest(generation=7))
    root.write(MANIFEST, with_fields(content, lambda fields: fields.update(added=[1])))

    assert root.fresh().manifest().generation == 7
