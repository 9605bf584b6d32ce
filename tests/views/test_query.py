"""Queries read the warehouse and reach nothing else."""

from pathlib import Path

import duckdb
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import QueryError
from orchbench_analytics.views.catalog import connect_sealed
from orchbench_analytics.views.query import (
    fetch,
    parse_parameters,
    query_text,
    relations_of,
    run_query,
)
from orchbench_analytics.warehouse import Warehouse
from tests.sample_sweep import build_demo


@pytest.fixture(scope="module")
def warehouse(make_once) -> Warehouse:
    return open_warehouse(make_once("demo", build_demo) / "warehouse")


@pytest.fixture(scope="module")
def safe(warehouse: Warehouse) -> duckdb.DuckDBPyConnection:
    return connect_sealed(warehouse.path, warehouse.manifest())


def test_a_query_returns_rows(warehouse: Warehouse) -> None:
    rows = warehouse.sql("select count(*) as n from main.leaderboard").fetchall()
    assert rows == [(8 * 3 + 3,)]  # one of the eight models has two experiments


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("from main.leaderboard", {"leaderboard"}),
        (
            "select * from STEPS as s join main.profiles as p on s.run = p.profile",
            {"steps", "profiles"},
        ),
        ("with plans as (from main.tool_scores) from plans", {"tool_scores"}),
        ("select (select max(model) from query_table('scenarios'))", {"scenarios"}),
        ("describe main.agent_scores", {"agent_scores"}),
        ("show tables", None),
        ("select 1", None),
        ("from main.leaderboard, duckdb_views()", None),
        ("from INFORMATION_SCHEMA.columns, main.steps", None),
        ("from main.leaderbord", None),
        ("from main.steps where model = $model", None),
        ("pivot main.steps on model", None),
        ("from main.steps, read_text('pyproject.toml')", None),
        ("select from from", None),
    ],
)
def test_only_what_a_query_names_is_made(query: str, named: set[str] | None) -> None:
    assert relations_of(query) == named


def test_a_query_may_list_everything_and_a_mistake_is_answered_with_a_name(
    warehouse: Warehouse,
) -> None:
    views = "select count(*) from duckdb_views() where schema_name = 'main' and not internal"
    assert warehouse.sql(f"select ({views}), count(*) from main.profiles").fetchall()[0][0] > 35
    with pytest.raises(QueryError, match="leaderboard"):
        warehouse.sql("from main.leaderbord")


def test_parameters_are_filled_in(warehouse: Warehouse) -> None:
    query = "select distinct model from main.steps where model = $model"
    assert warehouse.sql(query, parameters={"model": "silent"}).fetchall() == [("silent",)]


@pytest.mark.parametrize(
    "query",
    [
        "select * from read_csv('{outside}')",
        "select * from read_text('{outside}')",
        "select * from read_parquet('{outside}')",
        "select * from '{outside}'",
        "select * from glob('{outside}')",
        "select * from read_json('{warehouse}/manifest.json')",
        "from query('select * from read_text(''{outside}'')')",
        "copy (select 1) to '{outside}'",
        "copy (select 1) to '{warehouse}/{steps}'",
        "copy (select 1) to '{warehouse}/{steps}' (format parquet, use_tmp_file false)",
        "explain analyze copy (select 1) to '{warehouse}/{steps}' (use_tmp_file false)",
        "explain (analyze) copy (select 1) to '{warehouse}/{steps}' (use_tmp_file false)",
        "explain copy (select 1) to '{outside}'",
        "explain /* read */ analyze copy (select 1) to '{outside}' (use_tmp_file false)",
        "explain analyze create table t (x int)",
        "explain analyze explain analyze copy (select 1) to '{outside}' (use_tmp_file false)",
        "from read_parquet('{warehouse}/{steps}')",
        "with w as (insert into main.profiles select 1 returning 1) from w",
        "attach '{outside}' as other",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true",
        "set allowed_directories = ['/']",
        "reset lock_configuration",
        "pragma database_list",
        "pragma enable_profiling = 'json'",
        "call pragma_version()",
        "create table t (x int)",
        "create view v as select 1",
        "insert into main.profiles values (1)",
        "delete from main.profiles",
        "drop view main.steps",
        "export database '{outside}'",
        "begin transaction",
        "select 1; drop view main.steps",
        "prepare p as select 1",
        "use memory",
        "vacuum",
        "checkpoint",
    ],
)
def test_a_query_reaches_nothing_outside(
    warehouse: Warehouse, safe: duckdb.DuckDBPyConnection, tmp_path: Path, query: str
) -> None:
    outside = tmp_path / "outside.csv"
    outside.write_text("secret\n1\n", encoding="utf-8")
    steps = next(warehouse.path.glob("parts/*/steps.parquet"))
    before = steps.read_bytes()
    text = query.format(
        outside=outside, warehouse=warehouse.path, steps=steps.relative_to(warehouse.path)
    )
    with pytest.raises(QueryError):
        fetch(run_query(safe, text))
    assert outside.read_text(encoding="utf-8") == "secret\n1\n"
    assert sorted(tmp_path.iterdir()) == [outside]
    assert steps.read_bytes() == before


