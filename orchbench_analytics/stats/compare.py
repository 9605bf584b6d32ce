"""Which differences between models are real.

Throughout, a difference is candidate - baseline: above 0 the candidate is better. Pairs are
compared over the scenarios both have, in each language and over the mean of languages, by a paired
t test over clusters of scenarios (Student 1908, doi:10.1093/biomet/6.1.1). All rows of a comparison
are corrected together (`estimate`), and the verdict is what the corrected interval says: better or
worse if it leaves out 0.

A gate asks whether a checkpoint may go on, or is worse than its baseline allows. It is a test of
non-inferiority by an interval, whose lower end also allows for rare losses that the scenarios do
not show (Gaffke 2005; see `estimate`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import (
    HEADLINE,
    LABELS,
    MEAN_OF_LANGUAGES,
    METRICS,
    resolve_metric,
    resolve_metrics,
)
from orchbench_analytics.schema import frame
from orchbench_analytics.stats.estimate import (
    FIRST_WEIGHT,
    Corrected,
    Estimate,
    Family,
    anytime_level,
    anytime_p,
    check_level,
    chunks,
    detectable_difference,
    difference,
    difference_interval,
    difference_p,
    draws_for,
    estimate_block,
    guarded_low,
    has_no_spread,
    over_languages,
    sign_patterns,
)
from orchbench_analytics.stats.sweep import (
    ALONE,
    Array,
    Block,
    Contender,
    Indices,
    Sweep,
    common_pair,
    sweeps,
)
from orchbench_analytics.tables.statistics import COMPARISONS

Pair = tuple[str | Contender, str | Contender]
Outcome = Literal["held", "crossed", "undecided"]
_GATE = re.compile(r"\s*(?P<metric>[^<>=≥]+?)\s*(?P<operator>>=|≥|>)\s*(?P<bound>\S+)\s*")


class Contrast(NamedTuple):
    """One metric of many pairs: both values, the difference, and how many scenarios it rests on."""

    baseline_value: Array
    candidate_value: Array
    difference: Estimate
    scenario_count: Array


class _Rows(NamedTuple):
    """The pairs that one metric is compared for, in one language or over several."""

    metric: str
    language: str
    places: slice
    contrast: Contrast
    weight: float


def compare_models(
    scenario_scores: pl.DataFrame,
    baseline: str | Contender | None = None,
    candidate: str | Contender | None = None,
    *,
    metrics: Iterable[str] = (),
    by_language: bool = True,
    first_weight: float = FIRST_WEIGHT,
    is_sequential: bool = False,
    clusters: pl.DataFrame = ALONE,
    seed: int = 0,
    level: float = 0.95,
) -> pl.DataFrame:
    """Two models, everyone else against a baseline, or all pairs: the table COMPARISONS.

    Two models are compared in each language and over all of them, many over all only. The first
    metric's mean over languages is asked about first and weighs most in the correction. Sequential
    intervals and p hold at every look at a sweep that is still running; they are about 1.6 times
    as wide.
    """
    if baseline is None and candidate is not None:
        raise SelectionError("name a baseline to compare the candidate with")
    is_two = candidate is not None
    names = resolve_metrics(metrics) or (HEADLINE if is_two else HEADLINE[:1])
    found = []
    for sweep in sweeps(scenario_scores, names, clusters):
        if baseline is not None and candidate is not None:
            shared = common_pair(sweep, baseline, candidate)
            pairs = np.array([0]), np.array([1])
        else:
            shared, pairs = sweep, _pairs(sweep, baseline)
        if len(pairs[0]):
            found.append(
                compare_pairs(
                    shared,
                    *pairs,
                    names,
                    by_language=is_two and by_language,
                    first_weight=first_weight,
                    is_sequential=is_sequential,
                    seed=seed,
                    level=level,
                )
            )
    rows = frame(COMPARISONS, *found)
    return _mean_first(rows) if is_two else rows


def _mean_first(rows: pl.DataFrame) -> pl.DataFrame:
    """The headline metrics first, and of each the mean over languages before each language."""
    order = {name: place for place, name in enumerate(METRICS)}
    return rows.sort(
        "profile",
        pl.col("metric").replace_strict(order),
        pl.col("language") != MEAN_OF_LANGUAGES,
        "language",
    )


class Compared(NamedTuple):
    """The rows of a comparison, and the family that corrects them together."""

    family: Family
    parts: list[_Rows]
    level: float

    def first_level(self) -> float:
        """The level of the interval of the row that is asked about first."""
        weight = np.array([FIRST_WEIGHT])
        return float(self.family.levels(weight, level=self.level)[0])


def compared(
    sweep: Sweep,
    baseline: Indices,
    candidate: Indices,
    names: Sequence[str],
    *,
    by_language: bool,
    first_weight: float = FIRST_WEIGHT,
    draws: int | None = None,
    seed: int = 0,
    level: float = 0.95,
) -> Compared:
    """Pairs of contenders in some metrics, over all languages, and in each if asked for."""
    groups = _groups(sweep, by_language=by_language)
    check_level(level)
    draws = draws or draws_for(len(names) * len(groups) * len(baseline))
    signs = sign_patterns(sweep.clusters, draws=draws, seed=seed)
    found = Compared(Family(draws), [], level)
    for language, blocks in groups.items():
        for name in names:
            weight = _weight(name, language, names, groups, first_weight)
            for places, contrast in contrasts(blocks, baseline, candidate, name):
                moves, counts = contrast.difference.moves, contrast.difference.cluster_count
                found.family.add(
                    moves.astype(np.float32) @ signs,
                    (moves**2).sum(axis=1),
                    counts,
                    np.full(len(counts), weight),
                )
                found.parts.append(_Rows(name, language, places, contrast, weight))
    return found


def compare_pairs(
    sweep: Sweep,
    baseline: Indices,
    candidate: Indices,
    names: Sequence[str],
    *,
    by_language: bool,
    first_weight: float = FIRST_WEIGHT,
    is_sequential: bool = False,
    seed: int = 0,
    level: float = 0.95,
) -> pl.DataFrame:
    """Pairs of contenders in some metrics, corrected for all rows together."""
    found = compared(
        sweep,
        baseline,
        candidate,
        names,
        by_language=by_language,
        first_weight=first_weight,
        seed=seed,
        level=level,
    )
    correct = found.family.shared_out if is_sequential else found.family.corrected
    rows = []
    for part in found.parts:
        summary = part.contrast.difference.summary
        p_value = difference_p(summary)
        if is_sequential:
            p_value = anytime_p(p_value, summary.cluster_count)
        corrected = correct(p_value, np.full(len(p_value), part.weight), level=level)
        names_of_rows = _names(sweep, part, baseline[part.places], candidate[part.places])
        described = _described(part, p_value, corrected, level=level, is_sequential=is_sequential)
        rows.append(described.with_columns(names_of_rows))
    return pl.concat(rows)


def compare_each_pair(
    scenario_scores: pl.DataFrame,
    *,
    metrics: Iterable[str] = HEADLINE,
    clusters: pl.DataFrame = ALONE,
    seed: int = 0,
    level: float = 0.95,
) -> pl.DataFrame:
    """Every pair as if it alone had been asked about: the rows of `compare_models` for each.

    What belongs to a model, and the patterns of signs, are computed once for all pairs.
    """
    names = resolve_metrics(metrics)
    found = []
    for sweep in sweeps(scenario_scores, names, clusters):
        first, second = _pairs(sweep, None)
        if not len(first):
            continue
        groups = _groups(sweep, by_language=True)
        draws = draws_for(len(names) * len(groups))
        signs = sign_patterns(sweep.clusters, draws=draws, seed=seed)
        parts = [
            _Rows(name, language, places, contrast, _weight(name, language, names, groups))
            for language, blocks in groups.items()
            for name in names
            for places, contrast in contrasts(blocks, first, second, name, at_once=len(first))
        ]
        moves = np.stack([part.contrast.difference.moves for part in parts])  # row, pair, cluster
        counts = np.stack([part.contrast.difference.cluster_count for part in parts])
        asked = np.stack([difference_p(part.contrast.difference.summary) for part in parts])
        weights = np.array([part.weight for part in parts])
        p_values, levels = np.empty_like(asked), np.empty_like(asked)
        for pair in range(len(first)):
            own, there = moves[:, pair], ~np.isnan(asked[:, pair])
            family = Family(draws)
            family.add(
                own[there].astype(np.float32) @ signs,
                (own[there] ** 2).sum(axis=1),
                counts[there, pair],
                weights[there],
            )
            corrected = family.corrected(asked[:, pair], weights, level=level)
            p_values[:, pair], levels[:, pair] = corrected
        found += [
            _described(part, own_p, Corrected(*both), level=level)
            .with_columns(_names(sweep, part, first, second))
            .filter(pl.col("cluster_count") > 0)
            for part, own_p, *both in zip(parts, asked, p_values, levels, strict=True)
        ]
    return frame(COMPARISONS, *found)


def _groups(sweep: Sweep, *, by_language: bool) -> dict[str, Sequence[Block]]:
    """The languages that rows are about: all of them, and each if asked for."""
    groups: dict[str, Sequence[Block]] = (
        {MEAN_OF_LANGUAGES: sweep.blocks} if len(sweep.blocks) > 1 or not by_language else {}
    )
    return groups | ({b.language: [b] for b in sweep.blocks} if by_language else {})


def _weight(
    name: str,
    language: str,
    names: Sequence[str],
    groups: Iterable[str],
    first_weight: float = FIRST_WEIGHT,
) -> float:
    """The weight of a row: the first metric over all languages is asked about first."""
    return first_weight if (name, language) == (names[0], next(iter(groups))) else 1.0


def contrasts(
    blocks: Sequence[Block],
    baseline: Indices,
    candidate: Indices,
    name: str,
    *,
    at_once: int | None = None,
) -> Iterable[tuple[slice, Contrast]]:
    """A metric's mean over the languages, for each pair over the scenarios that both have.

    Pairs come in pieces of bounded size, or so many at once.
    """
    pieces = chunks(len(baseline), blocks[0].cluster_count)
    whole = [estimate_block(name, block) for block in blocks]
    for places in [slice(0, at_once)] if at_once else pieces:
        first, second = baseline[places], candidate[places]
        sides = [[e.take(first) for e in whole], [e.take(second) for e in whole]]
        # What was estimated for each alone holds for the pair only over the same scenarios.
        for number, block in enumerate(blocks):
            unlike = (block.present[first] != block.present[second]).any(axis=1)
            if unlike.any():
                common = (block.present[first] & block.present[second])[unlike]
                for side, who in enumerate((first, second)):
                    terms = {t: v[who[unlike]] * common for t, v in block.terms.items()}
                    own = estimate_block(name, block, terms)
                    sides[side][number] = sides[side][number].put(unlike, own)
        counts = [
            (one.supported | other.supported)[:, block.cluster_of]
            & block.present[first]
            & block.present[second]
            for block, one, other in zip(blocks, *sides, strict=True)
        ]
        is_defined = [~np.isnan(one.value + other.value) for one, other in zip(*sides, strict=True)]
        before, after = (
            over_languages(
                [
                    e._replace(value=np.where(d, e.value, np.nan))
                    for e, d in zip(side, is_defined, strict=True)
                ]
            )
            for side in sides
        )
        yield (
            places,
            Contrast(
                before.value,
                after.value,
                difference(after, before),
                np.add.reduce([c.sum(axis=1) * d for c, d in zip(counts, is_defined, strict=True)]),
            ),
        )


def _pairs(sweep: Sweep, baseline: str | Contender | None) -> tuple[Indices, Indices]:
    """All pairs of contenders, or all others against one."""
    if baseline is None:
        first, second = np.triu_indices(len(sweep.contenders), k=1)
        return first.astype(np.int64), second.astype(np.int64)
    own = sweep.find(baseline)
    others = np.array([n for n in range(len(sweep.contenders)) if n != own], dtype=np.int64)
    return np.full(len(others), own, dtype=np.int64), others


def _names(
    sweep: Sweep, rows: _Rows, baseline: Indices, candidate: Indices
) -> list[pl.Series | pl.Expr]:
    """The columns that say which pair, metric and language a row is about."""
    columns: list[pl.Series | pl.Expr] = [
        pl.lit(sweep.profile).alias("profile"),
        pl.lit(rows.metric).alias("metric"),
        pl.lit(rows.language).alias("language"),
    ]
    for role, places in (("baseline", baseline), ("candidate", candidate)):
        for position, part in enumerate(("model", "experiment")):
            values = [sweep.contenders[place][position] for place in places]
            columns.append(pl.Series(f"{role}_{part}", values))
    return columns


def _described(
    rows: _Rows,
    p_unadjusted: Array,
    corrected: Corrected,
    *,
    level: float,
    is_sequential: bool = False,
) -> pl.DataFrame:
    """The rows of a comparison, after all rows are known."""
    found = rows.contrast.difference.summary
    error, count = found.error, found.cluster_count
    levels, own_level = corrected.level, np.full(len(count), level)
    if is_sequential:
        levels, own_level = anytime_level(levels, count), anytime_level(level, count)
    alone = difference_interval(found, level=own_level)
    together = difference_interval(found, level=levels)
    is_too_little = np.isnan(p_unadjusted) | (2.0 ** (1 - count) > 1 - corrected.level)
    low, high = (np.where(is_too_little, np.nan, end) for end in together)
    spread = np.where(has_no_spread(error), np.nan, error * np.sqrt(count))
    return pl.DataFrame(
        {
            "verdict": np.select(
                [is_too_little, low > 0, high < 0],
                ["too little data", "better", "worse"],
                "no difference shown",
            ),
            "difference": found.value,
            "low": low,
            "high": high,
            "baseline_value": rows.contrast.baseline_value,
            "candidate_value": rows.contrast.candidate_value,
            "p_value": corrected.p_value,
            "scenario_count": rows.contrast.scenario_count,
            "cluster_count": count,
            "effect_size": found.value / spread,
            "detectable_difference": detectable_difference(found, level=levels),
            "standard_error": error,
            # A gate is held on one side only, so the whole of the allowed error may lie there.
            "low_guarded": guarded_low(found, level=1 - 2 * (1 - levels)),
            "low_unadjusted": alone.low,
            "high_unadjusted": alone.high,
            "p_unadjusted": p_unadjusted,
        }
    )


class Gate(NamedTuple):
    """What the difference candidate - baseline of a metric has to be."""

    metric: str
    operator: Literal[">=", ">"]
    bound: float


class GateResult(NamedTuple):
    """Whether a gate holds; it is undecided where the interval has the bound inside."""

    gate: Gate
    outcome: Outcome
    difference: float | None
    low: float | None
    high: float | None
    message: str


def parse_gate(text: str) -> Gate:
    """A gate such as `Plan >= -0.01`: the candidate's Plan may be lower by 0.01 at most."""
    match = _GATE.fullmatch(text)
    try:
        bound = float(match["bound"]) if match else float("nan")
    except ValueError:
        bound = float("nan")
    if match is None or not -1 <= bound <= 1:
        raise SelectionError(
            f"cannot read the gate {text!r}: expected a metric, >= or >, and a number from -1 to 1 "
            "for the difference candidate - baseline, such as 'Plan >= -0.01'"
        )
    operator: Literal[">=", ">"] = ">" if match["operator"] == ">" else ">="
    return Gate(resolve_metric(match["metric"]), operator, bound)


