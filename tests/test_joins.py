"""Joins as the dictionary describes them keep every row of the finer table, once."""

from pathlib import Path

import duckdb
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import SelectionError
from orchbench_analytics.outputs.dictionary import find_entry, join_columns
from orchbench_analytics.tables import TABLES
from orchbench_analytics.warehouse import Warehouse

# Each row of the first has exactly one row of the second.
FINER_AND_COARSER = (
    ("scored_arguments", "scored_steps"),
    ("judge_effects", "scored_steps"),
    ("step_tools", "scored_steps"),
    ("scored_steps", "steps"),
    ("plan_edits", "scored_plans"),
    ("plan_matches", "scored_plans"),
    ("scored_plans", "plans"),
    ("scored_steps", "scenario_scores"),
    ("scored_plans", "scenario_scores"),
    ("scenario_scores", "scenarios"),
    ("scenario_scores", "model_scores"),
    ("argument_scores", "model_scores"),
    ("model_scores", "leaderboard"),
    ("leaderboard", "model_tags"),
    ("leaderboard", "profiles"),
)


@pytest.fixture(scope="module")
def warehouse(demo: Path) -> Warehouse:
    return open_warehouse(demo / "warehouse")


@pytest.fixture(scope="module")
def connection(warehouse: Warehouse) -> duckdb.DuckDBPyConnection:
    return warehouse.connect()


@pytest.mark.parametrize(("finer", "coarser"), FINER_AND_COARSER)
def test_a_join_keeps_every_row_once(
    connection: duckdb.DuckDBPyConnection, finer: str, coarser: str
) -> None:
    columns = ", ".join(join_columns(find_entry(finer).table, find_entry(coarser).table))
    query = f"select count(*) from main.{finer} inner join main.{coarser} using ({columns})"
    (joined,) = connection.execute(query).fetchone() or ()
    (all_rows,) = connection.execute(f"select count(*) from main.{finer}").fetchone() or ()
    assert joined == all_rows > 0


def test_the_demo_has_steps_without_an_answer(connection: duckdb.DuckDBPyConnection) -> None:
    """Otherwise the test above would not see a row lost through a null key."""
    query = "select count(*) from main.scored_arguments where answer_position is null"
    assert (connection.execute(query).fetchone() or (0,))[0] > 0


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ("steps", "step_key"),
        ("plans", "plan_key"),
        ("scored_steps", "profile, step_key"),
        ("scored_plans", "profile, plan_key"),
        ("scored_arguments", "profile, step_key, argument_key"),
        ("plan_edits", "profile, plan_key, graph, edit_number"),
    ],
)
def test_a_key_is_unique(connection: duckdb.DuckDBPyConnection, table: str, key: str) -> None:
    query = f"select {key} from main.{table} group by {key} having count(*) > 1"
    assert connection.execute(query).fetchall() == []


def test_every_table_says_how_to_join_it() -> None:
    assert [name for name in TABLES if not find_entry(name).joins] == []


def test_a_profile_holds_for_the_whole_query(warehouse: Warehouse) -> None:
    query = "select count(*) as n, count(distinct profile) as profiles from main.step_arguments"
    whole, narrowed = warehouse.sql(query), warehouse.sql(query, profile="spec")
    assert narrowed["profiles"].item() == 1 < whole["profiles"].item()
    filtered = "select count(*) as n from main.step_arguments where profile = 'spec'"
    assert narrowed["n"].item() == warehouse.sql(filtered)["n"].item()
    assert warehouse.sql(query, profile="spec", timeout=60).equals(narrowed)


def test_a_profile_that_was_not_scored_is_an_error(warehouse: Warehouse) -> None:
    with pytest.raises(SelectionError, match="not scored under 'nobody'"):
        warehouse.sql("select 1", profile="nobody")
