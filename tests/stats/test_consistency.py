from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from scipy import stats
from statsmodels.regression.linear_model import OLS

from orchbench_analytics.schema import polars_schema
from orchbench_analytics.stats.consistency import (
    CRITERIA,
    clustered_rates,
    flips,
    model_spread,
    pass_rates,
    run_counts,
    run_noise,
    with_metrics,
)
from orchbench_analytics.stats.estimate import bounded_interval
from orchbench_analytics.tables import SCORED_PLANS, SCORED_STEPS
from orchbench_analytics.warehouse import Warehouse

SCENARIO = ["profile", "model", "experiment", "language", "scenario"]


def by_step(steps: pl.DataFrame) -> list[list[dict[str, object]]]:
    """The answers to each step, run by run."""
    grouped: dict[tuple[object, ...], list[dict[str, object]]] = {}
    for row in steps.iter_rows(named=True):
        grouped.setdefault((row["scenario"], row["step_id"]), []).append(row)
    return list(grouped.values())


@pytest.fixture(scope="module")
def steps(warehouse: Warehouse) -> pl.DataFrame:
    """One model's steps, of which some lack a run."""
    all_steps = warehouse.table("scored_steps").filter(
        pl.col("profile") == "spec",
        pl.col("model") == "over-cautious",
        pl.col("language") == "KO",
        pl.col("is_scored"),
    )
    is_lost = (pl.col("run") == "run #2") & (pl.col("step_id").hash(1) % 3 == 0)
    return all_steps.filter(~is_lost).collect()


def test_pass_rates_are_those_of_all_choices_of_k_runs(steps: pl.DataFrame) -> None:
    """Every k is about the steps that have all three runs."""
    found = pass_rates(steps)
    assert sorted(found["k"].unique()) == [1, 2, 3]
    for row in found.iter_rows(named=True):
        right = steps.select(CRITERIA[row["criterion"]].alias("right"))["right"]
        answered = by_step(steps.with_columns(right=right))
        whole = [answers for answers in answered if len(answers) == 3]
        choices = [
            list(combinations([answer["right"] for answer in answers], row["k"]))
            for answers in whole
        ]
        every = [np.mean([all(choice) for choice in step]) for step in choices]
        some = [np.mean([any(choice) for choice in step]) for step in choices]
        assert row["step_count"] == len(whole)
        assert row["left_out_step_count"] == len(answered) - len(whole) > 0
        assert row["pass_all_rate"] == pytest.approx(np.mean(every))
        assert row["pass_any_rate"] == pytest.approx(np.mean(some))
        assert row["pass_all_low"] <= row["pass_all_rate"] <= row["pass_all_high"]
    for _, curve in found.sort("k").group_by("criterion"):
        assert curve["pass_all_rate"].is_sorted(descending=True)
        assert curve["pass_any_rate"].is_sorted()


def test_k_ends_where_fewer_than_half_of_the_steps_have_as_many_runs(steps: pl.DataFrame) -> None:
    first = steps["step_id"][0]
    thin = steps.filter((pl.col("run") == "run #1") | (pl.col("step_id") == first))
    assert pass_rates(thin)["k"].unique().to_list() == [1]


def test_a_right_answer_needs_a_right_decision(warehouse: Warehouse) -> None:
    rates = pass_rates(warehouse.table("scored_steps"))
    wide = rates.pivot(on="criterion", index=[*SCENARIO[:4], "k"], values="pass_all_rate")
    assert wide.filter(pl.col("answer") > pl.col("decision") + 1e-12).is_empty()
    perfect = rates.filter(pl.col("model") == "perfect", pl.col("profile") != "upstream")
    assert perfect["pass_all_rate"].min() == 1
    silent = rates.filter(pl.col("model") == "silent", pl.col("profile") != "upstream")
    assert silent["pass_any_rate"].max() == 0


def test_flips_are_pairs_of_runs_that_differ(steps: pl.DataFrame) -> None:
    (found,) = flips(steps).iter_rows(named=True)
    pairs = [
        pair
        for answers in by_step(steps)
        for pair in combinations([answer["predicted"] for answer in answers], 2)
    ]
    repeated = [answers for answers in by_step(steps) if len(answers) > 1]
    unstable = [a for a in repeated if len({answer["predicted"] for answer in a}) > 1]
    assert found["run_pair_count"] == len(pairs)
    assert found["flipped_pair_count"] == sum(one != other for one, other in pairs)
    assert found["flip_rate"] == pytest.approx(np.mean([one != other for one, other in pairs]))
    assert (found["step_count"], found["unstable_step_count"]) == (len(repeated), len(unstable))


@pytest.mark.parametrize("ask", [flips, pass_rates])
@pytest.mark.parametrize("profile", ["spec", "upstream"])
def test_models_asked_about_in_turn_are_as_if_asked_about_at_once(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch, ask: Any, profile: str
) -> None:
    at_once = ask(warehouse.table("scored_steps").filter(profile=profile))
    monkeypatch.setattr("orchbench_analytics.warehouse._MODELS_AT_ONCE", 2)

    in_turn = warehouse.consistency(ask.__name__, profile=profile)

    assert_frame_equal(in_turn, at_once)


