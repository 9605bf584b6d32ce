"""Parts of the page of a step."""

import pytest

from orchbench_analytics.outputs.step_page import _edit

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
