"""Scoring steps: F1 of names, keys and values, and each rule about calls flipped alone."""

import json
from dataclasses import replace
from typing import Any

import pytest

from orchbench_analytics.profiles import BUILT_IN, SPEC, STRICT, UPSTREAM, Profile, rule_choices
from orchbench_analytics.schema import polars_schema
from orchbench_analytics.score.steps.score import prepare_steps, score_steps
from orchbench_analytics.tables import SCORED_ARGUMENTS, SCORED_STEPS
from tests.rows import (
    AWAITING,
    VIOLATION,
    Row,
    call,
    calls,
    columns_of,
    cut_off,
    judgement,
    judgements_frame,
    parameter,
    parameters_frame,
    rejection,
    score_rows,
    step,
    steps_frame,
    unanswered,
    unlabelled,
)

F1S = ("name_f1", "key_f1", "value_f1")
LABEL = calls(call("book", {"city": "Seoul", "day": "2024-05-01"}))


def f1s(row: Row, **options: Any) -> Any:
    (found,) = columns_of(score_rows(row, **options).steps, *F1S)
    return found


@pytest.mark.parametrize(
    ("answer", "scores"),
    [
        (LABEL, (1.0, 1.0, 1.0)),
        (calls(call("book", {"day": "2024-05-01", "city": "Seoul"})), (1.0, 1.0, 1.0)),
        (calls(call("pay", {"city": "Seoul", "day": "2024-05-01"})), (0.0, 1.0, 1.0)),
        (calls(call("book", {"city": "Seoul"})), (1.0, 2 / 3, 2 / 3)),
        (calls(call("book", {"city": "Seoul", "day": "x"})), (1.0, 1.0, 0.5)),
        (calls(call("book", {"city": "Seoul", "day": "2024-05-01", "x": 1})), (1.0, 0.8, 0.8)),
        (calls("book"), (1.0, 0.0, 0.0)),
        (calls(call("book", "{broken")), (1.0, 0.0, 0.0)),
        (calls(call("book", "[1]")), (1.0, 0.0, 0.0)),
        (calls(call("book", {"city": "Seoul"}), call("book", {"day": "2024-05-01"})), (1.0,) * 3),
        (calls("book", "pay"), (2 / 3, 0.0, 0.0)),
        (calls("x", "y"), (0.0, 0.0, 0.0)),
    ],
)
@pytest.mark.parametrize("profile", [SPEC, STRICT], ids=lambda p: p.name)
def test_f1_of_names_keys_and_values(answer: str, scores: Any, profile: Profile) -> None:
    found = f1s(step(label_calls=LABEL, answer_calls=answer), profile=profile)

    assert found == pytest.approx(scores)


def test_counts_stand_beside_the_scores() -> None:
    answer = calls("other", call("book", {"city": "Seul", "when": 1}))

    (row,) = score_rows(step(label_calls=LABEL, answer_calls=answer)).steps.to_dicts()

    outcomes = ("true_positive", "false_positive", "false_negative")
    counts = {
        side: tuple(row[f"{side}_{outcome}_count"] for outcome in outcomes)
        for side in ("name", "key", "value")
    }
    assert counts == {"name": (1, 1, 0), "key": (1, 1, 1), "value": (0, 2, 2)}


def test_no_arguments_on_both_sides_agree_fully_but_for_the_evaluator() -> None:
    row = step(answer_calls=calls("book"))

    assert f1s(row) == (1.0, 1.0, 1.0)
    assert f1s(row, no_arguments="zero") == (1.0, 1.0, 0.0)


@pytest.mark.parametrize(
    "row",
    [
        step(answer_content="Hm."),
        step(answer_content=None),
        unanswered(step()),
        step(answer_calls=calls(call(None))),
        step(answer_calls=calls(call(None, LABEL))),
    ],
)
def test_failing_where_a_call_was_due_scores_0(row: Row) -> None:
    assert f1s(row) == (0.0, 0.0, 0.0)
    assert f1s(row, profile=STRICT) == (0.0, 0.0, 0.0)


def test_a_rejection_where_a_call_was_due_stays_out_or_scores_0() -> None:
    row = step(answer_content=AWAITING)

    assert f1s(row) == (None, None, None)
    assert f1s(row, rejected_call="zero") == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    "row", [rejection(answer_calls=calls("x")), unlabelled(), step(label_calls=None)]
)
def test_where_no_call_was_due_there_is_no_score(row: Row) -> None:
    assert f1s(row, profile=STRICT) == (None, None, None)


def test_silence_is_a_call_of_nothing_to_the_evaluator() -> None:
    scored = score_rows(step(label_calls=LABEL), profile=UPSTREAM)

    assert columns_of(scored.steps, "predicted", *F1S) == [("call", 0.0, 0.0, 0.0)]
    assert columns_of(scored.arguments, "argument_key", "false_negative_count") == [
        ("city", 1),
        ("day", 1),
    ]


