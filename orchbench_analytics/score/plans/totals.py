"""Scoring plans under one profile, from compared pairs."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl
from polars._typing import PolarsDataType

from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.plans.entries import (
    choose_entries,
    failures_per_entry,
    is_given_up,
    with_text_parts,
)
from orchbench_analytics.score.plans.pairs import ComparedPair, Pair, name_pairs
from orchbench_analytics.score.steps.observe import RUN_COLUMNS
from orchbench_analytics.tables import PLAN_EDITS, SCORED_PLANS

_EDIT = pl.Struct(
    {
        "graph": pl.String,
        "kind": pl.String,
        "subject": pl.String,
        "wanted": pl.String,
        "given": pl.String,
        "cost": pl.Float64,
    }
)
PAIR_SCHEMA: dict[str, PolarsDataType] = {
    name: pl.Boolean
    if name.startswith("is_")
    else pl.Int64
    if name.endswith("_count")
    else pl.String
    if name in ("pair_id", "read_as", "edits")
    else pl.Float64
    for name in ComparedPair._fields
}


class PreparedPlans(NamedTuple):
    """Plans with the id of their pair of texts in place of the texts, and each distinct pair."""

    plans: pl.DataFrame
    pairs: list[Pair]


class ScoredPlans(NamedTuple):
    """Rows of `scored_plans` and `plan_edits`."""

    plans: pl.DataFrame
    edits: pl.DataFrame


def prepare_plans(plans: pl.DataFrame) -> PreparedPlans:
    """Name each distinct pair of label and answer: from here on, the name stands for the texts."""
    sides = ["label_content", "answer_content"]
    hashes = ["label_hash", "answer_hash"]  # to join by long texts would copy them several times
    hashed = with_text_parts(plans).with_columns(
        pl.col(side).hash().alias(name) for side, name in zip(sides, hashes, strict=True)
    )
    distinct = hashed.unique(hashes, keep="first", maintain_order=True)
    pairs = name_pairs(distinct.select(sides).iter_rows())
    ids = pl.Series("pair_id", [pair_id for pair_id, *_ in pairs], dtype=pl.String)
    prepared = (
        hashed.join(distinct.select(ids, *hashes), on=hashes, how="left", maintain_order="left")
        .with_columns(is_labelled=pl.col("label_content").is_not_null())
        .drop(*sides, *hashes)
    )
    return PreparedPlans(prepared, pairs)


def score_plans(plans: pl.DataFrame, compared: pl.DataFrame, profile: Profile) -> ScoredPlans:
    """Score prepared plans, from their compared pairs."""
    scored = (
        plans.lazy()
        .join(compared.lazy(), on="pair_id", how="left", maintain_order="left")
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
    edits = (
        scored.filter("is_scored")
        .select([c for c in PLAN_EDITS.column_names if c in scored.columns] + ["edits"])
        .filter(pl.col("edits") != "[]")
        .with_columns(pl.col("edits").str.json_decode(pl.List(_EDIT)))
        .with_columns(edit_number=pl.int_ranges(pl.col("edits").list.len()))
        .explode("edits", "edit_number")
        .unnest("edits")
        .select(PLAN_EDITS.column_names)
    )
    return ScoredPlans(scored.select(SCORED_PLANS.column_names), edits)


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
