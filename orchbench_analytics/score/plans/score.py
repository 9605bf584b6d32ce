"""Scoring plans: each distinct text drawn once, each pair of graphs measured once, then the rows.

`prepare_plans` draws and measures under the rules of all profiles; `score_plans` joins that back to
the rows under one profile, chooses which entry answers a label, and says what failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl
from polars._typing import PolarsDataType

from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.plans.ged import GraphPair, Measured, measure
from orchbench_analytics.score.plans.graphs import (
    BAD_VALUE,
    DrawingRules,
    Drawn,
    draw,
    drawing_rules,
)
from orchbench_analytics.tables import PLAN_EDITS, PLAN_MATCHES, RUN_KEY, SCORED_PLANS
from orchbench_analytics.texts import join_parts, read_parts

NOT_TEXT = "not_text"  # why no plan was read: the content is of another kind
_RUN = tuple(column.name for column in RUN_KEY)
_STEP = (*_RUN, "step_id")
_NEEDS_YAML = ("yaml_block", "yaml", "reindented", BAD_VALUE)
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
_GRAPHS = ("structure", "component")
_EDIT = {
    "kind": pl.String,
    "subject": pl.String,
    "wanted": pl.String,
    "given": pl.String,
    "cost": pl.Float64,
}
_MATCH = {"answer_node": pl.String, "label_node": pl.String}
_SIDES = ("label", "answer")
_DRAWN_SCHEMA: dict[str, PolarsDataType] = {
    "text_id": pl.Int64,
    **dict.fromkeys(DrawingRules._fields, pl.String),
    **{
        name: pl.Boolean
        if name.startswith("is_") or name.endswith("_has_loop")
        else pl.Int64
        if name.endswith("_count")
        else pl.String
        for name in Drawn._fields
    },
}
_PAIR = list(GraphPair._fields)
_FIGURES = list(Measured._fields)
_TEXTS = ("graph", "answer_graph", "label_graph", "method", "lone_loop", "edits", "matches")
_MEASURED_SCHEMA: dict[str, PolarsDataType] = {
    name: pl.String if name in _TEXTS else pl.Boolean if name == "is_exact" else pl.Float64
    for name in (*_PAIR, *_FIGURES)
}


class PreparedPlans(NamedTuple):
    """Plans, what was drawn of each distinct text, and the distance of each pair of graphs."""

    plans: pl.DataFrame
    texts: pl.DataFrame
    measured: pl.DataFrame


def prepare_plans(plans: pl.DataFrame, profiles: Sequence[Profile]) -> PreparedPlans:
    """Draw the graphs of every distinct text under the rules of each profile, and measure them."""
    rules = tuple(sorted({drawing_rules(profile) for profile in profiles}))
    plans, texts = draw_plans(plans, rules)
    pairs = pl.concat(graph_pairs(drawn_for(plans, texts, p)) for p in profiles).unique()
    return PreparedPlans(plans, texts, measure_pairs(pairs))


class ScoredPlans(NamedTuple):
    """Rows of `scored_plans`, `plan_edits` and `plan_matches`."""

    plans: pl.DataFrame
    edits: pl.DataFrame
    matches: pl.DataFrame


def score_plans(prepared: PreparedPlans, profile: Profile) -> ScoredPlans:
    """Prepared plans under a profile: distances joined back, the entry that counts, its scores."""
    drawn = drawn_for(prepared.plans, prepared.texts, profile)
    merged = merge(drawn, prepared.measured)
    return total_plans(merged, profile)


class DrawnPlans(NamedTuple):
    """Plans with ids in place of their texts, and what each text gives under each set of rules."""

    plans: pl.DataFrame
    texts: pl.DataFrame


def draw_plans(plans: pl.DataFrame, all_rules: tuple[DrawingRules, ...]) -> DrawnPlans:
    """Draw every distinct text of labels and answers; from here on, ids stand for the texts."""
    plans = with_text_parts(plans)
    contents = [plans[f"{side}_content"].alias("text") for side in _SIDES]
    texts = pl.concat(contents).unique(maintain_order=True).to_frame().with_row_index("text_id")
    texts = texts.with_columns(pl.col("text_id").cast(pl.Int64))
    for side in _SIDES:
        ids = texts.rename({"text": f"{side}_content", "text_id": f"{side}_text_id"})
        plans = plans.join(
            ids, on=f"{side}_content", how="left", nulls_equal=True, maintain_order="left"
        )
    rows = [
        (text_id, *rules, *drawn)
        for text_id, text in texts.iter_rows()
        for rules, drawn in zip(all_rules, draw(text, all_rules), strict=True)
    ]
    plans = plans.with_columns(is_labelled=pl.col("label_content").is_not_null())
    drawn_texts = pl.DataFrame(rows, schema=_DRAWN_SCHEMA, orient="row")
    return DrawnPlans(plans.drop(f"{side}_content" for side in _SIDES), drawn_texts)


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


def drawn_for(plans: pl.DataFrame, texts: pl.DataFrame, profile: Profile) -> pl.DataFrame:
    """Plans with what the profile's rules draw of both sides, and how their graphs are measured."""
    rules = drawing_rules(profile)
    texts = texts.filter(**rules._asdict()).drop(rules._fields)
    rows = plans
    for side in ("label", "answer"):
        columns = {name: f"{side}_{name}" for name in texts.columns}
        rows = rows.join(
            texts.rename(columns), on=f"{side}_text_id", how="left", maintain_order="left"
        )
    return rows.with_columns(
        *(_method(graph, profile).alias(f"{graph}_method") for graph in _GRAPHS),
        *(_lone_loop(graph, profile).alias(f"{graph}_lone_loop") for graph in _GRAPHS),
        agent_weight=pl.lit(profile.agent_weight),
        status_weight=pl.lit(profile.status_weight),
    )


