"""A short benchmark: lists that stand for all scenarios, and what is predicted from them."""

import numpy as np
import polars as pl
import pytest

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import METRICS
from orchbench_analytics.stats.shortlist import (
    Examples,
    cross_validated,
    examples,
    fit,
    pick,
    predict,
    reach_of,
    shortlist,
)
from orchbench_analytics.stats.sweep import sweeps
from tests.stats.conftest import translations

NAME = "average_score"
KEY = ["language", "scenario"]


@pytest.fixture(scope="module")
def sweep(simulate) -> pl.DataFrame:
    """Twenty models on 30 scenarios in two languages."""
    rng = np.random.default_rng(3)
    skills = rng.normal(0.5, 0.8, 20)
    return simulate(rng, sweeps=1, scenarios=30, skills=skills, correlation=0.8)


def scenarios_of(sizes: dict[str, int]) -> pl.DataFrame:
    """Scenarios of equal numbers are translations of each other."""
    return pl.DataFrame(
        [
            {"language": language, "scenario": str(number), "cluster": str(number)}
            for language, size in sizes.items()
            for number in range(size)
        ]
    )


@pytest.mark.parametrize(
    ("sizes", "count", "expected"),
    [
        ({"EN": 221, "KO": 220}, 100, {"EN": 50, "KO": 50}),
        ({"EN": 221, "KO": 220}, 101, {"EN": 51, "KO": 50}),
        ({"EN": 30, "KO": 10}, 8, {"EN": 6, "KO": 2}),
        ({"DE": 10, "EN": 10, "KO": 10}, 10, {"DE": 4, "EN": 3, "KO": 3}),
        ({"EN": 10}, 9, {"EN": 9}),
        ({"EN": 10, "KO": 10}, 1, {"EN": 1}),
    ],
)
def test_each_language_gets_its_share(sizes, count, expected) -> None:
    picked = pick(scenarios_of(sizes), count)

    assert dict(picked.group_by("language").len().iter_rows()) == expected
    assert not picked.select(KEY).is_duplicated().any()


@pytest.mark.parametrize("seed", range(5))
def test_translations_of_chosen_scenarios_come_last(seed) -> None:
    picked = pick(scenarios_of({"EN": 100, "KO": 100}), 60, seed=seed)

    assert picked["cluster"].n_unique() == 60


def test_a_list_depends_on_the_seed_and_not_on_the_order_of_rows() -> None:
    every = scenarios_of({"EN": 50, "KO": 50})

    assert pick(every.reverse(), 20, seed=1).equals(pick(every, 20, seed=1))
    assert not pick(every, 20, seed=2).equals(pick(every, 20, seed=1))


def test_every_scenario_is_equally_likely() -> None:
    every = scenarios_of({"EN": 10, "KO": 10})
    drawn = pl.concat(pick(every, 6, seed=seed) for seed in range(1_000))

    assert drawn.group_by(KEY).len()["len"].is_between(240, 360).all()


@pytest.mark.parametrize("count", [-1, 0, 20, 21])
def test_a_list_is_shorter_than_the_sweep(count) -> None:
    with pytest.raises(SelectionError, match="fewer than the 20 that there are"):
        pick(scenarios_of({"EN": 10, "KO": 10}), count)


def test_shortlist_says_its_errors_in_any_order_of_rows(sweep) -> None:
    clusters = translations(sweep)
    found = shortlist(sweep, 20, clusters=clusters, seed=4)
    again = shortlist(sweep.sample(fraction=1, shuffle=True, seed=0), 20, clusters=clusters, seed=4)

    assert found.select(pl.exclude("prediction_error", "mean_error")).equals(
        again.select(pl.exclude("prediction_error", "mean_error"))
    )
    assert again["prediction_error"][0] == pytest.approx(found["prediction_error"][0])
    assert found.height == found["cluster"].n_unique() == 20
    row = found.row(0, named=True)
    assert 0 < row["prediction_error"] < row["mean_error"] < 0.1
    assert (row["method"], row["model_count"], row["sweep_scenario_count"]) == (
        "regression",
        20,
        60,
    )


def test_shortlist_without_complete_models_has_no_error(sweep) -> None:
    holes = sweep.filter(
        pl.col("scenario").cast(pl.Int64) != pl.col("model").str.slice(6).cast(pl.Int64)
    )
    row = shortlist(holes, 10).row(0, named=True)

    assert (row["model_count"], row["prediction_error"], row["mean_error"]) == (0, None, None)


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_is_predicted_between_0_and_1(sweep, metric) -> None:
    listed = shortlist(sweep, 20, metric=metric)
    row = predict(sweep, "m0000-3", listed, metric=metric).row(0, named=True)

    assert 0 <= row["low"] <= row["predicted_score"] <= row["high"] <= 1
    assert row["full_score"] is not None


