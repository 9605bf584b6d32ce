"""The picture of one plan, by its step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import polars as pl

from orchbench_analytics.outputs.show import StepKey
from orchbench_analytics.pages.plan_picture import GRAPHS, draw_pictures
from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.plans.score import with_text_parts


class DrawnPlan(NamedTuple):
    """The parts of a picture, and the distance of each graph."""

    parts: dict[str, Any]
    distances: dict[str, float]


def drawn_plan(
    tables: Callable[[str], pl.LazyFrame], step: StepKey, profile: Profile
) -> DrawnPlan | None:
    """Both plans of a step in one picture, with the edits; none where no plan was read."""
    scored = _of_step(tables("scored_plans").filter(profile=profile.name), step)
    compared = scored.filter(pl.col("structure_distance").is_not_null())
    if compared.is_empty():
        return None
    position = compared["answer_position"][0]
    row = pl.col("answer_position").eq_missing(position)
    texts = with_text_parts(_of_step(tables("plans"), step).filter(row))
    key = {"profile": pl.lit(profile.name), "row": pl.lit(0)}
    edits, matches = (
        _of_step(tables(name).filter(profile=profile.name), step).filter(row)
        for name in ("plan_edits", "plan_matches")
    )
    drawn = draw_pictures(
        texts.select("label_content", "answer_content", **key),
        edits.sort("graph", "edit_number").select(
            "graph", "kind", "subject", "wanted", "given", "cost", **key
        ),
        matches.select("graph", "label_node", "answer_node", **key),
        {profile.name: profile},
    )
    distances = {graph: compared[f"{graph}_distance"][0] for graph in GRAPHS}
    return DrawnPlan(drawn.drawings[0].parts, distances)


def _of_step(rows: pl.LazyFrame, step: StepKey) -> pl.DataFrame:
    return rows.filter(**step.key).collect()
