"""Decisions: every row of SEMANTICS.md's table, and each rule flipped alone."""

from dataclasses import replace
from typing import Any

import pytest

from orchbench_analytics.profiles import SPEC, STRICT, UPSTREAM, Profile
from orchbench_analytics.score.steps.score import decide, step_facts
from tests.rows import (
    AWAITING,
    VIOLATION,
    Row,
    call,
    calls,
    columns_of,
    rejection,
    step,
    steps_frame,
    unanswered,
    unlabelled,
)

NO_HISTORY = {"step_kind": "history_null"}
WRITTEN = '{"tool": "book", "arguments": {}}'
FLAT = step(answer_calls='[{"flat": {"name": "book", "arguments": {}}}]')
COUNTS = (
    "true_positive_reject_count",
    "true_negative_reject_count",
    "false_positive_reject_count",
    "false_negative_reject_count",
    "true_positive_call_count",
    "true_negative_call_count",
    "false_positive_call_count",
    "false_negative_call_count",
    "failed_generation_count",
)


def decided(*rows: Row, names: tuple[str, ...], profile: Profile = SPEC, **rules: Any) -> list[Any]:
    steps = step_facts(steps_frame(*rows)).steps
    return columns_of(decide(steps, replace(profile, **rules)), *names)


def predicted(row: Row, **rules: Any) -> str:
    return decided(row, names=("predicted",), **rules)[0]


# What the label wants


@pytest.mark.parametrize(
    ("row", "actual"),
    [
        (step(), "call"),
        (step(has_call_key=False), "call"),
        (rejection(AWAITING), AWAITING),
        (rejection(f"{VIOLATION}: it is past"), VIOLATION),
        (rejection(f"{VIOLATION} {AWAITING}"), AWAITING),
        (rejection("Sorry."), "rejection"),
        (rejection(None), "rejection"),
        (step(label_calls="null"), "rejection"),
        (unlabelled(), "rejection"),
    ],
)
@pytest.mark.parametrize("profile", [SPEC, STRICT, UPSTREAM], ids=lambda p: p.name)
def test_actual(row: Row, actual: str, profile: Profile) -> None:
    assert decided(row, names=("actual",), profile=profile) == [actual]


@pytest.mark.parametrize("has_call_key", [True, False])
def test_an_empty_list_of_gold_calls_is_a_call_to_the_evaluator_only(has_call_key: bool) -> None:
    row = step(label_calls="[]", has_call_key=has_call_key)

    assert decided(row, names=("actual",)) == ["rejection"]
    assert decided(row, names=("actual",), profile=UPSTREAM) == ["call"]


# What was answered


