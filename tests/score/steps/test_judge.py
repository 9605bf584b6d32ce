"""The judge: which keys go to it, which verdicts are used, and what they replace."""

import json
from typing import Any

import pytest

from orchbench_analytics.profiles import SPEC, UPSTREAM
from orchbench_analytics.score.steps.score import read_verdicts
from tests.rows import (
    Row,
    call,
    calls,
    columns_of,
    cut_off,
    judgement,
    judgements_frame,
    score_rows,
    step,
)
from tests.score.steps.asked import COUNTS, REPLACES_ALL, asked, city


class TestVerdicts:
    def test_a_verdict_replaces_what_did_not_match(self) -> None:
        assert city(asked(), judgements=[judgement()]) == (1, 0, 0, "judge")

    def test_the_matches_already_confirmed_stay_or_are_lost(self) -> None:
        row = asked(["Busan", "Seoul"], ["Busan", "Seul"])
        verdict = judgement(answer_values='["Busan", "Seul"]', label_values='["Busan", "Seoul"]')

        assert city(row, judgements=[verdict]) == (2, 0, 0, "judge")
        assert city(row, judgements=[verdict], **REPLACES_ALL) == (1, 0, 0, "judge")

    def test_without_a_verdict_it_stands_as_compared_or_confirmed_matches_are_lost(self) -> None:
        row = asked(["Busan", "Seoul"], ["Busan", "Seul"])

        assert city(row) == (1, 1, 1, "compared")
        assert city(row, **REPLACES_ALL) == (0, 1, 1, "compared")

    @pytest.mark.parametrize(
        "columns",
        [
            {"is_usable": False, "unusable_reason": "no_object"},
            {"argument_key": "town"},
            {"argument_key": None},
            {"call_index": 1},
            {"run": "run #2"},
            {"language": "KO"},
            {"scenario": "other"},
            {"model": "other"},
        ],
    )
    def test_a_verdict_that_is_no_use_or_about_something_else_is_ignored(
        self, columns: Row
    ) -> None:
        for profile in (SPEC, UPSTREAM):
            found = city(asked(), judgements=[judgement(**columns)], profile=profile)

            assert found == (0, 1, 1, "compared")

    @pytest.mark.parametrize(
        "columns",
        [
            {"answer_values": '["Soul"]'},
            {"label_values": '["Busan"]'},
            {"answer_values": '["Seul", "Seul"]'},
            {"answer_values": None},
            {"label_values": "5"},
            {"label_values": "[" * 5_000 + "]" * 5_000},
        ],
    )
    def test_a_verdict_about_other_values_counts_by_its_place_only(self, columns: Row) -> None:
        verdicts = [judgement(**columns)]

        assert city(asked(), judgements=verdicts) == (0, 1, 1, "compared")
        by_position = city(asked(), judgements=verdicts, verdict_match="by_position")
        assert by_position == (1, 0, 0, "judge")

    def test_values_are_verified_as_they_are_compared(self) -> None:
        row = asked([[2, 1]], [{"b": 1, "a": 2}])
        verdict = judgement(label_values="[[1, 2]]", answer_values='[{"a": 2, "b": 1}]')

        assert city(row, judgements=[verdict]) == (1, 0, 0, "judge")

    def test_counts_are_used_as_they_are(self) -> None:
        verdict = judgement(true_positive_count=3, false_positive_count=2, false_negative_count=5)

        assert city(asked(), judgements=[verdict]) == (3, 2, 5, "judge")

    @pytest.mark.parametrize(
        "row",
        [
            asked("Seoul", "Seoul"),
            asked(["Seoul", "Busan"], "Seoul"),
            asked("Seoul", ["Seoul", "Busan"]),
            step(label_calls=calls(call("book", {"city": 1})), answer_calls=calls("book")),
        ],
        ids=["equal", "only missing", "only too much", "one side"],
    )
    def test_keys_without_values_unmatched_on_both_sides_need_no_judge(self, row: Row) -> None:
        verdict = judgement(true_positive_count=9)

        for profile in (SPEC, UPSTREAM):
            assert city(row, judgements=[verdict], profile=profile)[3] == "compared"

    def test_of_two_verdicts_on_a_key_the_first_counts(self) -> None:
        verdicts = [judgement(true_positive_count=7), judgement()]

        assert city(asked(), judgements=verdicts) == (7, 0, 0, "judge")

    def test_verdicts_go_to_steps_by_their_place(self) -> None:
        rows = [asked(step_id="1", answer_position=0), asked(step_id="2", answer_position=1)]

        arguments = score_rows(*rows, judgements=[judgement(call_index=1)]).arguments

        assert sorted(columns_of(arguments, "step_id", "decided_by")) == [
            ("1", "compared"),
            ("2", "judge"),
        ]

    def test_no_verdicts_are_none(self) -> None:
        assert len(read_verdicts(judgements_frame())) == 0


