"""A gate for checkpoints: may the candidate go on, or is it worse than the baseline allows?

It is a test of non-inferiority by an interval, whose lower end also allows for rare losses that the
scenarios do not show (Gaffke 2005; see `limits`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import polars as pl

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import LABELS, MEAN_OF_LANGUAGES, resolve_metric
from orchbench_analytics.stats.compare import compare_models
from orchbench_analytics.stats.sweep import ALONE, Contender

Outcome = Literal["held", "crossed", "undecided"]
_GATE = re.compile(r"\s*(?P<metric>[^<>=≥]+?)\s*(?P<operator>>=|≥|>)\s*(?P<bound>\S+)\s*")


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