@pytest.mark.parametrize(
    ("row", "outcome", "reason", "source"),
    [
        (step(answer_calls=calls("book")), "call", None, "tool_calls"),
        (step(answer_calls=calls(call(None), "book")), "call", None, "tool_calls"),
        (step(answer_calls=calls("book"), answer_content=AWAITING), "call", None, "tool_calls"),
        (step(answer_calls=calls(call("b", {AWAITING: 1}))), "call", None, "tool_calls"),
        (step(answer_content=AWAITING), AWAITING, None, None),
        (step(answer_content=f"{VIOLATION}, {AWAITING}"), AWAITING, None, None),
        (step(answer_content=VIOLATION, answer_calls="null"), VIOLATION, None, None),
        (step(answer_content=f'{{"tool": "{AWAITING}", "arguments": {{}}}}'), AWAITING, None, None),
        (step(answer_content=WRITTEN), "call", None, "content"),
        (step(answer_content=WRITTEN, answer_calls=calls(call(None))), "call", None, "content"),
        (step(answer_content=f"<think>{AWAITING}</think>{WRITTEN}"), "call", None, "content"),
        (unanswered(step()), "failed", "missing", None),
        (step(answer_content=None), "failed", "empty", None),
        (step(answer_content=" \n"), "failed", "empty", None),
        (step(answer_content=f"<think>{AWAITING}</think> "), "failed", "empty", None),
        (step(answer_calls=calls(call(None))), "failed", "malformed", None),
        (step(answer_calls=calls(call("")), answer_content=AWAITING), "failed", "malformed", None),
        (step(answer_content='{"tool": "book"'), "failed", "malformed", None),
        (step(answer_content=f"I call {WRITTEN}"), "failed", "malformed", None),
        (step(answer_content="I call book."), "failed", "text", None),
        (step(answer_content="<think>{}</think>Hm."), "failed", "text", None),
        (FLAT, "call", None, "tool_calls"),
        (step(answer_content=f'["{AWAITING}?"]', content_kind="list"), AWAITING, None, None),
        (
            step(answer_content=f'{{"{AWAITING}": 1}}', content_kind="object"),
            "failed",
            "malformed",
            None,
        ),
        (step(answer_content="5", content_kind="number"), "failed", "malformed", None),
        (step(answer_content="[]", content_kind="list"), "failed", "empty", None),
        (step(answer_content=None, content_kind="absent"), "failed", "empty", None),
    ],
)
@pytest.mark.parametrize("profile", [SPEC, STRICT], ids=lambda p: p.name)
def test_predicted(
    row: Row, outcome: str, reason: str | None, source: str | None, profile: Profile
) -> None:
    names = ("predicted", "failure_reason", "call_source")

    assert decided(row, names=names, profile=profile) == [(outcome, reason, source)]


@pytest.mark.parametrize(
    ("row", "outcome"),
    [
        (step(answer_calls=calls("book")), "call"),
        (step(answer_calls=calls(call("book", {VIOLATION: 1, AWAITING: 1}))), AWAITING),
        (step(answer_calls=calls("book", call("b", {VIOLATION: 1}))), VIOLATION),
        (step(answer_content=f"<think>{AWAITING}</think>{VIOLATION}"), AWAITING),
        (step(answer_content=""), "call"),
        (step(answer_content="Hello."), "call"),
        (step(answer_content=WRITTEN), "call"),
        (step(answer_calls=calls(call(None)), answer_content=AWAITING), "call"),
        (step(answer_content=f'["{AWAITING}"]', content_kind="list"), AWAITING),
        (step(answer_content=f'["{AWAITING}?"]', content_kind="list"), "call"),
        (step(answer_content=f'{{"{VIOLATION}": 1}}', content_kind="object"), VIOLATION),
        (step(answer_content=f'{{"a": "{VIOLATION}"}}', content_kind="object"), "call"),
    ],
)
def test_predicted_by_the_public_evaluator(row: Row, outcome: str) -> None:
    assert predicted(row, profile=UPSTREAM) == outcome


# What is left out


@pytest.mark.parametrize(
    ("row", "reason", "upstream_reason"),
    [
        (step(), None, None),
        (unanswered(step()), None, "unanswered_step"),
        (step(answer_number=2), "surplus_answer", None),
        (unlabelled(), "unlabelled_answer", None),
        (unlabelled(answer_number=2), "unlabelled_answer", None),
        (step(label_calls=None), "unusable_label", None),
        (step(label_calls=calls("tool_name")), "unusable_label", None),
        (step(label_calls=None, answer_number=2), "surplus_answer", None),
        (step(answer_calls="null"), None, "void_file"),
        (unanswered(unlabelled(step_id="")) | NO_HISTORY, "no_history", "void_file"),
    ],
)
def test_left_out_reason(row: Row, reason: str | None, upstream_reason: str | None) -> None:
    names = ("left_out_reason", "is_scored")

    assert decided(row, names=names) == [(reason, reason is None)]
    assert decided(row, names=names, profile=UPSTREAM) == [
        (upstream_reason, upstream_reason is None)
    ]


