"""The headline metrics and their parts as data: ratios of additive sums, and means of ratios.

A part is a column of `scenario_scores` that may be summed over scenarios, so any weighting of
scenarios (a resample, a permutation, a leave-one-out) gives every metric at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
import numpy.typing as npt
import polars as pl

from orchbench_analytics.errors import SelectionError

Array = npt.NDArray[np.float64]
Sums = Mapping[str, Array]


@dataclass(frozen=True, slots=True)
class Ratio:
    """Sums of parts over sums of parts, each with its factor; undefined where nothing is below.

    `defined_by` names parts that make it defined (and 0, not undefined) with nothing below.
    """

    description: str
    numerator: Mapping[str, float]
    denominator: Mapping[str, float]
    defined_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of other metrics: of those that are defined, or of all or none."""

    description: str
    of: tuple[str, ...]
    needs_all: bool = False


def _file_mean(column: str, what: str) -> Ratio:
    return Ratio(
        f"{what}: mean over the files in which it is defined, 0 to 1; null where it is in none.",
        {f"{column}_sum": 1},
        {f"{column}_file_count": 1},
    )


_TP_REJECT, _FP_REJECT, _FN_REJECT = (
    f"{kind}_reject_count" for kind in ("true_positive", "false_positive", "false_negative")
)
_TP_CALL, _FP_CALL, _FN_CALL = (
    f"{kind}_call_count" for kind in ("true_positive", "false_positive", "false_negative")
)
_LABELS = "rejection_label_count"

METRICS: dict[str, Ratio | Mean] = {
    "average_score": Mean(
        "Mean of the defined among call_rejection_f1, function_call_f1 and workflow_similarity, "
        "0 to 1; null where none is.",
        ("call_rejection_f1", "function_call_f1", "workflow_similarity"),
    ),
    "call_rejection_f1": Mean(
        "Mean of the defined among reject_f1 and call_f1, 0 to 1; null where neither is.",
        ("reject_f1", "call_f1"),
    ),
    "function_call_f1": Mean(
        "Mean of name_f1, key_f1 and value_f1, 0 to 1; null where they are.",
        ("name_f1", "key_f1", "value_f1"),
        needs_all=True,
    ),
    "workflow_similarity": _file_mean("plan_similarity", "Likeness of plans, failed ones being 0"),
    "reject_f1": Ratio(
        "2 TP / (2 TP + FP + FN) of rejections, 0 to 1; null with neither labels nor predictions.",
        {_TP_REJECT: 2},
        {_TP_REJECT: 2, _FP_REJECT: 1, _FN_REJECT: 1},
        defined_by=(_LABELS, _TP_REJECT, _FP_REJECT),
    ),
    "reject_precision": Ratio(
        "TP / (TP + FP) of rejections, 0 to 1; null where nothing was rejected.",
        {_TP_REJECT: 1},
        {_TP_REJECT: 1, _FP_REJECT: 1},
    ),
    "reject_recall": Ratio(
        "TP / (TP + FN) of rejections, 0 to 1; null where no rejection was due.",
        {_TP_REJECT: 1},
        {_TP_REJECT: 1, _FN_REJECT: 1},
    ),
    "call_f1": Ratio(
        "2 TP / (2 TP + FP + FN) of calls, 0 to 1; null with neither labels nor predictions.",
        {_TP_CALL: 2},
        {_TP_CALL: 2, _FP_CALL: 1, _FN_CALL: 1},
    ),
    "call_precision": Ratio(
        "TP / (TP + FP) of calls, 0 to 1; null where nothing was called.",
        {_TP_CALL: 1},
        {_TP_CALL: 1, _FP_CALL: 1},
    ),
    "call_recall": Ratio(
        "TP / (TP + FN) of calls, 0 to 1; null where no call was due.",
        {_TP_CALL: 1},
        {_TP_CALL: 1, _FN_CALL: 1},
    ),
    "name_f1": _file_mean("name_f1", "F1 of tool names"),
    "key_f1": _file_mean("key_f1", "F1 of argument keys"),
    "value_f1": _file_mean("value_f1", "F1 of argument values"),
    "structure_similarity": _file_mean("structure_similarity", "Likeness of workflow graphs"),
    "component_similarity": _file_mean("component_similarity", "Likeness of step graphs"),
}
HEADLINE = ("average_score", "call_rejection_f1", "function_call_f1", "workflow_similarity")

# What the seed's result files call them, in lower case.
ALIASES = {
    "average": "average_score",
    "call rejection classification accuracy": "call_rejection_f1",
    "call rejection": "call_rejection_f1",
    "fc": "function_call_f1",
    "plan": "workflow_similarity",
    "plan_similarity": "workflow_similarity",
    "workflow_evaluation_with_failure": "workflow_similarity",
    "average_structural_ged": "structure_similarity",
    "average_component_ged": "component_similarity",
    "function_name_accuracy": "name_f1",
    "arguments_key_score": "key_f1",
    "arguments_value_score_not_count_rejection": "value_f1",
}

