from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import METRICS
from orchbench_analytics.stats.bootstrap import intervals
from orchbench_analytics.stats.runs import with_metrics

Simulate = Callable[..., pl.DataFrame]
PLAIN_MEANS = (
    "workflow_similarity",
    "function_call_f1",
    "name_f1",
    "key_f1",
    "value_f1",
    "structure_similarity",
    "component_similarity",
)


@pytest.mark.parametrize(("scenarios", "skill"), [(16, 1.0), (45, 2.0)])
def test_intervals_hold_the_truth_in_93_to_99_per_cent(
    simulate: Simulate, scenarios: int, skill: float
) -> None:
    rng = np.random.default_rng(20)
    world = simulate(rng, sweeps=1, scenarios=200_000, skills=[skill], languages=["EN"])
    truth = with_metrics(world, tuple(METRICS), by=["model"]).select("metric", truth="value")
    sweeps = simulate(rng, sweeps=1000, scenarios=scenarios, skills=[skill])

    found = intervals(sweeps, resamples=1000).join(truth, on="metric")

    coverage = found.group_by("metric", language=pl.col("language") == "mean").agg(
        pl.len(), share=pl.col("truth").is_between("low", "high").mean()
    )
    assert coverage["len"].sum() == 3 * 1000 * len(METRICS)
    assert coverage.filter(~pl.col("share").is_between(0.93, 0.99)).rows() == []


def test_bootstrap_and_cluster_robust_errors_agree_on_plain_means(simulate: Simulate) -> None:
    sweep = simulate(np.random.default_rng(21), sweeps=8, scenarios=30, skills=[1.0])
    found = intervals(sweep, metrics=PLAIN_MEANS, resamples=10_000)
    ratio = found["standard_error"] / found["cluster_standard_error"]
    assert 0.95 < ratio.min() < ratio.max() < 1.05  # type: ignore[operator]


def test_the_cluster_robust_error_of_a_mean_is_the_textbooks(scenario_scores: pl.DataFrame) -> None:
    rows = scenario_scores.filter(pl.col("profile") == "spec")
    found = intervals(rows, metrics=["Plan"], resamples=100)
    wanted = rows.group_by("model", "experiment", "language").agg(
        wanted=pl.col("plan_similarity").std() / pl.len().sqrt()
    )
    both = found.join(wanted, on=["model", "experiment", "language"])
    np.testing.assert_allclose(both["cluster_standard_error"], both["wanted"], atol=1e-12)


def test_same_seed_same_figures_in_any_order_of_rows(scenario_scores: pl.DataFrame) -> None:
    one = intervals(scenario_scores, resamples=200, seed=4)
    other = intervals(
        scenario_scores.sample(fraction=1, shuffle=True, seed=1), resamples=200, seed=4
    )
    assert one.equals(other)
    assert not one.equals(intervals(scenario_scores, resamples=200, seed=5))


def test_a_model_keeps_its_scenarios_to_itself(scenario_scores: pl.DataFrame) -> None:
    """A file that is missing for one model changes nothing for the others."""
    lost = (
        pl.struct("model", "language", "scenario")
        == scenario_scores.select(pl.struct("model", "language", "scenario")).to_series()[0]
    )
    whole = intervals(scenario_scores, resamples=200)
    part = intervals(scenario_scores.filter(~lost), resamples=200)
    model = scenario_scores["model"][0]
    others = pl.col("model") != model
    assert whole.filter(others).equals(part.filter(others))
    mine = part.filter(~others, pl.col("metric") == "average_score")
    assert mine["scenario_count"].min() == 5


def test_one_scenario_has_a_value_and_no_interval(scenario_scores: pl.DataFrame) -> None:
    only = scenario_scores["scenario"][0]
    found = intervals(
        scenario_scores.filter(pl.col("scenario") == only, pl.col("language") == "EN"),
        metrics=["Plan"],
        resamples=100,
    )
    assert found["value"].null_count() == 0
    for column in ("standard_error", "cluster_standard_error", "low", "high"):
        assert found[column].is_null().all()


def test_intervals_stay_within_0_and_1_and_hold_the_value(scenario_scores: pl.DataFrame) -> None:
    found = intervals(scenario_scores, resamples=300).drop_nulls("low")
    assert found.filter((pl.col("low") < 0) | (pl.col("high") > 1)).is_empty()
    within = pl.col("value").is_between(pl.col("low") - 1e-9, pl.col("high") + 1e-9)
    assert found.filter(~within).is_empty()
    perfect = found.filter(pl.col("model") == "perfect", pl.col("profile") == "spec")
    # Six scenarios of one language, twelve of the mean: all right is not proof of perfection.
    assert perfect["high"].min() == 1
    whole = perfect.filter(pl.col("metric") == "workflow_similarity").sort("language")
    wanted = [0.025 ** (1 / 6), 0.025 ** (1 / 6), 0.025 ** (1 / 12)]
    assert whole["low"].to_list() == pytest.approx(wanted)


@pytest.mark.parametrize("options", [{"resamples": 10}, {"level": 95}])
def test_senseless_options_are_refused(
    scenario_scores: pl.DataFrame, options: dict[str, float]
) -> None:
    with pytest.raises(SelectionError, match="choose"):
        intervals(scenario_scores, **options)  # type: ignore[arg-type]
