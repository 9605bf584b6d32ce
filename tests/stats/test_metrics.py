from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import HEADLINE, LABELS, METRICS, TERMS, resolve_metric, terms_of
from orchbench_analytics.stats.bootstrap import intervals
from orchbench_analytics.stats.counts import count_by_scenario, find_contender
from orchbench_analytics.stats.evaluate import evaluate, influence, support
from orchbench_analytics.warehouse import Warehouse

MODEL = ["profile", "model", "experiment", "language"]


@pytest.mark.parametrize("profile", ["spec", "strict"])
def test_the_sql_of_model_scores_agrees_with_the_formulas(
    warehouse: Warehouse, scenario_scores: pl.DataFrame, profile: str
) -> None:
    is_profile = pl.col("profile") == profile
    summed = (
        scenario_scores.filter(is_profile)
        .group_by(MODEL)
        .agg(TERMS[term].cast(pl.Float64).sum().alias(term) for term in terms_of(METRICS))
        .sort(MODEL)
    )
    sql = warehouse.table("model_scores").collect().filter(is_profile).sort(MODEL)
    assert sql.select(MODEL).equals(summed.select(MODEL))
    ours = evaluate(METRICS, {term: summed[term].to_numpy() for term in TERMS})
    for name, values in ours.items():
        theirs = sql[name].to_numpy(allow_copy=True).astype(float)
        np.testing.assert_allclose(values, theirs, rtol=0, atol=1e-12, err_msg=name)
    assert np.isnan(ours["reject_precision"]).any()  # the silent model rejects nothing


@pytest.mark.parametrize("profile", ["spec", "strict"])
def test_the_mean_over_languages_is_the_leaderboards(
    warehouse: Warehouse, scenario_scores: pl.DataFrame, profile: str
) -> None:
    is_profile = pl.col("profile") == profile
    ours = intervals(scenario_scores.filter(is_profile), metrics=HEADLINE, resamples=100)
    theirs = (
        warehouse.table("leaderboard")
        .collect()
        .filter(is_profile)
        .unpivot(on=HEADLINE, index=MODEL[:3], variable_name="metric", value_name="wanted")
    )
    both = ours.filter(pl.col("language") == "mean").join(theirs, on=[*MODEL[:3], "metric"])
    assert both.height == theirs.height
    assert both.select((pl.col("value") - pl.col("wanted")).abs().max()).item() < 1e-12


def sums(**values: float) -> dict[str, np.ndarray]:
    return {term: np.array([values.get(term, 0.0)]) for term in TERMS}


def test_undefined_is_nan_and_left_out_of_means() -> None:
    nothing = evaluate(METRICS, sums())
    assert all(np.isnan(value).all() for value in nothing.values())
    plans_only = evaluate(
        METRICS, sums(plan_similarity_sum=1.5, plan_similarity_file_count=2, name_f1_sum=0)
    )
    assert plans_only["average_score"] == 0.75
    assert np.isnan(plans_only["call_rejection_f1"])


def test_rejection_labels_alone_make_reject_f1_zero_not_undefined() -> None:
    failed = evaluate(METRICS, sums(rejection_label_count=3))
    assert failed["reject_f1"] == 0
    assert np.isnan(failed["reject_recall"])


def test_function_call_f1_needs_all_three() -> None:
    two = sums(name_f1_sum=1, name_f1_file_count=1, key_f1_sum=1, key_f1_file_count=1)
    assert np.isnan(evaluate(["function_call_f1"], two)["function_call_f1"])


def test_a_metric_takes_only_its_terms() -> None:
    assert terms_of(["reject_recall"]) == (
        "true_positive_reject_count",
        "false_negative_reject_count",
    )
    assert set(terms_of(METRICS)) == set(TERMS)


@pytest.mark.parametrize("name", METRICS)
def test_influence_is_the_slope_of_the_metric(scenario_scores: pl.DataFrame, name: str) -> None:
    (counts,) = count_by_scenario(scenario_scores.filter(pl.col("profile") == "strict"), METRICS)
    parts = counts.languages[0].parts
    slopes = influence(name, parts)
    assert np.abs(np.nansum(slopes, axis=1)).max() < 1e-9
    step = 1e-6
    weights = np.ones(len(counts.languages[0].scenarios))
    plain = evaluate([name], {p: v @ weights for p, v in parts.items()})[name]
    weights[2] += step
    moved = evaluate([name], {p: v @ weights for p, v in parts.items()})[name]
    np.testing.assert_allclose((moved - plain) / step, slopes[:, 2], atol=1e-4)
    silent = ~support(name, parts)
    assert np.abs(np.nan_to_num(slopes[silent])).sum() == 0


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("Plan", "workflow_similarity"),
        ("FC", "function_call_f1"),
        ("Average", "average_score"),
        ("Call Rejection Classification Accuracy", "call_rejection_f1"),
        (" name_F1 ", "name_f1"),
    ],
)
def test_the_seeds_names_are_understood(given: str, meant: str) -> None:
    assert resolve_metric(given) == meant


def test_every_name_of_a_metric_is_understood_and_none_means_two() -> None:
    names = {
        known.lower(): name
        for name, metric in METRICS.items()
        for known in (name, metric.label, *metric.seed_names)
    }
    assert {known: resolve_metric(known.upper()) for known in names} == names
    assert len(set(LABELS.values())) == len(METRICS)


def test_people_see_the_names_they_know() -> None:
    assert [LABELS[name] for name in HEADLINE] == ["Average", "Call/Reject", "FC", "Plan"]


def test_an_unknown_metric_names_the_likely_one() -> None:
    with pytest.raises(SelectionError, match="did you mean 'workflow_similarity'"):
        resolve_metric("workflow_similarty")
    with pytest.raises(SelectionError, match="there are average_score"):
        resolve_metric("zzz")


def test_rows_that_are_no_scenario_scores_are_refused(scenario_scores: pl.DataFrame) -> None:
    with pytest.raises(SelectionError, match="no column name_f1"):
        intervals(scenario_scores.drop("name_f1"))
    with pytest.raises(SelectionError, match="more than one row"):
        intervals(pl.concat([scenario_scores, scenario_scores.head(1)]))
    assert intervals(scenario_scores.clear()).is_empty()


def test_contenders_are_found_by_model_or_with_experiment() -> None:
    known = [("a", "x"), ("a", "y"), ("b/c", "x")]
    assert find_contender(known, "b/c") == 2
    assert find_contender(known, "a/y") == find_contender(known, ("a", "y")) == 1
    with pytest.raises(SelectionError, match="choose one of a/x, a/y"):
        find_contender(known, "a")
    with pytest.raises(SelectionError, match="did you mean a/y"):
        find_contender(known, "a/yy")
