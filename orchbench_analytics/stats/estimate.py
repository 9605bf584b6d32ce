"""A figure with its uncertainty, for each of many contenders, by the jack-knife over clusters.

Leaving out a cluster of scenarios moves a metric; from these moves comes its standard error
(Tukey 1958; with few clusters the jack-knife is the safest of the cluster-robust errors,
MacKinnon, Nielsen and Webb 2023, doi:10.1016/j.jeconom.2022.04.001). A metric is a ratio of sums
or a mean of such ratios, and so are the mean over languages, the difference of two models and the
gap between languages: their moves are means and differences of moves, cluster by cluster. That is
all it takes to respect that a scenario and its translation go together.

Intervals are of scores from 0 to 1, or of differences from -1 to 1. A score gets Gaffke's limits,
which need no assumption about how scores are distributed: to the scores that were seen one more is
added, the worst possible for the lower end and the best possible for the upper one, and the mean of
all under random weights (uniform on the simplex) has the limits as its quantiles (Gaffke 2005;
Learned-Miller and Thomas 2020, arXiv:1905.06208). Of right and wrong answers these are the limits
of Clopper and Pearson (1934). Here the quantiles are those of the beta distribution with the same
mean and variance.

A difference gets Student's t, with as many degrees of freedom as there are clusters that carry it
(Kish 1965), less one. Where all clusters say the same there is no spread to go by, and it gets
Gaffke's limits.

Many differences are tested together: the greatest of them under chance sets the bar for each. If
models do not differ, each cluster may as well move a difference the other way: one pattern of
signs for all rows at once, which keeps how they depend on each other. Under every pattern each row
has a p of its own; the least of them over all rows has a distribution, and a row's corrected p is
the share of it that is as small (Westfall and Young 1993, the single-step min-p). Every interval
reaches as far as that bar, so all of them hold together, and an interval leaves out 0 exactly if
its corrected p is small enough.

Rows may weigh unequally (Westfall, Krishen and Young 1998): the p of the row that is asked about
first is divided by a greater weight, so it keeps most of the allowed error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from math import fsum
from operator import add
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import HEADLINE, METRICS, Mean, Ratio
from orchbench_analytics.stats.sweep import Array, Block, Flags, Indices

Sums = Mapping[str, Array]
_ZERO_IF_UNDEFINED = ("reject_f1", "call_f1")  # by the rule `undefined`, as in model_scores.sql
_NOTHING = 1e-9  # what is left of a sum after all of it was subtracted
_NO_SPREAD = 1e-12  # sums were added up in another order
_CACHED = 50_000  # numbers in an array: 0.4 MB
_NEARLY = 1e-9  # quantiles are not exact to the last digit
# Where an interval that holds at every look is narrowest: at about 200 clusters, as many as the
# benchmark has. rho² = (-2 log a + log(1 - 2 log a)) / 200 with a = 0.05.
_MIXING = (2 * np.log(20) + np.log1p(2 * np.log(20))) / 200
Signs = npt.NDArray[np.float32]
FIRST_WEIGHT = 4.0  # of the row asked about first; all others weigh 1
_MANY_ROWS, _VERY_MANY_ROWS = 1_000, 100_000


# The figures, their moves and their errors


def chunks(count: int, width: int, *, elements: int = 2_000_000) -> Sequence[slice]:
    """Slices of `count` rows, each with a bounded number of elements at `width` a row."""
    step = max(1, elements // max(1, width))
    return [slice(start, start + step) for start in range(0, count, step)]


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
    """Values by contender and scenario, added up by cluster; few have a second scenario here."""
    clusters, firsts = np.unique(block.cluster_of, return_index=True)
    sums = np.zeros((len(values), block.cluster_count))
    sums[:, clusters] = values[:, firsts]
    for place in np.delete(np.arange(len(block.cluster_of)), firsts):
        sums[:, block.cluster_of[place]] += values[:, place]
    return sums


def estimate_clusters(name: str, by_cluster: Sums) -> Estimate:
    """A metric in one language, of terms by contender and cluster."""
    height, width = next(iter(by_cluster.values())).shape
    # Arrays that stay in the cache of a core take half of the time.
    pieces = chunks(height, width, elements=_CACHED) or [slice(0)]
    found = [
        _estimate_clusters(name, {t: values[rows] for t, values in by_cluster.items()})
        for rows in pieces
    ]
    value, moves, supported, even_count = map(np.concatenate, zip(*found, strict=True))
    return Estimate(value, moves, supported, even_count)


def _estimate_clusters(name: str, by_cluster: Sums) -> Estimate:
    formula = METRICS[name].formula
    if isinstance(formula, Mean):
        members = [_estimate_clusters(member, by_cluster) for member in formula.of]
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


# The ends of intervals


class Interval(NamedTuple):
    """Both ends of an interval; NaN where there is none."""

    low: Array
    high: Array


def check_level(level: float) -> None:
    """Refuse a level that is not a share."""
    if not 0 < level < 1:
        raise SelectionError(f"level is {level}; choose one between 0 and 1, such as 0.95")


def student_quantile(probability: float | Array, degrees: Array) -> Array:
    """The quantile of Student's t; NaN below one degree of freedom."""
    known = np.where(degrees >= 1, degrees, np.nan)
    return np.asarray(special.stdtrit(known, probability), dtype=np.float64)


