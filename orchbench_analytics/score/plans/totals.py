"""Scoring plans under one profile: which entry answers a label, what failed, and the figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.plans.read_plan import BAD_VALUE
from orchbench_analytics.score.steps.observe import RUN_COLUMNS
from orchbench_analytics.score.values import join_parts, read_parts
from orchbench_analytics.tables import PLAN_EDITS, PLAN_MATCHES, SCORED_PLANS

NOT_TEXT = "not_text"  # why no plan was read: the content is of another kind

_NEEDS_YAML = ("yaml_block", "yaml", "reindented", BAD_VALUE)
_STEP = [*RUN_COLUMNS, "step_id"]
_OF_A_PLAN = (
    "answer_workflow_count",
    "answer_dependency_count",
    "answer_step_count",
    "structure_distance",
    "structure_lower_bound",
    "structure_similarity",
    "component_distance",
    "component_lower_bound",
    "component_similarity",
    "structure_edits",
    "component_edits",
    "structure_matches",
    "component_matches",
)


def with_text_parts(plans: pl.DataFrame) -> pl.DataFrame:
    """Plans whose answers that are lists have the texts among their items as their content."""
    is_list = pl.col("content_kind") == "list"
    lists = plans.filter(is_list)["answer_content"].unique().to_list()
    if not lists:
        return plans
    joined = pl.col("answer_content").replace_strict(
        lists,
        [join_parts(read_parts(text)) for text in lists],
        default=None,
        return_dtype=pl.String,
    )
    return plans.with_columns(
        answer_content=pl.when(is_list).then(joined).otherwise("answer_content")
    )


def choose_entries(rows: pl.LazyFrame, profile: Profile) -> pl.LazyFrame:
    """Compared plans with the entry of each label chosen, and unread where the rules say so.

    `is_chosen` marks one row of each labelled step, `is_read_entry` the entries that are read at
    all, and `is_answer_read` holds where the row's entry answers its label with a plan.
    """
    other_kinds = ["number", "boolean", "object"]
    other_kinds += ["list"] if profile.plan_content == "text_only" else []
    is_content = ~pl.col("content_kind").is_in(other_kinds)
    if profile.plan_content == "text_only":  # YAML does not have half characters, JSON does
        is_broken = pl.col("content_kind") == "broken_text"
        is_content &= ~(is_broken & pl.col("read_as").is_in(_NEEDS_YAML))
    answers_label = pl.col("step_kind") == "number"
    if profile.plan_step == "as_text":
        answers_label = pl.col("answer_position").is_not_null()
    is_first = pl.col("answer_number").fill_null(1) == 1
    if profile.plan_entry == "first":
        is_chosen = is_first
    else:
        is_candidate = pl.col("is_answer_read") & answers_label
        place = pl.when(is_candidate).then("answer_position").max().over(_STEP)
        is_chosen = (
            pl.when(place.is_null()).then(is_first).otherwise(pl.col("answer_position") == place)
        )
    is_other_answer = pl.col("is_labelled") & pl.col("is_read_entry") & ~pl.col("is_answer_read")
    return (
        rows.with_columns(is_content=is_content.fill_null(True))
        .with_columns(
            is_answer_read=pl.col("is_answer_read") & pl.col("is_content"),
            read_as=pl.when("is_content").then("read_as").otherwise(pl.lit(NOT_TEXT)),
        )
        .with_columns(is_read_entry=pl.col("is_answer_read"), is_chosen=is_chosen.fill_null(False))
        .with_columns(is_answer_read=pl.col("is_answer_read") & answers_label.fill_null(False))
        .with_columns(
            [pl.when("is_answer_read").then(name).alias(name) for name in _OF_A_PLAN],
            is_malformed=pl.col("is_malformed") & pl.col("is_answer_read"),
            is_ged_exact=pl.col("is_ged_exact") | ~pl.col("is_answer_read"),
            read_as=pl.when(is_other_answer).then(pl.lit("missing")).otherwise("read_as"),
        )
    )


def voids_run() -> pl.Expr:
    """A row with which the public evaluator gives up all plans of the run.

    That is a history that is not a list of objects, a value that cannot be built in any entry,
    a plan for a step that cannot be a key, or a compared plan that cannot be drawn.
    """
    kind = pl.col("step_kind").fill_null("")
    is_no_history = kind.str.starts_with("history_") & (kind != "history_absent")
    is_bad_value = (pl.col("read_as") == BAD_VALUE) & ~kind.is_in(("absent", "null"))
    is_no_key = pl.col("is_read_entry") & kind.is_in(("list", "object"))
    is_undrawn = pl.col("is_malformed") & pl.col("is_chosen") & pl.col("is_label_read")
    return is_no_history | (kind == "no_object") | is_bad_value | is_no_key | is_undrawn


def failures_per_entry() -> pl.Expr:
    """What the public evaluator counts: unread entries, and labels without a plan that was read."""
    is_entry = pl.col("answer_position").is_not_null()
    is_entry &= ~pl.col("step_kind").fill_null("absent").is_in(("absent", "null"))
    is_unread = (is_entry & ~pl.col("is_read_entry")).cast(pl.Int64)
    is_label = pl.col("is_labelled") & pl.col("is_label_read") & pl.col("is_chosen")
    return is_unread + (is_label & ~pl.col("is_answer_read")).cast(pl.Int64)


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


def total_plans(merged: pl.DataFrame, profile: Profile) -> ScoredPlans:
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
        cases.append((voids_run().any().over(RUN_COLUMNS), "void_run"))
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