class TestReasoning:
    """A verdict in the reasoning of a bare message is one, except for the public evaluator."""

    VERDICT = judgement(is_bare_reasoning=True)

    def test_it_counts_or_is_not_an_answer(self) -> None:
        upstream = city(asked(), judgements=[self.VERDICT], profile=UPSTREAM)

        assert city(asked(), judgements=[self.VERDICT]) == (1, 0, 0, "judge")
        assert upstream == (0, 1, 1, "compared")

    def test_no_answer_leaves_the_other_keys_of_the_call_alone(self) -> None:
        row = step(
            label_calls=calls(call("book", {"city": "Seoul", "day": "1"})),
            answer_calls=calls(call("book", {"city": "Seul", "day": "1"})),
        )

        scored = score_rows(row, judgements=[self.VERDICT], profile=UPSTREAM)

        assert columns_of(scored.steps, "value_f1") == [0.5]


class TestCutOffLogs:
    """A log that ends in the middle has no verdicts; upstream it sets values to the key F1."""

    ROWS = (
        asked(step_id="1", answer_position=0),
        asked("Busan", "Busan", step_id="2", answer_position=1),
        asked(step_id="3", run="run #2"),
        asked(step_id="4", scenario="other"),
    )

    @pytest.mark.parametrize(
        ("profile", "value_f1s"), [(SPEC, [0.0, 1.0, 0.0, 0.0]), (UPSTREAM, [1.0, 1.0, 0.0, 0.0])]
    )
    def test_it_is_about_its_run_only(self, profile: Any, value_f1s: list[float]) -> None:
        scored = score_rows(*self.ROWS, judgements=[cut_off()], profile=profile)

        assert columns_of(scored.steps, "key_f1") == [1.0] * 4
        assert columns_of(scored.steps, "value_f1") == value_f1s


class TestUnsoundVerdicts:
    """A verdict that cannot be counted is not a verdict; the public evaluator gives the call 0."""

    ROW = step(
        label_calls=calls(call("book", {"city": "Seoul", "day": "1"})),
        answer_calls=calls(call("book", {"city": "Seul", "day": "1"})),
    )
    UNSOUND = judgement(
        is_usable=False,
        is_unsound=True,
        unusable_reason="no_counts",
        **dict.fromkeys(("true_positive_count", "false_positive_count", "false_negative_count")),
    )

    def value_f1(self, verdict: Row, row: Row = ROW, **rules: Any) -> Any:
        return columns_of(score_rows(row, judgements=[verdict], **rules).steps, "value_f1")[0]

    def test_it_is_ignored_or_the_whole_call_has_0(self) -> None:
        assert self.value_f1(self.UNSOUND) == 0.5
        assert self.value_f1(self.UNSOUND, unsound_verdict="zero") == 0.0

    def test_it_does_nothing_where_the_key_needs_no_judge(self) -> None:
        matching = self.ROW | {"answer_calls": self.ROW["label_calls"]}

        assert self.value_f1(self.UNSOUND, matching, unsound_verdict="zero") == 1.0

    @pytest.mark.parametrize(
        ("counts", "stored", "score"),
        [
            ((0.5, 0.5, 0.5), (0, 0, 0), 0.75),  # 1.5 of 2 on both sides
            ((1.0, 0.0, 0.5), (1, 0, 0), 8 / 9),  # 2 of 2, and 2 of 2.5
            ((1e300, 0.0, 0.0), (10**9, 0, 0), 1.0),
            ((1.0, -1.0, 0.0), (1, -1, 0), 4 / 3),  # 2 of 1, and 2 of 2
            ((1.0, -3.0, 1.0), (1, -3, 1), 0.0),  # nothing stands below 2 of -1
        ],
    )
    def test_fractions_huge_and_negative_counts_are_used_as_they_are(
        self, counts: tuple[float, ...], stored: tuple[int, ...], score: float
    ) -> None:
        verdict = judgement(exact_counts=json.dumps(counts))

        scored = score_rows(self.ROW, judgements=[verdict], profile=UPSTREAM)

        arguments = scored.arguments.filter(argument_key="city")
        assert columns_of(arguments, *COUNTS, "decided_by") == [(*stored, "judge")]
        assert columns_of(scored.steps, "value_f1") == [pytest.approx(score)]