def score_interval(found: Summary, *, level: float) -> Interval:
    """The interval of a score from 0 to 1; NaN with fewer than two clusters."""
    check_level(level)
    return bounded_interval(found.value, found.error, found.even_count, level=level)


def bounded_interval(value: Array, error: Array, count: Array, *, level: float | Array) -> Interval:
    """Gaffke's limits of a mean from 0 to 1 of `count` scores with this standard error.

    If all scores are 1 they are [tail^(1/n), 1] with the tail (1 - level) / 2.
    """
    tail = (1 - np.asarray(level)) / 2
    is_known = (count > 1) & ~np.isnan(error)
    low = _gaffke(value, error, np.maximum(count, 2), 0.0, tail)
    high = _gaffke(value, error, np.maximum(count, 2), 1.0, 1 - tail)
    return Interval(
        np.where(is_known, np.minimum(low, value), np.nan),
        np.where(is_known, np.maximum(high, value), np.nan),
    )


def guarded_low(found: Summary, *, level: float | Array) -> Array:
    """The lower end for a difference that also holds for rare losses that were not seen.

    Gaffke's limit from -1 to 1, or that of as many equal differences, which is known exactly and
    reaches further where there is little spread.
    """
    shifted = (found.value + 1) / 2
    low = bounded_interval(shifted, found.error / 2, found.even_count, level=level).low
    return 2 * np.minimum(low, _least_alike(found.even_count, level) * shifted) - 1


def difference_interval(found: Summary, *, level: float | Array) -> Interval:
    """The interval of a difference from -1 to 1; NaN with fewer than two clusters."""
    value, error, degrees = found.value, found.error, degrees_of(found)
    reach = student_quantile(0.5 + np.asarray(level) / 2, degrees) * error
    alike = _least_alike(found.even_count, level)
    is_flat = has_no_spread(error)
    low = np.where(is_flat, alike * value - (1 - alike), value - reach)
    high = np.where(is_flat, alike * value + (1 - alike), value + reach)
    return Interval(np.maximum(low, -1.0), np.minimum(high, 1.0))


def is_surely_different(found: Summary, *, level: float) -> Flags:
    """Whether the interval of a difference leaves out 0.

    Quantiles of Student's t fall as degrees of freedom grow. So those of the whole numbers below
    and above tell of nearly every difference, and few need a quantile of their own.
    """
    degrees, size = degrees_of(found), np.abs(found.value)
    whole = np.nan_to_num(degrees, nan=1.0).astype(np.int64)  # at least 1
    quantiles = student_quantile(0.5 + level / 2, np.arange(whole.max() + 2.0))
    is_different = size > quantiles[whole] * found.error * (1 + _NEARLY)
    is_open = ~is_different & ~(size < quantiles[whole + 1] * found.error * (1 - _NEARLY))
    asked = is_open | has_no_spread(found.error)
    interval = difference_interval(Summary(*(field[asked] for field in found)), level=level)
    is_different[asked] = (interval.low > 0) | (interval.high < 0)
    return is_different


