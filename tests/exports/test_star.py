"""The star: it adds up, its keys hold and stay, and its formulas give the leaderboard."""

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import OrchbenchError, SelectionError
from orchbench_analytics.exports import star
from orchbench_analytics.exports.star import _rounded
from orchbench_analytics.metrics import HEADLINE, METRICS
from orchbench_analytics.queries import macros
from orchbench_analytics.warehouse import Warehouse
from tests.documents import runs_document, scenario_path, write
from tests.exports.formulas import leaderboard_query, model_query

SOURCES = {
    "fact_step": "scored_steps",
    "fact_argument": "scored_arguments",
    "fact_step_tool": "step_tools",
    "fact_plan": "scored_plans",
    "fact_plan_edit": "plan_edits",
    "fact_scenario": "scenario_scores",
    "text_step": "steps",
    "text_plan": "plans",
    "dim_profile": "profiles",
    "dim_model": "model_tags",
}


def build_star(demo: Warehouse, directory: Path) -> None:
    directory.mkdir()
    demo.export(directory / "star.duckdb", star=True)
    demo.export(directory / "keys.duckdb", star=True, keys=True)
    demo.export(directory / "star.sqlite", star=True)
    demo.export(directory / "star", star=True)


@pytest.fixture(scope="module")
def exported(make_once, demo: Warehouse) -> Path:
    return make_once("demo_star", lambda directory: build_star(demo, directory))


