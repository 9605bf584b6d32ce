"""The words of the page: what it calls the values that tables hold, and in which order.

Labels and descriptions of columns and metrics are declared with them; these are words for values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchbench_analytics.metrics import HEADLINE, METRICS
from orchbench_analytics.outputs.paper import LATEX_ESCAPES, MARKDOWN_ESCAPES
from orchbench_analytics.outputs.write import FORMULA_STARTS
from orchbench_analytics.profiles import Profile

_PROFILES = {
    "spec": "the benchmark's document, read so that copying every label scores 1 and silence 0",
    "strict": "spec with its two loopholes closed: refusing a call, and failing a rejection, cost",
    "upstream": "what the public evaluator prints, to compare with published figures",
    "reported": "what an evaluator's own result files say",
}
# Decisions, in the order of a confusion matrix.
DECISIONS = {
    "call": "call",
    "AWAITING_USER_INPUT": "awaiting user",
    "TOOL_CONSTRAINT_VIOLATION": "constraint",
    "rejection": "reject (untyped)",
    "failed": "failed",
}
# How a plan was read, or why none was; and why an answer to a step failed.
READINGS = {
    "json_block": "a fenced JSON block",
    "flat_object": "a flat JSON object in the text",
    "braces": "a JSON object found by its braces",
    "json": "the whole text as JSON",
    "yaml_block": "a fenced YAML block",
    "yaml": "the whole text as YAML",
    "reindented": "YAML after its lines were indented again",
    "second_look": "a JSON object found by looking once more",
    "missing": "there is no answer to this step",
    "empty": "the answer is empty",
    "too_large": "the answer is too large to be a plan",
    "too_deep": "the answer nests too deeply to be a plan",
    "no_workflow": "no workflow could be read from the answer",
    "bad_value": "a value in the answer cannot be built",
    "not_text": "the content of the answer is not a text",
    "text": "the answer is prose: neither a call nor a rejection",
    "malformed": "the answer looks like a call, and none can be read from it",
}
# How a step went; those that are scored by a figure have no words, and show it.
OUTCOMES = {
    "left_out": "left out",
    "unread": "unread",
    "failed": "failed",
    "called": "called",
    "rejected_a_due_call": "rejected a wanted call",
    "called_a_due_rejection": "called, rejection was wanted",
    "rejected_with_other_type": "rejected, other type",
    "rejected": "rejected rightly",
}
ERROR_PATTERNS = {
    "overaction": "called where a rejection was wanted",
    "underaction": "rejected where a call was wanted",
    "type_mismatch": "rejected with another type",
    "failed_call": "failed where a call was wanted",
    "failed_rejection": "failed where a rejection was wanted",
}
SCENARIO_KINDS = {
    "is_hard": "Hard: the mean score is below 50",
    "is_dead": "Dead: all models score the same",
    "is_suspicious": "Suspicious: every strong model fails",
    "is_contrary": "Contrary: better models do worse",
}
_USAGE = {
    "as_given": "every file states what it used",
    "difference": "the files count on from one to the next, and each used the difference",
    "process": "what the whole process used is known, but not the share of each scenario",
    "unknown": "not known: the files state nothing, or sums of a counter that is never reset",
}
_CALL_SOURCES = {"content": "the text of the answer", "tool_calls": "the tool calls"}
_CRITERIA = {"decision": "decision", "answer": "whole answer"}
_EDITS = {
    "missing_workflow": "The answer lacks the workflow {wanted}",
    "extra_workflow": "The answer has a workflow too many: {given}",
    "missing_dependency": "{subject} does not wait for {wanted}",
    "extra_dependency": "{subject} waits for {given} without need",
    "missing_step": "The answer lacks the step {wanted}",
    "extra_step": "The answer has a step too many: {given}",
    "missing_transition": "{subject} does not come after {wanted}",
    "extra_transition": "{subject} comes after {given} without need",
    "missing_transition_loop": "{subject} does not follow on itself",
    "extra_transition_loop": "{subject} follows on itself without need",
    "wrong_agent": "{subject} is done by {given} in place of {wanted}",
    "wrong_status": "{subject} has the status {given} in place of {wanted}",
    "wrong_step": "{given} stands in place of {wanted}",
}


def words(profiles: Mapping[str, Profile]) -> dict[str, Any]:
    """Words for values by the column that holds them, the metrics in their order, and escapes."""
    return {
        "profile": {name: _PROFILES.get(name, "rules of your own") for name in profiles},
        "decision": DECISIONS,
        "reading": READINGS,
        "outcome": OUTCOMES,
        "error_pattern": ERROR_PATTERNS,
        "scenario_kind": SCENARIO_KINDS,
        "usage_basis": _USAGE,
        "call_source": _CALL_SOURCES,
        "criterion": _CRITERIA,
        "edit": _EDITS,
        "headline": list(HEADLINE),
        "escapes": {"latex": LATEX_ESCAPES, "markdown": MARKDOWN_ESCAPES},
        "formula_starts": FORMULA_STARTS,
        "metric": {name: metric.label for name, metric in METRICS.items()},
        # Which rows a metric is made of, for the page to lead to them.
        "rows_behind": {name: _rows_behind(name) for name in METRICS},
    }


def _rows_behind(metric: str) -> str:
    if metric == HEADLINE[0]:
        return ""
    if metric.endswith("_similarity"):
        return "plans"
    is_of_calls = metric in ("function_call_f1", "name_f1", "key_f1", "value_f1")
    return "calls" if is_of_calls else "steps"
