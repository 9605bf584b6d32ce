"""What holds of steps under any profile: ids of calls, markers, defects, places in judge logs."""

import pytest

from orchbench_analytics.score.steps.calls import read_distinct_calls
from orchbench_analytics.score.steps.score import step_facts
from tests.bounded import no_runaway
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


def facts(*rows: Row, names: str | tuple[str, ...]) -> list[object]:
    columns = (names,) if isinstance(names, str) else names
    return columns_of(step_facts(steps_frame(*rows)).steps, *columns)


def test_rows_stay_as_many_and_in_order() -> None:
    rows = [step(step_id=str(number), answer_content="{}") for number in range(50)]

    found = facts(*rows, names=("row", "step_id"))

    assert found == [(number, str(number)) for number in range(50)]


def test_no_rows_are_no_facts() -> None:
    read = step_facts(steps_frame())

    assert len(read.steps) == 0
    assert read.read.calls["calls_text"].to_list() == ["[]"]


def test_equal_calls_have_one_id_and_no_calls_have_id_0() -> None:
    rows = [
        step(answer_calls=calls("book")),
        step(answer_calls=calls("other")),
        step(answer_calls="[]"),
        step(answer_calls=None),
        unanswered(step()),
    ]

    found = facts(*rows, names=("label_id", "answer_id"))

    assert found == [(1, 1), (1, 2), (1, 0), (1, 0), (1, 0)]


def test_each_text_is_read_once() -> None:
    read = read_distinct_calls(["[]", calls("b", "a", call("b", '{"x": 1}'))])

    assert read.calls.select("calls_id", "call_count", "tools").rows() == [
        (0, 0, None),
        (1, 3, '["a","b"]'),
    ]
    assert read.names.rows() == [(0, None, []), (1, None, ["b", "a"])]
    assert read.arguments.to_dicts() == [
        {
            "calls_id": 1,
            "argument_key": "x",
            "values": ["1"],
            "values_json": '["1"]',
            "one_sided_count": 1,
            "reading": None,
        }
    ]


@pytest.mark.parametrize(
    ("content", "after_thinking", "anywhere"),
    [
        (None, None, None),
        ("", None, None),
        ("awaiting_user_input", None, None),
        (f"so: {AWAITING}!", AWAITING, AWAITING),
        (VIOLATION, VIOLATION, VIOLATION),
        (f"{VIOLATION} {AWAITING}", AWAITING, AWAITING),
        (f"<think>{AWAITING}</think>", None, AWAITING),
        (f"<think>{AWAITING}</think>{VIOLATION}", VIOLATION, AWAITING),
        (f"<think>a\n</think>{AWAITING}</think>\nb", None, AWAITING),
        (f"<think>{AWAITING}", AWAITING, AWAITING),
    ],
)
def test_the_marker_of_a_rejection_is_looked_for_after_thinking_and_anywhere(
    content: str | None, after_thinking: str | None, anywhere: str | None
) -> None:
    names = ("marker_after_thinking", "marker_anywhere")

    assert facts(step(answer_content=content), names=names) == [(after_thinking, anywhere)]


@pytest.mark.parametrize(
    ("content", "label_type"),
    [(AWAITING, AWAITING), (f"x {VIOLATION}", VIOLATION), ("sorry", None), (None, None)],
)
def test_the_label_names_the_type_of_its_rejection(
    content: str | None, label_type: str | None
) -> None:
    names = ("is_call_labelled", "label_type")

    assert facts(rejection(content), names=names) == [(False, label_type)]


@pytest.mark.parametrize(
    ("columns", "is_unusable"),
    [
        ({}, False),
        ({"has_call_key": False}, False),
        ({"label_calls": None}, True),
        ({"label_calls": "[]"}, True),
        ({"label_calls": None, "has_call_key": False}, False),
        ({"label_calls": calls("book", "tool_name")}, True),
        ({"label_calls": calls("tool_name"), "has_call_key": False}, True),
    ],
)
def test_labels_without_their_gold_call_are_unusable(columns: Row, is_unusable: bool) -> None:
    assert facts(step(**columns), names="is_unusable_label") == [is_unusable]


