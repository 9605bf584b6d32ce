"""Resampled scenarios as weights, and the metrics under each weighting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.stats.counts import LanguageCounts
from orchbench_analytics.stats.evaluate import Array, Sums, evaluate

_CHUNK_ELEMENTS = 100_000  # what one part of a chunk holds: small enough to stay in the cache


def generator(seed: int, purpose: str, language: str) -> np.random.Generator:
    """Random numbers that depend on nothing but the seed, what they are for, and the language."""
    return np.random.default_rng([seed, *purpose.encode(), *language.encode()])


def resampling_weights(language: LanguageCounts, *, resamples: int, seed: int) -> Array:
    """Scenario by resample: how often each scenario was drawn, n of n with replacement."""
    check_resamples(resamples)
    count = len(language.scenarios)
    draw = generator(seed, "bootstrap", language.language)
    weights = draw.multinomial(count, np.full(count, 1 / count), size=resamples)
    return np.ascontiguousarray(weights.T, dtype=np.float64)


def check_resamples(resamples: int) -> None:
    """Refuse a number of resamples too small to mean anything."""
    if resamples < 100:
        raise SelectionError(f"resamples is {resamples}; choose at least 100")


def chunks(count: int, width: int) -> Iterator[slice]:
    """Slices of `count` rows, each with a bounded number of elements at `width` a row."""
    step = max(1, _CHUNK_ELEMENTS // max(1, width))
    return (slice(start, start + step) for start in range(0, count, step))


def weighted(parts: Sums, weights: Array) -> dict[str, Array]:
    """The parts summed over scenarios under each weighting: row by weighting."""
    return {name: values @ weights for name, values in parts.items()}


def resampled_metrics(
    language: LanguageCounts, names: Sequence[str], weights: Array
) -> Iterator[tuple[slice, dict[str, Array]]]:
    """The metrics of contender by resample, a chunk of contenders at a time."""
    height = language.present.shape[0]
    for rows in chunks(height, weights.shape[1]):
        parts = {name: values[rows] for name, values in language.parts.items()}
        yield rows, evaluate(names, weighted(parts, weights))


def spread(values: Array) -> Array:
    """Standard deviation over the last axis, of what is defined there; NaN under two values."""
    if not np.isnan(values).any():
        deviation: Array = values.std(axis=-1, ddof=1)
        return deviation
    is_defined = ~np.isnan(values)
    count = is_defined.sum(axis=-1)
    filled = np.where(is_defined, values, 0.0)
    mean = filled.sum(axis=-1) / np.maximum(count, 1)
    squares = np.where(is_defined, (filled - mean[..., None]) ** 2, 0.0).sum(axis=-1)
    return np.where(count > 1, np.sqrt(squares / np.maximum(count - 1, 1)), np.nan)


def small_sample_factor(count: Array) -> Array:
    """sqrt(n / (n - 1)), by which a bootstrap of n scenarios is too narrow; NaN under two."""
    return np.sqrt(np.divide(count, count - 1, out=np.full_like(count, np.nan), where=count > 1))