def check_gates(
    scenario_scores: pl.DataFrame,
    baseline: str | Contender,
    candidate: str | Contender,
    gates: Iterable[str],
    *,
    clusters: pl.DataFrame = ALONE,
    is_sequential: bool = False,
    seed: int = 0,
) -> list[GateResult]:
    """Whether two models cross gates, over all languages; the outcomes hold together."""
    asked = list(gates)
    found = compare_models(
        scenario_scores,
        baseline,
        candidate,
        metrics=[parse_gate(text).metric for text in asked],
        by_language=False,
        first_weight=1.0,
        is_sequential=is_sequential,
        clusters=clusters,
        seed=seed,
    )
    return [check_gate(found, text) for text in asked]


def check_gate(
    comparison: pl.DataFrame, gate: str, *, language: str = MEAN_OF_LANGUAGES
) -> GateResult:
    """Whether a comparison crosses a gate about candidate - baseline.

    It is crossed if even the upper end of the interval fails it. It is held if even the lower end
    meets it, and so does `low_guarded`, which allows for rare losses that these scenarios do not
    show. Otherwise it is undecided, as it is with too little data.
    """
    wanted = parse_gate(gate)
    rows = comparison.filter(pl.col("metric") == wanted.metric, pl.col("language") == language)
    if rows.height != 1:
        raise SelectionError(
            f"the gate {gate!r} needs one row with metric {wanted.metric} and language {language}; "
            f"the comparison has {rows.height}: compare two models, in that metric, under one "
            "profile"
        )
    row = rows.row(0, named=True)
    outcome = _outcome(wanted, row)
    return GateResult(
        wanted,
        outcome,
        row["difference"],
        row["low"],
        row["high"],
        _message(wanted, outcome, row),
    )


