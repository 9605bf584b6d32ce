"""Every view of `sql/` on Spark, over a warehouse's Parquet: the same rows as in DuckDB."""

import shutil
from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import SparkSession

from orchbench_analytics import open_warehouse
from orchbench_analytics.engines.spark import SparkEngine
from orchbench_analytics.errors import EngineError, QueryError
from orchbench_analytics.queries import views
from orchbench_analytics.views.catalog import all_relations
from orchbench_analytics.views.spark import ask, frame_of_spark, warehouse_session
from tests.services.engine_views import (
    differences,
    in_order,
    rounded_by_duckdb,
    rows_of_duckdb,
    telling_numbers,
)

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")


@pytest.fixture(scope="module")
def own(session: SparkSession, demo: Path) -> SparkSession:
    """A session with every table and view of the demo."""
    manifest = open_warehouse(demo).manifest()
    return warehouse_session(session, demo, manifest, names=all_relations())


@pytest.mark.parametrize("view", views())
def test_rows_of_the_demo_are_those_of_duckdb(own: SparkSession, demo: Path, view: str) -> None:
    ours = rows_of_duckdb(open_warehouse(demo), view)
    assert ours
    theirs = in_order(view, frame_of_spark(own.table(view)).to_dicts())
    assert differences(ours, theirs) == []


def test_rows_of_the_conformance_pack_are_those_of_duckdb(
    session: SparkSession, pack_warehouse: Path
) -> None:
    warehouse = open_warehouse(pack_warehouse)
    own = warehouse_session(session, pack_warehouse, warehouse.manifest(), names=all_relations())
    found = {
        view: differences(
            rows_of_duckdb(warehouse, view),
            in_order(view, frame_of_spark(own.table(view)).to_dicts()),
        )
        for view in views()
    }
    assert {view: rows for view, rows in found.items() if rows} == {}


def test_numbers_are_rounded_as_by_duckdb_and_python(own: SparkSession, tmp_path: Path) -> None:
    numbers = telling_numbers()
    file = tmp_path / "numbers.parquet"
    pl.DataFrame({"place": range(len(numbers)), "x": numbers}).write_parquet(file)
    own.read.parquet(f"file://{file}").createOrReplaceTempView("numbers")
    query = (
        "select round_half_even(x, 4), cast(to_units(x) as string), from_units(to_units(x)) "
        "from numbers order by place"
    )
    theirs = frame_of_spark(own.sql(query)).rows()
    assert len(numbers) >= 40_000
    assert theirs == rounded_by_duckdb(numbers)
    assert [row[0] for row in theirs] == [round(number, 4) for number in numbers]


def test_a_warehouse_below_an_odd_name_is_read_or_refused(
    session: SparkSession, demo: Path, tmp_path: Path
) -> None:
    odd, pattern = tmp_path / "a b%20'", tmp_path / "x[1]"
    shutil.copytree(demo, odd)
    shutil.copytree(demo, pattern)
    query = "select count(*) as n from main.steps where model = $model"
    wanted = {"model": "perfect"}
    manifest = open_warehouse(odd).manifest()

    counted = ask(session, odd, manifest, query, parameters=wanted).rows()

    assert counted == open_warehouse(demo).sql(query, parameters=wanted).fetchall()
    with pytest.raises(EngineError, match=r"takes .* for a pattern"):
        ask(session, pattern, manifest, query, parameters=wanted)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("drop view scenarios", "expected one query that reads"),
        ("select 1; select 2", "expected one query that reads"),
        ("select reflect('java.lang.System', 'exit', 1)", "reflect may not be used"),
        ("select * from parquet.`/etc/passwd`", "carried over to spark"),
        ('select * from parquet."/etc/passwd"', "(?i)not.found|cannot be found|unsupported"),
        ("select no_such_column from main.scenarios", "(?i)no_such_column"),
    ],
)
def test_what_is_not_a_reading_query_is_refused(
    session: SparkSession, demo: Path, query: str, said: str
) -> None:
    with pytest.raises(QueryError, match=said):
        ask(session, demo, open_warehouse(demo).manifest(), query)


def test_a_warehouse_on_spark_answers_as_a_local_one(
    session: SparkSession, demo: Path, tmp_path: Path
) -> None:
    local, spark = open_warehouse(demo), open_warehouse(demo, engine=SparkEngine(session))
    query = "select model, count(*) as n from main.scored_steps group by model order by model"

    assert spark.leaderboard("upstream").equals(local.leaderboard("upstream"))
    assert spark.sql(query).fetchall() == local.sql(query).fetchall()
    asked = {"model": "perfect", "language": "EN", "profile": "upstream"}
    assert spark.results(**asked) == local.results(**asked)
    chosen = ["leaderboard", "score_costs", "sources"]
    local.export(tmp_path / "export", relations=chosen)
    assert spark.export(tmp_path / "export", relations=chosen).is_unchanged
