"""Every sink: the rows of the warehouse, read back by another program, and nothing lost."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import duckdb
import openpyxl
import polars as pl
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal
from pyiceberg.catalog import load_catalog

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import OrchbenchError, PathError, SelectionError
from orchbench_analytics.exports import duckdb as duckdb_file
from orchbench_analytics.exports import excel, export
from orchbench_analytics.exports.relations import SMALL, Memory, flat_relations, stage
from orchbench_analytics.queries import described_columns, views
from orchbench_analytics.store.replace import _swap, new_directory
from orchbench_analytics.tables import TABLES
from orchbench_analytics.views.catalog import needed_by
from orchbench_analytics.warehouse import Warehouse
from tests.documents import run, runs_document, scenario_path, write
from tests.exports.hostile import TEXTS, answers, cut, defused
from tests.exports.readers import TARGETS, read_csv, read_duckdb

PIPED = {"capture_output": True, "text": True, "check": True}
CHOSEN = ["steps", "leaderboard", "sources"]


@pytest.fixture(params=TARGETS)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


def key(row: dict[str, object]) -> str:
    return "|".join(str(row[name]) for name in ("model", "scenario", "run", "step_id"))


def test_rows_are_the_warehouses_and_no_second_export_writes_them(
    kind: str, small: Warehouse, tmp_path: Path
) -> None:
    name, read = TARGETS[kind]
    target = name.format(tmp_path)

    summary = small.export(target, tables=CHOSEN)

    written = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    assert small.export(target, tables=CHOSEN).is_unchanged
    assert written == {
        path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()
    }
    assert {e.relation: e.row_count for e in summary.relations} == {
        name: len(read(target, name)) for name in CHOSEN
    }
    expected = small.table("steps").collect().to_dicts()
    found = read(target, "steps")
    for got, row in zip(sorted(found, key=key), sorted(expected, key=key), strict=True):
        for column, value in row.items():
            if kind == "csv":
                value = (
                    "" if value is None else str(value).lower() if value in (True, False) else value
                )
                assert got[column] == defused(str(value))
            else:
                assert got[column] == value


def test_a_refresh_equals_a_new_export(
    kind: str, small: Warehouse, changed: Warehouse, tmp_path: Path
) -> None:
    name, read = TARGETS[kind]
    target, fresh = name.format(tmp_path / "a"), name.format(tmp_path / "b")
    for place in ("a", "b"):
        (tmp_path / place).mkdir()
    small.export(target, tables=CHOSEN)

    summary = changed.export(target, tables=CHOSEN)

    changed.export(fresh, tables=CHOSEN)
    parts = {e.relation: e.changed_part_count for e in summary.relations}
    assert parts["steps"] == 1  # the new model's: the other's new file has no run
    for relation in CHOSEN:
        rows, expected = (sorted(map(str, read(place, relation))) for place in (target, fresh))
        assert rows == expected


def test_hostile_texts_come_back_or_are_accounted_for(
    kind: str, hostile: Warehouse, tmp_path: Path
) -> None:
    name, read = TARGETS[kind]
    summary = hostile.export(name.format(tmp_path), tables=["steps"])

    change = {"csv": defused, "excel": cut}.get(kind, str)
    expected = [change(text) for text in TEXTS]
    found = answers(read(name.format(tmp_path), "steps"))
    assert [text or "" for text in found] == expected
    counted = sum(summary.changed_values.values())
    assert counted == sum(change(text) != text for text in TEXTS)


def test_raw_csv_is_left_as_it_is(hostile: Warehouse, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    summary = hostile.export(target, tables=["steps"], raw=True)
    assert answers(TARGETS["csv"][1](str(target), "steps")) == list(TEXTS)
    assert summary.changed_values == {}


def test_csv_tells_an_empty_text_from_null(hostile: Warehouse, tmp_path: Path) -> None:
    hostile.export(tmp_path / "out.csv", tables=["steps"])
    frame = duckdb.read_csv(str(tmp_path / "out.csv"), all_varchar=True, allow_quoted_nulls=False)
    rows = frame.filter("answer_content is null").aggregate("step_id, count(*)").fetchall()
    assert rows == [("4", len(TEXTS))]


def test_no_cell_of_a_workbook_is_a_formula(hostile: Warehouse, tmp_path: Path) -> None:
    hostile.export(tmp_path / "out.xlsx", tables=["steps"])
    book = openpyxl.load_workbook(tmp_path / "out.xlsx")
    kinds = {cell.data_type for row in book["steps"].iter_rows() for cell in row}
    assert "f" not in kinds


def test_too_many_rows_for_excel_are_refused_before_anything_is_written(
    small: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(excel, "_MOST_ROWS", 3)
    with pytest.raises(SelectionError, match=r"steps has 24 rows.*--table"):
        small.export(tmp_path / "out.xlsx", tables=["steps"])
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_cannot_be_replaced_stays(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "kept").touch()
    with pytest.raises(RuntimeError), new_directory(tmp_path / "out"):
        raise RuntimeError
    with pytest.raises(FileNotFoundError):
        _swap(tmp_path / "never written", tmp_path / "out", tmp_path / "old")
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "kept"]


@pytest.mark.parametrize("name", ["out", "out.csv", "out.duckdb"])
def test_a_killed_export_does_not_block_the_next_one(
    small: Warehouse, tmp_path: Path, name: str
) -> None:
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], **PIPED)
    mine = [".out.20240101.old", ".out.7.part", f".orchbench-{'ab' * 16}.part", ".orchbench-1.part"]
    for directory in mine:  # named like ours, or nearly, and without our mark
        (tmp_path / directory).mkdir()
        (tmp_path / directory / "thesis.txt").touch()
    pids = (os.getppid(), os.getpid(), int(dead.stdout))  # a container has the same ids each time
    for number, pid in enumerate(pids):
        left = tmp_path / f".orchbench-{number:032x}.part"
        left.mkdir()
        (left / ".orchbench").write_text(f"written by orchbench-analytics, process {pid}\n")
        (left / f"{name}.wal").write_bytes(b"of a DuckDB file")
    unmarked = tmp_path / f".orchbench-{'cd' * 16}.part"  # killed before there was a mark
    unmarked.mkdir()
    os.utime(unmarked, (0, 0))
    starting = tmp_path / f".orchbench-{'ef' * 16}.part"  # the mark of a running one is to come
    starting.mkdir()

    small.export(tmp_path / name, tables=CHOSEN)

    under_way = f".orchbench-{0:032x}.part"
    assert {path.name for path in tmp_path.iterdir()} == {name, under_way, starting.name, *mine}


def test_what_a_killed_export_computed_goes_with_the_next_one(
    small: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    killed = (
        "import os, sys\n"
        "from orchbench_analytics.exports.relations import stage\n"
        "with stage() as connection:\n"
        "    connection.execute('create table x as from range(100000)')\n"
        "    os._exit(9)\n"
    )
    subprocess.run(
        [sys.executable, "-c", killed], env={**os.environ, "TMPDIR": str(tmp_path / "scratch")}
    )
    (left,) = (tmp_path / "scratch").iterdir()
    assert (left / "stage.duckdb").is_file()

    small.export(tmp_path / "out", tables=["leaderboard"])

    assert list((tmp_path / "scratch").iterdir()) == []


def test_an_export_that_needs_more_memory_gets_it(
    small: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = Memory(1, 1, 1, 1)
    with pytest.raises(duckdb.OutOfMemoryException), stage(tiny) as connection:
        flat_relations(connection, small.path, small.manifest(), CHOSEN)
    for lacking in (tiny, SMALL._replace(indexing=1)):  # at once, or when the file is half written
        monkeypatch.setattr(export, "SMALL", lacking)
        summary = small.export(tmp_path / "out.duckdb", tables=CHOSEN, overwrite=True)
        assert summary.row_count == sum(len(read_duckdb(summary.target, name)) for name in CHOSEN)
        (tmp_path / "out.duckdb").unlink()
    assert list(tmp_path.iterdir()) == []


def test_rows_of_a_large_table_go_in_by_stretches_of_its_key(
    small: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts = ["dim_argument", "fact_argument", "fact_scenario"]
    for indexed_rows, name in ((duckdb_file._INDEXED_ROWS, "at once"), (5, "by stretches")):
        monkeypatch.setattr(duckdb_file, "_INDEXED_ROWS", indexed_rows)
        small.export(tmp_path / f"{name}.duckdb", tables=facts, star=True, keys=True)
    for fact in facts:
        whole, pieces = (
            read_duckdb(str(tmp_path / f"{name}.duckdb"), fact)
            for name in ("at once", "by stretches")
        )
        assert sorted(map(str, pieces)) == sorted(map(str, whole))
    assert len(whole) > 10


def test_one_profile_only(small: Warehouse, tmp_path: Path) -> None:
    small.export(tmp_path / "out", tables=["leaderboard", "scored_steps"], profile="strict")
    for name in ("leaderboard", "scored_steps"):
        frame = pl.read_parquet(tmp_path / "out" / f"{name}.parquet")
        assert frame["profile"].unique().to_list() == ["strict"]
    with pytest.raises(SelectionError, match="not scored under 'nope'"):
        small.export(tmp_path / "other", profile="nope")


def test_flat_parquet_has_descriptions_and_a_manifest(small: Warehouse, tmp_path: Path) -> None:
    small.export(tmp_path / "out", tables=CHOSEN)
    for name in CHOSEN:
        schema = pq.read_schema(tmp_path / "out" / f"{name}.parquet")
        assert all(field.metadata[b"description"] for field in schema)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["generation"] == small.manifest().generation
    assert manifest["relations"]["steps"]["row_count"] == 24
    assert manifest["relations"]["steps"]["parts"].keys() == {'"model-0"', '"model-1"'}


def test_unchanged_files_are_the_same_files(small: Warehouse, tmp_path: Path) -> None:
    shutil.copytree(small.path, tmp_path / "warehouse")
    warehouse = open_warehouse(tmp_path / "warehouse", create=True)
    warehouse.export(tmp_path / "out", tables=["steps", "sources"])
    inode = (tmp_path / "out" / "steps.parquet").stat().st_ino
    other = write(scenario_path(tmp_path / "results", "model-0"), b"{")
    warehouse.ingest(other, jobs=1)

    summary = warehouse.export(tmp_path / "out", tables=["steps", "sources"])

    assert [e.changed_part_count for e in summary.relations] == [0, 1]
    assert (tmp_path / "out" / "steps.parquet").stat().st_ino == inode


def test_one_table_as_one_file(small: Warehouse, tmp_path: Path) -> None:
    small.export(tmp_path / "board.parquet", tables=["leaderboard"])
    found = pl.read_parquet(tmp_path / "board.parquet")
    assert_frame_equal(
        found.sort(found.columns), small.table("leaderboard").collect(), check_row_order=False
    )
    assert small.export(tmp_path / "board.parquet", tables=["leaderboard"]).is_unchanged
    with pytest.raises(SelectionError, match="choose one table"):
        small.export(tmp_path / "all.parquet")


def test_one_table_as_one_csv_file(small: Warehouse, changed: Warehouse, tmp_path: Path) -> None:
    target, mark = tmp_path / "steps.csv", tmp_path / ".steps.csv.orchbench"
    small.export(target, tables=["steps"])
    assert len(read_csv(str(target), "steps")) == 24
    assert small.export(target, tables=["steps"]).is_unchanged
    old, old_mark = target.read_bytes(), mark.read_bytes()
    assert not changed.export(target, tables=["steps"]).is_unchanged
    new = target.read_bytes()
    assert new != old

    target.write_bytes(old)  # as if killed after the mark was written and before the file was
    assert changed.export(target, tables=["steps"]).repaired == ["steps"]
    target.unlink()
    assert changed.export(target, tables=["steps"]).repaired == ["steps"]
    assert sorted(target.read_text().splitlines()) == sorted(new.decode().splitlines())
    target.write_bytes(new + b"mine\n")
    for mark_content in (mark.read_bytes(), old_mark, b"mine", None):
        mark.unlink()
        if mark_content is not None:
            mark.write_bytes(mark_content)
        with pytest.raises(
            PathError, match=r"was changed since|is not an export that orchbench wrote"
        ):
            small.export(target, tables=["steps"], overwrite=True)
        assert target.read_bytes() == new + b"mine\n"
        mark.touch()


def test_what_is_scored_says_its_profile(small: Warehouse) -> None:
    with stage() as connection:
        relations = flat_relations(connection, small.path, small.manifest(), ())
    tables = {"scored_steps", "scored_arguments", "scored_plans", "plan_edits", "scenario_scores"}
    scored = {name for name in (*TABLES, *views()) if needed_by(name) & tables}
    silent = {r.name for r in relations if "profile" not in r.table.column_names}
    assert silent & scored <= {"list_items"}  # texts of lists, whatever the score
    assert len(scored) > 20


def test_options_that_a_format_lacks_are_refused(small: Warehouse, tmp_path: Path) -> None:
    for target in (tmp_path / "out", tmp_path / "out.sqlite", f"delta:{tmp_path}/delta"):
        with pytest.raises(PathError, match=r"--keys needs FILE\.duckdb"):
            small.export(target, keys=True)
    for target in (tmp_path / "out.csv", tmp_path / "out.duckdb", f"delta:{tmp_path}/delta"):
        with pytest.raises(PathError, match="--partition-by needs a directory"):
            small.export(target, partition_by=["model"])
    assert list(tmp_path.iterdir()) == []


def test_a_model_whose_directory_readers_take_for_none_is_not_a_partition(tmp_path: Path) -> None:
    path = write(scenario_path(tmp_path / "results"))
    warehouse = open_warehouse(tmp_path / "w", create=True)
    named = {"model": "__HIVE_DEFAULT_PARTITION__", "experiment": "e", "language": "EN"}
    warehouse.ingest(path, **named, jobs=1)

    with pytest.raises(SelectionError, match="model named '' or __HIVE_DEFAULT_PARTITION__"):
        warehouse.export(tmp_path / "out", tables=["steps"], partition_by=["model"])
    warehouse.export(tmp_path / "out", tables=["steps"], partition_by=["language"])
    assert not [*tmp_path.glob("out/**/model=*")]


def test_parquet_can_be_partitioned(small: Warehouse, tmp_path: Path) -> None:
    options = {"tables": ["steps"], "partition_by": ["model", "language"]}
    small.export(tmp_path / "out", **options)
    assert (tmp_path / "out" / "steps" / "model=model-0" / "language=EN").is_dir()
    found = pl.read_parquet(tmp_path / "out" / "steps" / "**" / "*.parquet", hive_partitioning=True)
    assert len(found) == 24
    assert small.export(tmp_path / "out", **options).is_unchanged


def test_a_column_to_split_by_that_no_table_has_is_named(small: Warehouse, tmp_path: Path) -> None:
    with pytest.raises(SelectionError, match="'modle'; did you mean model"):
        small.export(tmp_path / "out", partition_by=["modle"])
    assert not (tmp_path / "out").exists()


def test_a_duckdb_file_of_everything_has_views_with_described_columns(
    small: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = small.export(tmp_path / "sweep.duckdb")
    monkeypatch.chdir(tmp_path)
    own = {*TABLES, "profiles", "model_tags"}
    assert {e.relation for e in summary.relations} == {*own, *views()}
    with duckdb.connect("sweep.duckdb", read_only=True) as connection:
        board = connection.sql("select * from leaderboard").pl()
        bare = connection.sql(
            "select table_name, column_name from duckdb_columns() where comment is null "
            "and not internal"
        ).fetchall()
        tables = {
            row[0] for row in connection.sql("from duckdb_tables() select table_name").fetchall()
        }
    assert_frame_equal(
        board.sort(board.columns), small.table("leaderboard").collect(), check_row_order=False
    )
    assert bare == []
    assert tables == {*own, "export_manifest"}


def test_descriptions_come_along(small: Warehouse, tmp_path: Path) -> None:
    from deltalake import DeltaTable

    name = described_columns()["average_score"]
    for target in ("out.sqlite", "out.xlsx"):
        small.export(tmp_path / target, tables=["leaderboard"])
        rows = TARGETS[{"out.sqlite": "sqlite", "out.xlsx": "excel"}[target]][1](
            str(tmp_path / target), "export_columns"
        )
        assert {row["column_name"]: row["description"] for row in rows}["average_score"] == name
    small.export(f"delta:{tmp_path}/delta", tables=["leaderboard"])
    fields = DeltaTable(str(tmp_path / "delta" / "leaderboard")).schema().fields
    assert {field.name: field.metadata for field in fields}["average_score"] == {
        "description": name
    }


@pytest.mark.parametrize("name", ["sweep.duckdb", "sweep.sqlite", "sweep.xlsx", "one.parquet"])
def test_what_somebody_else_made_is_left_alone(small: Warehouse, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine", encoding="utf-8")
    for overwrite in (False, True):
        with pytest.raises(PathError, match="already exists and is not"):
            small.export(tmp_path / name, tables=["leaderboard"], overwrite=overwrite)
        assert (tmp_path / name).read_text(encoding="utf-8") == "mine"


def test_a_file_that_another_program_has_open_is_not_called_strange(
    small: Warehouse, tmp_path: Path
) -> None:
    target = tmp_path / "open.duckdb"
    hold = f"import duckdb; held = duckdb.connect({str(target)!r}); print(flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        other.stdout.readline()
        with pytest.raises(PathError, match="is open in another program"):
            small.export(target, tables=["leaderboard"], overwrite=True)
        other.communicate(b"\n")


def test_a_directory_with_other_things_is_left_alone(small: Warehouse, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine", encoding="utf-8")
    for name in ("{}/out", "delta:{}/out", "iceberg:{}/out", "delta:{}/out/thesis.txt"):
        with pytest.raises(PathError, match="already exists and is not"):
            small.export(name.format(tmp_path), tables=["leaderboard"], overwrite=True)
    small.export(tmp_path / "ours", tables=["leaderboard"])
    (tmp_path / "ours" / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(PathError, match=r"holds other things \(thesis.txt\)"):
        small.export(tmp_path / "ours", tables=["leaderboard"], overwrite=True)
    for name in ("out", "ours"):
        assert (tmp_path / name / "thesis.txt").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("option", [False, True])
def test_the_results_themselves_are_never_replaced(
    small: Warehouse, tmp_path: Path, option: bool
) -> None:
    shutil.copytree(small.path.parent / "results", tmp_path / "results")
    warehouse = open_warehouse(tmp_path / "elsewhere/warehouse", create=True)
    warehouse.ingest(tmp_path / "results", jobs=1)
    (tmp_path / "link").symlink_to(tmp_path / "results")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.json")}
    holder = next((tmp_path / "results").rglob("*.json")).parent
    for place in (tmp_path / "results", tmp_path / "link", holder):
        for kind in ("{}", "delta:{}", "iceberg:{}", "{}/new", "{}/new.csv", "{}/new.sqlite"):
            with pytest.raises(PathError, match=r"result files of|cannot be written"):
                warehouse.export(kind.format(holder / "x" if "new" in kind else place))
        with pytest.raises(PathError, match="result files of"):
            warehouse.export(place, overwrite=option)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*.json")}


def damage_files(target: str, how: str) -> None:
    """Delete, empty or edit the file of `leaderboard`."""
    file = next(path for path in Path(target).iterdir() if path.stem == "leaderboard")
    if how == "gone":
        file.unlink()
    else:
        file.write_bytes(
            b"" if how == "empty" else file.read_bytes().replace(b"model-0", b"model-9")
        )


def damage_tables(target: str, how: str) -> None:
    """Drop the table `leaderboard`, delete its rows or some of them, or change a value."""
    statements = {
        "gone": "drop table leaderboard",
        "empty": "delete from leaderboard",
        "edited": "update leaderboard set average_score = 1",
        "fewer": "delete from leaderboard where model = 'model-0'",
    }
    connection = (duckdb.connect if target.endswith(".duckdb") else sqlite3.connect)(target)
    connection.execute(statements[how])
    connection.commit()
    connection.close()


def damage_delta(target: str, how: str) -> None:
    place = Path(target.removeprefix("delta:")) / "leaderboard"
    if how == "gone":
        shutil.rmtree(place)
    elif how == "empty":
        next(place.glob("*.parquet")).unlink()
    else:
        from deltalake import DeltaTable

        DeltaTable(str(place)).delete("model = 'model-0'")


def damage_iceberg(target: str, how: str) -> None:
    directory = Path(target.removeprefix("iceberg:"))
    options = {"type": "sql", "uri": f"sqlite:///{directory / 'catalog.db'}"}
    with load_catalog("orchbench", warehouse=directory.as_uri(), **options) as catalog:
        if how == "gone":
            catalog.drop_table(("orchbench", "leaderboard"))
        elif how == "empty":
            for file in directory.glob("orchbench*/leaderboard/data/*.parquet"):
                file.unlink()  # also those of tables that were dropped
        else:
            catalog.load_table(("orchbench", "leaderboard")).delete("model = 'model-0'")


DAMAGES = {
    "parquet": (damage_files, "gone", "empty", "edited"),
    "csv": (damage_files, "gone", "empty", "edited"),
    "duckdb": (damage_tables, "gone", "empty", "edited", "fewer"),
    "sqlite": (damage_tables, "gone", "empty", "edited", "fewer"),
    "delta": (damage_delta, "gone", "empty", "fewer"),
    "iceberg": (damage_iceberg, "gone", "empty", "fewer"),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_what_is_no_longer_as_exported_is_written_anew_and_named(
    kind: str, small: Warehouse, tmp_path: Path
) -> None:
    name, read = TARGETS[kind]
    target, options = name.format(tmp_path), {"tables": ["leaderboard", "sources"]}
    small.export(target, **options)
    expected = sorted(map(str, read(target, "leaderboard")))
    damage, *ways = DAMAGES[kind]
    for how in ways:
        damage(target, how)

        summary = small.export(target, **options)

        assert "leaderboard" in summary.repaired, how
        assert not summary.is_unchanged, how
        assert sorted(map(str, read(target, "leaderboard"))) == expected, how
        assert small.export(target, **options).is_unchanged, how


def test_one_parquet_file_with_other_rows_is_written_anew(small: Warehouse, tmp_path: Path) -> None:
    target = tmp_path / "board.parquet"
    small.export(target, tables=["leaderboard"])
    held = pq.read_table(target)
    pq.write_table(held.slice(1), target)  # the metadata says what it was
    assert small.export(target, tables=["leaderboard"]).repaired == ["leaderboard"]
    assert pq.read_table(target).num_rows == held.num_rows
    target.write_bytes(b"")
    assert not small.export(target, tables=["leaderboard"]).is_unchanged
    assert pq.read_table(target).num_rows == held.num_rows


def test_the_command_names_what_it_mended(orchbench, small: Warehouse, tmp_path: Path) -> None:
    command = ("export", small.path, tmp_path / "out", "--table", "leaderboard")
    assert orchbench(*command).returncode == 0
    (tmp_path / "out" / "leaderboard.parquet").write_bytes(b"")
    done = orchbench(*command)
    assert done.returncode == 0
    assert "1 table with 6 rows; all written" in done.stderr
    assert "leaderboard was changed since it was exported: written again" in done.stderr


def test_a_model_s_name_is_never_a_condition(small: Warehouse, tmp_path: Path) -> None:
    shutil.copytree(small.path, tmp_path / "warehouse")
    warehouse = open_warehouse(tmp_path / "warehouse")
    model, target = "\\') or true --", f"delta:{tmp_path}/out"
    for number in (1, 2):
        runs = {f"run #{n}": run() for n in range(number)}
        path = scenario_path(tmp_path / "more", model, "77")
        warehouse.ingest(write(path, runs_document(runs)), jobs=1)
        warehouse.export(target, tables=["steps"])
    counts = Counter(row["model"] for row in TARGETS["delta"][1](target, "steps"))
    assert counts == {"model-0": 12, "model-1": 12, model: 4}


@pytest.mark.parametrize("name", ["out.duckdb", "out.sqlite", "out.xlsx"])
def test_what_somebody_added_to_an_export_is_kept(
    small: Warehouse, tmp_path: Path, name: str
) -> None:
    target = tmp_path / name
    small.export(target, tables=["leaderboard"])
    if name == "out.xlsx":
        book = openpyxl.load_workbook(target)
        book.create_sheet("mine")
        book.save(target)
    else:
        connect = duckdb.connect if name == "out.duckdb" else sqlite3.connect
        connection = connect(str(target))
        connection.execute("create table mine (a int)")
        connection.commit()
        connection.close()
    before = target.read_bytes()

    for overwrite in (False, True):
        with pytest.raises(PathError, match=r"holds other things \(mine\)|was changed since"):
            small.export(target, tables=["leaderboard"], overwrite=overwrite)

    assert target.read_bytes() == before


def test_the_current_directory_is_not_replaced(
    small: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PathError, match="is the current directory; name another place"):
        small.export(".", tables=["leaderboard"])
    small.export("out", tables=["leaderboard"])
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_link_stays_a_link_and_what_it_points_to_is_refreshed(
    small: Warehouse, tmp_path: Path
) -> None:
    for name in ("out", "out.sqlite"):
        small.export(tmp_path / name, tables=["leaderboard"])
        link = tmp_path / f"link-{name}"
        link.symlink_to(tmp_path / name)
        assert small.export(link, tables=["leaderboard"]).is_unchanged
        small.export(link, tables=["steps"], overwrite=True)
        assert link.is_symlink()
        assert small.export(tmp_path / name, tables=["steps"]).is_unchanged


@pytest.mark.parametrize(
    "target", ["{}", "{}/new", "{}/x.csv", "delta:{}", "{}/../warehouse", "{}/.."]
)
def test_a_warehouse_is_never_exported_over_itself(
    small: Warehouse, tmp_path: Path, target: str
) -> None:
    copy = shutil.copytree(small.path, tmp_path / "warehouse")
    with pytest.raises(PathError, match=r"(holds|lies in) the warehouse|is a warehouse"):
        open_warehouse(copy).export(target.format(copy), overwrite=True)
    assert open_warehouse(copy).models().equals(small.models())


def test_other_options_need_leave_to_overwrite(small: Warehouse, tmp_path: Path) -> None:
    small.export(tmp_path / "out", tables=["leaderboard"])
    with pytest.raises(PathError, match=r"other options \(--table leaderboard\).*--overwrite"):
        small.export(tmp_path / "out", tables=["steps"])
    small.export(tmp_path / "out", tables=["steps"], overwrite=True)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "manifest.json",
        "steps.parquet",
    ]


@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_another_selection_leaves_no_table_behind(
    kind: str, small: Warehouse, tmp_path: Path
) -> None:
    name, read = TARGETS[kind]
    target = name.format(tmp_path)
    small.export(target, tables=["leaderboard", "steps"])
    small.export(target, tables=["leaderboard", "sources"], overwrite=True)
    assert {row["relation"] for row in read(target, "export_manifest")} == {
        "leaderboard",
        "sources",
    }
    assert len(read(target, "sources")) > 0
    with pytest.raises(Exception, match="steps"):
        read(target, "steps")
    left = [path for path in tmp_path.rglob("*.parquet") if "steps" in path.parts]
    assert left == []


def test_an_unknown_table_or_target_is_named(small: Warehouse, tmp_path: Path) -> None:
    with pytest.raises(SelectionError, match="'nope'"):
        small.export(tmp_path / "out", tables=["nope"])
    with pytest.raises(PathError, match="mysql://host is not a target"):
        small.export("mysql://host")
    for target in ("delta:s3://key:s3cret@bucket/x", "iceberg:rest://me:s3cret@host/x"):
        with pytest.raises(
            PathError, match=r":\*\*\*@.* is an address; name a directory"
        ) as caught:
            small.export(target)
        assert "s3cret" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


MISSING = {
    "out.sqlite": ("adbc_driver_sqlite", "sqlite"),
    "out.xlsx": ("xlsxwriter", "excel"),
    "delta:out": ("deltalake", "delta"),
    "iceberg:./out": ("pyiceberg", "iceberg"),
    "out.hyper": ("tableauhyperapi", "tableau"),
    "postgresql://host/x": ("adbc_driver_postgresql", "postgres"),
}


@pytest.mark.parametrize("target", MISSING)
def test_a_missing_library_is_named_with_the_way_to_install_it(
    small: Warehouse, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, extra = MISSING[target]
    for name in [name for name in sys.modules if name.split(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(OrchbenchError, match=rf"pip install 'orchbench-analytics\[{extra}\]'"):
        small.export(target)


def test_the_command_says_what_it_did(orchbench, small: Warehouse, tmp_path: Path) -> None:
    command = ("export", small.path, tmp_path / "out", "--table", "leaderboard", "-p", "spec")
    first, second = orchbench(*command), orchbench(*command)
    assert (first.returncode, second.returncode) == (0, 0)
    assert first.stderr.endswith("out: 1 table with 2 rows; all written\n")
    assert second.stderr.endswith("out: 1 table with 2 rows; unchanged, nothing written\n")
