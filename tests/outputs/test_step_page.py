"""Parts of the page of a step."""

import pytest

from orchbench_analytics.outputs.step_page import _edit, _tree

EDITS = {
    "component: extra step a (pending), cost 1": ("extra_step", None, "a (pending)"),
    "component: missing transition a (pending) after b (done), cost 1": (
        "missing_transition",
        "b (done)",
        None,
    ),
    "component: wrong status a (pending), given paused, cost 1": (
        "wrong_status",
        "pending",
        "paused",
    ),
}


@pytest.mark.parametrize("said", EDITS)
def test_an_edit_is_a_line_that_says_what_is_wrong(said: str) -> None:
    kind, wanted, given = EDITS[said]
    row = {"graph": "component", "kind": kind, "subject": "a (pending)", "cost": 1.0}
    assert _edit({**row, "wanted": wanted, "given": given}) == said


def test_a_dependency_that_a_plan_names_twice_is_shown_once() -> None:
    plan = (
        '{"workflow_1": {"steps": []}, '
        '"workflow_2": {"depends_on": ["workflow_1"], "depend_on": ["workflow_1"]}}'
    )
    assert _tree(plan, thorough=True) == ["workflow_1", "workflow_2 after workflow_1"]