def test_a_call_written_as_text_is_compared_where_it_is_recovered() -> None:
    row = step(
        label_calls=LABEL,
        answer_content='{"name": "book", "arguments": {"city": "Seoul", "day": "2024-05-01"}}',
    )

    scored = score_rows(row).steps

    assert columns_of(scored, *F1S, "call_source", "answer_tools") == [
        (1.0, 1.0, 1.0, "content", '["book"]')
    ]
    assert f1s(row, call_in_text="ignored") == (0.0, 0.0, 0.0)


def test_invalid_arguments_count_their_characters_under_the_key_error() -> None:
    row = step(answer_calls=calls(call("book", "nope")))
    text = "Invalid JSON in arguments: nope"

    scored = score_rows(row, invalid_arguments="error_key")

    assert columns_of(scored.steps, "is_malformed", *F1S) == [(True, 1.0, 0.0, 0.0)]
    names = ("argument_key", "false_positive_count", "answer_values")
    assert columns_of(scored.arguments, *names) == [("error", len(text), f'["{text}"]')]
    assert columns_of(score_rows(row).steps, "is_malformed", *F1S) == [(True, 1.0, 1.0, 1.0)]


@pytest.mark.parametrize(
    ("row", "is_malformed"),
    [
        (step(answer_calls=LABEL), False),
        (step(answer_content="Hm."), False),
        (unanswered(step()), False),
        (step(answer_content='{"tool": "book", "arguments": {}}'), False),
        (step(answer_content=None), True),
        (step(answer_content=None, answer_calls=LABEL), False),
        (step(answer_calls="null"), True),
        (step(answer_calls=calls(call("book", "[1]"))), True),
        (step(answer_calls=calls(call("book", "{broken"))), True),
        (step(answer_calls=calls("book", call(None))), True),
        (step(answer_content='{"tool": "book", "arguments": "{broken"}'), True),
        (step(answer_content='{"tool": "b", "arguments": ""}', answer_calls=LABEL), False),
    ],
)
def test_an_answer_with_a_defect_is_flagged(row: Row, is_malformed: bool) -> None:
    assert columns_of(score_rows(row).steps, "is_malformed") == [is_malformed]


def test_a_verdict_lifts_the_score() -> None:
    row = step(
        label_calls=calls(call("book", {"city": "Seoul", "day": "1"})),
        answer_calls=calls(call("book", {"city": "Seul", "day": "1"})),
    )

    assert f1s(row) == (1.0, 1.0, 0.5)
    assert f1s(row, judgements=[judgement()]) == (1.0, 1.0, 1.0)


def test_steps_carry_their_profile_and_agent() -> None:
    rows = [step(label_agent_id="l", answer_agent_id="a"), unlabelled(answer_agent_id="a")]

    found = columns_of(score_rows(*rows, name="mine").steps, "profile", "agent_id")

    assert found == [("mine", "l"), ("mine", "a")]


def test_tables_are_as_declared_even_without_rows() -> None:
    for rows in ([], [step(answer_calls=LABEL, label_calls=LABEL), rejection()]):
        scored = score_rows(*rows)

        assert dict(scored.steps.schema) == polars_schema(SCORED_STEPS)
        assert dict(scored.arguments.schema) == polars_schema(SCORED_ARGUMENTS)


def test_equal_answers_are_scored_alike_in_every_run_and_model() -> None:
    rows = [
        step(model=model, run=run, answer_calls=LABEL, label_calls=LABEL)
        for model in "ab"
        for run in ("run #1", "run #2")
    ]

    scored = score_rows(*rows)

    assert columns_of(scored.steps, *F1S) == [(1.0, 1.0, 1.0)] * 4
    assert len(scored.arguments) == 8


# Each rule flipped alone: which of these steps' rows differ

