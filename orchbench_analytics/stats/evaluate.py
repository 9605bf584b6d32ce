"""Metrics as numpy arrays: their values, and which scenarios say something about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import add

import numpy as np
import numpy.typing as npt

from orchbench_analytics.metrics import METRICS, Mean, Ratio

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Sums = Mapping[str, Array]


def evaluate(names: Iterable[str], sums: Sums) -> dict[str, Array]:
    """The metrics of summed terms, element by element; undefined is NaN."""
    known: dict[str, Array] = {}
    return {name: _evaluate(name, sums, known) for name in names}


def support(name: str, terms: Sums) -> Flags:
    """Where the metric has anything to go by: a scenario without support cannot move it."""
    formula = METRICS[name].formula
    if isinstance(formula, Mean):
        members = [support(member, terms) for member in formula.of]
    else:
        members = [terms[term] > 0 for term in {*formula.denominator, *formula.defined_by}]
    either: Flags = np.logical_or.reduce(members)
    return either


def divide(formula: Ratio, sums: Sums) -> Array:
    """The ratio of summed terms, element by element; undefined is NaN."""
    above, below = _combine(formula.numerator, sums), _combine(formula.denominator, sums)
    result: Array = np.full(below.shape, np.nan)
    if formula.defined_by:
        result[_combine(dict.fromkeys(formula.defined_by, 1.0), sums) > 0] = 0.0
    return np.divide(above, below, out=result, where=below > 0)


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


def _evaluate(name: str, sums: Sums, known: dict[str, Array]) -> Array:
    if name not in known:
        formula = METRICS[name].formula
        if isinstance(formula, Mean):
            members = [_evaluate(member, sums, known) for member in formula.of]
            known[name] = _mean(members) if formula.needs_all else defined_mean(members)
        else:
            known[name] = divide(formula, sums)
    return known[name]


def _combine(factors: Mapping[str, float], sums: Sums) -> Array:
    return reduce(add, (factor * sums[term] for term, factor in factors.items()))


def _mean(members: Sequence[Array]) -> Array:
    return reduce(add, members) / len(members)