def difference_p(found: Summary) -> Array:
    """The level at which the interval of a difference begins to hold 0, two-sided.

    At least 2 / 2^n, as in a test of signs: n clusters cannot be surer. NaN where undefined.
    """
    error, count = found.error, found.cluster_count
    size = np.divide(
        np.abs(found.value), error, out=np.zeros_like(error), where=~has_no_spread(error)
    )
    student = 2 * special.stdtr(degrees_of(found), -size)
    flat = np.minimum(2 * (1 + np.abs(found.value)) ** -np.maximum(found.even_count, 1), 1.0)
    p_value = np.where(has_no_spread(error), flat, student)
    least = np.minimum(2.0 ** (1 - count), 1.0)
    return np.where(np.isnan(found.value) | (count < 2), np.nan, np.maximum(p_value, least))


def anytime_p(p_value: Array, count: Array) -> Array:
    """A p that may be looked at again and again while scenarios come in, from one that may not.

    The mixture of Robbins (1970) for `count` clusters, as an asymptotic confidence sequence
    (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2024, doi:10.1214/24-AOS2408).
    """
    size = -special.ndtri(np.maximum(p_value, 1e-300) / 2)
    scaled = np.maximum(count, 1) * _MIXING
    evidence = size**2 * scaled / (scaled + 1) - np.log1p(scaled)
    return np.where(np.isnan(p_value), np.nan, np.minimum(np.exp(-evidence / 2), 1.0))


def anytime_level(level: float | Array, count: Array) -> Array:
    """The level of a single look whose interval holds at every look with the given level."""
    scaled = np.maximum(count, 1) * _MIXING
    bar = (2 * np.log(1 / (1 - np.asarray(level))) + np.log1p(scaled)) * (scaled + 1) / scaled
    return np.asarray(1 - 2 * special.ndtr(-np.sqrt(bar)), dtype=np.float64)


def detectable_difference(found: Summary, *, level: float | Array, power: float = 0.8) -> Array:
    """The smallest true difference whose interval leaves out 0 with this power, at most 1."""
    error = found.error
    interval = difference_interval(found, level=level)
    reach = student_quantile(0.5 + np.asarray(level) / 2, degrees_of(found)) * error
    half = np.where(has_no_spread(error), (interval.high - interval.low) / 2, reach)
    return np.minimum(half + student_quantile(power, degrees_of(found)) * error, 1.0)


def degrees_of(found: Summary) -> Array:
    """The clusters that carry a difference, less one; at least 1, NaN with fewer than two."""
    degrees = np.maximum(found.effective_count - 1, 1.0)
    return np.where(found.cluster_count > 1, degrees, np.nan)


def has_no_spread(error: Array) -> Flags:
    """Where all clusters say the same."""
    return error < _NO_SPREAD


def _gaffke(value: Array, error: Array, count: Array, added: float, tail: Array) -> Array:
    """A quantile of the mean of `count` scores and an added one, under random weights."""
    mean = (count * value + added) / (count + 1)
    squares = count * (count - 1) * error**2 + count * (value - mean) ** 2 + (added - mean) ** 2
    variance = squares / ((count + 1) * (count + 2))
    is_certain = (mean < 1e-12) | (mean > 1 - 1e-12) | (variance < 1e-24)
    inner = np.where(is_certain, 0.5, mean)
    weight = inner * (1 - inner) / np.where(is_certain, 0.1, variance) - 1
    quantile = special.betaincinv(inner * weight, (1 - inner) * weight, tail)
    return np.where(is_certain, mean, quantile)


def _least_alike(count: Array, level: float | Array) -> Array:
    """The exact lower limit of the share of equal scores when all of `count` are equal."""
    return ((1 - np.asarray(level)) / 2) ** (1 / np.maximum(count, 1.0))


# Many differences corrected together


class Corrected(NamedTuple):
    """The p-values of rows corrected for all of them, and the level of each row's interval."""

    p_value: Array
    level: Array


