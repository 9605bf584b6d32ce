from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from statsmodels.regression.linear_model import OLS

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.stats.ranks import competition_ranks, rank_intervals, tiers, two_way_fit

Simulate = Callable[..., pl.DataFrame]


def test_ranks_share_ties_and_put_the_undefined_last() -> None:
    scores = np.array([0.5, 0.9, np.nan, 0.9 + 1e-15, 0.1])
    assert competition_ranks(scores).tolist() == [3, 1, 5, 1, 4]


def test_a_tier_begins_where_a_model_is_surely_worse_than_the_tiers_best() -> None:
    score = np.array([0.2, 0.9, 0.8, 0.5])
    is_better = np.zeros((4, 4), dtype=np.bool_)
    is_better[1, [0, 3]] = True
    assert tiers(score, is_better).tolist() == [2, 1, 1, 2]


def test_rank_sets_hold_the_rank(scenario_scores: pl.DataFrame) -> None:
    found = rank_intervals(scenario_scores)
    assert found.filter(~pl.col("rank_number").is_between("rank_low", "rank_high")).is_empty()
    spec = found.filter(pl.col("profile") == "spec")
    assert spec["model"][0] == "perfect"
    assert spec["model"][-1] == "silent"
    assert spec["rank_number"].is_sorted()
    assert spec["tier_number"].is_sorted()
    assert set(spec["coverage"]) == {1.0}
    np.testing.assert_allclose(spec["expected_score"], spec["average_score"], atol=1e-9)


@pytest.mark.parametrize(("models", "sweeps"), [(10, 100), (50, 30)])
@pytest.mark.long
def test_rank_sets_of_nearly_equal_models_hold_together(
    simulate: Simulate, models: int, sweeps: int
) -> None:
    """Of nearly equal models all true ranks are held at once, in at least 95 % of sweeps."""
    skills = list(np.linspace(1.0, 1.1, models))
    rng = np.random.default_rng(50)
    joint, best = [], []
    for seed in range(sweeps):
        sweep = simulate(rng, sweeps=1, scenarios=24, skills=skills)
        place = pl.col("model").str.split("-").list.last().cast(pl.Int64)
        found = rank_intervals(sweep, seed=seed).sort(place)
        truth = np.arange(models, 0, -1)
        held = (found["rank_low"].to_numpy() <= truth) & (truth <= found["rank_high"].to_numpy())
        joint.append(held.all())
        best.append(held[-1])
    assert np.mean(joint) > 0.92
    assert np.mean(best) > 0.95


def test_models_far_apart_have_a_rank_each(simulate: Simulate) -> None:
    sweep = simulate(np.random.default_rng(51), sweeps=1, scenarios=60, skills=[-1.0, 1.0, 3.0])
    found = rank_intervals(sweep)
    assert found["rank_low"].to_list() == found["rank_high"].to_list() == [1, 2, 3]
    assert found["tier_number"].to_list() == [1, 2, 3]


def test_twins_share_rank_and_tier(simulate: Simulate) -> None:
    sweep = simulate(np.random.default_rng(22), sweeps=1, scenarios=40, skills=[1.0, 3.0])
    twins = pl.concat([sweep, sweep.with_columns(model=pl.col("model") + "-twin")])
    found = rank_intervals(twins)
    assert found["rank_number"].to_list() == [1, 1, 3, 3]
    assert found["tier_number"].to_list() == [1, 1, 2, 2]
    assert found["rank_high"].to_list() == [2, 2, 4, 4]


def test_no_spread_is_not_certainty(simulate: Simulate) -> None:
    """Two flat models, always 0.05 apart: five scenarios do not tell which is better."""
    sweep = simulate(np.random.default_rng(23), sweeps=1, scenarios=5, skills=[1.0, 1.0])
    flat = sweep.with_columns(
        pl.when(pl.col("model").str.ends_with("-1")).then(0.9).otherwise(0.85).alias(name)
        for name in ("name_f1", "key_f1", "value_f1", "plan_similarity")
    ).with_columns(pl.col("^.*_count$") * 0)
    found = rank_intervals(flat)
    assert found["rank_low"].to_list() == [1, 1]
    assert found["rank_high"].to_list() == [2, 2]
    assert set(found["tier_number"]) == {1}


def test_order_of_rows_and_seed(scenario_scores: pl.DataFrame) -> None:
    one = rank_intervals(scenario_scores, seed=4)
    shuffled = scenario_scores.sample(fraction=1, shuffle=True, seed=1)
    assert one.equals(rank_intervals(shuffled, seed=4))


def easiest_half(sweep: pl.DataFrame, model: str) -> pl.DataFrame:
    """The sweep, of which a model has the easier half of scenarios alone."""
    ease = sweep.group_by("language", "scenario").agg(ease=pl.col("plan_similarity").mean())
    rows = sweep.join(ease, on=["language", "scenario"])
    is_hard = pl.col("ease") < pl.col("ease").median().over("language")
    return rows.filter((pl.col("model") != model) | ~is_hard).drop("ease")


