"""What a score costs, and which models no other one beats for the price.

A model is on the front if no other one has at least its score at no more than its cost. Scores are
estimates: a model is surely on the front if it is surely better than every model that costs no
more, and surely off it if some model that costs no more is surely better. All pairs are tested
together, as for ranks.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from orchbench_analytics.errors import PathError
from orchbench_analytics.paths import read_csv
from orchbench_analytics.schema import frame
from orchbench_analytics.stats.estimate import Estimate, estimate, score_interval
from orchbench_analytics.stats.ranks import surely_better
from orchbench_analytics.stats.sweep import ALONE, Array, Flags, sweeps
from orchbench_analytics.tables.statistics import COSTS

_MODEL = ["model", "experiment"]
_METRIC = "average_score"
_PRICES = ("input_price", "output_price")
_MILLION = 1_000_000
NO_PRICES = pl.DataFrame(schema={"model": pl.String, **dict.fromkeys(_PRICES, pl.Float64)})


def read_prices(path: Path) -> pl.DataFrame:
    """Prices by model: a CSV file with model, input and output, per million tokens."""
    expected = "model, input and output, the prices per million tokens"
    prices = read_csv(path, ("model", "input", "output"), expected=expected).select(
        "model",
        *(
            pl.col(name).cast(pl.Float64, strict=False).alias(f"{name}_price")
            for name in ("input", "output")
        ),
    )
    wrong = prices.filter(pl.any_horizontal(pl.col(_PRICES).is_null() | (pl.col(_PRICES) < 0)))
    if not wrong.is_empty():
        raise PathError(f"{path}: the prices of {wrong['model'][0]} are not numbers of 0 or more")
    if prices["model"].is_duplicated().any():
        raise PathError(f"{path} has two rows for some model; expected one for each")
    return prices


def costs(
    scenario_scores: pl.DataFrame,
    usage: pl.DataFrame,
    *,
    prices: pl.DataFrame = NO_PRICES,
    clusters: pl.DataFrame = ALONE,
    seed: int = 0,
    level: float = 0.95,
) -> pl.DataFrame:
    """The cost of a run and the score of each model, and who is on the front: the table COSTS.

    `usage` has the rows of the view `model_usage`. A cost that the files state counts; without one,
    tokens are multiplied by the prices.
    """
    priced = _run_costs(usage, prices)
    found = []
    for sweep in sweeps(scenario_scores, [_METRIC], clusters):
        rows = pl.DataFrame(sweep.keys).join(priced, on=_MODEL, how="left")
        is_known = rows["run_cost"].is_not_null().to_numpy()
        alone = estimate(_METRIC, sweep.blocks)
        own, value = score_interval(alone.summary, level=level), alone.value.copy()
        front = np.full(len(is_known), "unknown", dtype=object)
        shared = sweep.in_common(np.flatnonzero(is_known))
        if shared.blocks:
            common = estimate(_METRIC, shared.blocks)
            interval = score_interval(common.summary, level=level)
            value[is_known] = common.value
            own.low[is_known], own.high[is_known] = interval.low, interval.high
            cost = rows["run_cost"].to_numpy()[is_known]
            front[is_known] = _front(common, shared.clusters, cost, seed=seed, level=level)
        found.append(
            rows.with_columns(
                pl.Series("average_score", value),
                pl.Series("low", own.low),
                pl.Series("high", own.high),
                pl.Series("front", front.tolist(), dtype=pl.String),
                pl.col("cost_basis").fill_null("unknown"),
            )
        )
    rows = frame(COSTS, *found)
    return rows.sort("profile", "run_cost", "average_score", *_MODEL, nulls_last=True)


def _run_costs(usage: pl.DataFrame, prices: pl.DataFrame) -> pl.DataFrame:
    """The cost and the tokens of one run of a scenario, by model."""
    total = usage.group_by(_MODEL).agg(
        pl.col("used_cost", "cost_run_count", "token_run_count").sum(),
        pl.col("used_input_token_count", "used_output_token_count").sum(),
        pl.col("used_cost").count().alias("_stated"),
    )
    runs = pl.when(pl.col("token_run_count") > 0).then("token_run_count")
    tokens = total.join(prices, on="model", how="left").with_columns(
        run_input_tokens=pl.col("used_input_token_count") / runs,
        run_output_tokens=pl.col("used_output_token_count") / runs,
    )
    stated = pl.when((pl.col("_stated") > 0) & (pl.col("cost_run_count") > 0)).then(
        pl.col("used_cost") / pl.col("cost_run_count")
    )
    bought = (
        pl.col("run_input_tokens") * pl.col("input_price")
        + pl.col("run_output_tokens") * pl.col("output_price")
    ) / _MILLION
    return tokens.with_columns(_own=stated, _bought=bought).select(
        *_MODEL,
        pl.coalesce("_own", "_bought").alias("run_cost"),
        pl.when(pl.col("_own").is_not_null())
        .then(pl.lit("stated"))
        .when(pl.col("_bought").is_not_null())
        .then(pl.lit("priced"))
        .otherwise(pl.lit("unknown"))
        .alias("cost_basis"),
        "run_input_tokens",
        "run_output_tokens",
    )


def _front(
    found: Estimate, clusters: tuple[str, ...], cost: Array, *, seed: int, level: float
) -> list[str]:
    """Whether each contender is on the front, and whether that is certain."""
    is_better = surely_better(found, clusters, seed=seed, level=level)
    others = ~np.eye(len(cost), dtype=bool)
    rivals: Flags = (cost[None, :] <= cost[:, None]) & others  # of the first: they cost no more
    at_least: Flags = found.value[None, :] >= found.value[:, None]
    is_same: Flags = (cost[None, :] == cost[:, None]) & (
        found.value[None, :] == found.value[:, None]
    )
    is_off = (rivals & at_least & ~is_same).any(axis=1)
    surely_on = ~(rivals & ~is_better).any(axis=1)
    surely_off = (rivals & is_better.T).any(axis=1)
    words: list[str] = np.select(
        [surely_on, surely_off, is_off], ["on", "off", "likely off"], "likely on"
    ).tolist()
    return words