@pytest.mark.parametrize(
    ("row", "voids_file"),
    [
        (step(), False),
        (step(answer_content=None), True),
        (step(answer_content=None, answer_calls=calls("book")), False),
        (unanswered(step()), False),
        (step(answer_calls="null"), True),
        (step(answer_calls=calls(call("book", "[1]"))), True),
        (step(answer_calls=calls(call("book", "null"))), True),
        (step(answer_calls=calls(call(None))), False),
        (step(answer_calls='[{"name": "book"}]'), True),
        (step(answer_calls='[{"flat": {"name": "book", "arguments": {}}}]'), True),
        (step(answer_calls=calls(call("book", "{broken"))), False),
        (step(answer_calls="7", answer_content="Hm."), True),
        (step(answer_calls="{}"), False),
        (step(answer_calls="{}", answer_content=None), True),
        (step(answer_content=None, content_kind="absent"), False),
        (step(answer_content="5", content_kind="number"), True),
        (step(answer_content="false", content_kind="boolean"), True),
        (step(answer_content="[]", content_kind="list"), False),
        (step(answer_content="{}", content_kind="object"), False),
        (step(answer_content="5", content_kind="number", answer_calls=calls("book")), False),
        (step(step_kind="number"), False),
        (step(step_kind="null"), False),
        (step(step_kind="absent"), True),
        (step(step_kind="list"), True),
        (step(step_kind="no_object"), True),
        (unanswered(step()) | {"step_kind": "history_null"}, True),
        (unanswered(step()) | {"step_kind": "history_object"}, True),
        (step(label_calls="null"), False),
        (unlabelled(answer_content=None), True),
    ],
)
def test_what_makes_the_public_evaluator_give_up_on_a_file(row: Row, voids_file: bool) -> None:
    assert facts(row, names="voids_file") == [voids_file]


@pytest.mark.parametrize(
    ("label_calls", "is_call_labelled", "has_gold_call"),
    [(calls("book"), True, True), ("[]", True, False), (None, False, False), ("{}", False, False)],
)
def test_an_empty_list_of_gold_calls_is_told_from_none(
    label_calls: str | None, is_call_labelled: bool, has_gold_call: bool
) -> None:
    found = facts(step(label_calls=label_calls), names=("is_call_labelled", "has_gold_call"))

    assert found == [(is_call_labelled, has_gold_call)]


class TestWrittenCalls:
    CONTENT = '{"tool": "book", "arguments": {}}'

    def test_a_call_written_as_text_has_an_id_of_its_own(self) -> None:
        rows = [step(answer_content=self.CONTENT), step(answer_content="{")]

        names = ("written_tools", "written_id", "answer_tools")
        assert facts(*rows, names=names) == [('["book"]', 2, None), (None, None, None)]

    def test_it_does_not_depend_on_what_other_answers_are(self) -> None:
        nameless = step(answer_content=self.CONTENT, answer_calls=calls(call(None)))
        silent = step(answer_content=self.CONTENT)

        alone = facts(nameless, names="written_tools")
        together = facts(nameless, silent, names="written_tools")

        assert alone == ['["book"]']
        assert together == ['["book"]', '["book"]']


class TestJudgeIndex:
    def test_it_numbers_the_labelled_calls_that_were_not_rejected_in_order_of_answers(self) -> None:
        rows = [
            step(step_id="8", answer_position=6, answer_calls=calls("book")),
            step(step_id="1", answer_position=0),
            step(step_id="2", answer_position=1, answer_content=AWAITING),
            step(step_id="3", answer_position=2, answer_content=AWAITING, answer_calls=calls("x")),
            step(step_id="4", answer_position=3, answer_calls=calls(call("x", {VIOLATION: 1}))),
            rejection(step_id="5", answer_position=4, answer_calls=calls("x")),
            unlabelled(step_id="6", answer_position=5, answer_calls=calls("x")),
            unanswered(step(step_id="7")),
        ]

        found = dict(facts(*rows, names=("step_id", "judge_index")))

        assert found == {
            "8": 2, "1": 0, "2": None, "3": 1, "4": None, "5": None, "6": None, "7": None,
        }  # fmt: skip

    def test_each_run_counts_from_0(self) -> None:
        runs = ("run #2", "run #1", "run #2")
        rows = [step(run=run, answer_position=n) for n, run in enumerate(runs)]

        assert facts(*rows, names=("run", "judge_index")) == [
            ("run #2", 0),
            ("run #1", 0),
            ("run #2", 1),
        ]

    def test_an_empty_list_of_gold_calls_is_numbered_too(self) -> None:
        rows = [step(step_id="1", label_calls="[]"), step(step_id="2", answer_position=1)]

        assert facts(*rows, names="judge_index") == [0, 1]

    def test_a_marker_that_is_a_part_of_the_content_is_a_rejection_to_whoever_wrote_it(
        self,
    ) -> None:
        rows = [
            step(step_id="1", answer_content=f'["{AWAITING}"]', content_kind="list"),
            step(step_id="2", answer_content=f'["so: {AWAITING}"]', content_kind="list"),
        ]

        assert facts(*rows, names="judge_index") == [None, 0]

    def test_a_marker_while_thinking_is_a_rejection_to_whoever_wrote_the_log(self) -> None:
        rows = [
            step(step_id="1", answer_content=f"<think>{AWAITING}</think>"),
            step(step_id="2", answer_position=1),
        ]

        assert facts(*rows, names="judge_index") == [None, 0]


@pytest.mark.parametrize(
    "content", ["</think>" * 200_000, "<think>" * 200_000, "{" * 1_000_000, "a" * 5_000_000]
)
def test_long_texts_take_time_in_proportion(content: str) -> None:
    with no_runaway():
        facts(step(answer_content=content), names="marker_anywhere")
