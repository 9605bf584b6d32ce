"""Which entry of the main agent is the answer to a labelled plan, and which count as failures."""

from __future__ import annotations

import polars as pl

from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.plans.read_plan import BAD_VALUE
from orchbench_analytics.score.steps.observe import RUN_COLUMNS
from orchbench_analytics.score.values import join_parts, read_parts

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


def is_given_up() -> pl.Expr:
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