@pytest.mark.parametrize("kind", ["history_absent", "history_null", "history_object"])
def test_a_run_without_labels_and_history_voids_its_file_upstream(kind: str) -> None:
    nothing = unanswered(unlabelled(step_id="", run="run #2")) | {"step_kind": kind}
    rows = [step(), nothing, step(scenario="other")]

    assert decided(*rows, names=("left_out_reason",)) == [None, "no_history", None]
    reasons = decided(*rows, names=("left_out_reason",), profile=UPSTREAM)
    assert reasons == ["void_file", "void_file", None]


def test_a_malformed_answer_voids_its_file_and_no_other_upstream() -> None:
    rows = [
        step(scenario="1", answer_calls="null"),
        step(scenario="1", run="run #2"),
        step(scenario="2"),
        step(scenario="1", model="other"),
        step(scenario="1", language="KO"),
    ]

    reasons = decided(*rows, names=("left_out_reason",), profile=UPSTREAM)

    assert reasons == ["void_file", "void_file", None, None, None]
    assert decided(*rows, names=("left_out_reason",)) == [None] * 5


# The seed's table of outcomes

ANSWERS = {
    "call": {"answer_calls": calls("book")},
    "right type": {"answer_content": AWAITING},
    "wrong type": {"answer_content": VIOLATION},
    "failed": {"answer_content": "Hm."},
}
#                        TPr TNr FPr FNr TPc TNc FPc FNc failed  mismatch
OUTCOMES = {
    ("call", "call"): ((0, 1, 0, 0, 1, 0, 0, 0, 0), False),
    ("call", "right type"): ((0, 0, 1, 0, 0, 0, 0, 1, 0), False),
    ("call", "failed"): ((0, 0, 0, 0, 0, 0, 0, 1, 1), False),
    ("reject", "call"): ((0, 0, 0, 1, 0, 0, 1, 0, 0), False),
    ("reject", "right type"): ((1, 0, 0, 0, 0, 1, 0, 0, 0), False),
    ("reject", "wrong type"): ((1, 0, 0, 0, 0, 1, 0, 0, 0), True),
    ("reject", "failed"): ((0, 0, 0, 0, 0, 1, 0, 0, 1), False),
}


@pytest.mark.parametrize(("wanted", "given"), OUTCOMES)
def test_outcomes_are_the_seeds(wanted: str, given: str) -> None:
    row = (step if wanted == "call" else rejection)(**ANSWERS[given])
    counts, is_mismatch = OUTCOMES[wanted, given]

    assert decided(row, names=(*COUNTS, "is_type_mismatch")) == [(*counts, is_mismatch)]


def test_under_strict_failing_where_a_rejection_was_due_is_a_false_negative() -> None:
    row = rejection(answer_content="Hm.")

    assert decided(row, names=COUNTS, profile=STRICT) == [(0, 0, 0, 1, 0, 1, 0, 0, 1)]


def test_rows_that_are_left_out_count_nowhere() -> None:
    rows = [step(answer_number=2, **answer) for answer in ANSWERS.values()]
    rows += [unlabelled(**answer) for answer in ANSWERS.values()]

    found = decided(*rows, names=(*COUNTS, "is_type_mismatch", "is_call_scored"))

    assert set(found) == {(0,) * len(COUNTS) + (False, False)}


@pytest.mark.parametrize(
    ("label", "answer", "is_mismatch", "upstream_mismatch"),
    [
        (AWAITING, AWAITING, False, False),
        (AWAITING, VIOLATION, True, True),
        ("Sorry.", AWAITING, False, True),
        (None, VIOLATION, False, True),
    ],
)
def test_type_mismatch(
    label: str | None, answer: str, is_mismatch: bool, upstream_mismatch: bool
) -> None:
    row = rejection(label, answer_content=answer)

    assert decided(row, names=("is_type_mismatch",)) == [is_mismatch]
    assert decided(row, names=("is_type_mismatch",), profile=UPSTREAM) == [upstream_mismatch]