def _outcome(gate: Gate, row: dict[str, Any]) -> Outcome:
    if row["low"] is None or row["high"] is None:
        return "undecided"
    if not _meets(row["high"], gate):
        return "crossed"
    return "held" if _meets(min(row["low"], row["low_guarded"]), gate) else "undecided"


def _meets(value: float, gate: Gate) -> bool:
    return value > gate.bound if gate.operator == ">" else value >= gate.bound


def _message(gate: Gate, outcome: Outcome, row: dict[str, Any]) -> str:
    """The outcome in a sentence; the rule as it was typed, all figures in points."""
    difference, low, high = row["difference"], row["low"], row["high"]
    rule = f"{LABELS.get(gate.metric, gate.metric)} {gate.operator} {gate.bound:g}"
    if difference is None:
        return f"gate {rule} {outcome}: the difference is undefined"
    figure = f"candidate - baseline is {_points(difference)} points"
    if low is None or high is None:
        return f"gate {rule} {outcome}: {figure}, on too few scenarios for an interval"
    limits = f"between {_points(low)} and {_points(high)}, with {_points(gate.bound)} allowed"
    said = f"gate {rule} {outcome}: {figure}, {limits}"
    if outcome != "undecided":
        return said
    if _meets(low, gate):
        return (
            f"{said}; a rare loss that {row['scenario_count']} scenarios do not show could still "
            f"bring it down to {_points(row['low_guarded'])}"
        )
    unnoticed = f"{100 * row['detectable_difference']:.2f} points"
    return f"{said}; a drop smaller than {unnoticed} may have gone unnoticed"


def _points(difference: float) -> str:
    return f"{100 * difference:+.2f}"
