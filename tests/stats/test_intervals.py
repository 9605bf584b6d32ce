from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from statsmodels.regression.linear_model import OLS

from orchbench_analytics.errors import PathError, SelectionError
from orchbench_analytics.metrics import METRICS
from orchbench_analytics.stats.consistency import with_metrics
from orchbench_analytics.stats.intervals import intervals, language_gaps
from orchbench_analytics.stats.sweep import join_clusters, read_clusters
from tests.stats.conftest import translations

Simulate = Callable[..., pl.DataFrame]


@pytest.mark.parametrize(
    ("scenarios", "skill", "correlation"), [(20, 1.0, 0.0), (20, 2.5, 0.8), (45, 2.0, 0.8)]
)
def test_intervals_hold_the_truth(
    simulate: Simulate, scenarios: int, skill: float, correlation: float
) -> None:
    """Of every metric, in each language and over both, in at least 93 % of sweeps."""
    rng = np.random.default_rng(20)
    world = simulate(rng, sweeps=1, scenarios=200_000, skills=[skill], languages=["EN"])
    truth = with_metrics(world, tuple(METRICS), by=["model"]).select("metric", truth="value")
    sweeps = simulate(
        rng, sweeps=1000, scenarios=scenarios, skills=[skill], correlation=correlation
    )

    found = intervals(sweeps, clusters=translations(sweeps)).join(truth, on="metric")

    coverage = found.group_by("metric", language=pl.col("language") == "mean").agg(
        pl.len(), share=pl.col("truth").is_between("low", "high").mean()
    )
    assert coverage["len"].sum() == 3 * 1000 * len(METRICS)
    assert coverage.filter(pl.col("share") < 0.93).rows() == []


def test_translations_make_the_mean_less_certain(simulate: Simulate) -> None:
    """Errors over pairs of translations are those of the spread of sweeps; over scenarios not."""
    rng = np.random.default_rng(22)
    sweeps = simulate(rng, sweeps=600, scenarios=30, skills=[1.0], correlation=0.8)
    wanted = {}
    for name, clusters in (("pairs", translations(sweeps)), ("alone", None)):
        options = {} if clusters is None else {"clusters": clusters}
        found = intervals(sweeps, metrics=["Plan"], **options).filter(language="mean")
        spread = found["value"].std()
        wanted[name] = (found["standard_error"] ** 2).mean() ** 0.5 / spread  # type: ignore[operator]
    assert wanted["pairs"] == pytest.approx(1, abs=0.07)
    assert wanted["alone"] < 0.85


def test_the_error_is_that_of_cluster_robust_regression(scenario_scores: pl.DataFrame) -> None:
    """A mean over clusters of any size: the textbook's error, and statsmodels'."""
    rows = scenario_scores.filter(profile="spec", model="graded-1", language="EN")
    clusters = rows.select("language", "scenario").with_columns(
        cluster=pl.Series(["a", "a", "b", "c", "d", "d"])
    )
    alone = intervals(rows, metrics=["Plan"])["standard_error"][0]
    score = rows["plan_similarity"]
    assert alone == pytest.approx(score.std() / np.sqrt(6))  # type: ignore[operator]
    together = intervals(rows, metrics=["Plan"], clusters=clusters)
    groups = np.unique(clusters["cluster"].to_numpy(), return_inverse=True)[1]
    model = OLS(score.to_numpy(), np.ones(6)).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False}
    )
    assert together["cluster_count"][0] == 4
    # Unequal clusters: the jack-knife takes each out whole, so both agree to first order only.
    robust = model.bse[0] * np.sqrt(4 / 3)
    assert together["standard_error"][0] == pytest.approx(robust, rel=0.1)


def test_the_order_of_rows_does_not_matter(scenario_scores: pl.DataFrame) -> None:
    shuffled = scenario_scores.sample(fraction=1, shuffle=True, seed=1)
    assert intervals(scenario_scores).equals(intervals(shuffled))


def test_a_model_keeps_its_scenarios_to_itself(scenario_scores: pl.DataFrame) -> None:
    """A file that is missing for one model changes nothing for the others."""
    lost = (
        pl.struct("model", "language", "scenario")
        == scenario_scores.select(pl.struct("model", "language", "scenario")).to_series()[0]
    )
    whole = intervals(scenario_scores)
    part = intervals(scenario_scores.filter(~lost))
    others = pl.col("model") != scenario_scores["model"][0]
    assert whole.filter(others).equals(part.filter(others))
    mine = part.filter(~others, pl.col("metric") == "average_score")
    assert mine["scenario_count"].min() == 5


