"""Totals of steps: counts and F1 of names, keys and values, under one profile."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import polars as pl

from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.steps.arguments import (
    PAIR,
    f1,
    set_f1,
)
from orchbench_analytics.score.steps.observe import RUN_COLUMNS
from orchbench_analytics.tables import SCORED_ARGUMENTS, SCORED_STEPS, STEP_KEY

_OUTCOMES = ("true_positive_count", "false_positive_count", "false_negative_count")
_CALL_COUNTS = [f"{side}_{name}" for side in ("name", "key", "value") for name in _OUTCOMES]
_LARGEST_COUNT = 10**9  # of a verdict, in tables: sums over any number of rows stay integers


class ScoredSteps(NamedTuple):
    """Rows of `scored_steps` and `scored_arguments`."""

    steps: pl.DataFrame
    arguments: pl.DataFrame


def arguments_of(decided: pl.DataFrame, compared: pl.DataFrame, profile: Profile) -> pl.DataFrame:
    """The compared argument keys of each call-scored step, in the order of the steps."""
    keys = [column.name for column in STEP_KEY]
    steps = decided.filter("is_call_scored").select(
        "row", *keys, "answer_position", "step_key", "judge_index", "label_id", "used_id"
    )
    arguments = steps.join(compared, on=PAIR, maintain_order="left_right")
    return arguments.with_columns(profile=pl.lit(profile.name))


def total_steps(
    decided: pl.DataFrame, names: pl.DataFrame, arguments: pl.DataFrame, profile: Profile
) -> ScoredSteps:
    """Counts and F1 of decided steps, from their compared names and weighed arguments."""
    is_written = pl.col("call_source") == "content"
    scored = (
        decided.lazy()
        .join(names.lazy(), on=PAIR, how="left", maintain_order="left")
        .join(_totals(arguments).lazy(), on="row", how="left", maintain_order="left")
        .with_columns(
            pl.when("is_call_scored")
            .then(pl.col(_CALL_COUNTS))
            .otherwise(0)
            .fill_null(0)
            .name.keep()
        )
        .with_columns(
            pl.when("is_call_scored")
            .then(pl.when(pl.col("predicted") == "call").then(score).otherwise(0.0))
            .alias(name)
            for name, score in _f1_scores(profile).items()
        )
        .with_columns(value_f1=_ruled_value_f1(profile))
        .with_columns(
            profile=pl.lit(profile.name),
            agent_id=pl.coalesce("label_agent_id", "answer_agent_id"),
            answer_tools=pl.when(is_written).then("written_tools").otherwise("answer_tools"),
            is_malformed=pl.col("answer_is_malformed")
            | pl.col("voids_file")
            | (is_written & pl.col("written_is_malformed")).fill_null(False),
        )
        .select(SCORED_STEPS.column_names)
        .collect(engine="in-memory")
    )
    return ScoredSteps(
        scored, arguments.with_columns(_whole(_OUTCOMES)).select(SCORED_ARGUMENTS.column_names)
    )


def _whole(names: Iterable[str]) -> pl.Expr:
    """Counts as the integers that tables hold; a judge's may be fractions, or without end."""
    return pl.col(*names).clip(-_LARGEST_COUNT, _LARGEST_COUNT).round().cast(pl.Int64)


def _totals(arguments: pl.DataFrame) -> pl.DataFrame:
    """Counts of keys and of values for each step that has arguments on either side."""
    return arguments.group_by("row").agg(
        key_true_positive_count=pl.col("is_shared").sum().cast(pl.Int64),
        key_false_positive_count=pl.col("label_values").is_null().sum().cast(pl.Int64),
        key_false_negative_count=pl.col("answer_values").is_null().sum().cast(pl.Int64),
        has_void_verdict=pl.col("is_void").any(),
        has_unknown_type=pl.col("has_unknown_type").any(),
        **{f"value_{name}": _whole([name]).sum() for name in _OUTCOMES},
        **{f"exact_{name}": pl.col(name).sum() for name in _OUTCOMES},
    )


def _f1_scores(profile: Profile) -> dict[str, pl.Expr]:
    has_keys = pl.sum_horizontal(f"key_{name}" for name in _OUTCOMES) > 0
    without_keys = 1.0 if profile.no_arguments == "one" else 0.0
    value_f1 = f1(*(pl.col(f"exact_{name}") for name in _OUTCOMES))
    return {
        "name_f1": set_f1("name"),
        "key_f1": set_f1("key"),
        "value_f1": pl.when("has_void_verdict")
        .then(0.0)
        .otherwise(pl.when(has_keys).then(value_f1).otherwise(without_keys)),
    }


def _ruled_value_f1(profile: Profile) -> pl.Expr:
    """The value F1; or the key F1, in a run with a schema, name or judge's log beyond reading."""
    if profile.unsound_schema == "ignored":
        return pl.col("value_f1")
    is_unsound = pl.col("is_call_scored") & (
        pl.col("has_unknown_type").fill_null(False)
        | pl.col("answer_has_list_name")
        | pl.col("has_cut_off_log").fill_null(False)
    )
    is_run_unsound = is_unsound.any().over(RUN_COLUMNS)
    return pl.when(is_run_unsound).then("key_f1").otherwise("value_f1")
