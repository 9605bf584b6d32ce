from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import METRICS
from orchbench_analytics.stats.compare import compare, compare_pairs, compare_with, holm
from orchbench_analytics.stats.counts import count_by_scenario
from orchbench_analytics.stats.evaluate import evaluate
from orchbench_analytics.stats.runs import with_metrics

Simulate = Callable[..., pl.DataFrame]
SWEEPS = 1000
PAIRS = [(f"m{sweep:04d}-0", f"m{sweep:04d}-1") for sweep in range(SWEEPS)]
COLUMNS = ("language", "metric")


@pytest.mark.parametrize(
    ("metric", "scenarios"), [("average_score", 24), ("call_f1", 12), ("Plan", 8)]
)
def test_p_values_are_uniform_where_nothing_differs(
    simulate: Simulate, metric: str, scenarios: int
) -> None:
    rng = np.random.default_rng(30)
    sweeps = simulate(rng, sweeps=SWEEPS, scenarios=scenarios, skills=[1.0, 1.0])

    found = compare_pairs(sweeps, PAIRS, metric=metric, resamples=1000)

    p_values = found["p_value"].to_numpy()
    assert stats.kstest(p_values, "uniform").pvalue > 0.01
    for alpha in (0.01, 0.05, 0.2):
        expected = alpha * SWEEPS
        assert abs((p_values <= alpha).sum() - expected) < 3 * np.sqrt(expected)
    assert 0.93 < (found["low"] * found["high"] < 0).mean() < 0.98  # type: ignore[operator]


def test_intervals_of_differences_hold_the_truth_in_93_to_97_per_cent(simulate: Simulate) -> None:
    rng = np.random.default_rng(31)
    skills = [1.5, 2.0]
    world = simulate(rng, sweeps=1, scenarios=200_000, skills=skills, languages=["EN"])
    values = with_metrics(world, ("average_score", "reject_f1"), by=["model"])
    truth = dict(
        values.sort("model").group_by("metric").agg(pl.col("value").diff().last()).iter_rows()
    )
    sweeps = simulate(rng, sweeps=SWEEPS, scenarios=16, skills=skills)
    for metric, difference in truth.items():
        found = compare_pairs(sweeps, PAIRS, metric=metric, resamples=1000)
        share = ((found["low"] <= difference) & (found["high"] >= difference)).mean()
        assert 0.93 < share < 0.97  # type: ignore[operator]


