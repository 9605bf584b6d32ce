"""Consistency over runs: how often a model decides otherwise when asked again."""

from __future__ import annotations

from collections.abc import Iterable
from math import comb

import polars as pl

from orchbench_analytics.metrics import HEADLINE, resolve_metrics
from orchbench_analytics.stats.columns import (
    FLIPS,
    MODEL_SPREAD,
    PASS_RATES,
    RUN_NOISE,
    RUN_SCORES,
    frame,
)
from orchbench_analytics.stats.runs import RUN, Frame, run_counts, with_metrics

_MODEL = ("profile", "model", "experiment", "language")
_STEP = (*_MODEL, "scenario", "step_id")

_DECISION_RIGHT = ((pl.col("true_positive_reject_count") > 0) & ~pl.col("is_type_mismatch")) | (
    pl.col("true_negative_reject_count") > 0
)
_CALL_RIGHT = pl.all_horizontal(pl.col(f"{part}_f1") == 1 for part in ("name", "key", "value"))
CRITERIA = {
    "decision": _DECISION_RIGHT,
    "answer": _DECISION_RIGHT & ((pl.col("actual") != "call") | _CALL_RIGHT.fill_null(False)),
}


def pass_rates(scored_steps: Frame) -> pl.DataFrame:
    """pass^k and pass@k for k from 1 to the number of runs: the table PASS_RATES.

    For a step right in c of n runs, pass^k is C(c, k) / C(n, k) and pass@k is
    1 - C(n - c, k) / C(n, k): both unbiased. Then the mean over steps with at least k runs.
    """
    tallies = (
        _first_answers(scored_steps)
        .group_by(_STEP)
        .agg(pl.len().alias("n"), *(right.sum().alias(name) for name, right in CRITERIA.items()))
        .unpivot(on=list(CRITERIA), index=[*_MODEL, "n"], variable_name="criterion", value_name="c")
        .group_by(*_MODEL, "criterion", "n", "c")
        .len("steps")
        .collect()
    )
    chances = _chances(tallies)
    step_count = pl.col("steps").sum()
    rates = (
        tallies.join(chances, on=["n", "c"])
        .group_by(*_MODEL, "criterion", "k")
        .agg(
            step_count.alias("step_count"),
            *(
                ((pl.col(name) * pl.col("steps")).sum() / step_count).alias(name)
                for name in ("pass_all_rate", "pass_any_rate")
            ),
        )
        .sort(*_MODEL, "criterion", "k")
    )
    return frame(PASS_RATES, rates)


