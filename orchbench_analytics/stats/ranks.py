"""How sure the ranks of a leaderboard are, and who has a rank at all."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt
import polars as pl

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.stats.bootstrap import estimate_language
from orchbench_analytics.stats.columns import RANK_INTERVALS, frame
from orchbench_analytics.stats.counts import Contender, Counts, count_by_scenario, in_common
from orchbench_analytics.stats.coverage import (
    NOTHING_EXPECTED,
    adjusted_values,
    gap_reason,
    scored_counts,
    sweep_size,
)
from orchbench_analytics.stats.estimate import Estimate, mean_estimate
from orchbench_analytics.stats.pairs import Indices
from orchbench_analytics.stats.rank_sets import competition_ranks, rank_sets

_METRIC = "average_score"
_NO_ANSWERS = "no answer at all in a language: its endpoint was dead"


def rank_intervals(
    scenario_scores: pl.DataFrame,
    *,
    resamples: int = 2000,
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
            counts,
            resamples=resamples,
            seed=seed,
            level=level,
            min_coverage=min_coverage,
            unanswered=unanswered,
            expected=expected,
        )
        for counts in count_by_scenario(scenario_scores, [_METRIC])
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
    counts: Counts,
    *,
    resamples: int,
    seed: int,
    level: float,
    min_coverage: float,
    unanswered: Collection[Contender],
    expected: pl.DataFrame,
) -> pl.DataFrame:
    height, total = len(counts.contenders), sweep_size(counts.languages, expected)
    scored = scored_counts(counts.languages)
    own = _score(counts, resamples=resamples, seed=seed)
    is_dead = np.array([contender in unanswered for contender in counts.contenders], dtype=bool)
    enough = (scored >= min_coverage * total - 1e-9) & ~is_dead
    shared = _in_common(counts, np.flatnonzero(enough & ~np.isnan(own.value)))
    score, ranked = own, np.array([], dtype=np.int64)
    numbers = {name: np.full(height, np.nan) for name in ("number", "low", "high", "tier")}
    if shared.languages:
        common = _score(shared, resamples=resamples, seed=seed)
        is_known = ~np.isnan(common.value)
        ranked = np.flatnonzero(enough & ~np.isnan(own.value))[is_known]
        score = _replaced(own, ranked, common, is_known)
        sets = rank_sets(
            _in_common(counts, ranked).languages,
            _METRIC,
            common.value[is_known],
            resamples=resamples,
            seed=seed,
            level=level,
        )
        numbers["number"][ranked] = competition_ranks(common.value[is_known])
        for name, values in zip(("low", "high", "tier"), sets, strict=True):
            numbers[name][ranked] = values
    interval = score.share_interval(level=level)
    is_ranked = np.isin(np.arange(height), ranked)
    return pl.DataFrame(
        {
            **counts.keys,
            "rank_number": numbers["number"],
            "rank_low": numbers["low"],
            "rank_high": numbers["high"],
            "tier_number": numbers["tier"],
            "average_score": score.value,
            "low": interval.low,
            "high": interval.high,
            "adjusted_score": adjusted_values(counts, _METRIC),
            "scenario_count": scored,
            "sweep_scenario_count": [total] * height,
            "coverage_rate": scored / total,
            "unranked_reason": [
                None
                if ranks
                else _NO_ANSWERS
                if is_dead[place]
                else gap_reason(counts, place, expected)
                for place, ranks in enumerate(is_ranked.tolist())
            ],
        },
        nan_to_null=True,
        schema_overrides={"unranked_reason": pl.String},
    )


def _score(counts: Counts, *, resamples: int, seed: int) -> Estimate:
    return mean_estimate(
        [
            estimate_language(language, [_METRIC], resamples=resamples, seed=seed)[_METRIC]
            for language in counts.languages
        ]
    )


def _in_common(counts: Counts, places: Indices) -> Counts:
    """Some contenders over the scenarios that all of them have."""
    shared = (in_common(language, places) for language in counts.languages if len(places))
    return Counts(
        counts.profile,
        tuple(counts.contenders[place] for place in places),
        tuple(language for language in shared if language.scenarios),
    )


def _replaced(
    own: Estimate, places: Indices, common: Estimate, is_known: npt.NDArray[np.bool_]
) -> Estimate:
    """The estimates over common scenarios, for those that have them."""
    fields = []
    for mine, theirs in zip(own, common, strict=True):
        field = mine.copy()
        field[places] = theirs[is_known]
        fields.append(field)
    return Estimate(*fields)
