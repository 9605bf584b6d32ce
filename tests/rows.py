"""Rows of flattened tables by hand: what a test does not care about is filled in."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from orchbench_analytics.profiles import SPEC, Profile
from orchbench_analytics.schema import Table, polars_schema
from orchbench_analytics.score.plans.score import ScoredPlans, prepare_plans, score_plans
from orchbench_analytics.score.steps.score import ScoredSteps, prepare_steps, score_steps
from orchbench_analytics.tables import JUDGEMENTS, PLANS, STEPS, TOOL_PARAMETERS

Row = dict[str, Any]
AWAITING, VIOLATION = "AWAITING_USER_INPUT", "TOOL_CONSTRAINT_VIOLATION"
RUN = {
    "model": "m",
    "experiment": "x",
    "language": "EN",
    "scenario": "s",
    "run": "run #1",
}


def calls(*given: Any) -> str:
    """Calls as `steps` has them; a text stands for a call of that tool without arguments."""
    return json.dumps([call(c) if isinstance(c, str) else c for c in given])


def call(name: Any, arguments: Any = "{}") -> Row:
    return {"name": name, "arguments": arguments}


def step(**columns: Any) -> Row:
    """An answered step that is labelled with a call of `book`."""
    row = RUN | {
        "step_id": "4",
        "has_label": True,
        "label_agent_id": "a",
        "label_content": None,
        "label_calls": calls("book"),
        "has_call_key": True,
        "answer_position": 0,
        "answer_number": 1,
        "answer_agent_id": "a",
        "answer_content": "",
        "answer_calls": None,
        "step_kind": "text",
        "content_kind": "null" if columns.get("answer_content", "") is None else "text",
    }
    return row | columns


def rejection(content: str | None = AWAITING, **columns: Any) -> Row:
    """An answered step that is labelled with a rejection."""
    return step(label_content=content, label_calls=None, has_call_key=False, **columns)


def unanswered(row: Row) -> Row:
    kept = {name: value for name, value in row.items() if not name.startswith("answer_")}
    return dict.fromkeys(row) | kept | dict.fromkeys(("step_kind", "content_kind"))


def unlabelled(**columns: Any) -> Row:
    """An answer to a step that has no label."""
    return rejection(None, has_label=False, label_agent_id=None, **columns)


def plan(**columns: Any) -> Row:
    row = RUN | {
        "step_id": "3",
        "is_numbered_run": True,
        "label_content": "workflow_1:\n  steps:\n  - {agent_id: a, status: new}",
        "answer_position": 0,
        "answer_number": 1,
        "answer_content": None,
        "step_kind": "number",
        "content_kind": "null" if columns.get("answer_content") is None else "text",
    }
    return row | columns


def judgement(**columns: Any) -> Row:
    """A judge's verdict on the first call's `city`: that both values mean the same."""
    row = RUN | {
        "call_index": 0,
        "argument_key": "city",
        "is_asked": True,
        "is_usable": True,
        "unusable_reason": None,
        "is_unsound": False,
        "is_bare_reasoning": False,
        "true_positive_count": 1,
        "false_positive_count": 0,
        "false_negative_count": 0,
        "exact_counts": None,
        "answer_values": '["Seul"]',
        "label_values": '["Seoul"]',
    }
    return row | columns


def cut_off(**columns: Any) -> Row:
    """What is known of a judge's log that ends in the middle."""
    nothing = dict.fromkeys(judgement())
    flags = dict.fromkeys(("is_asked", "is_usable", "is_unsound", "is_bare_reasoning"), False)
    return nothing | RUN | flags | {"unusable_reason": "cut_off"} | columns


def parameter(**columns: Any) -> Row:
    row = {
        "language": "EN",
        "agent_id": "a",
        "tool": "book",
        "argument_key": "city",
        "value_type": None,
        "has_enum": False,
        "pattern": None,
        "tool_order": 0,
    }
    return row | columns


def frame(table: Table, rows: Sequence[Row]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=polars_schema(table), orient="row")


def steps_frame(*rows: Row) -> pl.DataFrame:
    return frame(STEPS, rows)


def plans_frame(*rows: Row) -> pl.DataFrame:
    return frame(PLANS, rows)


def judgements_frame(*rows: Row) -> pl.DataFrame:
    return frame(JUDGEMENTS, rows)


def parameters_frame(*rows: Row) -> pl.DataFrame:
    return frame(TOOL_PARAMETERS, rows)


def score_rows(
    *rows: Row,
    profile: Profile = SPEC,
    judgements: Sequence[Row] = (),
    parameters: Sequence[Row] = (),
    **rules: Any,
) -> ScoredSteps:
    """Steps scored under a profile of which some rules are chosen otherwise."""
    prepared = prepare_steps(
        steps_frame(*rows), judgements_frame(*judgements), parameters_frame(*parameters)
    )
    return score_steps(prepared, replace(profile, **rules))


def score_plan_frame(plans: pl.DataFrame, profile: Profile) -> ScoredPlans:
    """Plans drawn, measured, merged and scored, all in memory."""
    return score_plans(prepare_plans(plans, [profile]), profile)


def columns_of(data: pl.DataFrame, *names: str) -> list[Any]:
    """The values of a column, or tuples of those of several."""
    return data[names[0]].to_list() if len(names) == 1 else data.select(names).rows()
