"""Exports open elsewhere, with descriptions, and are complete or not there."""

import json
from pathlib import Path

import duckdb
import polars as pl
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import PathError, SelectionError
from orchbench_analytics.tables import TABLES
from orchbench_analytics.views.catalog import views
from orchbench_analytics.warehouse import Warehouse
from tests.sample_sweep import build_demo


@pytest.fixture(scope="module")
def warehouse(make_once) -> Warehouse:
    return open_warehouse(make_once("demo", build_demo) / "warehouse")


def test_flat_parquet_has_the_rows_and_the_descriptions(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    warehouse.export(tmp_path / "out", relations=["leaderboard", "steps"])

    board = pl.read_parquet(tmp_path / "out" / "leaderboard.parquet")
    assert_frame_equal(
        board.sort(board.columns), warehouse.view("leaderboard"), check_row_order=False
    )
    for name in ("leaderboard", "steps"):
        schema = pq.read_schema(tmp_path / "out" / f"{name}.parquet")
        assert all(field.metadata[b"description"] for field in schema)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["relations"]["leaderboard"]["row_count"] == len(board)


def test_everything_is_exported_by_default(warehouse: Warehouse, tmp_path: Path) -> None:
    exported = warehouse.export(tmp_path / "out")
    assert {e.relation for e in exported} == {*TABLES, *views()}
    assert all((tmp_path / "out" / e.path).exists() for e in exported)


def test_parquet_can_be_partitioned(warehouse: Warehouse, tmp_path: Path) -> None:
    warehouse.export(tmp_path / "out", relations=["steps"], partition_by=["model", "language"])

    directories = {p.name for p in (tmp_path / "out" / "steps").iterdir()}
    assert "model=silent" in directories
    found = pl.read_parquet(tmp_path / "out" / "steps" / "**" / "*.parquet", hive_partitioning=True)
    assert len(found) == warehouse.table("steps").collect().height


def test_a_duckdb_file_opens_from_any_directory(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse.export(tmp_path / "sweep.duckdb")
    monkeypatch.chdir(tmp_path)

    with duckdb.connect("sweep.duckdb", read_only=True) as connection:
        board = connection.sql("select * from leaderboard").pl()
        comments = connection.execute(
            "select view_name from duckdb_views() where not internal and comment is null"
        ).fetchall()
        tables = {
            row[0]
            for row in connection.execute("select table_name from duckdb_tables()").fetchall()
        }
    assert_frame_equal(
        board.sort(board.columns), warehouse.view("leaderboard"), check_row_order=False
    )
    assert comments == []
    assert tables == {*TABLES, "profiles", "model_tags"}


def test_nothing_is_overwritten(warehouse: Warehouse, tmp_path: Path) -> None:
    (tmp_path / "sweep.duckdb").write_text("mine", encoding="utf-8")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").touch()
    for target in ("sweep.duckdb", "out"):
        with pytest.raises(PathError, match="there already"):
            warehouse.export(tmp_path / target)


def test_an_unknown_table_is_named(warehouse: Warehouse, tmp_path: Path) -> None:
    with pytest.raises(SelectionError, match="'nope'"):
        warehouse.export(tmp_path / "out", relations=["nope"])
    assert not (tmp_path / "out").exists()
