"""A model's shard: its scenarios, runs and steps, down to the answers and what they counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from orchbench_analytics.pages.answers import numbers_of, with_texts
from orchbench_analytics.pages.batches import Rows, read_models
from orchbench_analytics.pages.columns import columns_of
from orchbench_analytics.pages.pictures import draw_pictures
from orchbench_analytics.pages.source import Source
from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.plans.totals import with_text_parts
from orchbench_analytics.tables import (
    PLAN_EDITS,
    PLAN_MATCHES,
    SCORED_ARGUMENTS,
    SCORED_PLANS,
    SCORED_STEPS,
)

_STEP = ("language", "scenario", "run", "step_id", "answer_position")
# What the page shows in no place, or by other columns.
_NOT_SHOWN = (
    pl.selectors.matches(r"^(true|false)_(positive|negative)_(reject|call)_count$")
    | pl.selectors.by_name(
        "has_label", "has_call_key", "step_kind", "content_kind", "is_numbered_run", "question",
        "failed_generation_count", "structure_lower_bound", "component_lower_bound",
        require_all=False,
    )
)  # fmt: skip


def shards(source: Source, *, first: int, answer_limit: int) -> Iterator[tuple[str, Any]]:
    """The shard of each model of a batch, and its name; `first` is the number of the first one."""
    labels = source.labels()
    for number, rows in enumerate(read_models(source), first):
        shard = _shard(rows, labels, source.profiles, answer_limit=answer_limit)
        yield f"model-{number}", shard


def _shard(
    rows: Rows, labels: pl.DataFrame, profiles: Mapping[str, Profile], *, answer_limit: int
) -> dict[str, Any]:
    """The tables of a model, by columns, and the pictures of its plans."""
    names = list(profiles)
    steps, step_changes = _by_profile(rows["steps"], rows[SCORED_STEPS.name], names)
    plans, plan_changes = _by_profile(rows["plans"], rows[SCORED_PLANS.name], names)
    edits = _numbered(rows[PLAN_EDITS.name], rows["plans"])
    drawn = draw_pictures(
        _read_plans(rows),
        edits.sort("profile", "row", "graph", "edit_number").drop("edit_number"),
        _numbered(rows[PLAN_MATCHES.name], rows["plans"]),
        profiles,
    )
    tables = {
        "files": rows["files"],
        "steps": with_texts(steps, labels, answer_limit=answer_limit),
        "step_changes": step_changes,
        "plans": with_texts(plans, labels, answer_limit=answer_limit),
        "plan_changes": plan_changes,
        "plan_pictures": _sparse(drawn.numbers, names),
        "arguments": _arguments(rows, labels, names),
        "judgements": rows["judgements"],
    }
    return {name: columns_of(frame) for name, frame in tables.items()} | {
        "pictures": drawn.pictures
    }


def _by_profile(
    raw: pl.DataFrame, scored: pl.DataFrame, profiles: Sequence[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Raw rows with their scores under the first profile, and what others score otherwise."""
    changes = _sparse(_numbered(scored.drop(_NOT_SHOWN), raw), profiles)
    is_first = pl.col("profile") == profiles[0]
    first = changes.filter(is_first).drop("profile")
    given = raw.drop(_NOT_SHOWN).with_row_index("row")
    joined = given.join(first, on="row", how="left", maintain_order="left").drop("row")
    return joined, changes.filter(~is_first)


def _numbered(rows: pl.DataFrame, raw: pl.DataFrame) -> pl.DataFrame:
    """Rows with the number of the raw row they are about, in place of its key."""
    numbers = raw.select(_STEP).with_row_index("row")
    found = rows.join(numbers, on=_STEP, how="inner", nulls_equal=True)
    return found.select("profile", "row", pl.exclude("profile", "row", *_STEP))


def _sparse(rows: pl.DataFrame, profiles: Sequence[str]) -> pl.DataFrame:
    """The rows of the first profile, and of the others those that differ from it."""
    is_first = pl.col("profile") == profiles[0]
    base, others = rows.filter(is_first).drop("profile"), rows.filter(~is_first)
    changed = others.join(base, on=base.columns, how="anti", nulls_equal=True)
    return pl.concat([rows.filter(is_first), changed]).sort("profile", "row", maintain_order=True)


def _read_plans(rows: Rows) -> pl.DataFrame:
    """Profile, row and both texts of each plan that was compared."""
    texts = with_text_parts(rows["plans"]).select(*_STEP, "label_content", "answer_content")
    is_compared = pl.col("structure_distance").is_not_null()
    compared = rows[SCORED_PLANS.name].filter(is_compared).select("profile", *_STEP)
    found = compared.join(texts, on=_STEP, how="left", nulls_equal=True)
    return _numbered(found, rows["plans"])


def _arguments(rows: Rows, labels: pl.DataFrame, profiles: Sequence[str]) -> pl.DataFrame:
    """Arguments by step: of the first profile, and of others the steps in which they differ."""
    found = _numbered(rows[SCORED_ARGUMENTS.name], rows["steps"])
    changed = _sparse(found, profiles).select("profile", "row").unique()
    kept = found.join(changed, on=["profile", "row"], how="semi", maintain_order="left")
    # Most answers are the label's: a null stands for the same values.
    is_same = pl.col("answer_values").eq_missing(pl.col("label_values"))
    return kept.with_columns(
        numbers_of(kept["label_values"], labels),
        is_same=is_same,
        answer_values=pl.when(is_same).then(None).otherwise("answer_values"),
    ).sort("profile", "row", "argument_key")
