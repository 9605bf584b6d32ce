from __future__ import annotations

import polars as pl
import pytest

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import METRICS
from orchbench_analytics.stats.compare import compare_models
from orchbench_analytics.stats.drivers import drivers, step_drivers
from orchbench_analytics.warehouse import Warehouse

PAIR = ("graded-1", "over-cautious")


def difference(scenario_scores: pl.DataFrame, metric: str) -> float:
    found = compare_models(scenario_scores, *PAIR, metrics=[metric])
    return float(found.filter(pl.col("language") == "mean")["difference"].item())


@pytest.mark.parametrize("metric", METRICS)
def test_scenarios_add_up_to_the_difference(scenario_scores: pl.DataFrame, metric: str) -> None:
    rows = scenario_scores.filter(pl.col("profile") == "strict")
    found = drivers(rows, *PAIR, metric=metric)
    assert found["contribution"].sum() == pytest.approx(difference(rows, metric), abs=1e-9)
    assert found.height == 12
    sizes = found["contribution"].abs().to_list()
    assert sizes == sorted(sizes, reverse=True)


def test_a_scenario_of_a_mean_adds_its_own_difference(scenario_scores: pl.DataFrame) -> None:
    rows = scenario_scores.filter(pl.col("profile") == "spec")
    found = drivers(rows, *PAIR, metric="Plan")
    own = (found["candidate_value"] - found["baseline_value"]) / 12  # 6 scenarios, 2 languages
    assert found["contribution"].to_list() == pytest.approx(own.to_list())


@pytest.mark.parametrize("by", ["agent", "tool"])
@pytest.mark.parametrize("metric", ["FC", "name_f1", "call_rejection_f1", "reject_recall"])
def test_agents_and_tools_add_up_to_the_difference(
    warehouse: Warehouse, scenario_scores: pl.DataFrame, by: str, metric: str
) -> None:
    is_strict = pl.col("profile") == "strict"
    steps = warehouse.table("scored_steps").filter(is_strict)
    found = step_drivers(steps, *PAIR, by=by, metric=metric)  # type: ignore[arg-type]
    assert found.height > 3
    wanted = difference(scenario_scores.filter(is_strict), metric)
    assert found["contribution"].sum() == pytest.approx(wanted, abs=1e-9)


def test_who_answers_alike_carries_nothing(warehouse: Warehouse) -> None:
    steps = warehouse.table("scored_steps").filter(pl.col("profile") == "spec").collect()
    perfect = steps.filter(pl.col("model") == "perfect")
    spoilt = perfect["agent_id"].drop_nulls()[0]
    hit = (pl.col("agent_id") == spoilt) & pl.col("is_call_scored")
    worse = perfect.with_columns(
        pl.lit("worse").alias("model"),
        *(pl.when(hit).then(0.0).otherwise(name).alias(name) for name in ("name_f1", "key_f1")),
    )
    found = step_drivers(pl.concat([perfect, worse]), "perfect", "worse", metric="FC")
    carrying = found.filter(pl.col("contribution").abs() > 1e-12)
    assert carrying["driver"].to_list() == [spoilt]
    assert carrying["contribution"].item() < 0


def test_a_metric_that_jumps_from_nothing_still_adds_up(scenario_scores: pl.DataFrame) -> None:
    """The silent model's reject_f1 is 0 without any rejection: the first one decides it all."""
    rows = scenario_scores.filter(pl.col("profile") == "spec")
    found = drivers(rows, "silent", "perfect", metric="reject_f1")
    assert found["contribution"].sum() == pytest.approx(1)
    assert found["contribution"].max() < 0.5  # type: ignore[operator]


def test_plans_have_no_agents(warehouse: Warehouse) -> None:
    with pytest.raises(SelectionError, match="about plans"):
        step_drivers(warehouse.table("scored_steps"), *PAIR, metric="Average")
