from __future__ import annotations

import polars as pl
import pytest

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.stats.compare import Gate, check_gate, check_gates, parse_gate


def comparison(low: float | None, high: float | None) -> pl.DataFrame:
    difference = None if low is None or high is None else (low + high) / 2
    return pl.DataFrame(
        {
            "metric": ["workflow_similarity", "workflow_similarity"],
            "language": ["mean", "KO"],
            "difference": [difference, -0.5],
            "low": [low, -0.6],
            "high": [high, -0.4],
            "low_guarded": [low, -0.6],
            "detectable_difference": [0.06, 0.06],
            "scenario_count": [24, 12],
        },
        schema_overrides=dict.fromkeys(("difference", "low", "high", "low_guarded"), pl.Float64),
    )


@pytest.mark.parametrize(
    ("text", "gate"),
    [
        ("Plan >= -0.01", Gate("workflow_similarity", ">=", -0.01)),
        (" FC>0 ", Gate("function_call_f1", ">", 0.0)),
        (
            "Call Rejection Classification Accuracy ≥ +1e-2",
            Gate("call_rejection_f1", ">=", 0.01),
        ),
    ],
)
def test_gates_are_read(text: str, gate: Gate) -> None:
    assert parse_gate(text) == gate


@pytest.mark.parametrize(
    "text", ["", "Plan", "Plan <= 0.1", "Plan == 0", "Plan >= much", "Plan >= -5", "Plan >= nan"]
)
def test_what_is_no_gate_is_refused(text: str) -> None:
    with pytest.raises(SelectionError, match="expected a metric, >= or >, and a number"):
        parse_gate(text)


def test_a_gate_on_an_unknown_metric_names_the_likely_one() -> None:
    with pytest.raises(SelectionError, match="did you mean"):
        parse_gate("Plann >= 0")


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (-0.05, -0.02, "crossed"),
        (-0.05, -0.01, "undecided"),
        (-0.05, 0.03, "undecided"),
        (-0.01, 0.03, "held"),
        (0.01, 0.03, "held"),
        (None, None, "undecided"),
    ],
)
def test_only_with_confidence_is_a_gate_crossed(
    low: float | None, high: float | None, outcome: str
) -> None:
    result = check_gate(comparison(low, high), "Plan >= -0.01")
    assert result.outcome == outcome
    assert outcome in result.message


def test_a_strict_gate_is_crossed_at_its_bound() -> None:
    assert check_gate(comparison(-0.05, -0.01), "Plan > -0.01").outcome == "crossed"


def test_a_gate_may_be_about_one_language() -> None:
    assert check_gate(comparison(0.0, 0.1), "Plan >= -0.01", language="KO").outcome == "crossed"


def test_a_gate_needs_its_metric_in_the_comparison() -> None:
    with pytest.raises(SelectionError, match="the comparison has 0"):
        check_gate(comparison(0.0, 0.1), "FC >= 0")


def test_a_silent_candidate_crosses_and_a_perfect_one_holds(scenario_scores: pl.DataFrame) -> None:
    rows = scenario_scores.filter(pl.col("profile") == "spec")
    (down,) = check_gates(rows, "perfect", "silent", ["Average >= -0.01"])
    (up,) = check_gates(rows, "silent", "perfect", ["Average >= -0.01"])
    assert down.outcome == "crossed"
    assert up.outcome == "held"


def test_an_undecided_gate_says_what_may_have_gone_unnoticed() -> None:
    message = check_gate(comparison(-0.05, 0.03), "Plan >= -0.01").message
    assert message.endswith("a drop smaller than 0.0600 may have gone unnoticed")


def test_a_rare_loss_that_was_not_seen_keeps_a_gate_undecided() -> None:
    rows = comparison(-0.001, 0.003).with_columns(low_guarded=pl.lit(-0.05))
    found = check_gate(rows, "Plan >= -0.01")
    assert found.outcome == "undecided"
    assert "a rare loss that 24 scenarios do not show" in found.message
    # A lower end that fails by itself needs no such explanation.
    assert "unnoticed" in check_gate(rows.with_columns(low=pl.lit(-0.02)), "Plan >= -0.01").message


def test_several_gates_are_corrected_together(scenario_scores: pl.DataFrame) -> None:
    rows = scenario_scores.filter(pl.col("profile") == "spec")
    both = "graded-1", "over-cautious"
    (alone,) = check_gates(rows, *both, ["Plan >= -0.5"])
    first, second = check_gates(rows, *both, ["Plan >= -0.5", "FC >= -0.5"])
    assert first.low is not None
    assert alone.low is not None
    assert first.low < alone.low
    assert second.gate.metric == "function_call_f1"


def test_equal_answers_on_few_scenarios_hold_no_gate(scenario_scores: pl.DataFrame) -> None:
    """Twelve scenarios without any difference leave room for one of 0.26."""
    rows = scenario_scores.filter(pl.col("profile") == "spec", pl.col("model") == "perfect")
    both = pl.concat([rows, rows.with_columns(model=pl.lit("twin"))])
    (result,) = check_gates(both, "perfect", "twin", ["Plan >= -0.01"])
    assert result.outcome == "undecided"
    assert result.low == pytest.approx(0.025 ** (1 / 12) - 1)
