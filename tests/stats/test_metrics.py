from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import (
    HEADLINE,
    LABELS,
    METRICS,
    TERMS,
    Mean,
    Metric,
    Ratio,
    resolve_metric,
    terms_of,
)
from orchbench_analytics.stats.compare import compare_models
from orchbench_analytics.stats.estimate import estimate, estimate_block, evaluate, support
from orchbench_analytics.stats.intervals import intervals
from orchbench_analytics.stats.sweep import Sweep, sweeps
from orchbench_analytics.warehouse import Warehouse
from tests.benchmarks.simulations import part_of, plans_of

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


@pytest.mark.parametrize("profile", ["spec", "strict", "upstream"])
def test_the_mean_over_languages_is_the_leaderboards(warehouse: Warehouse, profile: str) -> None:
    is_profile = pl.col("profile") == profile
    ours = warehouse.intervals(profile=profile, metrics=HEADLINE)
    theirs = (
        warehouse.table("leaderboard")
        .collect()
        .filter(is_profile)
        .unpivot(on=HEADLINE, index=MODEL[:3], variable_name="metric", value_name="wanted")
    )
    both = ours.filter(pl.col("language") == "mean").join(theirs, on=[*MODEL[:3], "metric"])
    assert both.height == theirs.height
    assert both.select((pl.col("value") - pl.col("wanted")).abs().max()).item() < 1e-12


@pytest.mark.parametrize("profile", ["spec", "strict", "upstream"])
def test_scores_with_intervals_are_those_of_model_scores(
    warehouse: Warehouse, profile: str
) -> None:
    ours = warehouse.intervals(profile=profile)
    theirs = (
        warehouse.table("metric_scores")
        .filter(profile=profile)
        .select("model", "experiment", "language", "metric", "score")
        .collect()
    )
    both = ours.join(theirs, on=["model", "experiment", "language", "metric"])
    assert both.height == 300
    is_compared = pl.col("score").is_not_null()
    assert both.filter(is_compared, (pl.col("value") - pl.col("score")).abs() > 1e-12).is_empty()


def test_the_scores_of_a_pair_under_upstream_are_those_of_the_board(warehouse: Warehouse) -> None:
    found = warehouse.compare("graded-1", "graded-2/baseline", profile="upstream").filter(
        metric="average_score", language="mean"
    )
    board = warehouse.leaderboard(profile="upstream")
    for side in ("baseline", "candidate"):
        row = found.row(0, named=True)
        whose = {"model": row[f"{side}_model"], "experiment": row[f"{side}_experiment"]}
        assert board.filter(**whose)["average_score"].item() == row[f"{side}_value"]


def test_a_simulated_sweep_is_estimated_like_any_other() -> None:
    """`make bench` simulates; a change of `Block` must not break it unseen."""
    simulated = part_of(plans_of(np.full((2, 3, 2, 5), 0.25)), 1, 2)
    assert estimate("workflow_similarity", simulated.blocks).value.tolist() == [0.25, 0.25]


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
def test_moves_are_what_leaving_a_cluster_out_does(
    scenario_scores: pl.DataFrame, name: str
) -> None:
    """Of a ratio: (n - 1) / n x (whole - without the cluster), about their mean."""
    (sweep,) = sweeps(scenario_scores.filter(pl.col("profile") == "strict"), METRICS)
    block = sweep.blocks[0]
    found = estimate_block(name, block)
    assert np.abs(found.moves.sum(axis=1)).max() < 1e-12
    assert not found.moves[~found.supported].any()
    whole = evaluate([name], {t: v.sum(axis=1) for t, v in block.terms.items()})[name]
    np.testing.assert_allclose(found.value, whole, atol=1e-12)
    members = np.eye(block.cluster_count)[block.cluster_of]  # scenario by cluster
    in_sweep = members.T > 0
    by_cluster = {t: v @ members for t, v in block.terms.items()}
    np.testing.assert_array_equal(found.supported, support(name, by_cluster))
    if isinstance(METRICS[name].formula, Ratio):
        left = np.stack(
            [
                evaluate([name], {t: v[:, ~one].sum(axis=1) for t, v in block.terms.items()})[name]
                for one in in_sweep
            ],
            axis=1,
        )
        count = np.maximum(found.cluster_count, 1)[:, None]
        moved = np.where(found.supported & ~np.isnan(left), whole[:, None] - left, 0.0)
        moved = moved * (count - 1) / count
        centred = moved - np.where(found.supported, moved.sum(1, keepdims=True) / count, 0.0)
        np.testing.assert_allclose(found.moves, np.where(found.supported, centred, 0.0), atol=1e-12)


def test_a_metric_is_added_in_one_place(
    scenario_scores: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Statistics know a metric from its entry alone."""
    added = Metric(
        "Key recall",
        "A made-up mean of two others.",
        Mean(("key_f1", "name_f1")),
        ("key_recall",),
    )
    monkeypatch.setitem(METRICS, "key_recall", added)
    rows = scenario_scores.filter(profile="spec")
    found = intervals(rows, metrics=["key_recall"])
    assert found["metric"].unique().to_list() == ["key_recall"]
    compared = compare_models(rows, "silent", "perfect", metrics=["key_recall"])
    assert set(compared["verdict"]) == {"better"}


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
    with pytest.raises(SelectionError, match="did you mean workflow_similarity"):
        resolve_metric("workflow_similarty")
    with pytest.raises(SelectionError, match="there are Average, Call/Reject, FC, Plan, "):
        resolve_metric("zzz")


def test_rows_that_are_no_scenario_scores_are_refused(scenario_scores: pl.DataFrame) -> None:
    with pytest.raises(SelectionError, match="no column name_f1"):
        intervals(scenario_scores.drop("name_f1"))
    with pytest.raises(SelectionError, match="more than one row"):
        intervals(pl.concat([scenario_scores, scenario_scores.head(1)]))
    assert intervals(scenario_scores.clear()).is_empty()


def test_contenders_are_found_by_model_or_with_experiment() -> None:
    known = (("a", "x"), ("a", "y"), ("b/c", "x"))
    sweep = Sweep("spec", known, (), ())
    assert sweep.find("b/c") == 2
    assert sweep.find("a/y") == sweep.find(("a", "y")) == 1
    with pytest.raises(SelectionError, match="choose one of a/x, a/y"):
        sweep.find("a")
    with pytest.raises(SelectionError, match="did you mean a/y"):
        sweep.find("a/yy")
