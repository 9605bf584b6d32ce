"""Scoring's last step: `sql/scenario_scores.sql` over the rows that a task has scored."""

from __future__ import annotations

import duckdb
import polars as pl

from orchbench_analytics.profiles import Profile, rules_of
from orchbench_analytics.queries import macros, scenario_scores_query
from orchbench_analytics.schema import polars_schema
from orchbench_analytics.tables import SCENARIO_KEY, SCENARIO_SCORES


def sum_up(
    scenarios: pl.DataFrame,
    scored_steps: pl.DataFrame,
    scored_plans: pl.DataFrame,
    profile: Profile,
) -> pl.DataFrame:
    """A row of `scenario_scores` for each scenario file, from its steps and plans."""
    rules = {**rules_of(profile), "profile": profile.name}
    tables = {
        "profiles": pl.DataFrame([rules]),
        "scenarios": scenarios,
        "scored_steps": scored_steps,
        "scored_plans": scored_plans,
    }
    # One thread: other tasks of the engine have the other cores.
    with duckdb.connect(config={"threads": 1}) as connection:
        for statements in macros():
            connection.execute(statements)
        for name, rows in tables.items():
            connection.register(f"{name}_rows", rows.to_arrow())
            connection.execute(f"create view main.{name} as from {name}_rows")
        summed: pl.DataFrame = connection.sql(scenario_scores_query()).pl()
    types = polars_schema(SCENARIO_SCORES)
    return summed.select(pl.col(name).cast(dtype) for name, dtype in types.items()).sort(
        [column.name for column in SCENARIO_KEY]
    )
