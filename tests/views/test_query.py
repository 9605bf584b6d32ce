"""Queries read the warehouse and reach nothing else."""

import re
from pathlib import Path

import duckdb
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.cli.sql import parse_parameters, query_text
from orchbench_analytics.errors import QueryError
from orchbench_analytics.views.catalog import Scope, all_relations, connect, needed_by
from orchbench_analytics.views.query import ask, connect_for_query, fetch, relations_in
from orchbench_analytics.warehouse import Warehouse


@pytest.fixture(scope="module")
def warehouse(demo: Path) -> Warehouse:
    return open_warehouse(demo / "warehouse")


@pytest.fixture(scope="module")
def safe(warehouse: Warehouse) -> duckdb.DuckDBPyConnection:
    return connect_for_query(warehouse.path, warehouse.manifest(), names=all_relations())


def test_a_query_returns_rows(warehouse: Warehouse) -> None:
    rows = warehouse.sql("select count(*) as n from main.leaderboard").rows()
    assert rows == [(8 * 3 + 3,)]  # one of the eight models has two experiments


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("from main.leaderboard", {"leaderboard"}),
        (
            "select * from STEPS as s join main.profiles as p on s.run = p.profile",
            {"steps", "profiles"},
        ),
        ("with one as (from main.tool_scores) from one", {"tool_scores"}),
        ("select (select max(model) from query_table('scenarios'))", {"scenarios"}),
        ("describe main.agent_scores", {"agent_scores"}),
        ("from main.steps join main.plans using (model) where model = $model", {"steps", "plans"}),
        ("pivot main.steps on model", {"steps"}),
        ("select 1", set()),
        ("from main.leaderbord", set()),
        ("show tables", all_relations()),
        ("from main.leaderboard, duckdb_views()", all_relations()),
        ("from INFORMATION_SCHEMA.columns, main.steps", all_relations()),
    ],
)
def test_only_what_a_query_names_is_made(query: str, named: set[str]) -> None:
    assert relations_in(query) == needed_by(*named)


def test_a_name_that_a_query_composes_is_found(warehouse: Warehouse) -> None:
    query = "select count(*) from query_table('scen' || 'arios')"
    assert warehouse.sql(query).rows()[0][0] > 0


def test_tables_and_views_are_listed_and_nothing_internal(warehouse: Warehouse) -> None:
    listed = warehouse.sql("show tables").rows()
    assert {name for (name,) in listed} == all_relations()
    internal = "select view_name from duckdb_views() where not internal"
    tables = "select table_name from duckdb_tables()"
    both = warehouse.sql(f"{internal} union all {tables}").rows()
    assert {name for (name,) in both} == all_relations()


def test_a_query_that_lists_columns_has_their_descriptions(warehouse: Warehouse) -> None:
    query = "select count(*), count(comment) from duckdb_columns() where schema_name = 'main'"
    ((columns, comments),) = warehouse.sql(f"{query} and not internal").rows()
    assert columns == comments > 400


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("from main.leaderbord", "no table or view named 'leaderbord'; did you mean leaderboard?"),
        ("from main.scored_step", "did you mean scored_steps"),
        ("from scored_step_rows", "no table or view named 'scored_step_rows'; did you"),
        ("leaderboard", "leaderboard is not a query; did you mean: from leaderboard?"),
        ("selct 1", 'syntax error at or near "selct"'),
        ("", "the query is empty"),
        ("select 1; select 2", "expected one query, got 2 statements"),
    ],
)
def test_a_wrong_query_is_answered_with_what_is_right(
    warehouse: Warehouse, query: str, said: str
) -> None:
    with pytest.raises(QueryError, match=re.escape(said)):
        warehouse.sql(query)


def test_a_scope_leaves_one_profile_and_the_models_asked_about(warehouse: Warehouse) -> None:
    manifest = warehouse.manifest()
    silent = [
        pair for pair in {(p.model, p.experiment) for p in manifest.parts} if "silent" in pair
    ]
    scope = Scope("strict", silent, ["EN"])
    whole = warehouse.table("model_scores").collect()
    with connect(warehouse.path, manifest, scope=scope) as connection:
        keys = "select distinct profile, model, language from main.{}"
        for name in ("scenario_scores", "scored_steps", "model_scores", "tool_scores"):
            assert connection.sql(keys.format(name)).fetchall() == [("strict", "silent", "EN")]
        assert connection.sql("select profile from main.profiles").fetchall() == [("strict",)]
        assert connection.sql("select model from main.model_tags").fetchall() == [("silent",)]
        rows = connection.sql("from main.model_scores").pl()
    assert rows.equals(whole.filter(profile="strict", model="silent", language="EN"))


def test_parameters_are_filled_in(warehouse: Warehouse) -> None:
    query = "select distinct model from main.steps where model = $model"
    assert warehouse.sql(query, parameters={"model": "silent"}).rows() == [("silent",)]


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
        fetch(ask(safe, text))
    assert outside.read_text(encoding="utf-8") == "secret\n1\n"
    assert sorted(tmp_path.iterdir()) == [outside]
    assert steps.read_bytes() == before


def test_unsafe_lifts_the_limits(warehouse: Warehouse, tmp_path: Path) -> None:
    outside = tmp_path / "numbers.csv"
    outside.write_text("n\n7\n", encoding="utf-8")
    found = warehouse.sql(f"select n from read_csv('{outside}')", unsafe=True)
    assert found.rows() == [(7,)]


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
        assert len(fetch(ask(safe, query))) > 0


def test_an_error_names_the_likely_column(warehouse: Warehouse) -> None:
    with pytest.raises(QueryError, match='"model"'):
        warehouse.sql("select modle from main.leaderboard")


def test_an_error_of_the_data_is_the_querys_too(warehouse: Warehouse) -> None:
    with pytest.raises(QueryError, match="convert"):
        warehouse.sql("select cast(model as int) from main.leaderboard")


def test_columns_may_have_the_same_name(warehouse: Warehouse) -> None:
    frame = warehouse.sql("select model, model from main.leaderboard")

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
    relations = {row["relation"]: row for row in warehouse.tables().to_dicts()}
    assert relations["leaderboard"]["kind"] == "view"
    assert relations["leaderboard"]["row_count"] == 27
    assert relations["steps"]["row_count"] == warehouse.table("steps").collect().height
    assert all(row["description"] for row in relations.values())