def sign_patterns(clusters: tuple[str, ...], *, draws: int, seed: int) -> Signs:
    """Cluster by draw, 1 or -1: a cluster has the same signs whatever else is compared."""
    if draws < 100:
        raise SelectionError(f"draws is {draws}; choose at least 100")
    signs = np.empty((len(clusters), draws), dtype=np.float32)
    for place, name in enumerate(clusters):
        generator = np.random.default_rng([seed, *name.encode("utf-8", "surrogatepass")])
        signs[place] = generator.integers(0, 2, draws)
    signs *= 2
    signs -= 1
    return signs


def draws_for(row_count: int) -> int:
    """How many patterns of signs: the 5 % quantile of so many is steady to two digits."""
    return 10_000 if row_count <= _MANY_ROWS else 2_000 if row_count <= _VERY_MANY_ROWS else 500


class Family:
    """Rows that are corrected together; they come in pieces, so that memory stays bounded."""

    def __init__(self, draws: int) -> None:
        self.draws = draws
        self.row_count = 0
        self.weight = 0.0
        # Under each pattern the greatest statistic of rows with the same count and weight.
        self._greatest: dict[tuple[float, float], Array] = {}
        self._least: Array | None = None

    def add(self, sums: Signs, squares: Array, counts: Array, weights: Array) -> None:
        """Rows with their sums of signed moves (row by draw) and of squared moves.

        A row's statistic is Student's t of its moves with `counts` - 1 degrees of freedom. Rows
        without any move stay at 0 under every pattern, and count no further. The sums are
        overwritten: there may be a quarter of a billion.
        """
        is_moved = (squares > 1e-24) & (counts > 1)
        self.row_count += len(squares)
        self.weight += float(weights.sum())
        root = np.sqrt(np.where(is_moved, squares, np.inf)).astype(sums.dtype)
        kinds = {*zip(counts[is_moved].tolist(), weights[is_moved].tolist(), strict=True)}
        for count, weight in kinds:
            is_own = (counts == count) & (weights == weight)
            own = slice(None) if len(kinds) == 1 else is_own  # no copy of many rows
            scaled = sums[own]
            scaled /= root[own, None]
            size = np.abs(scaled, out=scaled).max(axis=0).astype(np.float64)
            known = self._greatest.get((count, weight), size)
            self._greatest[count, weight] = np.maximum(known, size)
        self._least = None

    def least(self) -> Array:
        """The least weighted p of any row under each pattern, in ascending order."""
        if self._least is None:
            least = np.full(self.draws, np.inf)
            for (count, weight), size in self._greatest.items():
                np.minimum(least, _p_of(size, count) / weight, out=least)
            self._least = np.sort(least)
        return self._least

    def corrected(self, p_unadjusted: Array, weights: Array, *, level: float) -> Corrected:
        """The corrected p and level of every row; of a single row, its own."""
        levels = self.levels(weights, level=level)
        if self.row_count <= 1:
            return Corrected(p_unadjusted, levels)
        asked = p_unadjusted / weights
        below = np.searchsorted(self.least(), asked, side="right")
        shares = np.where(np.isnan(asked), np.nan, (below + 1) / (self.draws + 1))
        return Corrected(np.maximum(shares, p_unadjusted), levels)

    def levels(self, weights: Array, *, level: float) -> Array:
        """The level of each row's interval, with which all of them hold together."""
        if self.row_count <= 1:
            return np.full(len(weights), level)
        place = int(np.floor((1 - level) * (self.draws + 1) + 1e-9)) - 1
        bar = self.least()[place] if place >= 0 else 0.0
        levels: Array = np.maximum(level, 1 - np.minimum(weights * bar, 1.0))
        return levels

    def shared_out(self, p_unadjusted: Array, weights: Array, *, level: float) -> Corrected:
        """As `corrected`, without a distribution: each row has its share of the allowed error.

        Bonferroni's correction, for p that hold at every look: patterns of signs tell of one only.
        """
        share = weights / self.weight
        return Corrected(np.minimum(p_unadjusted / share, 1.0), 1 - (1 - level) * share)


def _p_of(size: Array, count: float) -> Array:
    """The two-sided p of |sum| / sqrt(sum of squares) of n signed moves, as Student's t."""
    rest = np.maximum(count - size**2, 1e-9)
    t = size * np.sqrt(max(count - 1, 1) / rest)
    return np.asarray(2 * special.stdtr(max(count - 1.0, 1.0), -t), dtype=np.float64)
