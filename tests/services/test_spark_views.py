"""Every view of `sql/` on Spark, over a warehouse's Parquet: the same rows as in DuckDB."""

import math
import random
import shutil
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from pyspark.sql import SparkSession

from orchbench_analytics import open_warehouse
from orchbench_analytics.engines.spark import SparkEngine
from orchbench_analytics.engines.spark.views import ask, frame_of_spark, warehouse_session
from orchbench_analytics.errors import EngineError, QueryError
from orchbench_analytics.queries import macros, views
from orchbench_analytics.views.catalog import all_relations
from orchbench_analytics.warehouse import Warehouse

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
Row = dict[str, Any]
TOLERANCE = 1e-12


def rows_of_duckdb(warehouse: Warehouse, view: str) -> list[Row]:
    return in_order(view, warehouse.table(view).collect().to_dicts())


def in_order(view: str, rows: list[Row]) -> list[Row]:
    """Rows by the grain of their view; null comes before any value."""
    keys = views()[view].grain.split(", ")
    return sorted(rows, key=lambda row: [(row[key] is not None, row[key]) for key in keys])


def differences(ours: list[Row], theirs: list[Row]) -> list[tuple[str, Any, Any]]:
    """Columns in which rows differ, with both values; floats may differ by a hair."""
    assert [list(row) for row in ours] == [list(row) for row in theirs]
    return [
        (name, mine, other[name])
        for row, other in zip(ours, theirs, strict=True)
        for name, mine in row.items()
        if not is_same(mine, other[name])
    ]


def is_same(mine: Any, other: Any) -> bool:
    """Whether two values have the same type and are equal, or nearly so if they are floats."""
    if type(mine) is not type(other):
        return False
    if isinstance(mine, float):
        return math.isclose(mine, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(mine == other)


def telling_numbers() -> list[float]:
    """Numbers that tell roundings to four digits apart: ties, near ties, and any others."""
    chance = random.Random(16)
    ties = [(2 * k + 1) / 2**power for power in (5, 10, 15) for k in range(5_000)]
    near_ties = [(2 * k + 1) / 20_000 for k in range(10_000)]
    beside = [math.nextafter(x, side) for x in near_ties[:5_000] for side in (-1.0, 2.0)]
    shares = [chance.randrange(1_000) / chance.randrange(1, 1_000) for _ in range(10_000)]
    others = [chance.uniform(-1, 1) * 10.0 ** chance.randint(-9, 9) for _ in range(5_000)]
    return [*ties, *near_ties, *beside, *shares, *others, 0.0, -0.5, -0.03125]


def rounded_by_duckdb(numbers: list[float]) -> list[tuple[Any, ...]]:
    """Each number rounded, in units, and back from units."""
    frame = pl.DataFrame({"place": range(len(numbers)), "x": numbers})  # noqa: F841 (SQL names it)
    with duckdb.connect() as connection:
        for statements in macros():
            connection.execute(statements)
        query = (
            "select round_half_even(x, 4), cast(to_units(x) as varchar), from_units(to_units(x)) "
            "from frame order by place"
        )
        return connection.execute(query).fetchall()


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
    named = f"with counted as ({query}) select n from counted"

    assert counted == open_warehouse(demo).sql(query, parameters=wanted).rows()
    assert counted == ask(session, odd, manifest, named, parameters=wanted).rows()
    with pytest.raises(EngineError, match=r"takes .* for a pattern"):
        ask(session, pattern, manifest, query, parameters=wanted)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("drop view scenarios", "expected one query that reads"),
        ("select 1; select 2", "expected one query that reads"),
        ("select reflect('java.lang.System', 'exit', 1)", "reflect may not be used"),
        ("select * from parquet.`/etc/passwd`", "translated to Spark"),
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

    assert spark.leaderboard(profile="upstream").equals(local.leaderboard(profile="upstream"))
    assert spark.sql(query).equals(local.sql(query))
    asked = {"model": "perfect", "language": "EN", "profile": "upstream"}
    assert spark.results(**asked) == local.results(**asked)
    chosen = ["leaderboard", "score_costs", "sources"]
    local.export(tmp_path / "export", tables=chosen)
    assert spark.export(tmp_path / "export", tables=chosen).is_unchanged