def test_unsafe_lifts_the_limits(warehouse: Warehouse, tmp_path: Path) -> None:
    outside = tmp_path / "numbers.csv"
    outside.write_text("n\n7\n", encoding="utf-8")
    found = warehouse.sql(f"select n from read_csv('{outside}')", unsafe=True)
    assert found.fetchall() == [(7,)]


def test_reading_in_all_its_forms_is_allowed(safe: duckdb.DuckDBPyConnection) -> None:
    for query in (
        "from main.profiles",
        "with a as (select 1 as x) select * from a",
        "describe main.leaderboard",
        "show tables",
        "explain select 1",
        "explain analyze select count(*) from main.steps",
        "explain (format json) select 1",
        "pivot main.sources on status using count(*) group by kind",
    ):
        assert len(fetch(run_query(safe, query))) > 0


def test_an_error_names_the_likely_column(warehouse: Warehouse) -> None:
    with pytest.raises(QueryError, match='"model"'):
        warehouse.sql("select modle from main.leaderboard")


def test_an_error_names_the_likely_table(warehouse: Warehouse) -> None:
    with pytest.raises(QueryError, match="leaderboard"):
        warehouse.sql("select * from main.leaderbord")


def test_an_error_of_the_data_is_the_querys_too(warehouse: Warehouse) -> None:
    with pytest.raises(QueryError, match="convert"):
        fetch(warehouse.sql("select cast(model as int) from main.leaderboard"))


def test_columns_may_have_the_same_name(warehouse: Warehouse) -> None:
    frame = fetch(warehouse.sql("select model, model from main.leaderboard"))

    assert frame.columns[0] == "model"
    assert frame.width == len(set(frame.columns)) == 2


def test_parameters_are_numbers_where_they_look_like_one() -> None:
    given = ["n=3", "x=0.5", "flag=true", "none=null", "text=a=b", 'quoted="q"']
    assert parse_parameters(given) == {
        "n": 3,
        "x": 0.5,
        "flag": True,
        "none": None,
        "text": "a=b",
        "quoted": '"q"',
    }


@pytest.mark.parametrize("text", ["novalue", "=3", "a b=1"])
def test_a_parameter_needs_a_name_and_a_value(text: str) -> None:
    with pytest.raises(QueryError, match="name=value"):
        parse_parameters([text])


def test_a_query_may_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text("select 1", encoding="utf-8")
    assert query_text(str(tmp_path / "q.sql")) == "select 1"
    with pytest.raises(QueryError, match="no such file"):
        query_text(str(tmp_path / "other.sql"))


def test_all_tables_and_views_are_listed_with_their_rows(warehouse: Warehouse) -> None:
    relations = {row["relation"]: row for row in warehouse.relations().to_dicts()}
    assert relations["leaderboard"]["kind"] == "view"
    assert relations["leaderboard"]["row_count"] == 27
    assert relations["steps"]["row_count"] == warehouse.table("steps").collect().height
    assert all(row["description"] for row in relations.values())