def test_a_model_that_has_only_the_list_is_predicted_as_if_it_had_all(sweep) -> None:
    listed = shortlist(sweep, 20)
    is_new = pl.col("model") == "m0000-7"
    short = pl.concat(
        [sweep.filter(~is_new), sweep.filter(is_new).join(listed, on=KEY, how="semi")]
    )
    whole, part = (predict(rows, "m0000-7", listed).row(0, named=True) for rows in (sweep, short))

    assert part == whole | {"full_score": None}
    assert part["model_count"] == 19
    assert part["low"] < whole["full_score"] < part["high"]


def test_the_mean_model_is_predicted_as_the_mean() -> None:
    rng = np.random.default_rng(0)
    additions = rng.normal(size=(12, 5)) / 5
    gaps = 0.1 + additions @ rng.normal(size=5) / 10
    found = fit(additions, gaps)

    assert found.predict(additions.mean(axis=0)) == pytest.approx(gaps.mean())
    assert np.abs(found.weights).max() > 0


def test_no_gap_is_expected_where_none_is_seen() -> None:
    additions = np.random.default_rng(0).normal(size=(12, 5))

    assert fit(additions, np.zeros(12)).predict(additions) == pytest.approx(0)
    assert fit(np.ones((12, 5)), np.full(12, 0.02)).predict(np.ones((1, 5))) == pytest.approx(0.02)


def test_errors_are_those_of_fits_without_the_model() -> None:
    rng = np.random.default_rng(1)
    additions, listed = rng.normal(size=(9, 4)), rng.random(9)
    known = Examples(listed + 0.05 + additions[:, 0] / 20, listed, additions)
    errors, _ = cross_validated(known)
    gaps = known.full - known.listed
    others = np.arange(9) != 2

    left_out = fit(additions[others], gaps[others]).predict(additions[2])
    assert errors[2] == pytest.approx(gaps[2] - left_out)


def test_the_reach_is_students_t_and_with_many_models_at_least_the_quantile() -> None:
    assert reach_of(np.array([0.01, -0.01, 0.01])) == pytest.approx(0.01 * 4.302653, rel=1e-6)
    heavy = np.array([0.5] * 3 + [0.001] * 37)
    assert reach_of(heavy) == 0.5


@pytest.mark.parametrize("models", [3, 5])
def test_few_models_leave_the_mean_over_the_list(sweep, models) -> None:
    few = sweep.filter(pl.col("model").is_in([f"m0000-{n}" for n in range(models + 1)]))
    row = predict(few, "m0000-0", shortlist(few, 20)).row(0, named=True)

    assert (row["method"], row["model_count"]) == ("mean over the list", models)
    assert row["predicted_score"] == row["list_score"]
    assert row["prediction_error"] == row["mean_error"]


def test_refusals_say_what_is_missing(sweep) -> None:
    listed = shortlist(sweep, 20)
    first = listed.sort(KEY).row(0)[:2]
    is_new = pl.col("model") == "m0000-0"
    is_first = (pl.col("language") == first[0]) & (pl.col("scenario") == first[1])
    lacking = sweep.filter(~(is_new & is_first))
    strange = pl.DataFrame({"language": ["EN"], "scenario": ["none"]})

    with pytest.raises(SelectionError, match=r"needs 3 other models that have all 60 .* are 2"):
        predict(sweep.filter(pl.col("model") <= "m0000-10"), "m0000-0", listed)
    with pytest.raises(SelectionError, match=r"no other model has 1 of the 1 .* such as EN/none"):
        predict(sweep, "m0000-0", strange)
    with pytest.raises(SelectionError, match="the list has no scenarios"):
        predict(sweep, "m0000-0", strange.clear())
    with pytest.raises(SelectionError, match="no model 'other'"):
        predict(sweep, "other", listed)
    with pytest.raises(SelectionError, match=f"lacks 1 of the 20 .* such as {'/'.join(first)}"):
        predict(lacking, "m0000-0", listed)


@pytest.mark.parametrize("known_count", [12, 20, 40])
def test_intervals_cover_new_models_and_regression_beats_the_mean(simulate, known_count) -> None:
    covered, squares = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        skills = rng.normal(0.5, 0.8, known_count + 30)
        rows = simulate(rng, sweeps=1, scenarios=60, skills=skills, correlation=0.8)
        (simulated,) = sweeps(rows, [NAME])
        picked = pick(translations(rows).select(*KEY, "cluster"), 30, seed=seed)
        every = examples(simulated, picked, NAME)
        places = rng.permutation(len(skills))
        known, new = every.take(places[:known_count]), every.take(places[known_count:])
        errors, fitted = cross_validated(known)
        assert fitted is not None
        gaps = new.full - new.listed
        left = gaps - fitted.predict(new.additions)
        covered.append(np.abs(left) <= reach_of(errors))
        squares.append([(left**2).mean(), (gaps**2).mean()])

    by_regression, by_mean = np.sqrt(np.mean(squares, axis=0))
    assert np.mean(covered) >= 0.93
    assert by_regression < by_mean
