"""A figure with its uncertainty, for each of many contenders, by the jack-knife over clusters.

Leaving out a cluster of scenarios moves a metric; from these moves comes its standard error
(Tukey 1958; with few clusters the jack-knife is the safest of the cluster-robust errors,
MacKinnon, Nielsen and Webb 2023, doi:10.1016/j.jeconom.2022.04.001). A metric is a ratio of sums
or a mean of such ratios, and so are the mean over languages, the difference of two models and the
gap between languages: their moves are means and differences of moves, cluster by cluster. That is
all it takes to respect that a scenario and its translation go together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from math import fsum
from operator import add
from typing import NamedTuple

import numpy as np

from orchbench_analytics.metrics import HEADLINE, METRICS, Mean, Ratio
from orchbench_analytics.stats.sweep import Array, Block, Flags, Indices

Sums = Mapping[str, Array]
_ZERO_IF_UNDEFINED = ("reject_f1", "call_f1")  # by the rule `undefined`, as in model_scores.sql
_NOTHING = 1e-9  # what is left of a sum after all of it was subtracted


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
    mean = _plain_mean(members)
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
            known[name] = _plain_mean(members) if formula.needs_all else defined_mean(members)
        else:
            known[name] = divide(formula, sums)
    return known[name]


def _combine(factors: Mapping[str, float], sums: Sums) -> Array:
    return reduce(add, (factor * sums[term] for term, factor in factors.items()))


def _plain_mean(members: Sequence[Array]) -> Array:
    return reduce(add, members) / len(members)


class Summary(NamedTuple):
    """Values with their standard errors, and what they rest on; NaN where there is nothing to say.

    `cluster_count` is how many clusters have anything to say about the value. `even_count` is how
    many of equal weight it rests on: of a mean of several figures, the harmonic mean of theirs.
    `effective_count` is how many carry it (Kish 1965): all alike n, one alone 1, none 0.
    """

    value: Array
    error: Array
    cluster_count: Array
    even_count: Array
    effective_count: Array


class Estimate(NamedTuple):
    """The values of contenders, and how far each cluster moves them (contender by cluster).

    `supported` says which clusters have anything to say about the value.
    """

    value: Array
    moves: Array
    supported: Flags
    even_count: Array

    @property
    def cluster_count(self) -> Array:
        """The number of clusters that have anything to say about the value."""
        count: Array = self.supported.sum(axis=1).astype(np.float64)
        return count

    @property
    def additions(self) -> Array:
        """What each cluster adds to the value: its move, and its even share of the whole."""
        share = np.nan_to_num(self.value / np.maximum(self.cluster_count, 1))
        return np.nan_to_num(self.moves) + np.where(self.supported, share[:, None], 0.0)

    @property
    def summary(self) -> Summary:
        """The values with their standard errors, and what they rest on."""
        additions = self.additions
        sums, squares = np.abs(additions).sum(axis=1), (additions**2).sum(axis=1)
        return Summary(
            self.value,
            standard_error((self.moves**2).sum(axis=1), self.cluster_count),
            self.cluster_count,
            self.even_count,
            effective_count(sums, squares),
        )

    def take(self, places: slice | Indices | Flags) -> Estimate:
        """The estimates of some contenders."""
        return Estimate(
            self.value[places], self.moves[places], self.supported[places], self.even_count[places]
        )

    def put(self, places: Flags, others: Estimate) -> Estimate:
        """These estimates, with others in some places."""
        where = np.flatnonzero(places)
        value, moves, supported, even_count = (field.copy() for field in self)
        value[where], moves[where] = others.value, others.moves
        supported[where], even_count[where] = others.supported, others.even_count
        return Estimate(value, moves, supported, even_count)  # type: ignore[arg-type]


def standard_error(squares: Array, count: Array) -> Array:
    """sqrt(n / (n - 1) x sum of squared moves); NaN with fewer than two clusters."""
    factor = np.divide(count, count - 1, out=np.full_like(count, np.nan), where=count > 1)
    error: Array = np.sqrt(factor * squares)
    return error


def effective_count(sums: Array, squares: Array) -> Array:
    """(sum of |additions|)² / sum of squared additions: how many clusters carry a value."""
    return np.divide(sums**2, squares, out=np.zeros_like(squares), where=squares > 0)


def estimate(name: str, blocks: Sequence[Block]) -> Estimate:
    """A metric of every contender: its mean over the languages in which it is defined."""
    return over_languages([estimate_block(name, b) for b in blocks])


def estimate_block(name: str, block: Block, terms: Sums | None = None) -> Estimate:
    """A metric in one language, of its terms by contender and scenario, or of other terms.

    The value of its own terms is that of `model_scores`, rounded where the profile does so.
    """
    asked = {term for ratio in _ratios(name) for term in _terms(ratio)}
    by_scenario = terms or block.terms
    found = estimate_clusters(name, {term: _by_cluster(by_scenario[term], block) for term in asked})
    if terms is not None or (block.rounding == "none" and block.undefined == "null"):
        return found
    sums = {term: np.array([fsum(row) for row in block.terms[term].tolist()]) for term in asked}
    return found._replace(value=_by_the_rules(name, sums, block))


def _by_the_rules(name: str, sums: Sums, block: Block) -> Array:
    """A metric of summed terms, rounded and with an undefined F1 as the profile has it."""
    formula = METRICS[name].formula
    if isinstance(formula, Mean):
        members = [_by_the_rules(member, sums, block) for member in formula.of]
        value = _plain_mean(members) if formula.needs_all else defined_mean(members)
    else:
        value = divide(formula, sums)
    if name in _ZERO_IF_UNDEFINED and block.undefined == "zero":
        value = np.nan_to_num(value)
    if name in HEADLINE and block.rounding == "four_digits":
        value = np.array([round(figure, 4) for figure in value.tolist()])
    return value


def _by_cluster(values: Array, block: Block) -> Array:
    """Values by contender and scenario, added up by cluster."""
    order = np.argsort(block.cluster_of, kind="stable")
    there, starts = np.unique(block.cluster_of[order], return_index=True)
    sums = np.zeros((len(values), block.cluster_count))
    sums[:, there] = np.add.reduceat(values[:, order], starts, axis=1)
    return sums


def estimate_clusters(name: str, by_cluster: Sums) -> Estimate:
    """A metric in one language, of terms by contender and cluster."""
    formula = METRICS[name].formula
    if isinstance(formula, Mean):
        members = [estimate_clusters(member, by_cluster) for member in formula.of]
        return _mean(members, needs_all=formula.needs_all)
    terms = _terms(formula)
    totals = {term: by_cluster[term].sum(axis=1, keepdims=True) for term in terms}
    value = divide(formula, totals)
    rest = {term: totals[term] - by_cluster[term] for term in terms}
    without = divide(formula, {t: np.where(v < _NOTHING, 0.0, v) for t, v in rest.items()})
    supported = support(name, by_cluster)
    count = supported.sum(axis=1).astype(np.float64)
    # Where nothing else is left the metric is undefined: its one cluster cannot be said to move it.
    moves = np.where(supported & ~np.isnan(without), value - without, 0.0)
    moves *= ((count - 1) / np.maximum(count, 1))[:, None]
    mean = moves.sum(axis=1) / np.maximum(count, 1)
    # A wrong prediction shows that a metric is not 1; what it is, only labels of its kind show.
    labelled = by_cluster[formula.defined_by[0]] > 0 if formula.defined_by else supported
    even_count = labelled.sum(axis=1).astype(np.float64)
    return Estimate(
        value[:, 0], np.where(supported, moves - mean[:, None], 0.0), supported, even_count
    )


def _mean(estimates: Sequence[Estimate], *, needs_all: bool = False) -> Estimate:
    """The mean of figures about the same contenders, of those that are defined."""
    value = np.stack([estimate.value for estimate in estimates])
    is_defined = ~np.isnan(value)
    if needs_all:
        is_defined &= is_defined.all(axis=0)
    count = is_defined.sum(axis=0)
    share = is_defined / np.maximum(count, 1)
    inverse = [1 / np.maximum(estimate.even_count, 1) for estimate in estimates]
    even = 1 / np.maximum((share * np.stack(inverse)).sum(axis=0), 1e-300)
    return Estimate(
        np.where(count > 0, (share * np.nan_to_num(value)).sum(axis=0), np.nan),
        np.add.reduce([s[:, None] * e.moves for s, e in zip(share, estimates, strict=True)]),
        np.logical_or.reduce(
            [d[:, None] & e.supported for d, e in zip(is_defined, estimates, strict=True)]
        ),
        np.where(count > 0, even, 0.0),
    )


def over_languages(estimates: Sequence[Estimate]) -> Estimate:
    """The mean over languages; what rests on other clusters in each language rests on more."""
    mean = _mean(estimates)
    counts = np.stack([estimate.cluster_count for estimate in estimates])
    languages = np.maximum((counts > 0).sum(axis=0), 1)
    more = mean.cluster_count * languages / np.maximum(counts.sum(axis=0), 1)
    return mean._replace(even_count=mean.even_count * more)


def difference(candidate: Estimate, baseline: Estimate) -> Estimate:
    """Candidate - baseline, cluster by cluster."""
    return Estimate(
        candidate.value - baseline.value,
        candidate.moves - baseline.moves,
        candidate.supported | baseline.supported,
        np.minimum(candidate.even_count, baseline.even_count),
    )


def _ratios(name: str) -> list[Ratio]:
    """The ratios that a metric is made of."""
    formula = METRICS[name].formula
    if isinstance(formula, Ratio):
        return [formula]
    return [ratio for member in formula.of for ratio in _ratios(member)]


def _terms(ratio: Ratio) -> set[str]:
    return {*ratio.numerator, *ratio.denominator, *ratio.defined_by}
