"""How two tables join without losing or inventing rows: by the keys they share that are never null.

A step or answer has one key, `step_key`, and a plan has `plan_key`; each says all that the columns
from `model` to `answer_position` say. Other tables join by those of these columns that both have.
"""

from __future__ import annotations

from orchbench_analytics.schema import Table

_ROW_KEYS = ("step_key", "plan_key")
_COARSER = ("model", "experiment", "language", "scenario", "run")
# Tables whose keys are not only equal or different.
JOIN_NOTES = {
    "sources": "Its key columns are null for files about less than a scenario: a join with it "
    "leaves these files out, a left join keeps them.",
    "expected_scenarios": "Only a list of scenarios has names to join by; a number has nulls.",
    "judgements": "A verdict decided the argument of the step with the same `run`, "
    "`call_index = judge_index` and the same `argument_key`; an unused verdict has no such step.",
    "tool_parameters": "An argument's parameter has the same `agent_id` and `argument_key`, and "
    "the same `language` or `unknown`.",
}


def join_columns(left: Table, right: Table) -> tuple[str, ...]:
    """The columns to name in `using (…)`; none if the two have nothing in common."""
    shared = _never_null(left) & _never_null(right)
    profile = ("profile",) if "profile" in shared else ()
    row_keys = tuple(name for name in _ROW_KEYS if name in shared)
    coarser = tuple(name for name in _COARSER if name in shared)
    if coarser == ("language",):  # of an agent card, which may be for all languages
        coarser = ()
    return profile + (row_keys or coarser)


def _never_null(table: Table) -> set[str]:
    return {column.name for column in table.columns if not column.nullable}