def test_one_scenario_has_a_value_and_no_interval(scenario_scores: pl.DataFrame) -> None:
    only = scenario_scores["scenario"][0]
    found = intervals(scenario_scores.filter(scenario=only, language="EN"), metrics=["Plan"])
    assert found["value"].null_count() == 0
    for column in ("standard_error", "low", "high"):
        assert found[column].is_null().all()


def test_intervals_stay_within_0_and_1_and_hold_the_value(scenario_scores: pl.DataFrame) -> None:
    found = intervals(scenario_scores).drop_nulls("low")
    assert found.filter((pl.col("low") < 0) | (pl.col("high") > 1)).is_empty()
    assert found.filter(~pl.col("value").is_between("low", "high")).is_empty()
    perfect = found.filter(model="perfect", profile="spec", metric="workflow_similarity")
    # Six scenarios of one language, twelve of both: all right is not proof of perfection.
    assert perfect["high"].min() == 1
    wanted = [0.025 ** (1 / 6), 0.025 ** (1 / 6), 0.025 ** (1 / 12)]
    assert perfect.sort("language")["low"].to_list() == pytest.approx(wanted)


def test_few_rejections_make_a_wide_interval(simulate: Simulate) -> None:
    """Rejections in a tenth of scenarios: what they tell counts, not what the others do."""
    rng = np.random.default_rng(23)
    sweeps = simulate(rng, sweeps=400, scenarios=45, skills=[2.0])
    is_asked = pl.col("scenario").cast(pl.Int64) < 5
    counts = ("rejection_label_count", "true_positive_reject_count", "false_negative_reject_count")
    rare = sweeps.with_columns(
        pl.when(is_asked).then(pl.col(name)).otherwise(0).alias(name) for name in counts
    )
    found = intervals(rare, metrics=["reject_f1", "call_f1"], level=0.95).filter(language="EN")
    width = (found["high"] - found["low"]).alias("width")
    by_metric = dict(found.with_columns(width).group_by("metric").agg(pl.mean("width")).iter_rows())
    assert by_metric["reject_f1"] > 3 * by_metric["call_f1"]


def test_a_senseless_level_is_refused(scenario_scores: pl.DataFrame) -> None:
    with pytest.raises(SelectionError, match="choose"):
        intervals(scenario_scores, level=95)


def test_gaps_between_languages_are_those_of_translations(simulate: Simulate) -> None:
    rng = np.random.default_rng(24)
    sweeps = simulate(rng, sweeps=500, scenarios=30, skills=[1.0], correlation=0.8)
    clusters = translations(sweeps)
    paired = language_gaps(sweeps, metrics=["Plan"], clusters=clusters)
    apart = language_gaps(sweeps, metrics=["Plan"])
    assert set(paired["pair_count"]) == {30}
    assert set(apart["pair_count"]) == {0}
    held = paired.filter((pl.col("low") <= 0) & (pl.col("high") >= 0)).height / 500
    assert 0.93 < held < 0.98
    assert paired["standard_error"].mean() < 0.6 * apart["standard_error"].mean()  # type: ignore[operator]


def test_gaps_turn_with_the_languages(scenario_scores: pl.DataFrame) -> None:
    rows = scenario_scores.filter(profile="spec")
    found = language_gaps(rows, metrics=["Plan"])
    assert set(found["language"]) == {"KO"}
    means = rows.group_by("model", "experiment").agg(
        wanted=pl.col("plan_similarity").filter(language="KO").mean()
        - pl.col("plan_similarity").filter(language="EN").mean()
    )
    both = found.join(means, on=["model", "experiment"])
    np.testing.assert_allclose(both["gap"], both["wanted"], atol=1e-12)
    assert both.filter(~pl.col("gap").is_between("low", "high")).is_empty()


def test_given_clusters_hold_translations_together(tmp_path: Path) -> None:
    found = pl.DataFrame(
        {
            "language": ["EN", "KO", "EN", "KO"],
            "scenario": ["57", "23", "9", "9"],
            "cluster": ["EN/57", "EN/57", "EN/9", "KO/9"],
        }
    )
    (tmp_path / "families.csv").write_text(
        "language,scenario,cluster\nEN,57,travel\nEN,9,travel\nEN,1000,other\n", encoding="utf-8"
    )
    joined = join_clusters(found, read_clusters(tmp_path / "families.csv"))
    assert sorted(joined.rows()) == [
        ("EN", "1000", "other"),
        ("EN", "57", "travel"),
        ("EN", "9", "travel"),
        ("KO", "23", "travel"),
        ("KO", "9", "KO/9"),
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("language,scenario\nEN,1\n", "no column cluster"),
        ("language,scenario,cluster\nEN,1,a\nEN,1,b\n", "into two clusters"),
        ("", "cannot be read as CSV"),
    ],
)
def test_a_file_without_clusters_is_refused(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "clusters.csv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(PathError, match=said):
        read_clusters(file)