ROWS = {
    "right": step(label_calls=LABEL, answer_calls=LABEL),
    "no arguments": step(answer_calls=calls("book")),
    "rejected": step(answer_content=AWAITING),
    "invalid arguments": step(answer_calls=calls(call("book", "nope"))),
    "judged": step(
        label_calls=calls(call("book", {"city": "Seoul"}), call("book", {"city": "x"})),
        answer_calls=calls(call("book", {"city": "Seul"}), call("book", {"city": "x"})),
        scenario="judged",
    ),
    "judged about another": step(
        label_calls=calls(call("book", {"city": "Seoul"})),
        answer_calls=calls(call("book", {"city": "Sol"})),
        scenario="other",
    ),
    "judged unsoundly": step(
        label_calls=calls(call("book", {"city": "Seoul", "day": 1})),
        answer_calls=calls(call("book", {"city": "Seul", "day": 1})),
        scenario="unsound",
    ),
    "judged in reasoning": step(
        label_calls=calls(call("book", {"city": "Seoul"})),
        answer_calls=calls(call("book", {"city": "Seul"})),
        scenario="reasoning",
    ),
    "judged in a log cut off": step(
        label_calls=calls(call("book", {"city": "Seoul"})),
        answer_calls=calls(call("book", {"city": "Seul"})),
        scenario="cut off",
    ),
    "unknown type": step(
        label_calls=calls(call("rent", {"type": "a"})),
        answer_calls=calls(call("rent", {"type": "b"})),
        scenario="schema",
    ),
    "nameless call too": step(
        label_calls=LABEL, answer_calls=calls(*json.loads(LABEL), call(None, {"extra": 1}))
    ),
    "rejected rightly": rejection(answer_content=AWAITING),
    "rejected otherwise": rejection(answer_content=VIOLATION),
}
UNSOUND = {"is_usable": False, "is_unsound": True, "true_positive_count": None}
VERDICTS = [
    judgement(scenario="unsound", **UNSOUND),
    judgement(scenario="judged", answer_values='["Seul", "x"]', label_values='["Seoul", "x"]'),
    judgement(scenario="other"),
    judgement(scenario="reasoning", is_bare_reasoning=True),
    cut_off(scenario="cut off"),
]
CALL_RULES = {
    "rejected_call": {"rejected"},
    "no_arguments": {"no arguments", "invalid arguments"},
    "verdict": {"judged"},
    "verdict_match": {"judged about another"},
    "unsound_verdict": {"judged unsoundly"},
    "judge_reasoning": {"judged in reasoning"},
    "unsound_schema": {"unknown type", "judged in a log cut off"},
    "nameless_call": {"nameless call too"},
    "invalid_arguments": {"invalid arguments"},
}
PARAMETERS = parameters_frame(parameter(tool="rent", argument_key="type", value_type="kind"))


@pytest.mark.parametrize("rule", CALL_RULES)
def test_a_rule_changes_just_the_steps_it_is_about(rule: str) -> None:
    rows = [row | {"step_id": name} for name, row in ROWS.items()]
    prepared = prepare_steps(steps_frame(*rows), judgements_frame(*VERDICTS), PARAMETERS)
    (other,) = set(rule_choices()[rule]) - {getattr(SPEC, rule)}

    before, after = (
        score_steps(prepared, replace(SPEC, **{rule: choice})).steps.rows()
        for choice in (getattr(SPEC, rule), other)
    )

    assert {n for n, b, a in zip(ROWS, before, after, strict=True) if b != a} == CALL_RULES[rule]


ELSEWHERE = (  # rules that act on sums and plans, not on steps
    "mismatch_totals",
    "error_total",
    "case_totals",
    "value_mean",
    "run_mean",
    "addition",
    "scored_from",
    "lone_self_loop",
    "plan_runs",
    "plan_step",
    "plan_entry",
    "plan_content",
    "plan_search",
    "plan_values",
    "failed_plan",
    "without_failure",
    "structure_edges",
    "component_edges",
    "malformed_plan",
    "distance",
    "undefined",
    "rounding",
)


@pytest.mark.parametrize("rule", ELSEWHERE)
def test_rules_about_sums_and_plans_change_no_step(rule: str) -> None:
    rows = [row | {"step_id": name} for name, row in ROWS.items()]
    prepared = prepare_steps(steps_frame(*rows), judgements_frame(*VERDICTS), parameters_frame())

    scored = [
        score_steps(prepared, replace(SPEC, **{rule: choice})) for choice in rule_choices()[rule]
    ]

    for other in scored[1:]:
        assert other.steps.equals(scored[0].steps)
        assert other.arguments.equals(scored[0].arguments)


def test_every_rule_is_tried_somewhere() -> None:
    from tests.score.steps.test_decide import DECISION_RULES

    tried = {*CALL_RULES, *ELSEWHERE, *DECISION_RULES, "failed_rejection"}
    assert tried == set(rule_choices())


@pytest.mark.parametrize("profile", BUILT_IN.values(), ids=lambda p: p.name)
def test_counts_of_a_row_fit_together(profile: Profile) -> None:
    rows = [row | {"step_id": name} for name, row in ROWS.items()]
    scored = score_rows(*rows, profile=profile, judgements=VERDICTS).steps

    for row in scored.to_dicts():
        rejects = [row[f"{n}_reject_count"] for n in ("true_positive", "false_positive")]
        calls_ = [row[f"{n}_call_count"] for n in ("true_positive", "false_positive")]
        is_failed = row["failed_generation_count"]
        assert sum(rejects) + sum(calls_) + is_failed == row["is_scored"]
        assert (row["name_f1"] is not None) == row["is_call_scored"]