@pytest.mark.parametrize("profile", ["spec", "strict"])
def test_runs_make_up_their_scenario(
    warehouse: Warehouse, scenario_scores: pl.DataFrame, profile: str
) -> None:
    runs = run_counts(warehouse.table("scored_steps"), warehouse.table("scored_plans"))
    counts = ["rejection_label_count", "true_positive_reject_count", "false_negative_call_count"]
    means = ["name_f1", "key_f1", "value_f1", "plan_similarity"]
    summed = (
        runs.filter(pl.col("profile") == profile)
        .group_by(SCENARIO)
        .agg(pl.col(counts).sum(), pl.col(means).mean())
        .sort(SCENARIO)
    )
    wanted = scenario_scores.filter(pl.col("profile") == profile).sort(SCENARIO)
    for column in (*counts, *means):
        np.testing.assert_allclose(summed[column], wanted[column], atol=1e-12)


def test_run_noise_of_a_mean_is_that_within_scenarios(warehouse: Warehouse) -> None:
    tables = warehouse.table("scored_steps"), warehouse.table("scored_plans")
    noise = run_noise(*tables, metrics=["Plan"])
    of_scenario = (
        run_counts(*tables)
        .group_by(SCENARIO)
        .agg(variance=pl.col("plan_similarity").var(), runs=pl.col("plan_similarity").count())
    )
    wanted = of_scenario.group_by(SCENARIO[:4]).agg(
        wanted=(pl.col("variance") / pl.col("runs")).sum().sqrt() / pl.len()
    )
    both = noise.join(wanted, on=SCENARIO[:4])
    # Files with fewer runs weigh otherwise when one is left out: they agree to first order.
    np.testing.assert_allclose(both["noise_standard_error"], both["wanted"], rtol=0.02, atol=1e-12)
    equal = np.isclose(both["noise_standard_error"], both["wanted"], rtol=0, atol=1e-12)
    assert equal.mean() > 0.95
    ratio = (both["run_standard_deviation"] / both["noise_standard_error"]).drop_nans()
    assert ratio.max() == pytest.approx(np.sqrt(3))
    assert set(both["run_count"]) == {3}


def test_a_run_that_one_scenario_names_otherwise_does_not_move_the_mean(
    warehouse: Warehouse,
) -> None:
    tables = [warehouse.table(name).collect() for name in ("scored_steps", "scored_plans")]
    is_odd = (pl.col("scenario") == pl.col("scenario").min()) & (pl.col("run") == "run #3")
    renamed = [
        table.with_columns(run=pl.when(is_odd).then(pl.lit("run #7")).otherwise("run"))
        for table in tables
    ]
    before, after = (run_noise(*both, metrics=["Plan"]) for both in (tables, renamed))
    assert set(after["run_count"]) == {3}
    np.testing.assert_allclose(after["mean_value"], before["mean_value"], atol=1e-12)


def plans_of(scores: np.ndarray) -> pl.DataFrame:
    """Rows of `scored_plans` of one language, of scores by model, scenario and run."""
    model, scenario, run = (place.ravel() for place in np.indices(scores.shape))
    return pl.DataFrame(
        {
            "profile": "spec",
            "model": [f"m{m}" for m in model],
            "experiment": "default",
            "language": "EN",
            "scenario": [f"{s:03d}" for s in scenario],
            "run": [f"run #{r}" for r in run],
            "is_scored": True,
            "plan_similarity": scores.ravel(),
            "structure_similarity": scores.ravel(),
            "component_similarity": scores.ravel(),
        }
    )


def test_noise_is_near_the_truth_where_three_runs_are_not() -> None:
    """60 scenarios of 3 runs: the noise of the mean over all is known to a tenth or so."""
    rng = np.random.default_rng(41)
    scenarios, runs, deviation, models = 60, 3, 0.1, 40
    shape = (models, scenarios, runs)
    scores = rng.uniform(0.3, 0.7, (models, scenarios, 1)) + rng.normal(0, deviation, shape)
    plans = plans_of(scores)
    steps = pl.DataFrame(schema=polars_schema(SCORED_STEPS))
    noise = run_noise(steps, plans, metrics=["Plan"])
    ratio = noise["noise_standard_error"] / (deviation / np.sqrt(scenarios * runs))
    assert 0.8 < ratio.min() < ratio.max() < 1.25  # type: ignore[operator]
    counts = run_counts(steps, plans)
    of_runs = with_metrics(counts, ["workflow_similarity"], by=["model", "run"])
    sums = of_runs.group_by("model").agg(pl.col("value").std())["value"] / (
        deviation / np.sqrt(scenarios)
    )
    assert sums.min() < 0.5 < 1.5 < sums.max()  # type: ignore[operator]
    # The interval of the intraclass correlation holds the truth: 0.4² / 12 against 0.1².
    truth = (0.4**2 / 12) / (0.4**2 / 12 + deviation**2)
    held = noise.filter(pl.lit(truth).is_between("intraclass_low", "intraclass_high"))
    assert held.height >= 0.85 * models