@pytest.mark.parametrize(
    ("answer", "is_scored", "strict_scored"),
    [("call", True, True), ("right type", False, True), ("failed", True, True)],
)
def test_which_steps_count_for_calls(answer: str, is_scored: bool, strict_scored: bool) -> None:
    row = step(**ANSWERS[answer])

    assert decided(row, names=("is_call_scored",)) == [is_scored]
    assert decided(row, names=("is_call_scored",), profile=STRICT) == [strict_scored]
    for not_due in (rejection(**ANSWERS[answer]), step(label_calls=None, **ANSWERS[answer])):
        assert decided(not_due, names=("is_call_scored",), profile=STRICT) == [False]


# Each rule flipped alone

ROWS = {
    "called": step(answer_calls=calls("book")),
    "rejected": step(answer_content=AWAITING),
    "silent": step(answer_content=""),
    "written": step(answer_content=WRITTEN),
    "rejecting argument": step(answer_calls=calls(call("book", {VIOLATION: 1}))),
    "thought of rejecting": step(answer_content=f"<think>{AWAITING}</think>Hm."),
    "missing": unanswered(step()),
    "second answer": step(answer_number=2, answer_position=1),
    "no label": unlabelled(answer_content=AWAITING),
    "unusable label": step(label_calls=None, answer_content=VIOLATION),
    "rightly rejected": rejection(answer_content=AWAITING),
    "rejected, untyped": rejection("Sorry.", answer_content=AWAITING),
    "failed to reject": rejection(answer_content="Hm."),
    "null calls": step(answer_calls="null", scenario="void"),
    "nameless call": step(answer_calls=calls(call(None))),
    "marked part": step(answer_content=f'["{AWAITING}?"]', content_kind="list"),
    "no gold call": step(label_calls="[]", has_call_key=False),
}
DECISION_RULES = {
    "scored_unit": {"missing", "second answer", "no label"},
    "untyped_rejection": {"rejected, untyped"},
    "unusable_label": {"unusable label"},
    "empty_gold_calls": {"no gold call"},
    "content_parts": {"marked part"},
    "nameless_call": {"nameless call"},
    # Whatever failed is now a call; so is what was left out, though it counts nowhere.
    "silence": {
        "silent",
        "thought of rejecting",
        "second answer",
        "failed to reject",
        "null calls",
        "nameless call",
        "no gold call",
    },
    "rejection_marker": {"thought of rejecting"},
    "rejection_argument": {"rejecting argument"},
    "call_in_text": {"written"},
    "malformed_answer": {"null calls"},
}


@pytest.mark.parametrize("rule", DECISION_RULES)
def test_a_rule_changes_just_the_answers_it_is_about(rule: str) -> None:
    rows = [row | {"step_id": name} for name, row in ROWS.items()]
    names = (
        "predicted",
        "failure_reason",
        "call_source",
        "left_out_reason",
        "is_type_mismatch",
        "is_call_scored",
        *COUNTS,
    )

    before = dict(zip(ROWS, decided(*rows, names=names), strict=True))
    flipped = {rule: getattr(UPSTREAM, rule)}
    after = dict(zip(ROWS, decided(*rows, names=names, **flipped), strict=True))

    assert {name for name in ROWS if before[name] != after[name]} == DECISION_RULES[rule]


@pytest.mark.parametrize(
    ("rule", "changed"),
    [
        ("failed_rejection", {"failed to reject", "no gold call"}),
        ("rejected_call", {"rejected", "marked part"}),
    ],
)
def test_each_rule_of_strict_changes_just_the_answers_it_is_about(
    rule: str, changed: set[str]
) -> None:
    rows = [row | {"step_id": name} for name, row in ROWS.items()]
    names = (*COUNTS, "is_call_scored")

    before = decided(*rows, names=names)
    after = decided(*rows, names=names, **{rule: getattr(STRICT, rule)})

    differing = {name for name, b, a in zip(ROWS, before, after, strict=True) if b != a}
    assert differing == changed