def test_power_is_as_predicted(simulate: Simulate) -> None:
    """At the smallest detectable difference, four of five sweeps find it."""
    rng = np.random.default_rng(32)
    scenarios, deviation = 20, 0.08
    sweeps = simulate(rng, sweeps=SWEEPS, scenarios=scenarios, skills=[1.0, 1.0])
    degrees = 2 * scenarios - 2
    error = deviation / np.sqrt(2 * scenarios)
    shift = (stats.t.ppf(0.975, degrees) + stats.t.ppf(0.8, degrees)) * error
    drawn = pl.Series(rng.normal(0, deviation, size=sweeps.height // 2))
    ordered = sweeps.sort("model", "language", "scenario")
    is_candidate = ordered["model"].str.ends_with("-1")
    baseline = ordered.filter(~is_candidate).with_columns(plan_similarity=pl.lit(0.5))
    candidate = ordered.filter(is_candidate).with_columns(plan_similarity=0.5 + shift + drawn)

    both = pl.concat([baseline, candidate])
    found = compare_pairs(both, PAIRS, metric="Plan", resamples=1000)

    power = (found["p_value"] <= 0.05).mean()
    assert 0.77 < power < 0.83  # type: ignore[operator]
    alone = pl.concat(
        compare_pairs(
            both.filter(pl.col("model").is_in(pair)), [pair], metric="Plan", resamples=1000
        )
        for pair in PAIRS[:25]
    )
    assert alone["detectable_difference"].mean() == pytest.approx(shift, rel=0.06)
    # A verdict among a thousand takes more than a verdict alone.
    assert found["detectable_difference"].min() > shift  # type: ignore[operator]
    assert found["effect_size"].mean() == pytest.approx(shift / deviation, rel=0.05)


@pytest.mark.parametrize("metric", ["workflow_similarity", "reject_f1", "average_score"])
def test_p_agrees_with_scipy_over_all_swaps(simulate: Simulate, metric: str) -> None:
    sweep = simulate(np.random.default_rng(33), sweeps=1, scenarios=5, skills=[1.0, 1.4])
    (counts,) = count_by_scenario(sweep, [metric])
    # Scipy swaps numbers within pairs: give it the numbers of the records.
    records = {
        part: np.concatenate([language.parts[part] for language in counts.languages], axis=1)
        for part in counts.languages[0].parts
    }
    flat = {part: values.ravel() for part, values in records.items()}

    def statistic(x: np.ndarray, y: np.ndarray) -> float:
        sides = []
        for side in (x, y):
            halves = [side[:5].astype(int), side[5:].astype(int)]
            sums = {p: np.array([v[half].sum() for half in halves]) for p, v in flat.items()}
            sides.append(np.nan_to_num(evaluate([metric], sums)[metric]).mean())
        return float(sides[1] - sides[0])

    theirs = stats.permutation_test(
        (np.arange(10), np.arange(10, 20)),
        statistic,
        permutation_type="samples",
        n_resamples=np.inf,
    )
    ours = compare(sweep, *PAIRS[0], metrics=[metric], resamples=2000)
    mean = ours.filter(pl.col("language") == "mean")
    assert mean["difference"].item() == pytest.approx(theirs.statistic)
    assert mean["p_value"].item() == pytest.approx(theirs.pvalue)

    sampled = compare(sweep, *PAIRS[0], metrics=[metric], resamples=1000)
    p_value = sampled.filter(pl.col("language") == "mean")["p_value"].item()
    assert abs(p_value - theirs.pvalue) < 0.05  # 2^10 patterns do not fit: drawn at random


def test_corrections_agree_with_statsmodels() -> None:
    rng = np.random.default_rng(34)
    for size in (1, 2, 15, 300):
        p_values = rng.uniform(size=size) ** 3
        p_values[-1] = p_values[0]
        theirs = multipletests(p_values, method="holm")[1]
        np.testing.assert_allclose(holm(p_values), theirs)
    with_gap = np.array([0.01, np.nan, 0.04])
    np.testing.assert_allclose(holm(with_gap), [0.02, np.nan, 0.04])
    assert np.isnan(holm(np.array([np.nan]))).all()


def test_turning_a_comparison_round_turns_its_sign(scenario_scores: pl.DataFrame) -> None:
    rows = scenario_scores.filter(pl.col("profile") == "spec")
    one = compare(rows, "graded-1", "over-cautious", metrics=METRICS, resamples=500)
    other = compare(rows, "over-cautious", "graded-1", metrics=METRICS, resamples=500)
    for column in ("difference", "effect_size"):
        np.testing.assert_allclose(one[column], -other[column], atol=1e-12)
    np.testing.assert_allclose(one["p_value"], other["p_value"], atol=1e-12)
    np.testing.assert_allclose(one["low"], -other["high"], atol=1e-12)
    both = one["candidate_value"] - one["baseline_value"]
    np.testing.assert_allclose(both, one["difference"], atol=1e-12)


def test_the_difference_is_candidate_minus_baseline(scenario_scores: pl.DataFrame) -> None:
    rows = scenario_scores.filter(pl.col("profile") == "spec")
    found = compare(rows, "silent", "perfect")
    mean = found.filter(pl.col("language") == "mean")
    assert mean["difference"].to_list() == pytest.approx([1.0] * 4)
    assert set(mean["verdict"]) == {"better"}
    assert mean["scenario_count"].to_list() == [12] * 4
    worse = compare(rows, "perfect", "silent").filter(pl.col("language") == "mean")
    assert set(worse["verdict"]) == {"worse"}
    # Six scenarios of one language allow 2 / 2^6, and four metrics are tested.
    single = found.filter(pl.col("language") == "EN")
    assert set(single["verdict"]) == {"too little data"}
    assert single["p_value"].to_list() == [2 / 2**6] * 4


def test_equal_answers_show_no_difference(scenario_scores: pl.DataFrame) -> None:
    rows = scenario_scores.filter(pl.col("profile") == "spec", pl.col("model") == "graded-1")
    twin = rows.with_columns(model=pl.lit("twin"))
    found = compare(pl.concat([rows, twin]), "graded-1", "twin").filter(
        pl.col("language") == "mean"
    )
    assert found["p_value"].to_list() == [1.0] * 4
    assert set(found["verdict"]) == {"no difference shown"}
    assert found["effect_size"].is_null().all()


def test_only_common_scenarios_count(scenario_scores: pl.DataFrame) -> None:
    rows = scenario_scores.filter(pl.col("profile") == "spec")
    lost = (pl.col("model") == "silent") & (pl.col("language") == "EN")
    first, second = rows.filter(lost)["scenario"].sort().to_list()[:2]
    thinned = rows.filter(
        ~(lost & (pl.col("scenario") == first)),
        ~((pl.col("model") == "graded-1") & (pl.col("scenario") == second)),
    )
    found = compare(thinned, "graded-1", "silent", metrics=["Plan"], resamples=500)
    common = compare(
        rows.filter(~pl.col("scenario").is_in([first, second]) | (pl.col("language") != "EN")),
        "graded-1",
        "silent",
        metrics=["Plan"],
        resamples=500,
    )
    english = pl.col("language") == "EN"
    assert found.filter(english)["scenario_count"].item() == 4
    assert found.filter(english).equals(common.filter(english))
    pooled = compare_pairs(thinned, [("graded-1", "silent")], metric="Plan")
    exact = found.filter(pl.col("language") == "mean")
    assert pooled["difference"].item() == pytest.approx(exact["difference"].item())
    assert pooled["scenario_count"].item() == exact["scenario_count"].item()
    assert pooled["standard_error"].item() == pytest.approx(
        exact["standard_error"].item(), rel=0.15
    )


def test_all_pairs_are_the_pairs_one_by_one(scenario_scores: pl.DataFrame) -> None:
    rows = scenario_scores.filter(pl.col("profile") == "strict")
    found = compare_pairs(rows, metric="FC", resamples=500)
    contenders = rows.select("model", "experiment").n_unique()
    assert found.height == contenders * (contenders - 1) // 2
    row = found.row(5, named=True)
    single = compare(
        rows,
        (row["baseline_model"], row["baseline_experiment"]),
        (row["candidate_model"], row["candidate_experiment"]),
        metrics=["FC"],
        resamples=500,
    ).row(-1, named=True)
    for column in ("difference", "standard_error", "low", "high", "p_value"):
        assert row[column] == pytest.approx(single[column], abs=1e-12)
    assert (found["p_adjusted"] >= found["p_value"]).all()
    assert (found["low_adjusted"] <= found["low"] + 1e-12).all()
    holm_adjusted = multipletests(found["p_value"].to_numpy(), method="holm")[1]
    assert (found["p_adjusted"].to_numpy() <= holm_adjusted + 1e-9).mean() > 0.9


def unequal_runs(sweeps: pl.DataFrame, rng: np.random.Generator, runs: int) -> pl.DataFrame:
    """The baselines' decisions as of many runs, each step being decided anew in each."""
    is_baseline = sweeps["model"].str.ends_with("-0")
    few, many = sweeps.filter(~is_baseline), sweeps.filter(is_baseline)
    right, wrong = many["true_positive_call_count"], many["false_negative_call_count"]
    total = (right + wrong).to_numpy()
    drawn = rng.binomial(runs * total, np.clip(right.to_numpy() / total, 0.02, 0.98))
    many = many.with_columns(
        true_positive_call_count=pl.Series(drawn),
        false_negative_call_count=pl.Series(runs * total - drawn),
        false_positive_call_count=pl.col("false_positive_call_count") * runs,
        run_count=pl.lit(runs),
    )
    return pl.concat([many, few.with_columns(run_count=pl.lit(1))], how="diagonal_relaxed")


def test_unequal_runs_do_not_move_p(simulate: Simulate) -> None:
    """Five runs that say five times the same as one are no evidence of a difference."""
    sweep = simulate(np.random.default_rng(36), sweeps=1, scenarios=16, skills=[1.0, 1.3])
    counts = [name for name in sweep.columns if name.endswith("_count")]
    is_baseline = pl.col("model").str.ends_with("-0")
    factor = pl.when(is_baseline).then(5).otherwise(1)
    repeated = sweep.with_columns(pl.col(counts) * factor, run_count=factor)
    once = sweep.with_columns(run_count=pl.lit(1))
    for metric in ("call_f1", "average_score"):
        one = compare(once, *PAIRS[0], metrics=[metric], resamples=500)
        five = compare(repeated, *PAIRS[0], metrics=[metric], resamples=500)
        assert five["p_value"].to_list() == pytest.approx(one["p_value"].to_list())


def test_with_unequal_runs_errors_are_as_rare_as_said(simulate: Simulate) -> None:
    rng = np.random.default_rng(37)
    equal = simulate(rng, sweeps=300, scenarios=20, skills=[1.0, 1.0], languages=["EN"])
    sweeps = unequal_runs(equal, rng, 5)
    pairs = PAIRS[:300]
    found = compare_pairs(sweeps, pairs, metric="call_f1", resamples=500)
    assert 0.015 < (found["p_value"] <= 0.05).mean() < 0.09  # type: ignore[operator]
    swapped = [
        compare(sweeps, *pair, metrics=["call_f1"], resamples=200)["p_value"][0]
        for pair in pairs[:100]
    ]
    assert 0 < np.mean(np.array(swapped) <= 0.1) < 0.22


def test_a_false_finding_among_many_is_as_rare_as_one(simulate: Simulate) -> None:
    """Eight equal models, 28 pairs: any verdict is false, and rare."""
    rng = np.random.default_rng(38)
    wrong, held = [], []
    for seed in range(100):
        sweep = simulate(rng, sweeps=1, scenarios=12, skills=[1.0] * 8)
        found = compare_pairs(sweep, resamples=200, seed=seed)
        wrong.append((found["p_adjusted"] <= 0.05).any())
        held.append(((found["low_adjusted"] <= 0) & (found["high_adjusted"] >= 0)).all())
    assert np.mean(wrong) < 0.12
    assert np.mean(held) > 0.88


def test_everyone_against_a_baseline(scenario_scores: pl.DataFrame) -> None:
    rows = scenario_scores.filter(pl.col("profile") == "spec")
    found = compare_with(rows, "silent", resamples=500)
    contenders = rows.select("model", "experiment").n_unique()
    assert found.height == contenders - 1
    assert set(found["baseline_model"]) == {"silent"}
    best = found.filter(pl.col("candidate_model") == "perfect")
    assert best["verdict"].item() == "better"
    every = compare_pairs(rows, resamples=500)
    pair = every.filter(
        pl.concat_str("baseline_model", "candidate_model").is_in(["perfectsilent", "silentperfect"])
    )
    assert abs(pair["difference"].item()) == pytest.approx(best["difference"].item())
    assert best["p_value"].item() == pytest.approx(pair["p_value"].item())


def test_holm_is_over_all_rows(scenario_scores: pl.DataFrame) -> None:
    rows = scenario_scores.filter(pl.col("profile") == "spec")
    found = compare(rows, "graded-1", "over-cautious", resamples=500)
    wanted = multipletests(found["p_value"].to_numpy(), method="holm")[1]
    np.testing.assert_allclose(found["p_adjusted"], wanted)
    assert (found["high_adjusted"] >= found["high"] - 1e-12).all()
    alone = compare(rows, "graded-1", "over-cautious", metrics=["Plan"], resamples=500)
    plan = pl.col("metric") == "workflow_similarity"
    detectable = found.filter(plan)["detectable_difference"]
    assert (detectable >= alone["detectable_difference"]).all()


def test_verdict_and_interval_never_contradict_each_other(simulate: Simulate) -> None:
    rng = np.random.default_rng(33)
    sweeps = simulate(rng, sweeps=40, scenarios=12, skills=[1.4, 2.0])
    found = pl.concat(compare(sweeps, *pair, resamples=500) for pair in PAIRS[:40])

    is_left_out = (pl.col("low_adjusted") > 0) | (pl.col("high_adjusted") < 0)
    by_verdict = found.group_by("verdict").agg(is_left_out.all(), pl.len())
    assert dict(by_verdict.select("verdict", "low_adjusted").iter_rows())["better"]
    # Few rows lie between: the swaps and the interval measure alike.
    undecided = found.filter(is_left_out, verdict="no difference shown")
    assert len(undecided) < 0.05 * len(found)


def test_a_step_of_holm_widens_intervals_by_the_rows_that_are_left(
    scenario_scores: pl.DataFrame,
) -> None:
    found = compare(scenario_scores, "graded-3", "over-cautious", resamples=500).sort("p_value")
    widths = (pl.col("high_adjusted") - pl.col("low_adjusted")) / (pl.col("high") - pl.col("low"))
    ratios = found.select(widths)["high_adjusted"].to_list()
    count = int((found["p_adjusted"] <= 0.05).sum())
    assert 0 < count < len(found)
    assert ratios[0] > ratios[count - 1] > 1


def test_same_seed_same_comparison_in_any_order_of_rows(scenario_scores: pl.DataFrame) -> None:
    shuffled = scenario_scores.sample(fraction=1, shuffle=True, seed=1)
    one = compare_pairs(scenario_scores, resamples=200, seed=4)
    assert one.equals(compare_pairs(shuffled, resamples=200, seed=4))
    assert not one.equals(compare_pairs(scenario_scores, resamples=200, seed=5))


def test_wrong_calls_are_explained(scenario_scores: pl.DataFrame) -> None:
    with pytest.raises(SelectionError, match="with itself"):
        compare(scenario_scores, "silent", "silent")
    with pytest.raises(SelectionError, match="did you mean silent\\?"):
        compare(scenario_scores, "silnt", "perfect")
    apart = scenario_scores.filter((pl.col("model") == "silent") == (pl.col("language") == "EN"))
    with pytest.raises(SelectionError, match="no scenario in common"):
        compare(apart, "silent", "perfect")