def _method(graph: str, profile: Profile) -> pl.Expr:
    """How a graph is measured: networkx differs only with self-loops, so others are shared."""
    is_by_networkx = _is_looped(graph) & (profile.distance == "networkx")
    return pl.when(is_by_networkx).then(pl.lit("networkx")).otherwise(pl.lit("exact"))


def _lone_loop(graph: str, profile: Profile) -> pl.Expr:
    is_free = _is_looped(graph) & (profile.lone_self_loop == "free")
    return pl.when(is_free).then(pl.lit("free")).otherwise(pl.lit("counted"))


def _is_looped(graph: str) -> pl.Expr:
    return pl.col(f"label_{graph}_has_loop") | pl.col(f"answer_{graph}_has_loop")


def graph_pairs(rows: pl.DataFrame) -> pl.DataFrame:
    """The distinct pairs of graphs to measure: one row for each GraphPair."""
    both_read = pl.col("label_is_read") & pl.col("answer_is_read")
    return pl.concat(_pairs_of(rows.filter(both_read), graph) for graph in _GRAPHS).unique()


def _pairs_of(rows: pl.DataFrame, graph: str) -> pl.DataFrame:
    return rows.select(
        pl.lit(graph).alias("graph"),
        *(pl.col(_own(name, graph)).alias(name) for name in _PAIR[1:]),
    )


def measure_pairs(pairs: pl.DataFrame) -> pl.DataFrame:
    """Each pair of graphs with what was measured of it."""
    rows = [(*pair, *measure(pair)) for pair in map(GraphPair._make, pairs.iter_rows())]
    return pl.DataFrame(rows, schema=_MEASURED_SCHEMA, orient="row")


def merge(rows: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """Plans with the distances of both their graphs; null where a side could not be read."""
    for graph in _GRAPHS:
        figures = (
            measured.filter(graph=graph)
            .drop("graph")
            .rename({name: f"{graph}_{name}" for name in _FIGURES})
            .rename({name: _own(name, graph) for name in _PAIR[1:5]})
        )
        on = [_own(name, graph) for name in _PAIR[1:]]
        rows = rows.join(figures, on=on, how="left", maintain_order="left")
    is_exact = pl.col("structure_is_exact") & pl.col("component_is_exact")
    return rows.with_columns(
        is_label_read="label_is_read",
        is_answer_read="answer_is_read",
        is_malformed="answer_is_malformed",
        read_as="answer_read_as",
        is_ged_exact=is_exact.fill_null(True),
    )


def _own(name: str, graph: str) -> str:
    """The column of a plan that a field of its pair of graphs is taken from."""
    own = {
        "answer_graph": f"answer_{graph}_graph",
        "label_graph": f"label_{graph}_graph",
        "method": f"{graph}_method",
        "lone_loop": f"{graph}_lone_loop",
    }
    return own.get(name, name)


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


def _left_out_reason(profile: Profile) -> pl.Expr:
    cases = []
    if profile.plan_runs == "numbered":
        cases.append((~pl.col("is_numbered_run"), "unnumbered_run"))
    if profile.malformed_plan == "voids_run":
        cases.append((voids_run().any().over(_RUN), "void_run"))
    cases.append((~pl.col("is_labelled"), "unlabelled_answer"))
    cases.append((~pl.col("is_chosen"), "surplus_answer"))
    cases.append((~pl.col("is_label_read"), "unreadable_label"))
    return pl.coalesce(pl.when(condition).then(pl.lit(reason)) for condition, reason in cases)


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


def _failed_generations(profile: Profile) -> pl.Expr:
    """How many failures a row adds: one for a failed plan; the public evaluator counts twice."""
    if profile.failed_plan == "once":
        return (~pl.col("is_answer_read") & pl.col("is_scored")).cast(pl.Int64)
    is_void = pl.col("left_out_reason").is_in(["unnumbered_run", "void_run"]).fill_null(False)
    return pl.when(is_void).then(0).otherwise(failures_per_entry())


def failures_per_entry() -> pl.Expr:
    """What the public evaluator counts: unread entries, and labels without a plan that was read."""
    is_entry = pl.col("answer_position").is_not_null()
    is_entry &= ~pl.col("step_kind").fill_null("absent").is_in(("absent", "null"))
    is_unread = (is_entry & ~pl.col("is_read_entry")).cast(pl.Int64)
    is_label = pl.col("is_labelled") & pl.col("is_label_read") & pl.col("is_chosen")
    return is_unread + (is_label & ~pl.col("is_answer_read")).cast(pl.Int64)


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
