"""A gate for checkpoints: may the candidate go on, or is it worse than the baseline allows?"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

import polars as pl

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import resolve_metric
from orchbench_analytics.stats.counts import MEAN_OF_LANGUAGES

_GATE = re.compile(r"\s*(?P<metric>[^<>=≥]+?)\s*(?P<operator>>=|≥|>)\s*(?P<bound>\S+)\s*")


class Gate(NamedTuple):
    """What the difference candidate - baseline of a metric has to be."""

    metric: str
    operator: Literal[">=", ">"]
    bound: float


class GateResult(NamedTuple):
    """Whether a gate holds; only `crossed`, the whole interval beyond the bound, is a failure."""

    gate: Gate
    outcome: Literal["held", "crossed", "not shown"]
    is_crossed: bool
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


def check_gate(
    comparison: pl.DataFrame, gate: str, *, language: str = MEAN_OF_LANGUAGES
) -> GateResult:
    """Whether a comparison of `compare` crosses a gate, with the confidence of its intervals.

    The gate is about candidate - baseline. It is crossed where even the upper end of the interval
    fails it, held where even the lower end meets it, and else not shown either way.
    """
    wanted = parse_gate(gate)
    rows = comparison.filter(
        pl.col("metric") == wanted.metric, pl.col("language") == language
    ).select("difference", "low", "high")
    if rows.height != 1:
        raise SelectionError(
            f"the gate {gate!r} needs one row with metric {wanted.metric} and language {language}; "
            f"the comparison has {rows.height}: compare two models, in that metric, under one "
            "profile"
        )
    difference, low, high = rows.row(0)
    outcome: Literal["held", "crossed", "not shown"] = "not shown"
    if high is not None and not _meets(high, wanted):
        outcome = "crossed"
    elif low is not None and _meets(low, wanted):
        outcome = "held"
    return GateResult(
        wanted,
        outcome,
        outcome == "crossed",
        difference,
        low,
        high,
        _message(wanted, outcome, difference, low, high),
    )


def _meets(value: float, gate: Gate) -> bool:
    return value > gate.bound if gate.operator == ">" else value >= gate.bound


def _message(
    gate: Gate, outcome: str, difference: float | None, low: float | None, high: float | None
) -> str:
    rule = f"{gate.metric} {gate.operator} {gate.bound:g}"
    if difference is None:
        return f"gate {rule} not shown: the difference is undefined"
    figure = f"candidate - baseline is {difference:+.4f}"
    if low is None or high is None:
        return f"gate {rule} not shown: {figure}, on too few scenarios for an interval"
    return f"gate {rule} {outcome}: {figure}, between {low:+.4f} and {high:+.4f}"
