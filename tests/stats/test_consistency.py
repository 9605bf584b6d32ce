from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from orchbench_analytics.schema import polars_schema
from orchbench_analytics.stats import flips, model_spread, pass_rates, run_noise, run_scores
from orchbench_analytics.stats.consistency import CRITERIA
from orchbench_analytics.stats.runs import run_counts
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
    found = pass_rates(steps)
    assert sorted(found["k"].unique()) == [1, 2, 3]
    for row in found.iter_rows(named=True):
        right = steps.select(CRITERIA[row["criterion"]].alias("right"))["right"]
        every, some, count = [], [], 0
        for answers in by_step(steps.with_columns(right=right)):
            choices = list(combinations([answer["right"] for answer in answers], row["k"]))
            if choices:
                count += 1
                every.append(np.mean([all(choice) for choice in choices]))
                some.append(np.mean([any(choice) for choice in choices]))
        assert row["step_count"] == count
        assert row["pass_all_rate"] == pytest.approx(np.mean(every))
        assert row["pass_any_rate"] == pytest.approx(np.mean(some))


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


def test_run_noise_is_the_deviation_of_run_scores(warehouse: Warehouse) -> None:
    tables = warehouse.table("scored_steps"), warehouse.table("scored_plans")
    scores = run_scores(*tables, metrics=["Plan", "FC"])
    noise = run_noise(*tables, metrics=["Plan", "FC"])
    wanted = scores.group_by(*SCENARIO[:4], "metric").agg(wanted=pl.col("value").std())
    both = noise.join(wanted, on=[*SCENARIO[:4], "metric"])
    np.testing.assert_allclose(both["run_standard_deviation"], both["wanted"], atol=1e-12)
    assert set(both["run_count"]) == {3}


def test_intraclass_correlation_is_the_one_of_variance_analysis(warehouse: Warehouse) -> None:
    tables = warehouse.table("scored_steps"), warehouse.table("scored_plans")
    noise = run_noise(*tables, metrics=["Plan"])
    plans = run_counts(*tables)
    for row in noise.filter(pl.col("model").str.starts_with("graded")).iter_rows(named=True):
        mine = plans.filter(pl.col(name) == row[name] for name in SCENARIO[:4])
        groups = [group["plan_similarity"].to_list() for group in mine.partition_by("scenario")]
        f = stats.f_oneway(*groups).statistic
        assert row["intraclass_correlation"] == pytest.approx((f - 1) / (f + 2))
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


def test_no_rows_no_figures() -> None:
    steps = pl.DataFrame(schema=polars_schema(SCORED_STEPS))
    plans = pl.DataFrame(schema=polars_schema(SCORED_PLANS))
    assert pass_rates(steps).is_empty()
    assert flips(steps).is_empty()
    assert run_scores(steps, plans).is_empty()
    assert model_spread(run_noise(steps, plans)).is_empty()
