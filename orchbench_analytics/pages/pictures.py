"""The pictures of a model's plans: each distinct comparison is read and drawn once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
import polars as pl

from orchbench_analytics.pages.plan_picture import PlanEdit, picture
from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.plans.graphs import (
    DrawingRules,
    Graph,
    component_graph,
    drawing_rules,
    outline,
    structure_graph,
)
from orchbench_analytics.score.plans.read_plan import read_plan

GRAPHS = ("structure", "component")
MOST_LISTED_EDITS = 400
_KEY = ("profile", "row")
_COMPARED = ("rules", "label_content", "answer_content", "edits", "matches")


class Pictures(NamedTuple):
    """Which picture each plan has under each profile, and the distinct pictures."""

    numbers: pl.DataFrame
    pictures: list[dict[str, Any]]


def draw_pictures(
    plans: pl.DataFrame,
    edits: pl.DataFrame,
    matches: pl.DataFrame,
    profiles: Mapping[str, Profile],
) -> Pictures:
    """Draw the plans that were read.

    `plans` has `profile`, `row` and both texts; `edits` and `matches` have `profile` and `row`.
    """
    compared = plans.join(_listed(edits, "edits"), on=_KEY, how="left").join(
        _listed(matches, "matches"), on=_KEY, how="left"
    )
    rules = {name: drawing_rules(profile) for name, profile in profiles.items()}
    known = list(dict.fromkeys(rules.values()))
    # Without an edit or another name the answer's graphs are the label's, whatever it says.
    is_changed = pl.col("edits").is_not_null() | pl.col("matches").is_not_null()
    compared = compared.with_columns(
        pl.when(is_changed).then("answer_content"),
        rules=pl.col("profile").replace_strict(
            {name: known.index(own) for name, own in rules.items()}, return_dtype=pl.Int64
        ),
    )
    distinct = compared.select(_COMPARED).unique(maintain_order=True)
    numbers: dict[bytes, int] = {}
    pictures: list[dict[str, Any]] = []
    drawn_as = []
    for rule, label, answer, edit_rows, match_rows in distinct.iter_rows():
        drawn = _pictures_of(label, answer, edit_rows, match_rows, known[rule])
        key = msgspec.json.encode(drawn)
        if key not in numbers:  # profiles mostly agree
            numbers[key] = len(pictures)
            pictures.append(drawn)
        drawn_as.append(numbers[key])
    numbered = distinct.with_columns(picture=pl.Series(drawn_as, dtype=pl.Int64))
    found = compared.join(numbered, on=_COMPARED, how="left", nulls_equal=True)
    return Pictures(found.select(*_KEY, "picture"), pictures)


def _listed(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """The rows of each plan as a JSON list in one column."""
    listed = pl.struct(pl.exclude(_KEY)).alias(name)
    grouped = rows.group_by(_KEY, maintain_order=True).agg(listed)
    texts = [msgspec.json.encode(items).decode() for items in grouped[name].to_list()]
    return grouped.with_columns(pl.Series(name, texts, dtype=pl.String))


def _pictures_of(
    label: str,
    answer: str | None,
    edit_rows: str | None,
    match_rows: str | None,
    rules: DrawingRules,
) -> dict[str, Any]:
    edits = [PlanEdit(**row) for row in msgspec.json.decode(edit_rows or "[]")]
    matches = msgspec.json.decode(match_rows or "[]")
    wanted = _graphs(label, rules)
    given = _graphs(answer, rules) if edits or matches else wanted
    found: dict[str, Any] = {"edits": edits[:MOST_LISTED_EDITS], "edit_count": len(edits)}
    for position, graph in enumerate(GRAPHS):
        renamed = {m["answer_node"]: m["label_node"] for m in matches if m["graph"] == graph}
        own_edits = [edit for edit in edits if edit.graph == graph]
        found[graph] = picture(given[position], wanted[position], own_edits, renamed)
    return found


@lru_cache(maxsize=4096)
def _graphs(text: str | None, rules: DrawingRules) -> tuple[Graph, Graph]:
    """Both graphs of a plan's text; empty where no plan is read."""
    plan = read_plan(text, thorough=rules.plan_search == "thorough").plan
    workflows = outline(plan or {}, values=rules.plan_values).workflows
    return (
        structure_graph(workflows, edges=rules.structure_edges),
        component_graph(workflows, edges=rules.component_edges),
    )
