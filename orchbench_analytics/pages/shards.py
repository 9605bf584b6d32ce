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
from orchbench_analytics.score.plans.entries import with_text_parts
from orchbench_analytics.tables import PLAN_EDITS, PLAN_MATCHES, SCORED_PLANS, SCORED_STEPS

_STEP = ("language", "scenario", "run", "step_id", "answer_position")
_KEYS = ("profile", *_STEP)
# What the page shows in no place, or by other columns.
_NOT_SHOWN = (
    pl.selectors.matches(r"^(true|false)_(positive|negative)_(reject|call)_count$")
    | pl.selectors.by_name(
        "has_label", "has_call_key", "step_kind", "content_kind", "is_numbered_run",
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
    drawn = draw_pictures(
        _read_plans(rows, plans),
        _of_plans(rows[PLAN_EDITS.name], plans, "edit_number"),
        _of_plans(rows[PLAN_MATCHES.name], plans),
        profiles,
    )
    tables = {
        "files": rows["files"],
        "steps": with_texts(steps, labels, answer_limit=answer_limit),
        "step_changes": step_changes,
        "plans": with_texts(plans, labels, answer_limit=answer_limit),
        "plan_changes": plan_changes,
        "plan_pictures": _sparse(drawn.numbers, ["picture"], names),
        "arguments": _arguments(rows["scored_arguments"], steps, labels, names),
        "judgements": rows["judgements"],
    }
    return {name: columns_of(frame) for name, frame in tables.items()} | {
        "pictures": drawn.pictures
    }


def _by_profile(
    raw: pl.DataFrame, scored: pl.DataFrame, profiles: Sequence[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Raw rows with their scores under the first profile, and what others score otherwise."""
    given = raw.drop(_NOT_SHOWN).with_row_index("row")
    numbers = given.select("row", *_STEP)
    scores = scored.drop(_NOT_SHOWN).join(numbers, on=_STEP, how="inner", nulls_equal=True)
    columns = [name for name in scores.columns if name not in (*_KEYS, "row")]
    changes = _sparse(scores.select("profile", "row", *columns), columns, profiles)
    first = changes.filter(pl.col("profile") == profiles[0]).drop("profile")
    joined = given.join(first, on="row", how="left", maintain_order="left").drop("row")
    return joined, changes.filter(pl.col("profile") != profiles[0])


def _sparse(rows: pl.DataFrame, columns: Sequence[str], profiles: Sequence[str]) -> pl.DataFrame:
    """The rows of the first profile, and of the others those that differ from it."""
    is_first = pl.col("profile") == profiles[0]
    base, others = rows.filter(is_first), rows.filter(~is_first)
    same = others.join(base.drop("profile"), on=["row", *columns], how="anti", nulls_equal=True)
    return pl.concat([base, same]).sort("profile", "row", maintain_order=True)


def _read_plans(rows: Rows, plans: pl.DataFrame) -> pl.DataFrame:
    """Profile, row and both texts of each plan that was compared."""
    numbers = plans.select(*_STEP).with_row_index("row")
    texts = with_text_parts(rows["plans"]).select(*_STEP, "label_content", "answer_content")
    return (
        rows[SCORED_PLANS.name]
        .filter(pl.col("structure_distance").is_not_null())
        .join(numbers, on=_STEP, how="inner", nulls_equal=True)
        .join(texts, on=_STEP, how="left", nulls_equal=True)
        .select("profile", "row", "label_content", "answer_content")
    )


def _of_plans(rows: pl.DataFrame, plans: pl.DataFrame, order: str | None = None) -> pl.DataFrame:
    """Rows of plans, with the number of their plan in place of its key."""
    numbers = plans.select(*_STEP).with_row_index("row")
    found = rows.join(numbers, on=_STEP, how="inner", nulls_equal=True)
    if order is not None:
        found = found.sort("profile", "row", "graph", order).drop(order)
    return found.select("profile", "row", pl.exclude(*_KEYS, "row"))


def _arguments(
    rows: pl.DataFrame, steps: pl.DataFrame, labels: pl.DataFrame, profiles: Sequence[str]
) -> pl.DataFrame:
    """Arguments by step: of the first profile, and of others the steps in which they differ."""
    numbers = steps.select(*_STEP).with_row_index("row")
    found = rows.join(numbers, on=_STEP, how="inner", nulls_equal=True)
    found = found.select("profile", "row", pl.exclude(*_KEYS, "row"))
    columns = [name for name in found.columns if name not in ("profile", "row")]
    changed = _sparse(found, columns, profiles).select("profile", "row").unique()
    kept = found.join(changed, on=["profile", "row"], how="semi", maintain_order="left")
    # Most answers are the label's: a null stands for the same values.
    is_same = pl.col("answer_values").eq_missing(pl.col("label_values"))
    return kept.with_columns(
        numbers_of(kept["label_values"], labels),
        is_same=is_same,
        answer_values=pl.when(is_same).then(None).otherwise("answer_values"),
    ).sort("profile", "row", "argument_key")