@pytest.mark.parametrize(("mean", "scenarios"), [(0.5, 20), (0.9, 20), (0.9, 45), (0.97, 45)])
def test_intraclass_intervals_hold_the_truth_of_right_and_wrong(
    mean: float, scenarios: int
) -> None:
    """Chances of scenarios from Beta(mean x 2, (1 - mean) x 2): the correlation is 1 / 3."""
    rng = np.random.default_rng(44)
    chances = rng.beta(2 * mean, 2 * (1 - mean), (200, scenarios, 1))
    scores = rng.binomial(1, np.broadcast_to(chances, (200, scenarios, 3))).astype(np.float64)
    steps = pl.DataFrame(schema=polars_schema(SCORED_STEPS))
    noise = run_noise(steps, plans_of(scores), metrics=["Plan"]).drop_nulls("intraclass_low")
    held = noise.filter(pl.lit(1 / 3).is_between("intraclass_low", "intraclass_high"))
    assert held.height >= 0.93 * noise.height
    outside = (
        pl.col("intraclass_correlation").is_between("intraclass_low", "intraclass_high").not_()
    )
    assert noise.filter(outside).is_empty()


def test_intraclass_correlation_is_the_one_of_variance_analysis(warehouse: Warehouse) -> None:
    tables = warehouse.table("scored_steps"), warehouse.table("scored_plans")
    noise = run_noise(*tables, metrics=["Plan"])
    plans = run_counts(*tables)
    for row in noise.filter(pl.col("model").str.starts_with("graded")).iter_rows(named=True):
        mine = plans.filter(pl.col(name) == row[name] for name in SCENARIO[:4])
        groups = [group["plan_similarity"].to_list() for group in mine.partition_by("scenario")]
        f = stats.f_oneway(*groups).statistic
        assert row["intraclass_correlation"] == pytest.approx((f - 1) / (f + 2))
        assert row["intraclass_low"] <= row["intraclass_correlation"] <= row["intraclass_high"]
    steady = noise.filter(pl.col("model") == "perfect", pl.col("profile") == "spec")
    assert steady["intraclass_correlation"].is_null().all()


def test_noise_share_tells_chance_from_skill() -> None:
    rng = np.random.default_rng(40)
    models, runs, deviation = 4000, 3, 0.1

    def share(skill_deviation: float) -> float:
        scores = rng.normal(0.5, skill_deviation, size=(models, 1))
        scores = scores + rng.normal(0, deviation, size=(models, runs))
        noise = pl.DataFrame(
            {
                "profile": "spec",
                "language": "EN",
                "metric": "workflow_similarity",
                "mean_value": scores.mean(axis=1),
                "noise_standard_error": scores.std(axis=1, ddof=1) / np.sqrt(runs),
            }
        )
        return float(model_spread(noise)["noise_share"].item())

    expected = deviation**2 / runs
    assert share(0.0) == pytest.approx(1, abs=0.06)
    assert share(0.1) == pytest.approx(expected / (expected + 0.01), abs=0.03)


def test_rates_have_the_cluster_robust_interval() -> None:
    rng = np.random.default_rng(42)
    steps = rng.integers(1, 6, 30)
    right = rng.binomial(steps, rng.beta(2, 2, 30))
    rows = pl.DataFrame({"model": "m", "right": right, "steps": steps})
    (found,) = clustered_rates(rows, ["model"], {"pass": ("right", "steps")}).iter_rows(named=True)
    place = np.repeat(np.arange(30), steps)
    outcome = np.concatenate([np.arange(n) < r for n, r in zip(steps, right, strict=True)])
    model = OLS(outcome.astype(float), np.ones(len(outcome))).fit(
        cov_type="cluster", cov_kwds={"groups": place, "use_correction": False}
    )
    rate, error = model.params[0], model.bse[0] * np.sqrt(30 / 29)
    assert found["pass_rate"] == pytest.approx(rate)
    wanted = bounded_interval(*(np.array([x]) for x in (rate, error, 30.0)), level=0.95)
    assert found["pass_low"] == pytest.approx(wanted.low[0])
    assert found["pass_high"] == pytest.approx(wanted.high[0])


def test_no_rows_no_figures() -> None:
    steps = pl.DataFrame(schema=polars_schema(SCORED_STEPS))
    plans = pl.DataFrame(schema=polars_schema(SCORED_PLANS))
    assert pass_rates(steps).is_empty()
    assert flips(steps).is_empty()
    assert model_spread(run_noise(steps, plans)).is_empty()
