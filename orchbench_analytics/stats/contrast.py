"""The difference of pairs of contenders, with its error, interval and p-value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from orchbench_analytics.metrics import Array, evaluate, influence
from orchbench_analytics.stats.counts import LanguageCounts
from orchbench_analytics.stats.estimate import Estimate, cluster_error, mean_estimate
from orchbench_analytics.stats.pairs import (
    Indices,
    PairParts,
    differences,
    pair_support,
    pair_up,
)
from orchbench_analytics.stats.permute import (
    Swaps,
    permutation_p,
    swap_patterns,
    swapped_differences,
)
from orchbench_analytics.stats.resample import (
    chunks,
    resampled_metrics,
    resampling_weights,
    small_sample_factor,
    spread,
    weighted,
)


class Contrast(NamedTuple):
    """One metric of many pairs: both values, candidate - baseline with its errors, and its p."""

    baseline_value: Array
    candidate_value: Array
    difference: Estimate
    p_value: Array


def contrast(
    languages: Sequence[LanguageCounts],
    baseline: Indices,
    candidate: Indices,
    names: Sequence[str],
    *,
    resamples: int,
    seed: int,
) -> dict[str, Contrast]:
    """Each metric's mean over the languages in which both have it, for each pair."""
    swaps = swap_patterns(languages, resamples=resamples, seed=seed)
    weights = [resampling_weights(one, resamples=resamples, seed=seed) for one in languages]
    found: dict[str, list[Contrast]] = {name: [] for name in names}
    drawn = [_drawn(one, names, w) for one, w in zip(languages, weights, strict=True)]
    for rows in chunks(len(baseline), resamples):
        sides = baseline[rows], candidate[rows]
        pairs = [pair_up(one, *sides) for one in languages]
        errors = [
            _bootstrap_errors(one, sides, pair, names, d, w)
            for one, pair, d, w in zip(languages, pairs, drawn, weights, strict=True)
        ]
        for name, block in _contrast_chunk(pairs, names, errors, swaps).items():
            found[name].append(block)
    return {name: _joined(blocks) for name, blocks in found.items()}


def _contrast_chunk(
    pairs: Sequence[PairParts],
    names: Sequence[str],
    errors: Sequence[dict[str, Array]],
    swaps: Swaps,
) -> dict[str, Contrast]:
    """All of it for a few pairs: by language first, then the mean."""
    totals = [[_totals(side) for side in pair] for pair in pairs]
    values = [[evaluate(names, side) for side in sides] for sides in totals]
    swapped = [
        swapped_differences(pair, names, patterns)
        for pair, patterns in zip(pairs, swaps.patterns, strict=True)
    ]
    result = {}
    for name in names:
        estimates = [
            _estimate(name, pair, candidate[name] - baseline[name], error[name])
            for pair, (baseline, candidate), error in zip(pairs, values, errors, strict=True)
        ]
        is_defined = np.stack([~np.isnan(estimate.value) for estimate in estimates])
        share = is_defined / np.maximum(is_defined.sum(axis=0), 1)
        difference = mean_estimate(estimates)
        permuted = np.add.reduce(
            [s[:, None] * draw[name] for s, draw in zip(share, swapped, strict=True)]
        )
        baseline_value, candidate_value = (
            np.where(
                np.isnan(difference.value),
                np.nan,
                np.add.reduce(
                    [s * np.nan_to_num(v[side][name]) for s, v in zip(share, values, strict=True)]
                ),
            )
            for side in (0, 1)
        )
        p_value = permutation_p(difference.value, permuted, is_exact=swaps.is_exact)
        result[name] = Contrast(baseline_value, candidate_value, difference, p_value)
    return result


def _drawn(language: LanguageCounts, names: Sequence[str], weights: Array) -> dict[str, Array]:
    """The metrics of every contender by resample."""
    drawn = {name: np.empty((len(language.present), weights.shape[1])) for name in names}
    for rows, metrics in resampled_metrics(language, names, weights):
        for name in names:
            drawn[name][rows] = metrics[name]
    return drawn


def _bootstrap_errors(
    language: LanguageCounts,
    sides: tuple[Indices, Indices],
    pair: PairParts,
    names: Sequence[str],
    drawn: dict[str, Array],
    weights: Array,
) -> dict[str, Array]:
    """Spread of each pair's difference over resamples, of common scenarios only."""
    baseline, candidate = sides
    errors = {name: spread(drawn[name][candidate] - drawn[name][baseline]) for name in names}
    # What was drawn for each alone holds for the pair only if both have the same scenarios.
    unlike = (language.present[baseline] != language.present[candidate]).any(axis=1)
    if unlike.any():
        two = [weighted({p: v[unlike] for p, v in side.items()}, weights) for side in pair]
        for name, values in differences(names, *two).items():
            errors[name][unlike] = spread(values)
    return errors


def _estimate(name: str, pair: PairParts, difference: Array, error: Array) -> Estimate:
    count = pair_support(name, pair)
    moved = influence(name, pair.candidate) - influence(name, pair.baseline)
    return Estimate(
        difference,
        error * small_sample_factor(count),
        cluster_error(moved, count),
        np.maximum(count - 1, 0),
        count,
    )


def _totals(parts: dict[str, Array]) -> dict[str, Array]:
    return {part: values.sum(axis=1) for part, values in parts.items()}


def _joined(blocks: Sequence[Contrast]) -> Contrast:
    return Contrast(
        np.concatenate([block.baseline_value for block in blocks]),
        np.concatenate([block.candidate_value for block in blocks]),
        Estimate(
            *(
                np.concatenate(fields)
                for fields in zip(*(b.difference for b in blocks), strict=True)
            )
        ),
        np.concatenate([block.p_value for block in blocks]),
    )
