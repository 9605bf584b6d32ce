"""How sure the ranks of a leaderboard are, and who has a rank at all.

All pairs of ranked models are compared as `compare` does it, corrected together. A model's best
rank is 1 + how many are surely better, its worst leaves those below that are surely worse. So all
rank sets hold the true ranks at once, with the level asked for (Mogstad, Romano, Shaikh and Wilhelm
2024, doi:10.1093/restud/rdad006).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy.spatial.distance import pdist

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.schema import frame
from orchbench_analytics.stats.estimate import (
    Estimate,
    Family,
    Summary,
    bounded_interval,
    defined_mean,
    draws_for,
    effective_count,
    estimate,
    evaluate,
    is_surely_different,
    score_interval,
    sign_patterns,
    standard_error,
)
from orchbench_analytics.stats.sweep import (
    ALONE,
    NOTHING_EXPECTED,
    SUMMED,
    Array,
    Contender,
    Flags,
    Sweep,
    gap_reason,
    scored_counts,
    sweep_size,
    sweeps,
)
from orchbench_analytics.tables.statistics import RANK_INTERVALS

Ranks = npt.NDArray[np.int64]
_METRIC = "average_score"
_NO_ANSWERS = "no answer at all in a language: its endpoint was dead"
_DIGITS = 12  # scores this close are equal: their sums were only added up in another order


class RankSets(NamedTuple):
    """The least and greatest rank of each contender, and its tier."""

    low: Ranks
    high: Ranks
    tier: Ranks


def rank_intervals(
    scenario_scores: pl.DataFrame,
    *,
    clusters: pl.DataFrame = ALONE,
    seed: int = 0,
    level: float = 0.95,
    min_coverage: float = 1.0,
    expected: pl.DataFrame = NOTHING_EXPECTED,
    refused_files: pl.DataFrame | None = None,
    unanswered: Collection[Contender] = (),
) -> pl.DataFrame:
    """Models ranked by average_score, with intervals of score and rank: the table RANK_INTERVALS.

    Ranked are models that have at least `min_coverage` of the sweep's scenarios, over those that
    all of them have. `expected` has the columns of `expected_scenarios`; `refused_files` has model,
    experiment and refused_file_count. Models that are `unanswered` in a language have no rank:
    their endpoint was dead.
    """
    if not 0 < min_coverage <= 1:
        raise SelectionError(f"min_coverage is {min_coverage}; choose a share up to 1, such as 0.9")
    found = [
        _rank(
            sweep,
            seed=seed,
            level=level,
            min_coverage=min_coverage,
            unanswered=unanswered,
            expected=expected,
        )
        for sweep in sweeps(scenario_scores, [_METRIC], clusters)
    ]
    if not found:
        return frame(RANK_INTERVALS)
    rows = pl.concat(found)
    if refused_files is None:
        rows = rows.with_columns(refused_file_count=pl.lit(0))
    else:
        rows = rows.join(refused_files, on=["model", "experiment"], how="left")
    rows = rows.with_columns(pl.col("refused_file_count").fill_null(0))
    order = ("profile", "rank_number", "model", "experiment")
    return frame(RANK_INTERVALS, rows).sort(order, nulls_last=True)


def _rank(
    sweep: Sweep,
    *,
    seed: int,
    level: float,
    min_coverage: float,
    unanswered: Collection[Contender],
    expected: pl.DataFrame,
) -> pl.DataFrame:
    height, total = len(sweep.contenders), sweep_size(sweep.blocks, expected)
    scored = scored_counts(sweep.blocks)
    alone = estimate(_METRIC, sweep.blocks)
    score = own = alone.summary
    is_dead = np.array([contender in unanswered for contender in sweep.contenders], dtype=bool)
    enough = (scored >= min_coverage * total - 1e-9) & ~is_dead & ~np.isnan(own.value)
    numbers = {name: np.full(height, np.nan) for name in ("number", "low", "high", "tier")}
    is_ranked = np.zeros(height, dtype=bool)
    shared = sweep.in_common(np.flatnonzero(enough))
    if shared.blocks:
        common = alone if shared is sweep else estimate(_METRIC, shared.blocks)
        is_known = ~np.isnan(common.value)
        ranked = np.flatnonzero(enough)[is_known]
        common = common.take(is_known)
        is_ranked[ranked] = True
        score = _replaced(own, ranked, common.summary)
        numbers["number"][ranked] = competition_ranks(common.value)
        sets = rank_sets(common, sweep.clusters, seed=seed, level=level)
        for name, values in zip(("low", "high", "tier"), sets, strict=True):
            numbers[name][ranked] = values
    filled = expected_scores(sweep, _METRIC)
    interval = score_interval(score, level=level)
    around = bounded_interval(filled, own.error, own.even_count, level=level)
    return pl.DataFrame(
        {
            **sweep.keys,
            "rank_number": numbers["number"],
            "rank_low": numbers["low"],
            "rank_high": numbers["high"],
            "tier_number": numbers["tier"],
            "average_score": score.value,
            "low": interval.low,
            "high": interval.high,
            "expected_score": filled,
            "expected_low": around.low,
            "expected_high": around.high,
            "scenario_count": scored,
            "sweep_scenario_count": [total] * height,
            "coverage": scored / total,
            "unranked_reason": [
                None
                if ranks
                else _NO_ANSWERS
                if is_dead[place]
                else gap_reason(sweep, place, expected)
                for place, ranks in enumerate(is_ranked.tolist())
            ],
        },
        nan_to_null=True,
        schema_overrides={"unranked_reason": pl.String},
    )


def refused_files(sources: pl.LazyFrame) -> pl.DataFrame:
    """How many scenario files of each model could not be read."""
    is_refused = (pl.col("status") == "refused") & (pl.col("reason") != "duplicate")
    return (
        sources.filter(is_refused, pl.col("kind") == "runs")
        .group_by("model", "experiment")
        .agg(pl.len().cast(pl.Int64).alias("refused_file_count"))
        .collect()
    )


def unanswered_models(problems: pl.DataFrame) -> set[Contender]:
    """The models, with their experiments, that have a language without any answer."""
    return set(problems.filter("is_unanswered").select("model", "experiment").iter_rows())


def rank_sets(found: Estimate, clusters: tuple[str, ...], *, seed: int, level: float) -> RankSets:
    """The ranks of contenders that all have the same scenarios."""
    is_better = surely_better(found, clusters, seed=seed, level=level)
    low, high = 1 + is_better.sum(axis=0), len(found.value) - is_better.sum(axis=1)
    return RankSets(low, high, tiers(found.value, is_better))


def surely_better(found: Estimate, clusters: tuple[str, ...], *, seed: int, level: float) -> Flags:
    """Contender by contender: whether the first is surely better than the second."""
    height = len(found.value)
    is_better = np.zeros((height, height), dtype=np.bool_)
    if height > 1:
        first, second = np.triu_indices(height, k=1)
        pairs, family = _all_pairs(found, first, second, clusters, seed=seed)
        (together,) = family.levels(np.ones(1), level=level)  # the same for all pairs
        is_different = is_surely_different(pairs, level=together)
        is_better[first, second] = is_different & (pairs.value > 0)
        is_better[second, first] = is_different & (pairs.value < 0)
    return is_better


def _all_pairs(
    found: Estimate, first: Ranks, second: Ranks, clusters: tuple[str, ...], *, seed: int
) -> tuple[Summary, Family]:
    """All pairs of contenders, first - second: distances of moves, without a row for each pair."""
    draws = draws_for(len(first))
    signs = sign_patterns(clusters, draws=draws, seed=seed)
    signed = found.moves.astype(np.float32) @ signs
    supported = found.supported.astype(np.float64)
    own = supported.sum(axis=1)
    either = (own[:, None] + own[None, :] - supported @ supported.T)[first, second]
    squares = pdist(found.moves, "sqeuclidean")
    family = Family(draws)
    ends = np.cumsum(np.arange(len(own))[::-1])
    for place, end in enumerate(ends[:-1]):  # the pairs of one contender with all after it
        others = slice(end - len(own) + 1 + place, end)
        weights = np.ones(len(own) - 1 - place)
        family.add(signed[place + 1 :] - signed[place], squares[others], either[others], weights)
    additions = found.additions
    pairs = Summary(
        found.value[first] - found.value[second],
        standard_error(squares, either),
        either,
        np.minimum(found.even_count[first], found.even_count[second]),
        effective_count(pdist(additions, "cityblock"), pdist(additions, "sqeuclidean")),
    )
    return pairs, family


def tiers(score: Array, is_better: Flags) -> Ranks:
    """From the top: the first model that is surely worse than the best of its tier begins one."""
    found = np.zeros(len(score), dtype=np.int64)
    best, tier = -1, 0
    for place in np.argsort(-score, kind="stable"):
        if best < 0 or is_better[best, place]:
            best, tier = place, tier + 1
        found[place] = tier
    return found


def competition_ranks(values: Array) -> Ranks:
    """Rank from the top, 1 + how many are greater; undefined values come last."""
    ordered = np.where(np.isnan(values), -np.inf, np.round(values, _DIGITS))
    ranks: Ranks = 1 + len(values) - np.searchsorted(np.sort(ordered), ordered, side="right")
    return ranks


def _replaced(own: Summary, places: Ranks, common: Summary) -> Summary:
    """The summaries over common scenarios, for those that have them."""
    fields = []
    for mine, theirs in zip(own, common, strict=True):
        field = mine.copy()
        field[places] = theirs
        fields.append(field)
    return Summary(*fields)


def expected_scores(sweep: Sweep, name: str) -> Array:
    """The mean over all languages of a metric from 0 to 1, missing files filled in: an estimate.

    What a missing file would have added is taken from a two-way fit by least squares: an effect of
    the model, over all its files, and an effect of the scenario, over all models that have it. It
    assumes that what is hard for one model is hard for all.
    """
    present = np.hstack([block.present for block in sweep.blocks])
    runs = np.hstack([block.runs for block in sweep.blocks])
    usual_runs = np.average(runs, axis=1, weights=present)[:, None]
    ends = np.cumsum([len(block.scenarios) for block in sweep.blocks])[:-1]
    sums: list[dict[str, Array]] = [{} for _ in sweep.blocks]
    for term in sweep.blocks[0].terms:
        known = np.hstack([block.terms[term] for block in sweep.blocks])
        if not present.all():
            # Of one run, so that files with more runs weigh as much as others.
            is_summed = term in SUMMED
            fitted = two_way_fit(known / runs if is_summed else known, present)
            guess = np.maximum(fitted, 0.0) * (usual_runs if is_summed else 1.0)
            known = np.where(present, known, guess)
        for block, values in zip(sums, np.split(known, ends, axis=1), strict=True):
            block[term] = values.sum(axis=1)
    return defined_mean([np.clip(evaluate([name], block)[name], 0.0, 1.0) for block in sums])


def two_way_fit(values: Array, present: Flags) -> Array:
    """Row effect + column effect of every cell, by least squares over the cells that are there.

    The analysis of a two-way table with unequal numbers (Yates 1934,
    doi:10.1080/01621459.1934.10502686).
    """
    weight = present.astype(np.float64)
    in_row, in_column = weight.sum(axis=1), weight.sum(axis=0)
    row_mean = (values * weight).sum(axis=1) / np.maximum(in_row, 1)
    # The row effects are eliminated: what is left are equations for the columns alone.
    equations = np.diag(in_column) - (weight / np.maximum(in_row, 1)[:, None]).T @ weight
    column_sums = ((values - row_mean[:, None]) * weight).sum(axis=0)
    columns = np.linalg.lstsq(equations, column_sums, rcond=None)[0]
    rows = row_mean - weight @ columns / np.maximum(in_row, 1)
    fitted: Array = rows[:, None] + columns[None, :]
    return fitted
