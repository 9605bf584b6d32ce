from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from scipy import stats

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import METRICS
from orchbench_analytics.stats.compare import compare_models, compare_pairs
from orchbench_analytics.stats.ranks import rank_intervals
from orchbench_analytics.stats.sweep import sweeps
from tests.stats.conftest import translations

Simulate = Callable[..., pl.DataFrame]
SWEEPS = 800
ROW = ("metric", "language")


def spec(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.filter(profile="spec")


def pairs_of(rows: pl.DataFrame, metric: str) -> pl.DataFrame:
    """The pair of each of many simulated sweeps, over the mean of languages."""
    (sweep,) = sweeps(rows, [metric], translations(rows))
    places = np.arange(0, len(sweep.contenders), 2)
    return compare_pairs(sweep, places, places + 1, [metric], by_language=False)


@pytest.mark.parametrize("correlation", [0.0, 0.8])
@pytest.mark.parametrize(
    ("metric", "scenarios"),
    [("average_score", 24), ("call_f1", 20), ("workflow_similarity", 12)],
)
def test_where_nothing_differs_small_p_are_as_rare_as_they_say(
    simulate: Simulate, metric: str, scenarios: int, correlation: float
) -> None:
    rows = simulate(
        np.random.default_rng(30),
        sweeps=SWEEPS,
        scenarios=scenarios,
        skills=[1.0, 1.0],
        correlation=correlation,
    )
    p_values = pairs_of(rows, metric)["p_unadjusted"].to_numpy()
    for alpha in (0.01, 0.05, 0.2):
        expected = alpha * SWEEPS
        assert (p_values <= alpha).sum() < expected + 3 * np.sqrt(expected)
    assert (p_values <= 0.05).mean() > 0.015  # not for want of power


def test_translations_taken_for_independent_would_find_what_is_not_there(
    simulate: Simulate,
) -> None:
    rows = simulate(
        np.random.default_rng(31), sweeps=400, scenarios=40, skills=[1.0, 1.0], correlation=0.9
    )
    (alone,) = sweeps(rows, ["workflow_similarity"])
    places = np.arange(0, 800, 2)
    wrong = compare_pairs(alone, places, places + 1, ["workflow_similarity"], by_language=False)
    right = pairs_of(rows, "workflow_similarity")
    assert (wrong["p_unadjusted"] <= 0.05).mean() > 0.08  # type: ignore[operator]
    assert (right["p_unadjusted"] <= 0.05).mean() < 0.08  # type: ignore[operator]


@pytest.mark.long
def test_all_rows_hold_together(simulate: Simulate) -> None:
    """Two equal models, four metrics, two languages: any false verdict is rare."""
    rng = np.random.default_rng(32)
    wrong = []
    for seed in range(150):
        rows = simulate(rng, sweeps=1, scenarios=24, skills=[1.0, 1.0], correlation=0.5)
        found = compare_models(rows, "m0000-0", "m0000-1", clusters=translations(rows), seed=seed)
        assert found.height == 12
        wrong.append(found["verdict"].is_in(["better", "worse"]).any())
    assert np.mean(wrong) < 0.1


def test_power_is_as_predicted(simulate: Simulate) -> None:
    """At the smallest detectable difference, four of five sweeps find it."""
    rng = np.random.default_rng(33)
    scenarios, deviation = 40, 0.08
    rows = simulate(rng, sweeps=500, scenarios=scenarios, skills=[1.0, 1.0], languages=["EN"])
    ordered = rows.sort("model", "scenario")
    is_candidate = ordered["model"].str.ends_with("-1")
    degrees = 0.64 * scenarios - 1  # of normal differences two thirds carry the sum
    error = deviation / np.sqrt(scenarios)
    shift = (stats.t.ppf(0.975, degrees) + stats.t.ppf(0.8, degrees)) * error
    drawn = pl.Series(rng.normal(0, deviation, size=rows.height // 2))
    both = pl.concat(
        [
            ordered.filter(~is_candidate).with_columns(plan_similarity=pl.lit(0.5)),
            ordered.filter(is_candidate).with_columns(plan_similarity=0.5 + shift + drawn),
        ]
    )
    found = pairs_of(both, "workflow_similarity")
    assert 0.75 < (found["p_unadjusted"] <= 0.05).mean() < 0.88  # type: ignore[operator]
    alone = compare_models(
        both.filter(pl.col("model").str.starts_with("m0000")),
        "m0000-0",
        "m0000-1",
        metrics=["Plan"],
    )
    assert alone["detectable_difference"].item() == pytest.approx(shift, rel=0.25)
    assert found["effect_size"].mean() == pytest.approx(shift / deviation, rel=0.05)


def test_turning_a_comparison_round_turns_its_sign(scenario_scores: pl.DataFrame) -> None:
    rows = spec(scenario_scores)
    one = compare_models(rows, "graded-1", "over-cautious", metrics=METRICS)
    other = compare_models(rows, "over-cautious", "graded-1", metrics=METRICS)
    for column in ("difference", "effect_size"):
        np.testing.assert_allclose(one[column], -other[column], atol=1e-12)
    for column in ("p_value", "p_unadjusted", "detectable_difference"):
        np.testing.assert_allclose(one[column], other[column], atol=1e-12)
    np.testing.assert_allclose(one["low"], -other["high"], atol=1e-12)
    both = one["candidate_value"] - one["baseline_value"]
    np.testing.assert_allclose(both, one["difference"], atol=1e-12)


def test_the_difference_is_candidate_minus_baseline(scenario_scores: pl.DataFrame) -> None:
    rows = spec(scenario_scores)
    found = compare_models(rows, "silent", "perfect")
    mean = found.filter(language="mean")
    assert mean["difference"].to_list() == pytest.approx([1.0] * 4)
    assert set(mean["verdict"]) == {"better"}
    assert mean["scenario_count"].to_list() == [12] * 4
    worse = compare_models(rows, "perfect", "silent").filter(language="mean")
    assert set(worse["verdict"]) == {"worse"}
    assert found.filter(language="EN")["p_unadjusted"].to_list() == [2 / 2**6] * 4


def test_five_scenarios_are_too_little(scenario_scores: pl.DataFrame) -> None:
    """All of five may fall on one side by chance in 2 of 2^5 cases, which is more than 5 %."""
    rows = spec(scenario_scores).filter(language="EN")
    five = rows.filter(pl.col("scenario").is_in(rows["scenario"].unique().sort().head(5)))
    found = compare_models(five, "silent", "perfect", metrics=["Plan"])
    assert found["verdict"].to_list() == ["too little data"]
    assert found["low"].is_null().all()
    assert found["p_unadjusted"].to_list() == [2 / 2**5]


def test_equal_answers_show_no_difference(scenario_scores: pl.DataFrame) -> None:
    rows = spec(scenario_scores).filter(model="graded-1")
    twin = rows.with_columns(model=pl.lit("twin"))
    found = compare_models(pl.concat([rows, twin]), "graded-1", "twin").filter(language="mean")
    assert found["p_value"].to_list() == [1.0] * 4
    assert set(found["verdict"]) == {"no difference shown"}
    assert found["effect_size"].is_null().all()


def test_only_common_scenarios_count(scenario_scores: pl.DataFrame) -> None:
    rows = spec(scenario_scores)
    lost = (pl.col("model") == "silent") & (pl.col("language") == "EN")
    first, second = rows.filter(lost)["scenario"].sort().to_list()[:2]
    thinned = rows.filter(
        ~(lost & (pl.col("scenario") == first)),
        ~((pl.col("model") == "graded-1") & (pl.col("scenario") == second)),
    )
    common = rows.filter(~pl.col("scenario").is_in([first, second]) | (pl.col("language") != "EN"))
    both = "graded-1", "silent"
    found = compare_models(thinned, *both, metrics=["Plan"])
    wanted = compare_models(common, *both, metrics=["Plan"])
    assert found.filter(language="EN")["scenario_count"].item() == 4
    assert found.filter(language="EN").equals(wanted.filter(language="EN"))
    # Among many pairs, each is still compared over its own common scenarios.
    pooled = compare_models(thinned, "graded-1", metrics=["Plan"]).filter(candidate_model="silent")
    exact = found.filter(language="mean")
    for column in ("difference", "scenario_count", "standard_error", "p_unadjusted"):
        assert pooled[column].item() == pytest.approx(exact[column].item(), abs=1e-12)


def test_a_question_has_one_p_wherever_it_is_asked(scenario_scores: pl.DataFrame) -> None:
    """Two models, one against all, all pairs: the same difference, error, interval and p."""
    rows = spec(scenario_scores)
    every = compare_models(rows)
    contenders = rows.select("model", "experiment").n_unique()
    assert every.height == contenders * (contenders - 1) // 2
    for pair in every.sample(12, seed=0).iter_rows(named=True):
        first = pair["baseline_model"], pair["baseline_experiment"]
        second = pair["candidate_model"], pair["candidate_experiment"]
        alone = compare_models(rows, first, second, metrics=["Average"]).filter(language="mean")
        against = compare_models(rows, first).filter(
            candidate_model=second[0], candidate_experiment=second[1]
        )
        for other in (alone, against):
            for column in ("difference", "standard_error", "low_unadjusted", "p_unadjusted"):
                assert other[column].item() == pytest.approx(pair[column], abs=1e-12)
    assert (every["p_value"] >= every["p_unadjusted"]).all()


def test_ranks_follow_from_the_verdicts_of_all_pairs(scenario_scores: pl.DataFrame) -> None:
    rows = spec(scenario_scores)
    pairs = compare_models(rows)
    better = pl.concat(
        [
            pairs.filter(verdict="better").select("candidate_model", "candidate_experiment"),
            pairs.filter(verdict="worse").select(
                candidate_model="baseline_model", candidate_experiment="baseline_experiment"
            ),
        ]
    )
    beaten = dict(
        better.group_by("candidate_model", "candidate_experiment")
        .len()
        .select(pl.concat_str("candidate_model", "candidate_experiment"), "len")
        .iter_rows()
    )
    ranks = rank_intervals(rows)
    for row in ranks.iter_rows(named=True):
        worse_count = beaten.get(row["model"] + row["experiment"], 0)
        assert row["rank_high"] == ranks.height - worse_count


def test_verdict_interval_and_p_never_contradict_each_other(simulate: Simulate) -> None:
    rng = np.random.default_rng(34)
    rows = simulate(rng, sweeps=40, scenarios=14, skills=[1.4, 2.0])
    found = pl.concat(
        compare_models(
            rows.filter(pl.col("model").str.starts_with(f"m{n:04d}")),
            f"m{n:04d}-0",
            f"m{n:04d}-1",
            metrics=METRICS,
        )
        for n in range(40)
    )
    wanted = (
        pl.when(pl.col("low").is_null())
        .then(pl.lit("too little data"))
        .when(pl.col("low") > 0)
        .then(pl.lit("better"))
        .when(pl.col("high") < 0)
        .then(pl.lit("worse"))
        .otherwise(pl.lit("no difference shown"))
    )
    assert found.filter(pl.col("verdict") != wanted).is_empty()
    is_found = pl.col("verdict").is_in(["better", "worse"])
    told = found.drop_nulls("low")
    assert told.filter(is_found != (pl.col("p_value") <= 0.05)).is_empty()
    assert 50 < told.filter(is_found).height < told.height
    assert told.filter(pl.col("low") > pl.col("low_unadjusted") + 1e-12).is_empty()


@pytest.mark.long
def test_a_false_finding_among_many_is_as_rare_as_one(simulate: Simulate) -> None:
    """Eight equal models, 28 pairs: any verdict is false, and rare."""
    rng = np.random.default_rng(38)
    wrong = []
    for seed in range(100):
        rows = simulate(rng, sweeps=1, scenarios=20, skills=[1.0] * 8, correlation=0.8)
        found = compare_models(rows, clusters=translations(rows), seed=seed)
        wrong.append(found["verdict"].is_in(["better", "worse"]).any())
    assert np.mean(wrong) < 0.12


def test_one_language_is_one_row(scenario_scores: pl.DataFrame) -> None:
    """With a single language the mean would repeat it, and cost a share of the allowed error."""
    rows = spec(scenario_scores).filter(language="EN")
    found = compare_models(rows, "silent", "perfect", metrics=["Average"])
    assert found["language"].to_list() == ["EN"]
    assert found["verdict"].to_list() == ["better"]
    assert found["p_value"].to_list() == found["p_unadjusted"].to_list()


def test_same_seed_same_comparison_in_any_order_of_rows(scenario_scores: pl.DataFrame) -> None:
    shuffled = scenario_scores.sample(fraction=1, shuffle=True, seed=1)
    one = compare_models(scenario_scores, seed=4)
    assert one.equals(compare_models(shuffled, seed=4))
    assert not one.equals(compare_models(scenario_scores, seed=5))


def test_five_runs_that_say_the_same_as_one_are_not_evidence(simulate: Simulate) -> None:
    sweep = simulate(np.random.default_rng(36), sweeps=1, scenarios=16, skills=[1.0, 1.3])
    counts = [name for name in sweep.columns if name.endswith("_count")]
    factor = pl.when(pl.col("model").str.ends_with("-0")).then(5).otherwise(1)
    repeated = sweep.with_columns(pl.col(counts) * factor, run_count=factor)
    once = sweep.with_columns(run_count=pl.lit(1))
    one, five = (compare_models(rows, "m0000-0", "m0000-1") for rows in (once, repeated))
    assert five["p_value"].to_list() == pytest.approx(one["p_value"].to_list())


def test_wrong_calls_are_explained(scenario_scores: pl.DataFrame) -> None:
    with pytest.raises(SelectionError, match="with itself"):
        compare_models(scenario_scores, "silent", "silent")
    with pytest.raises(SelectionError, match="did you mean silent\\?"):
        compare_models(scenario_scores, "silnt", "perfect")
    with pytest.raises(SelectionError, match="name a baseline"):
        compare_models(scenario_scores, None, "perfect")
    apart = scenario_scores.filter((pl.col("model") == "silent") == (pl.col("language") == "EN"))
    with pytest.raises(SelectionError, match="no scenario in common"):
        compare_models(apart, "silent", "perfect")
