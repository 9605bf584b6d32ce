"""Decisions: what the label wants, what was answered, and what that counts as."""

from __future__ import annotations

import polars as pl

from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.steps.observe import NO_CALLS_ID

_SCENARIO = ("model", "experiment", "language", "scenario")
_CALL = pl.lit("call")


def decide(steps: pl.DataFrame, profile: Profile) -> pl.DataFrame:
    """Add the decision columns of `scored_steps` to steps that have their facts."""
    return (
        steps.lazy()
        .with_columns(left_out_reason=_left_out_reason(profile), actual=_actual(profile))
        .with_columns(is_scored=pl.col("left_out_reason").is_null(), predicted=_predicted(profile))
        .with_columns(
            failure_reason=_failure_reason(),
            call_source=_call_source(profile),
            is_type_mismatch=_is_type_mismatch(profile),
        )
        .with_columns(
            used_id=_used_calls(profile),
            **_confusion_counts(profile),
            is_call_scored=_is_call_scored(profile),
        )
        .collect(engine="in-memory")
    )


def _left_out_reason(profile: Profile) -> pl.Expr:
    cases = []
    if profile.malformed_answer == "voids_file":
        cases.append((pl.col("voids_file").any().over(_SCENARIO), pl.lit("void_file")))
    cases.append((~pl.col("has_label") & ~pl.col("is_answered"), pl.lit("no_history")))
    if profile.scored_unit == "labelled_step":
        cases.append((~pl.col("has_label"), pl.lit("unlabelled_answer")))
        cases.append((pl.col("answer_number") > 1, pl.lit("surplus_answer")))
    else:
        cases.append((~pl.col("is_answered"), pl.lit("unanswered_step")))
    if profile.unusable_label == "left_out":
        cases.append((pl.col("is_unusable_label"), pl.lit("unusable_label")))
    return _first_case(cases)


def _actual(profile: Profile) -> pl.Expr:
    is_call = "is_call_labelled" if profile.empty_gold_calls == "call" else "has_gold_call"
    return pl.when(is_call).then(_CALL).otherwise(pl.col("label_type").fill_null("rejection"))


def _predicted(profile: Profile) -> pl.Expr:
    rejection_key = pl.col("answer_rejection_key")
    marker = pl.col(f"marker_{profile.rejection_marker}")
    if profile.content_parts == "whole_parts":
        marker = pl.when("is_in_parts").then("marker_part").otherwise(marker)
    is_marked = (pl.col("answer_call_count") == 0) & marker.is_not_null()
    cases = []
    if profile.rejection_argument == "rejects":
        cases.append((rejection_key.is_not_null(), rejection_key))
    cases.append((_has_calls(profile), _CALL))
    cases.append((is_marked, marker))
    if profile.call_in_text == "recovered":
        cases.append((pl.col("written_tools").is_not_null(), _CALL))
    if profile.silence == "call":
        cases.append((pl.col("is_answered"), _CALL))
    cases.append((pl.lit(True), pl.lit("failed")))
    return _first_case(cases)


def _has_calls(profile: Profile) -> pl.Expr:
    if profile.nameless_call == "call":
        return pl.col("answer_call_count") > 0
    return pl.col("answer_tools").is_not_null()


def _failure_reason() -> pl.Expr:
    reason = _first_case(
        [
            (~pl.col("is_answered"), pl.lit("missing")),
            (pl.col("answer_call_count") > 0, pl.lit("malformed")),
            (pl.lit(True), pl.col("text_kind")),
        ]
    )
    return pl.when(pl.col("predicted") == "failed").then(reason)


def _call_source(profile: Profile) -> pl.Expr:
    source = _first_case(
        [
            (_has_calls(profile), pl.lit("tool_calls")),
            (pl.col("written_tools").is_not_null(), pl.lit("content")),
        ]
    )
    return pl.when(pl.col("predicted") == "call").then(source)


def _used_calls(profile: Profile) -> pl.Expr:
    """The id of the calls that count as the answer's: its own, those it wrote as text, or none."""
    used = pl.col("answer_id")
    if profile.call_in_text == "recovered":
        is_written = pl.col("call_source") == "content"
        used = pl.when(is_written).then(pl.col("written_id")).otherwise(used)
    return pl.when(pl.col("predicted") == "call").then(used).otherwise(NO_CALLS_ID)


def _first_case(cases: list[tuple[pl.Expr, pl.Expr]]) -> pl.Expr:
    """The value of the first case whose condition holds; null if none does."""
    return pl.coalesce(pl.when(condition).then(value) for condition, value in cases)


def _is_rejection(column: str) -> pl.Expr:
    return ~pl.col(column).is_in(["call", "failed"])


def _is_type_mismatch(profile: Profile) -> pl.Expr:
    differs = pl.col("predicted") != pl.col("actual")
    if profile.untyped_rejection == "matches_any_type":
        differs &= pl.col("actual") != "rejection"
    is_mismatch = _is_rejection("actual") & _is_rejection("predicted") & differs
    return is_mismatch & pl.col("is_scored")


def _confusion_counts(profile: Profile) -> dict[str, pl.Expr]:
    """The seed's table, in both perspectives; 0 in rows that are left out."""
    wants_call, calls = pl.col("actual") == "call", pl.col("predicted") == "call"
    rejects = _is_rejection("predicted")
    fails = pl.col("predicted") == "failed"
    missed = calls | fails if profile.failed_rejection == "false_negative" else calls
    outcomes = {
        "true_positive_reject_count": ~wants_call & rejects,
        "true_negative_reject_count": wants_call & calls,
        "false_positive_reject_count": wants_call & rejects,
        "false_negative_reject_count": ~wants_call & missed,
        "true_positive_call_count": wants_call & calls,
        "true_negative_call_count": ~wants_call & ~calls,
        "false_positive_call_count": ~wants_call & calls,
        "false_negative_call_count": wants_call & ~calls,
        "failed_generation_count": fails,
    }
    return {
        name: (outcome & pl.col("is_scored")).cast(pl.Int64) for name, outcome in outcomes.items()
    }


def _is_call_scored(profile: Profile) -> pl.Expr:
    counts = pl.col("is_scored") & (pl.col("actual") == "call")
    return counts if profile.rejected_call == "zero" else counts & ~_is_rejection("predicted")
