from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from statsmodels.stats.power import TTestPower

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.stats.planning import components, plan_sweep, plan_sweeps
from orchbench_analytics.stats.trend import trends
from orchbench_analytics.warehouse import Warehouse

Simulate = Callable[..., pl.DataFrame]


def found_variances(interaction: float, run: float | None, runs: float = 3) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "profile": ["spec"],
            "language": ["EN"],
            "metric": ["average_score"],
            "scenario_count": [40],
            "mean_run_count": [runs],
            "interaction_variance": [interaction],
            "run_variance": [run],
        },
        schema_overrides={"run_variance": pl.Float64},
    )


def test_components_are_those_of_the_analysis_of_variance() -> None:
    """Balanced cells: the expected mean squares of the textbook, from statsmodels' table."""
    anova = pytest.importorskip("statsmodels.stats.anova")
    formula = pytest.importorskip("statsmodels.formula.api")
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(70)
    shape = models, scenarios, runs = 5, 12, 3
    scores = (
        rng.normal(0, 0.1, (models, 1, 1))
        + rng.normal(0, 0.2, (1, scenarios, 1))
        + rng.normal(0, 0.15, (models, scenarios, 1))
        + rng.normal(0, 0.1, shape)
    )
    model, scenario, _ = (place.ravel().astype(str) for place in np.indices(shape))
    data = pandas.DataFrame({"y": scores.ravel(), "m": model, "s": scenario})
    squares = anova.anova_lm(formula.ols("y ~ C(m) * C(s)", data=data).fit())["mean_sq"]
    within = ((scores - scores.mean(axis=2, keepdims=True)) ** 2).sum(axis=2)
    found = components(scores.mean(axis=2), np.full(shape[:2], float(runs)), within)
    assert found.run == pytest.approx(squares["Residual"])
    both = squares["C(m):C(s)"]
    assert found.interaction == pytest.approx((both - squares["Residual"]) / runs)
    assert found.scenario == pytest.approx((squares["C(s)"] - both) / (runs * models))
    assert found.model == pytest.approx(max((squares["C(m)"] - both) / (runs * scenarios), 0))


def test_components_are_near_the_truth_with_unequal_runs() -> None:
    rng = np.random.default_rng(71)
    models, scenarios = 20, 200
    runs = rng.integers(1, 5, (models, scenarios))
    cell = rng.normal(0, 0.2, (1, scenarios)) + rng.normal(0, 0.15, (models, scenarios))
    scores = [[cell[m, s] + rng.normal(0, 0.1, runs[m, s]) for s in range(200)] for m in range(20)]
    means = np.array([[cell.mean() for cell in row] for row in scores])
    within = np.array([[((cell - cell.mean()) ** 2).sum() for cell in row] for row in scores])
    found = components(means, runs.astype(np.float64), within)
    assert found.scenario == pytest.approx(0.04, rel=0.3)
    assert found.interaction == pytest.approx(0.0225, rel=0.1)
    assert found.run == pytest.approx(0.01, rel=0.1)
    assert found.model == pytest.approx(0, abs=1e-3)


def test_needed_scenarios_are_those_of_statsmodels() -> None:
    plans = plan_sweeps(found_variances(0.02, 0.01), difference=0.03)
    for row in plans.iter_rows(named=True):
        deviation = np.sqrt(2 * (0.02 + 0.01 / row["run_count"]))
        wanted = TTestPower().solve_power(0.03 / deviation, alpha=0.05, power=0.8)
        assert row["needed_scenario_count"] == pytest.approx(wanted, abs=2)
    assert plans["needed_scenario_count"].is_sorted(descending=True)
    assert plans["needed_answer_count"].is_sorted()
    assert plans["detectable_difference"].is_sorted(descending=True)


def test_one_run_alone_cannot_be_weighed() -> None:
    plans = plan_sweeps(found_variances(0.02, None, runs=1))
    assert plans["run_count"].to_list() == [1]
    with pytest.raises(SelectionError, match="one point"):
        plan_sweeps(found_variances(0.02, 0.01), difference=1.0)


def test_a_sweep_is_planned_from_its_runs(warehouse: Warehouse) -> None:
    is_spec = pl.col("profile") == "spec"
    steps, plans = (
        warehouse.table(f"scored_{what}").filter(is_spec) for what in ("steps", "plans")
    )
    scores = warehouse.table("scenario_scores").filter(is_spec).collect()
    planned = plan_sweep(steps, plans, scores, difference=0.01)
    assert planned.variances["language"].to_list() == ["EN", "KO"]
    assert planned.variances["mean_run_count"].to_list() == pytest.approx([3, 3])
    assert planned.plans["run_count"].to_list() == [1, 2, 3, 5, 10]
    assert "with 3 runs of 6 scenarios per language" in planned.advice
    assert "are worth more" in planned.advice


def numbered(sweep: pl.DataFrame) -> pl.DataFrame:
    """Models with their place as a number."""
    place = pl.col("model").str.split("-").list.last().cast(pl.Int64)
    return sweep.select("model", "experiment").unique().with_columns(step=place)


def test_a_trend_is_seen_with_its_slope(simulate: Simulate) -> None:
    skills = [0.6, 0.9, 1.2, 1.5, 1.8]
    sweep = simulate(np.random.default_rng(72), sweeps=1, scenarios=40, skills=skills)
    found = trends(sweep, numbered(sweep), metrics=["Plan"]).row(0, named=True)
    means = sweep.group_by("model").agg(pl.col("plan_similarity").mean()).sort("model")
    assert found["slope"] == pytest.approx(np.polyfit(range(5), means["plan_similarity"], 1)[0])
    assert found["change"] == pytest.approx(4 * found["slope"])
    assert found["low"] < found["change"] < found["high"]
    assert found["verdict"] == "rising"
    turned = numbered(sweep).with_columns(step=-pl.col("step"))
    falling = trends(sweep, turned, metrics=["Plan"]).row(0, named=True)
    assert (falling["verdict"], falling["high"]) == ("falling", pytest.approx(-found["low"]))


def test_equal_models_rarely_show_a_trend(simulate: Simulate) -> None:
    rng = np.random.default_rng(73)
    shown = []
    for _ in range(100):
        sweep = simulate(rng, sweeps=1, scenarios=16, skills=[1.0] * 4)
        found = trends(sweep, numbered(sweep), metrics=["Average"])
        shown.append(found["verdict"][0] != "no trend shown")
    assert np.mean(shown) < 0.1


def test_models_that_scatter_rarely_show_a_trend(simulate: Simulate) -> None:
    """Six models whose skills differ for reasons of their own: over 200 scenarios, no trend."""
    rng = np.random.default_rng(75)
    shown = []
    for _ in range(100):
        skills = list(rng.normal(1.0, 0.25, 6))
        sweep = simulate(rng, sweeps=1, scenarios=100, skills=skills)
        found = trends(sweep, numbered(sweep), metrics=["Plan"])
        shown.append(found["verdict"][0] != "no trend shown")
        assert found["scatter"][0] > 0
    assert np.mean(shown) < 0.11


def test_a_trend_needs_numbers(simulate: Simulate) -> None:
    sweep = simulate(np.random.default_rng(74), sweeps=1, scenarios=8, skills=[1.0, 2.0])
    with pytest.raises(SelectionError, match="three different numbers"):
        trends(sweep, numbered(sweep))
    named = numbered(sweep).with_columns(pl.col("step").cast(pl.String))
    with pytest.raises(SelectionError, match="is not a number"):
        trends(sweep, named)
