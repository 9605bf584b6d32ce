"""The difference of pairs of contenders, with its errors and what each scenario adds to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from orchbench_analytics.stats.counts import LanguageCounts
from orchbench_analytics.stats.estimate import Estimate, cluster_error, mean_estimate
from orchbench_analytics.stats.evaluate import Array, evaluate, scenario_additions, support
from orchbench_analytics.stats.limits import carrying_count
from orchbench_analytics.stats.pairs import Indices, PairParts, differences, pair_up
from orchbench_analytics.stats.resample import (
    chunks,
    resampled_metrics,
    resampling_weights,
    small_sample_factor,
    spread,
    weighted,
)


class Contrast(NamedTuple):
    """One metric of many pairs: both values, and candidate - baseline with its errors.

    `additions` has for each language what each scenario adds to the difference.
    """

    baseline_value: Array
    candidate_value: Array
    difference: Estimate
    additions: tuple[Array, ...]


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
        for name in names:
            found[name].append(_contrast_chunk(pairs, name, [error[name] for error in errors]))
    return {name: _joined(blocks) for name, blocks in found.items()}


class _Sides(NamedTuple):
    """Baselines and candidates of a language: their values, and what each scenario adds to them."""

    supported: npt.NDArray[np.bool_]
    values: tuple[Array, Array]
    additions: tuple[Array, Array]


def _contrast_chunk(pairs: Sequence[PairParts], name: str, errors: Sequence[Array]) -> Contrast:
    """One metric of a few pairs: by language first, then the mean."""
    languages = [_sides(pair, name) for pair in pairs]
    estimates = [_estimate(sides, error) for sides, error in zip(languages, errors, strict=True)]
    is_defined = np.stack([~np.isnan(estimate.value) for estimate in estimates])
    share = is_defined / np.maximum(is_defined.sum(axis=0), 1)
    difference = mean_estimate(estimates)

    def mean(values: Sequence[Array]) -> Array:
        total = np.add.reduce([s * np.nan_to_num(v) for s, v in zip(share, values, strict=True)])
        return np.where(np.isnan(difference.value), np.nan, total)

    return Contrast(
        mean([sides.values[0] for sides in languages]),
        mean([sides.values[1] for sides in languages]),
        difference,
        tuple(
            s[:, None] * np.nan_to_num(sides.additions[1] - sides.additions[0])
            for s, sides in zip(share, languages, strict=True)
        ),
    )


def _sides(pair: PairParts, name: str) -> _Sides:
    supported = support(name, pair.baseline) | support(name, pair.candidate)
    totals = [{part: values.sum(axis=1) for part, values in side.items()} for side in pair]
    return _Sides(
        supported,
        (evaluate([name], totals[0])[name], evaluate([name], totals[1])[name]),
        (
            scenario_additions(name, pair.baseline, supported),
            scenario_additions(name, pair.candidate, supported),
        ),
    )


def _estimate(sides: _Sides, error: Array) -> Estimate:
    count = sides.supported.sum(axis=1).astype(np.float64)
    difference = sides.values[1] - sides.values[0]
    moved = sides.additions[1] - sides.additions[0]
    even = np.where(sides.supported, (difference / np.maximum(count, 1))[:, None], 0.0)
    return Estimate(
        difference,
        error * small_sample_factor(count),
        cluster_error(moved - even, count),
        np.maximum(count - 1, 0),
        count,
        count,
        carrying_count(np.nan_to_num(moved)),
    )


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


def _joined(blocks: Sequence[Contrast]) -> Contrast:
    baseline, candidate, differences_, additions = zip(*blocks, strict=True)
    return Contrast(
        np.concatenate(baseline),
        np.concatenate(candidate),
        Estimate(*map(np.concatenate, zip(*differences_, strict=True))),
        tuple(map(np.concatenate, zip(*additions, strict=True))),
    )
