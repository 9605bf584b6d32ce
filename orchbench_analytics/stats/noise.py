"""Noise between runs: how far a score would move if the same runs were made again."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl
from scipy import special

from orchbench_analytics.metrics import HEADLINE, resolve_metrics
from orchbench_analytics.stats.columns import frame
from orchbench_analytics.stats.counts import SUMMED, LanguageCounts
from orchbench_analytics.stats.evaluate import Array, influence, support
from orchbench_analytics.stats.run_columns import MODEL_SPREAD, RUN_NOISE
from orchbench_analytics.stats.runs import (
    RUN,
    Frame,
    count_by_run,
    run_counts,
    scenario_of_cell,
    with_metrics,
)

_MODEL = ("profile", "model", "experiment", "language")


def run_noise(
    scored_steps: Frame, scored_plans: Frame, *, metrics: Iterable[str] = HEADLINE
) -> pl.DataFrame:
    """Run-to-run standard deviation and intraclass correlation per metric: RUN_NOISE.

    The noise is taken from the variance of runs within scenarios, which has many more degrees of
    freedom than a handful of runs has. ICC(1) = (MSB - MSW) / (MSB + (k - 1) MSW), with the mean
    squares between and within scenarios of the scenario's score in each run, and k the mean number
    of runs (corrected if unequal); its interval is the one of the F distribution.
    """
    counts = run_counts(scored_steps, scored_plans)
    names = resolve_metrics(metrics)
    by_scenario = with_metrics(counts, names, by=RUN).drop_nulls("value")
    noise = (
        _means(counts, names)
        .join(_noise(counts, names), on=[*_MODEL, "metric"], how="left")
        .join(_intraclass(by_scenario), on=[*_MODEL, "metric"], how="left")
    )
    return frame(RUN_NOISE, noise.sort(*_MODEL, "metric"))


def _means(counts: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    """The mean score of runs, each weighing as many scenarios as it has, and how many there are.

    A run that only one scenario has, being named otherwise there, then weighs next to nothing.
    """
    run, size = [*_MODEL, "run"], pl.col("size")
    sizes = counts.group_by(run).agg(pl.len().alias("size"))
    most = counts.group_by(*_MODEL, "scenario").len("runs").group_by(_MODEL).agg(pl.max("runs"))
    scores = with_metrics(counts, names, by=run).drop_nulls("value").join(sizes, on=run)
    return (
        scores.group_by(*_MODEL, "metric")
        .agg(((pl.col("value") * size).sum() / size.sum()).alias("mean_value"))
        .join(most.rename({"runs": "run_count"}), on=_MODEL)
    )


def model_spread(noise: pl.DataFrame, *, level: float = 0.95) -> pl.DataFrame:
    """How much of the spread between models is noise between runs: MODEL_SPREAD, of `run_noise`.

    The interval is that of the models' variance (chi-square), the noise being known much better.
    """
    repeated = noise.drop_nulls("noise_standard_error")
    share = pl.col("noise_variance") / pl.col("model_variance")
    spread = (
        repeated.group_by("profile", "language", "metric")
        .agg(
            pl.len().alias("model_count"),
            pl.col("mean_value").var().alias("model_variance"),
            (pl.col("noise_standard_error") ** 2).mean().alias("noise_variance"),
        )
        .with_columns(share=pl.when(pl.col("model_variance") > 0).then(share))
        .sort("profile", "language", "metric")
    )
    degrees = np.maximum(spread["model_count"].to_numpy() - 1.0, 1.0)
    ends = {
        f"noise_share_{end}": pl.Series(special.chdtri(degrees, tail) / degrees) * spread["share"]
        for end, tail in (("low", (1 + level) / 2), ("high", (1 - level) / 2))
    }
    shares = {"noise_share": spread["share"], **ends}
    return frame(MODEL_SPREAD, spread.with_columns(**{n: s.clip(0, 1) for n, s in shares.items()}))


def _noise(counts: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    """The noise of each metric, from what each run of a scenario moves it by."""
    found = []
    for sweep in count_by_run(counts, names):
        for language in sweep.languages:
            for name in names:
                error, run_count = _noise_error(language, name)
                found.append(
                    pl.DataFrame(
                        {
                            **sweep.keys,
                            "language": language.language,
                            "metric": name,
                            "noise_standard_error": error,
                            "run_standard_deviation": error * np.sqrt(run_count),
                        }
                    )
                )
    schema = dict.fromkeys((*_MODEL, "metric"), pl.String)
    numbers = {"noise_standard_error": pl.Float64, "run_standard_deviation": pl.Float64}
    return pl.concat(found) if found else pl.DataFrame(schema={**schema, **numbers})


def _noise_error(language: LanguageCounts, name: str) -> tuple[Array, Array]:
    """The noise of each contender's metric over all runs, and its mean number of runs."""
    member = scenario_of_cell(language)
    runs_of_file = (language.present @ member) @ member.T
    # A file's mean scores are means over its runs: each run has its share of the file.
    parts = {
        part: values if part in SUMMED else values / np.maximum(runs_of_file, 1)
        for part, values in language.parts.items()
    }
    is_run = support(name, parts)
    moved = np.nan_to_num(influence(name, parts))
    runs = is_run.astype(np.float64) @ member
    mean = np.divide(moved @ member, runs, out=np.zeros_like(runs), where=runs > 0)
    within = (np.where(is_run, moved - mean @ member.T, 0.0) ** 2) @ member
    repeated = runs > 1
    factor = np.divide(runs, runs - 1, out=np.zeros_like(runs), where=repeated)
    known, there = repeated.sum(axis=1), (runs > 0).sum(axis=1)
    # Scenarios with one run are taken to be as noisy as the others.
    variance = (factor * within).sum(axis=1) * there / np.maximum(known, 1)
    error = np.where(known > 0, np.sqrt(variance), np.nan)
    return error, runs.sum(axis=1) / np.maximum(there, 1)


def _intraclass(by_scenario: pl.DataFrame, *, level: float = 0.95) -> pl.DataFrame:
    """ICC(1) of each model's metric with its interval, from the scores of scenario and run."""
    k, mean = pl.col("k"), pl.col("mean")
    total, groups = k.sum(), pl.len()
    grand = (k * mean).sum() / total
    squares = (
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
            (groups - 1).cast(pl.Float64).alias("between"),
            (total - groups).alias("inside"),
        )
        .filter(pl.col("between") > 0, pl.col("inside") > 0)
        .with_columns(below=pl.col("msb") + (pl.col("k0") - 1) * pl.col("msw"))
        .filter(pl.col("below") > 1e-18)
    )
    between, inside = squares["between"].to_numpy(), squares["inside"].to_numpy()
    tails = {"low": (1 + level) / 2, "high": (1 - level) / 2}
    ratio = pl.when(pl.col("msw") > 1e-18).then(pl.col("msb") / pl.col("msw"))
    ends = [
        (ratio / pl.Series(special.fdtri(between, inside, tail))).alias(end)
        for end, tail in tails.items()
    ]
    return squares.with_columns(*ends).select(
        *_MODEL,
        "metric",
        ((pl.col("msb") - pl.col("msw")) / pl.col("below")).alias("intraclass_correlation"),
        *(
            ((pl.col(end) - 1) / (pl.col(end) + pl.col("k0") - 1)).alias(f"intraclass_{end}")
            for end in tails
        ),
    )
