"""Metrics as numpy arrays: their values, their support, and what each scenario adds to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import add

import numpy as np
import numpy.typing as npt

from orchbench_analytics.metrics import METRICS, Mean, Ratio

Array = npt.NDArray[np.float64]
Sums = Mapping[str, Array]


def evaluate(names: Iterable[str], sums: Sums) -> dict[str, Array]:
    """The metrics of summed terms, element by element; undefined is NaN."""
    known: dict[str, Array] = {}
    return {name: _evaluate(name, sums, known) for name in names}


def support(name: str, terms: Sums) -> npt.NDArray[np.bool_]:
    """Where the metric has anything to go by: a scenario without support cannot move it."""
    formula = METRICS[name].formula
    if isinstance(formula, Mean):
        members = [support(member, terms) for member in formula.of]
    else:
        members = [terms[term] > 0 for term in {*formula.denominator, *formula.defined_by}]
    either: npt.NDArray[np.bool_] = np.logical_or.reduce(members)
    return either


def influence(name: str, terms: Sums) -> Array:
    """What each scenario (last axis) moves the metric by, to first order; adds up to zero.

    For a ratio (num_i - ratio x den_i) / sum(den), for a mean the mean over its defined metrics;
    NaN where the metric is undefined.
    """
    formula = METRICS[name].formula
    if isinstance(formula, Mean):
        members = [influence(member, terms) for member in formula.of]
        return _mean(members) if formula.needs_all else defined_mean(members)
    above, below = _combine(formula.numerator, terms), _combine(formula.denominator, terms)
    total = below.sum(axis=-1, keepdims=True)
    ratio = _evaluate(name, {t: v.sum(axis=-1, keepdims=True) for t, v in terms.items()}, {})
    return np.where(np.isnan(ratio), np.nan, (above - ratio * below) / np.maximum(total, 1e-300))


def scenario_additions(name: str, terms: Sums, supported: npt.NDArray[np.bool_]) -> Array:
    """What each supported scenario (last axis) adds to the metric, to first order.

    For a mean that is the scenario's score / n, for F1s and other ratios its linearised form. The
    additions sum to the metric, so whatever holds for means of scenarios can be done with any
    metric; NaN where it is undefined.
    """
    value = evaluate([name], {term: values.sum(axis=-1) for term, values in terms.items()})[name]
    count = np.maximum(supported.sum(axis=-1), 1)
    return np.where(supported, (value / count)[..., None], 0.0) + influence(name, terms)


def supported_by_any(name: str, terms: Sums) -> npt.NDArray[np.bool_]:
    """The scenarios that say something on the metric for any contender, for all of them."""
    supported = support(name, terms)
    return np.broadcast_to(supported.any(axis=0), supported.shape)


def _evaluate(name: str, sums: Sums, known: dict[str, Array]) -> Array:
    if name not in known:
        formula = METRICS[name].formula
        if isinstance(formula, Mean):
            members = [_evaluate(member, sums, known) for member in formula.of]
            known[name] = _mean(members) if formula.needs_all else defined_mean(members)
        else:
            known[name] = _divide(formula, sums)
    return known[name]


def _divide(formula: Ratio, sums: Sums) -> Array:
    above, below = _combine(formula.numerator, sums), _combine(formula.denominator, sums)
    result: Array = np.full(below.shape, np.nan)
    if formula.defined_by:
        result[_combine(dict.fromkeys(formula.defined_by, 1.0), sums) > 0] = 0.0
    return np.divide(above, below, out=result, where=below > 0)


def _combine(factors: Mapping[str, float], sums: Sums) -> Array:
    return reduce(add, (factor * sums[term] for term, factor in factors.items()))


def defined_mean(members: Sequence[Array]) -> Array:
    """The mean of those members that are not NaN, element by element; NaN where all are."""
    mean = _mean(members)
    gaps = np.isnan(mean)
    if gaps.any():
        stacked = np.stack([member[gaps] for member in members])
        defined = (~np.isnan(stacked)).sum(axis=0)
        sums = np.nansum(stacked, axis=0)
        mean[gaps] = np.divide(sums, defined, out=np.full_like(sums, np.nan), where=defined > 0)
    return mean


def _mean(members: Sequence[Array]) -> Array:
    return reduce(add, members) / len(members)
