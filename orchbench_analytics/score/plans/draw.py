"""Drawing plans: each distinct text is read, outlined and drawn once under each set of rules."""

from __future__ import annotations

from typing import Literal, NamedTuple

import polars as pl
from polars._typing import PolarsDataType

from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.plans.entries import with_text_parts
from orchbench_analytics.score.plans.graphs import component_graph, structure_graph, to_text
from orchbench_analytics.score.plans.outline import outline
from orchbench_analytics.score.plans.read_plan import read_plan
from orchbench_analytics.texts import remembering


class DrawingRules(NamedTuple):
    """The rules of a profile that decide how a text becomes graphs."""

    plan_search: Literal["thorough", "basic"]
    plan_values: Literal["as_text", "as_typed"]
    structure_edges: Literal["every_dependency", "depends_on_only"]
    component_edges: Literal["every_dependency", "first_present"]


class Drawn(NamedTuple):
    """What a text gives under some rules; sizes and graphs are null where no plan was read."""

    is_read: bool
    read_as: str
    is_malformed: bool = False
    workflow_count: int | None = None
    dependency_count: int | None = None
    step_count: int | None = None
    structure_graph: str | None = None
    component_graph: str | None = None
    structure_has_loop: bool = False
    component_has_loop: bool = False


class DrawnPlans(NamedTuple):
    """Plans with ids in place of their texts, and what each text gives under each set of rules."""

    plans: pl.DataFrame
    texts: pl.DataFrame


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


def drawing_rules(profile: Profile) -> DrawingRules:
    """The rules of a profile that decide how a text becomes graphs."""
    return DrawingRules(**{name: getattr(profile, name) for name in DrawingRules._fields})


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


@remembering(10_000, longest=10_000)
def draw(text: str | None, all_rules: tuple[DrawingRules, ...]) -> list[Drawn]:
    """A text as each set of rules reads and draws it."""
    basic = read_plan(text, thorough=False)
    # What the basic search finds, the thorough one finds too: it only goes on where that gives up.
    thorough = basic if basic.plan is not None else read_plan(text, thorough=True)
    readings = {"basic": basic, "thorough": thorough}
    found = []
    for rules in all_rules:
        plan, how = readings[rules.plan_search]
        if plan is None:
            found.append(Drawn(is_read=False, read_as=how))
            continue
        outlined = outline(plan, values=rules.plan_values)
        structure = structure_graph(outlined.workflows, edges=rules.structure_edges)
        component = component_graph(outlined.workflows, edges=rules.component_edges)
        found.append(
            Drawn(
                is_read=True,
                read_as=how,
                is_malformed=not outlined.is_sound,
                workflow_count=len(structure.nodes),
                dependency_count=len(structure.edges),
                step_count=len(component.nodes),
                structure_graph=to_text(structure),
                component_graph=to_text(component),
                structure_has_loop=structure.has_loop,
                component_has_loop=component.has_loop,
            )
        )
    return found
