"""Scoring plans under one profile, from drawn and measured graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.plans.entries import (
    choose_entries,
    failures_per_entry,
    is_given_up,
)
from orchbench_analytics.score.steps.observe import RUN_COLUMNS
from orchbench_analytics.tables import PLAN_EDITS, PLAN_MATCHES, SCORED_PLANS

_EDIT = {
    "kind": pl.String,
    "subject": pl.String,
    "wanted": pl.String,
    "given": pl.String,
    "cost": pl.Float64,
}
_MATCH = {"answer_node": pl.String, "label_node": pl.String}
_GRAPHS = ("structure", "component")


class ScoredPlans(NamedTuple):
    """Rows of `scored_plans`, `plan_edits` and `plan_matches`."""

    plans: pl.DataFrame
    edits: pl.DataFrame
    matches: pl.DataFrame


def total(merged: pl.DataFrame, profile: Profile) -> ScoredPlans:
    """Score plans that were drawn, measured and merged under the profile's rules."""
    scored = (
        merged.lazy()
        .with_row_index("row")
        .pipe(choose_entries, profile)
        .with_columns(left_out_reason=_left_out_reason(profile))
        .with_columns(is_scored=pl.col("left_out_reason").is_null())
        .with_columns(
            profile=pl.lit(profile.name),
            is_failed=~pl.col("is_answer_read"),
            failed_generation_count=_failed_generations(profile),
        )
        .with_columns(
            pl.when(pl.col("is_scored")).then(pl.col(name).fill_null(0.0)).alias(name)
            for name in ("structure_similarity", "component_similarity")
        )
        .with_columns(
            plan_similarity=(pl.col("structure_similarity") + pl.col("component_similarity")) / 2
        )
        .collect(engine="in-memory")
    )
    edits, matches = _unpacked(scored, "edits", _EDIT), _unpacked(scored, "matches", _MATCH)
    return ScoredPlans(
        scored.select(SCORED_PLANS.column_names),
        edits.select(PLAN_EDITS.column_names),
        matches.select(PLAN_MATCHES.column_names),
    )


def _unpacked(
    scored: pl.DataFrame, column: str, fields: Mapping[str, type[pl.DataType]]
) -> pl.DataFrame:
    """A row for each object of the JSON lists that scored plans have for their two graphs."""
    keys = [name for name in PLAN_EDITS.column_names if name in scored.columns]
    found = [
        scored.filter("is_scored", pl.col(f"{graph}_{column}") != "[]")
        .select("row", *keys, pl.lit(graph).alias("graph"), pl.col(f"{graph}_{column}").alias("_"))
        .with_columns(pl.col("_").str.json_decode(pl.List(pl.Struct(fields))))
        .with_columns(edit_number=pl.int_ranges(pl.col("_").list.len()))
        .explode("_", "edit_number")
        .unnest("_")
        for graph in _GRAPHS
    ]
    return pl.concat(found).sort("row", maintain_order=True)


def _left_out_reason(profile: Profile) -> pl.Expr:
    cases = []
    if profile.plan_runs == "numbered":
        cases.append((~pl.col("is_numbered_run"), "unnumbered_run"))
    if profile.malformed_plan == "voids_run":
        cases.append((is_given_up().any().over(RUN_COLUMNS), "void_run"))
    cases.append((~pl.col("is_labelled"), "unlabelled_answer"))
    cases.append((~pl.col("is_chosen"), "surplus_answer"))
    cases.append((~pl.col("is_label_read"), "unreadable_label"))
    return pl.coalesce(pl.when(condition).then(pl.lit(reason)) for condition, reason in cases)


def _failed_generations(profile: Profile) -> pl.Expr:
    """How many failures a row adds: one for a failed plan; the public evaluator counts twice."""
    if profile.failed_plan == "once":
        return (~pl.col("is_answer_read") & pl.col("is_scored")).cast(pl.Int64)
    is_void = pl.col("left_out_reason").is_in(["unnumbered_run", "void_run"]).fill_null(False)
    return pl.when(is_void).then(0).otherwise(failures_per_entry())