_FILE_MEANS = (
    "name_f1",
    "key_f1",
    "value_f1",
    "plan_similarity",
    "structure_similarity",
    "component_similarity",
)
_COUNTS = (_LABELS, _TP_REJECT, _FP_REJECT, _FN_REJECT, _TP_CALL, _FP_CALL, _FN_CALL)
SOURCE_COLUMNS = (*_COUNTS, *_FILE_MEANS)

# Every part, and how a row of `scenario_scores` gives it.
PARTS: dict[str, pl.Expr] = {
    **{name: pl.col(name) for name in _COUNTS},
    **{f"{name}_sum": pl.col(name).fill_null(0.0) for name in _FILE_MEANS},
    **{f"{name}_file_count": pl.col(name).is_not_null() for name in _FILE_MEANS},
}


def resolve_metric(name: str) -> str:
    """The metric of that name, or of the name the seed's files have for it."""
    wanted = name.strip().lower()
    if wanted in METRICS:
        return wanted
    if wanted in ALIASES:
        return ALIASES[wanted]
    close = get_close_matches(wanted, [*METRICS, *ALIASES], n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(METRICS)}"
    raise SelectionError(f"no metric named {name!r}; {hint}")


def resolve_metrics(names: Iterable[str]) -> tuple[str, ...]:
    """Each metric once, in the order given."""
    return tuple(dict.fromkeys(resolve_metric(name) for name in names))


def parts_of(names: Iterable[str]) -> tuple[str, ...]:
    """The parts that these metrics are made of."""
    needed: set[str] = set()
    for name in names:
        metric = METRICS[name]
        if isinstance(metric, Mean):
            needed.update(parts_of(metric.of))
        else:
            needed.update(metric.numerator, metric.denominator, metric.defined_by)
    return tuple(part for part in PARTS if part in needed)


def evaluate(names: Iterable[str], sums: Sums) -> dict[str, Array]:
    """The metrics of summed parts, element by element; undefined is NaN."""
    known: dict[str, Array] = {}
    return {name: _evaluate(name, sums, known) for name in names}


def support(name: str, parts: Sums) -> npt.NDArray[np.bool_]:
    """Where the metric has anything to go by: a scenario without support cannot move it."""
    metric = METRICS[name]
    if isinstance(metric, Mean):
        members = [support(part, parts) for part in metric.of]
    else:
        members = [parts[part] > 0 for part in {*metric.denominator, *metric.defined_by}]
    either: npt.NDArray[np.bool_] = np.logical_or.reduce(members)
    return either


def influence(name: str, parts: Sums) -> Array:
    """What each scenario (last axis) moves the metric by, to first order; adds up to zero.

    For a ratio (num_i - ratio x den_i) / sum(den), for a mean the mean over its defined metrics;
    NaN where the metric is undefined.
    """
    metric = METRICS[name]
    if isinstance(metric, Mean):
        members = [influence(part, parts) for part in metric.of]
        return _mean(members) if metric.needs_all else defined_mean(members)
    above, below = _combine(metric.numerator, parts), _combine(metric.denominator, parts)
    total = below.sum(axis=-1, keepdims=True)
    ratio = _evaluate(name, {p: v.sum(axis=-1, keepdims=True) for p, v in parts.items()}, {})
    return np.where(np.isnan(ratio), np.nan, (above - ratio * below) / np.maximum(total, 1e-300))


def _evaluate(name: str, sums: Sums, known: dict[str, Array]) -> Array:
    if name not in known:
        metric = METRICS[name]
        if isinstance(metric, Mean):
            members = [_evaluate(part, sums, known) for part in metric.of]
            known[name] = _mean(members) if metric.needs_all else defined_mean(members)
        else:
            known[name] = _divide(metric, sums)
    return known[name]


def _divide(metric: Ratio, sums: Sums) -> Array:
    above, below = _combine(metric.numerator, sums), _combine(metric.denominator, sums)
    if below.size and below.min() > 0:  # as a rule; it is quicker not to look at each
        return above / below
    result = np.full_like(below, np.nan)
    if metric.defined_by:
        result[_combine(dict.fromkeys(metric.defined_by, 1.0), sums) > 0] = 0.0
    return np.divide(above, below, out=result, where=below > 0)


def _combine(factors: Mapping[str, float], sums: Sums) -> Array:
    total: Array | None = None
    for part, factor in factors.items():
        term = sums[part] if factor == 1 else factor * sums[part]
        total = term if total is None else total + term
    assert total is not None
    return total


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
    total = members[0].copy()
    for member in members[1:]:
        total += member
    total /= len(members)
    return total