@pytest.fixture(scope="module")
def connection(exported: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(str(exported / "star.duckdb"), read_only=True) as opened:
        yield opened


def close(found: Sequence[Sequence[Any]], expected: Sequence[Sequence[Any]], keys: int) -> None:
    """The same keys, and figures that agree within 1e-12."""
    assert [tuple(row[:keys]) for row in found] == [tuple(row[:keys]) for row in expected]
    for got, wanted in zip(found, expected, strict=True):
        for a, b in zip(got[keys:], wanted[keys:], strict=True):
            assert a == b if b is None else a == pytest.approx(b, abs=1e-12)


def test_row_counts_are_those_of_the_sources(connection, demo: Warehouse) -> None:
    flat = demo.connect()
    for name, source in SOURCES.items():
        ((count,),) = connection.sql(f"select count(*) from {name}").fetchall()
        assert [(count,)] == flat.sql(f"select count(*) from {source}").fetchall(), name
        assert count > 0


def test_no_key_is_an_orphan_and_all_are_exact_in_a_double(connection) -> None:
    columns = connection.sql(
        "select table_name, column_name from duckdb_columns() where column_name like '%\\_sk' "
        "escape '\\' and not internal"
    ).fetchall()
    owners = {view.grain: view.name for view in star.star_views().values()}
    assert len(columns) > 40
    for table, column in columns:
        ((orphans, largest),) = connection.sql(
            f"select count(*) filter ({column} not in (select {column} from {owners[column]})),"
            f" max({column}) from {table}"
        ).fetchall()
        assert (orphans, largest < 2**53) == (0, True), (table, column)


def test_keys_and_references_are_declared(connection, exported: Path) -> None:
    query = (
        "select constraint_type, count(*) from duckdb_constraints() "
        "where constraint_type in ('PRIMARY KEY', 'FOREIGN KEY') group by all"
    )
    assert connection.sql(query).fetchall() == []
    with duckdb.connect(str(exported / "keys.duckdb"), read_only=True) as keyed:
        declared = dict(keyed.sql(query).fetchall())
    assert declared["PRIMARY KEY"] == len(star.star_views()) + 1
    assert declared["FOREIGN KEY"] > 25
    sizes = [(exported / name).stat().st_size for name in ("star.duckdb", "keys.duckdb")]
    assert sizes[0] < sizes[1] / 2
    opened = sqlite3.connect(exported / "star.sqlite")
    assert opened.execute("pragma foreign_key_check").fetchall() == []
    assert opened.execute("pragma foreign_key_list('fact_step')").fetchall() != []
    opened.close()


def test_every_table_and_column_is_described(connection) -> None:
    assert (
        connection.sql("from duckdb_columns() where comment is null and not internal").fetchall()
        == []
    )
    assert connection.sql("from duckdb_tables() where comment is null").fetchall() == []


def test_columns_have_plain_types(connection) -> None:
    types = connection.sql("select distinct data_type from duckdb_columns() where not internal")
    plain = {"VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN", "TIMESTAMP"}
    assert {name for (name,) in types.fetchall()} == plain


def test_calls_can_be_read(connection) -> None:
    ((text,),) = connection.sql(
        'select label_call_text from text_step where label_calls like \'[{"name":"findTrails"%\''
        " limit 1"
    ).fetchall()
    assert text.startswith('findTrails({"refinedQuery": ')


def check_formulas(warehouse: Warehouse, *engines: Any) -> None:
    """Every figure of the leaderboard and of the models is formed from the facts."""
    formulas = dict(engines[0].execute("select metric, formula from metrics").fetchall())
    flat = warehouse.connect()
    board = flat.sql(
        f"select profile, model, experiment, {', '.join(HEADLINE)} from leaderboard order by 1,2,3"
    ).fetchall()
    models = flat.sql(
        f"select profile, model, experiment, language, {', '.join(METRICS)} from model_scores"
        " order by 1, 2, 3, 4"
    ).fetchall()
    assert {row[0] for row in board} >= {"spec", "strict", "upstream"}
    for engine in engines:
        close(engine.execute(leaderboard_query(formulas)).fetchall(), board, 3)
        close(engine.execute(model_query(formulas)).fetchall(), models, 4)


def test_the_leaderboard_is_formed_from_facts_in_duckdb_and_sqlite(
    connection, exported: Path, demo: Warehouse
) -> None:
    opened = sqlite3.connect(exported / "star.sqlite")
    check_formulas(demo, connection, opened)
    opened.close()


@pytest.mark.parametrize("engine", [duckdb.connect, lambda: sqlite3.connect(":memory:")])
def test_formulas_round_ties_as_the_views_do(engine) -> None:
    """Exact ties, k/32, go to the even digit; what the profile does not round stays as it is."""
    opened, views = engine(), duckdb.connect()
    for statements in macros():
        views.execute(statements)
    for number in range(1, 32, 2):
        tie = number / 32
        ((wanted,),) = views.execute("select round_half_even(?, 4)", [tie]).fetchall()
        for scale, shift, expected in ((10_000.0, 2.0**52, wanted), (1.0, 0.0, tie)):
            values = {"x": tie, "score_scale": scale, "score_shift": shift}
            rows = ", ".join(f"cast({v} as double precision) as {k}" for k, v in values.items())
            found = opened.execute(f"select {_rounded('max(x)')} from (select {rows}) as asked")
            assert found.fetchall() == [(expected,)]
    opened.close()


def test_formulas_hold_on_the_conformance_pack(
    conformance_warehouse: Warehouse, tmp_path: Path
) -> None:
    tables = ["dim_model", "dim_profile", "dim_scenario", "fact_scenario", "metrics"]
    for target in ("star.duckdb", "star.sqlite"):
        conformance_warehouse.export(tmp_path / target, star=True, tables=tables)
    opened = sqlite3.connect(tmp_path / "star.sqlite")
    with duckdb.connect(str(tmp_path / "star.duckdb"), read_only=True) as star:
        check_formulas(conformance_warehouse, star, opened)
    opened.close()


def test_metrics_yaml_has_every_metric_with_its_formula(connection, exported: Path) -> None:
    content = yaml.safe_load((exported / "star" / "metrics.yaml").read_text(encoding="utf-8"))
    formulas = dict(connection.sql("select metric, formula from metrics").fetchall())
    assert {metric["name"]: metric["formula"] for metric in content["metrics"]} == formulas
    assert list(formulas) == list(METRICS)


def test_keys_stay_when_a_model_is_added(demo: Warehouse, tmp_path: Path) -> None:
    shutil.copytree(demo.path, tmp_path / "warehouse")
    warehouse = open_warehouse(tmp_path / "warehouse")
    keys = ["dim_model", "dim_scenario", "dim_run", "dim_agent"]
    target = tmp_path / "star.duckdb"
    warehouse.export(target, star=True, tables=keys)
    with duckdb.connect(str(target)) as opened:
        before = [set(opened.sql(f"from {name} select #1, #2").fetchall()) for name in keys]
    warehouse.ingest(write(scenario_path(tmp_path / "r", "another"), runs_document()), jobs=1)
    warehouse.export(target, star=True, tables=keys)
    with duckdb.connect(str(target)) as opened:
        after = [set(opened.sql(f"from {name} select #1, #2").fetchall()) for name in keys]
    assert all(old < new for old, new in zip(before[:2], after[:2], strict=True))
    assert all(old <= new for old, new in zip(before, after, strict=True))


def test_one_profile_makes_sums_sums(demo: Warehouse, tmp_path: Path) -> None:
    options = {"star": True, "tables": ["fact_step", "dim_profile"], "profile": "spec"}
    demo.export(tmp_path / "s.duckdb", **options)
    with duckdb.connect(str(tmp_path / "s.duckdb")) as opened:
        assert opened.sql("select profile from dim_profile").fetchall() == [("spec",)]
        ((count,),) = opened.sql("select count(*) from fact_step").fetchall()
    flat = demo.connect().sql("select count(*) from scored_steps where profile = 'spec'")
    assert [(count,)] == flat.fetchall()


def test_tags_are_columns_of_the_model(demo: Warehouse, tmp_path: Path) -> None:
    shutil.copytree(demo.path, tmp_path / "warehouse")
    warehouse = open_warehouse(tmp_path / "warehouse")
    (tmp_path / "tags.csv").write_text("model,Size\nperfect,7\n", encoding="utf-8")
    warehouse.tag(tmp_path / "tags.csv")
    warehouse.export(tmp_path / "s.sqlite", star=True, tables=["dim_model"])
    opened = sqlite3.connect(tmp_path / "s.sqlite")
    query = "select \"Size\" from dim_model where model = 'perfect'"
    assert opened.execute(query).fetchall() == [(7,)]
    opened.close()


def test_two_names_with_one_key_are_refused(demo: Warehouse) -> None:
    with duckdb.connect() as opened:
        opened.execute("create table dim_run as select 1 as run_sk from range(2)")
        with pytest.raises(OrchbenchError, match="two rows of dim_run have the same key"):
            star._require_keys(opened, star.star_views()["dim_run"])


def test_an_unknown_table_of_the_star_is_named(demo: Warehouse, tmp_path: Path) -> None:
    with pytest.raises(SelectionError, match="the star has no table named 'steps'"):
        demo.export(tmp_path / "out", star=True, tables=["steps"])