def flips(scored_steps: Frame) -> pl.DataFrame:
    """How often two runs of a step decide differently: the table FLIPS.

    A decision is what `predicted` says: call, a rejection type, or failed.
    """
    decided = (
        _first_answers(scored_steps)
        .group_by(*_STEP, "predicted")
        .len("same")
        .with_columns(pl.col("same").cast(pl.Int64))
        .group_by(_STEP)
        .agg(
            pl.col("same").sum().alias("n"),
            (pl.col("same") * (pl.col("same") - 1) // 2).sum().alias("equal_pairs"),
        )
        .filter(pl.col("n") > 1)
        .with_columns(pairs=pl.col("n") * (pl.col("n") - 1) // 2)
        .group_by(_MODEL)
        .agg(
            pl.len().alias("step_count"),
            (pl.col("equal_pairs") < pl.col("pairs")).sum().alias("unstable_step_count"),
            pl.col("pairs").sum().alias("run_pair_count"),
            (pl.col("pairs") - pl.col("equal_pairs")).sum().alias("flipped_pair_count"),
        )
        .with_columns(
            unstable_step_rate=pl.col("unstable_step_count") / pl.col("step_count"),
            flip_rate=pl.col("flipped_pair_count") / pl.col("run_pair_count"),
        )
        .sort(_MODEL)
    )
    return frame(FLIPS, decided.collect())


def run_scores(
    scored_steps: Frame, scored_plans: Frame, *, metrics: Iterable[str] = HEADLINE
) -> pl.DataFrame:
    """The metrics of each run over all scenarios, as if there were no other: RUN_SCORES."""
    counts = run_counts(scored_steps, scored_plans)
    names = resolve_metrics(metrics)
    return frame(RUN_SCORES, with_metrics(counts, names, by=[*_MODEL, "run"]))


def run_noise(
    scored_steps: Frame, scored_plans: Frame, *, metrics: Iterable[str] = HEADLINE
) -> pl.DataFrame:
    """Run-to-run standard deviation and intraclass correlation per metric: RUN_NOISE.

    ICC(1) = (MSB - MSW) / (MSB + (k - 1) MSW), with the mean squares between and within scenarios
    of the scenario's score in each run, and k the mean number of runs (corrected if unequal).
    """
    counts = run_counts(scored_steps, scored_plans)
    names = resolve_metrics(metrics)
    by_run = with_metrics(counts, names, by=[*_MODEL, "run"]).drop_nulls("value")
    by_scenario = with_metrics(counts, names, by=RUN).drop_nulls("value")
    noise = by_run.group_by(*_MODEL, "metric").agg(
        pl.len().alias("run_count"),
        pl.col("value").mean().alias("mean_value"),
        pl.col("value").std().alias("run_standard_deviation"),
        (pl.col("value").std() / pl.len().sqrt()).alias("noise_standard_error"),
    )
    joined = noise.join(_intraclass(by_scenario), on=[*_MODEL, "metric"], how="left")
    return frame(RUN_NOISE, joined.sort(*_MODEL, "metric"))


def model_spread(noise: pl.DataFrame) -> pl.DataFrame:
    """How much of the spread between models is noise between runs: MODEL_SPREAD, of `run_noise`."""
    repeated = noise.drop_nulls("noise_standard_error")
    share = pl.col("noise_variance") / pl.col("model_variance")
    spread = (
        repeated.group_by("profile", "language", "metric")
        .agg(
            pl.len().alias("model_count"),
            pl.col("mean_value").var().alias("model_variance"),
            (pl.col("noise_standard_error") ** 2).mean().alias("noise_variance"),
        )
        .with_columns(noise_share=pl.when(pl.col("model_variance") > 0).then(share.clip(0, 1)))
        .sort("profile", "language", "metric")
    )
    return frame(MODEL_SPREAD, spread)


def _first_answers(scored_steps: Frame) -> pl.LazyFrame:
    """One row per step and run: profiles that score every answer may have more."""
    return (
        scored_steps.lazy()
        .filter(pl.col("is_scored"))
        .sort("answer_position")
        .unique(subset=[*_STEP, "run"], keep="first")
    )


def _chances(tallies: pl.DataFrame) -> pl.DataFrame:
    """pass^k and pass@k of a step that was right in c of n runs, for each n and c there is."""
    rows = [
        (n, c, k, comb(c, k) / comb(n, k), 1 - comb(n - c, k) / comb(n, k))
        for n, c in tallies.select("n", "c").unique().iter_rows()
        for k in range(1, n + 1)
    ]
    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        "n": tallies.schema["n"],
        "c": tallies.schema["c"],
        "k": pl.Int64,
        "pass_all_rate": pl.Float64,
        "pass_any_rate": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def _intraclass(by_scenario: pl.DataFrame) -> pl.DataFrame:
    """ICC(1) of each model's metric, from the scores of scenario and run."""
    k, mean = pl.col("k"), pl.col("mean")
    total, groups = k.sum(), pl.len()
    grand = (k * mean).sum() / total
    return (
        by_scenario.group_by(*_MODEL, "metric", "scenario")
        .agg(
            pl.len().cast(pl.Float64).alias("k"),
            pl.col("value").mean().alias("mean"),
            (pl.col("value") - pl.col("value").mean()).pow(2).sum().alias("within"),
        )
        .group_by(*_MODEL, "metric")
        .agg(
            ((k * (mean - grand).pow(2)).sum() / (groups - 1)).alias("msb"),
            (pl.col("within").sum() / (total - groups)).alias("msw"),
            ((total - k.pow(2).sum() / total) / (groups - 1)).alias("k0"),
            groups.alias("groups"),
            total.alias("total"),
        )
        .filter(pl.col("groups") > 1, pl.col("total") > pl.col("groups"))
        .with_columns(below=pl.col("msb") + (pl.col("k0") - 1) * pl.col("msw"))
        .filter(pl.col("below") > 1e-18)
        .select(
            *_MODEL,
            "metric",
            ((pl.col("msb") - pl.col("msw")) / pl.col("below")).alias("intraclass_correlation"),
        )
    )