def test_a_model_with_the_easy_half_has_no_rank_and_a_fair_estimate(simulate: Simulate) -> None:
    skills = [0.6, 0.8, 1.0, 1.2, 1.4, 1.6]
    sweep = simulate(np.random.default_rng(52), sweeps=1, scenarios=60, skills=skills)
    whole = rank_intervals(sweep).filter(pl.col("model") == "m0000-0").row(0, named=True)
    found = rank_intervals(easiest_half(sweep, "m0000-0"))
    half = found.row(-1, named=True)
    assert half["model"] == "m0000-0"
    assert half["rank_number"] is half["rank_low"] is half["tier_number"] is None
    assert half["unranked_reason"] == "60 of 120 scenarios missing"
    assert half["coverage"] == 0.5
    assert half["expected_low"] < whole["average_score"] < half["expected_high"]
    assert half["average_score"] > whole["average_score"] + 0.08
    assert half["expected_score"] == pytest.approx(whole["average_score"], abs=0.03)
    assert found["rank_number"].to_list()[:-1] == [1, 2, 3, 4, 5]
    assert found["rank_high"].drop_nulls().max() == 5

    over_common = rank_intervals(easiest_half(sweep, "m0000-0"), min_coverage=0.5)
    assert over_common["rank_number"].null_count() == 0
    assert over_common["model"][-1] == "m0000-0"
    common = easiest_half(sweep, "m0000-0").filter(pl.col("model") == "m0000-0")
    easy = sweep.join(common.select("language", "scenario"), on=["language", "scenario"])
    wanted = rank_intervals(easy)
    np.testing.assert_allclose(over_common["average_score"], wanted["average_score"])


def test_a_missing_language_costs_the_rank(scenario_scores: pl.DataFrame) -> None:
    lost = (pl.col("model") == "perfect") & (pl.col("language") == "KO")
    found = rank_intervals(scenario_scores.filter(~lost))
    mine = found.filter(pl.col("model") == "perfect", pl.col("profile") == "spec").row(
        0, named=True
    )
    assert mine["rank_number"] is None
    assert mine["unranked_reason"] == "6 of 12 scenarios missing, all of KO"
    assert 0.8 < mine["expected_score"] <= 1
    assert mine["expected_low"] < mine["expected_score"] <= mine["expected_high"]


def test_a_model_without_any_score_has_no_rank(scenario_scores: pl.DataFrame) -> None:
    spec = scenario_scores.filter(pl.col("profile") == "spec")
    is_silent = pl.col("model") == "silent"
    scores = ("name_f1", "key_f1", "value_f1", "plan_similarity")
    counts = [name for name in spec.columns if name.endswith(("_reject_count", "_call_count"))]
    void = spec.with_columns(
        *(pl.when(~is_silent).then(name).alias(name) for name in scores),
        *(
            pl.when(is_silent).then(0).otherwise(name).alias(name)
            for name in ("rejection_label_count", *counts)
        ),
    )
    found = rank_intervals(void).row(-1, named=True)
    assert found["model"] == "silent"
    assert found["rank_number"] is found["average_score"] is None
    assert found["unranked_reason"] == "no score"


def test_refused_files_are_shown(scenario_scores: pl.DataFrame) -> None:
    experiment = scenario_scores["experiment"][0]
    refused = pl.DataFrame(
        {"model": ["silent"], "experiment": [experiment], "refused_file_count": [3]}
    )
    found = rank_intervals(scenario_scores, refused_files=refused)
    counted = dict(found.select("model", "refused_file_count").iter_rows())
    assert counted["silent"] == 3
    assert counted["perfect"] == 0


def test_a_senseless_coverage_is_refused(scenario_scores: pl.DataFrame) -> None:
    with pytest.raises(SelectionError, match="min_coverage is 90"):
        rank_intervals(scenario_scores, min_coverage=90)


def test_an_expected_score_stays_within_1(simulate: Simulate) -> None:
    """Strong models without the easy scenarios, for which a plain fit says more than 1."""
    rng = np.random.default_rng(54)
    for _ in range(20):
        sweep = simulate(rng, sweeps=1, scenarios=30, skills=[4.0, 0.0, 0.5, 1.0])
        ease = sweep.group_by("language", "scenario").agg(ease=pl.col("plan_similarity").mean())
        rows = sweep.join(ease, on=["language", "scenario"])
        is_easy = pl.col("ease") > pl.col("ease").quantile(0.3).over("language")
        thinned = rows.filter((pl.col("model") != "m0000-0") | ~is_easy).drop("ease")
        found = rank_intervals(thinned)
        ends = found.select("expected_low", "expected_score", "expected_high")
        assert ends.filter(~pl.all_horizontal(pl.all().is_between(0, 1))).is_empty()


def test_the_two_way_fit_is_that_of_statsmodels() -> None:
    rng = np.random.default_rng(53)
    values = rng.normal(size=(6, 9)) + np.arange(6)[:, None]
    present = rng.random((6, 9)) < 0.7
    row, column = (place.ravel() for place in np.indices(values.shape))
    design = np.hstack([np.eye(6)[row], np.eye(9)[column][:, 1:]])
    is_there = present.ravel()
    model = OLS(values.ravel()[is_there], design[is_there]).fit()
    fitted = two_way_fit(np.where(present, values, 99.0), present)
    np.testing.assert_allclose(fitted.ravel(), model.predict(design), atol=1e-8)
