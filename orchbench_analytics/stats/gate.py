"""A gate for checkpoints: may the candidate go on, or is it worse than the baseline allows?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import polars as pl

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import LABELS, MEAN_OF_LANGUAGES, resolve_metric

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


def gate_level(gates: Sequence[str], *, level: float = 0.95) -> float:
    """The level at which to compare, for the outcomes of all gates to hold together."""
    return 1 - (1 - level) / max(1, len({parse_gate(gate) for gate in gates}))


def check_gate(
    comparison: pl.DataFrame,
    gate: str,
    *,
    language: str = MEAN_OF_LANGUAGES,
    level: float = 0.95,
) -> GateResult:
    """Whether a comparison of `compare`, made at this level, crosses a gate.

    The gate is about candidate - baseline. It is crossed where even the upper end of the interval
    fails it, held where even the lower end meets it, and else undecided; so it is on so few
    scenarios that no difference could have been significant. Of several gates, compare at
    `gate_level`.
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
    outcome = _outcome(wanted, row, alpha=1 - level)
    return GateResult(
        wanted,
        outcome,
        row["difference"],
        row["low"],
        row["high"],
        _message(wanted, outcome, row),
    )


def _outcome(gate: Gate, row: dict[str, Any], *, alpha: float) -> Outcome:
    low, high, count = row["low"], row["high"], row.get("scenario_count")
    if low is None or high is None or (count is not None and 2.0 ** (1 - count) > alpha):
        return "undecided"
    if not _meets(high, gate):
        return "crossed"
    return "held" if _meets(low, gate) else "undecided"


def _meets(value: float, gate: Gate) -> bool:
    return value > gate.bound if gate.operator == ">" else value >= gate.bound


def _message(gate: Gate, outcome: Outcome, row: dict[str, Any]) -> str:
    difference, low, high = row["difference"], row["low"], row["high"]
    rule = f"{LABELS.get(gate.metric, gate.metric)} {gate.operator} {gate.bound:g}"
    if difference is None:
        return f"gate {rule} {outcome}: the difference is undefined"
    figure = f"candidate - baseline is {difference:+.4f}"
    if low is None or high is None:
        return f"gate {rule} {outcome}: {figure}, on too few scenarios for an interval"
    said = f"gate {rule} {outcome}: {figure}, between {low:+.4f} and {high:+.4f}"
    detectable = row.get("detectable_difference")
    if outcome != "undecided" or detectable is None:
        return said
    if detectable >= 1:
        return f"{said}; on {row['scenario_count']} scenarios any drop could have been missed"
    return f"{said}; only a drop by {detectable:.4f} or more could not have been missed"
