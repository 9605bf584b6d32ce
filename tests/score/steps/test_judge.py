"""The judge: which keys go to it, which verdicts are used, and what they replace."""

import time
from typing import Any

import pytest

from orchbench_analytics.profiles import SPEC, UPSTREAM
from orchbench_analytics.score.steps.judge import read_verdicts
from tests.rows import (
    Row,
    call,
    calls,
    columns_of,
    judgement,
    judgements_frame,
    parameter,
    score_rows,
    step,
)

COUNTS = ("true_positive_count", "false_positive_count", "false_negative_count")
REPLACES_ALL = {"verdict": "replaces_all"}


def asked(wanted: Any = "Seoul", given: Any = "Seul", **columns: Any) -> Row:
    """A step whose `city` differs; lists stand for several calls."""
    return step(
        label_calls=calls(*(call("book", {"city": value}) for value in as_list(wanted))),
        answer_calls=calls(*(call("book", {"city": value}) for value in as_list(given))),
        **columns,
    )


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def city(*rows: Row, **options: Any) -> tuple[Any, ...]:
    """Counts of the key `city` of the only step, and who decided."""
    arguments = score_rows(*rows, **options).arguments.filter(argument_key="city")
    (found,) = columns_of(arguments, *COUNTS, "decided_by")
    return found


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


class TestSchemas:
    """A key that the schema settles never goes to the judge, and stands as compared."""

    @pytest.mark.parametrize(
        ("schema", "given", "is_settled"),
        [
            ({"value_type": "integer"}, "ten", True),
            ({"value_type": "integer"}, "1.5", True),
            ({"value_type": "integer"}, "", True),
            ({"value_type": "integer"}, "10", False),
            ({"value_type": "integer"}, 10, False),
            ({"value_type": "integer"}, " -1_000\n", False),
            ({"value_type": "integer"}, "٣", False),
            ({"value_type": "integer"}, "1__0", True),
            ({"value_type": "integer"}, "9" * 4_300, False),
            ({"value_type": "integer"}, "9" * 4_301, True),
            ({"value_type": "number"}, "1.5", True),
            ({"value_type": "boolean"}, True, True),
            ({"value_type": "array"}, [["a"]], True),
            ({"value_type": "object"}, {"a": 1}, True),
            ({"value_type": "string"}, "anything", False),
            ({"value_type": "date"}, "anything", False),
            ({"value_type": None}, "anything", False),
            ({"has_enum": True}, "anything", True),
            ({"pattern": r"^\d{4}$"}, "24", True),
            ({"pattern": r"^\d{4}$"}, "2024", False),
            ({"pattern": r"^\d{4}$"}, "2024\n", False),
            ({"pattern": r"^\d{4}$"}, "2024\n\n", True),
            ({"pattern": r"\d{4}"}, "2024 or so", False),
            ({"pattern": r"\d{4}"}, "in 2024", True),
            ({"pattern": r"a|b"}, "ba", False),
            ({"pattern": r"(?=.*x)\w+$"}, "abx", False),
            ({"pattern": r"(?=.*x)\w+$"}, "abc", True),
            ({"pattern": r"(?=.*x)\w+$"}, "x" * 201, True),
            ({"pattern": r"(unclosed"}, "anything", False),
            ({"pattern": ""}, "anything", False),
            ({"value_type": "integer", "pattern": "^1"}, "20", True),
        ],
    )
    @pytest.mark.parametrize("profile", [SPEC, UPSTREAM], ids=lambda p: p.name)
    def test_settled(self, schema: Row, given: Any, is_settled: bool, profile: Any) -> None:
        verdict = judgement(answer_values="[]")
        options: Row = {
            "profile": profile,
            "judgements": [verdict],
            "parameters": [parameter(**schema)],
            "verdict_match": "by_position",
        }

        found = city(asked("label", given), **options)

        assert found == ((0, 1, 1, "compared") if is_settled else (1, 0, 0, "judge"))

    def test_a_settled_key_keeps_its_confirmed_matches_upstream(self) -> None:
        row = asked(["Busan", "Seoul"], ["Busan", "Seul"])

        settled = city(row, parameters=[parameter(value_type="number")], **REPLACES_ALL)

        assert settled == (1, 1, 1, "compared")

    def test_an_enum_settles_where_as_many_are_unmatched_on_both_sides(self) -> None:
        options: Row = {"parameters": [parameter(has_enum=True)], **REPLACES_ALL}

        assert city(asked(["x", "a"], ["x", "b"]), **options)[0] == 1
        assert city(asked(["x", "a"], ["x", "b", "c"]), **options)[0] == 0

    @pytest.mark.parametrize("schema", [{"value_type": "integer"}, {"pattern": r"^\d+$"}])
    def test_every_prediction_must_fit_the_schema(self, schema: Row) -> None:
        row = asked(["ten", "20"], ["ten", "30"])

        assert city(row, parameters=[parameter(**schema)], **REPLACES_ALL)[0] == 1

    def test_one_misfit_among_the_predictions_settles_the_key(self) -> None:
        row = asked(["x", "1"], ["x", "2", "two"])

        assert city(row, parameters=[parameter(value_type="integer")], **REPLACES_ALL)[0] == 1

    @pytest.mark.parametrize(
        ("columns", "is_settled"),
        [
            ({}, True),
            ({"tool": "other"}, False),
            ({"argument_key": "town"}, False),
            ({"language": "KO"}, False),
            ({"agent_id": "another"}, True),
        ],
    )
    def test_the_schema_is_that_of_the_called_tool_in_the_language(
        self, columns: Row, is_settled: bool
    ) -> None:
        row = asked(["x", "1"], ["x", "2"])

        found = city(row, parameters=[parameter(value_type="number", **columns)], **REPLACES_ALL)

        assert found[0] == (1 if is_settled else 0)

    @pytest.mark.parametrize(("first", "is_settled"), [("book", True), ("pay", False)])
    def test_of_several_called_tools_the_first_that_has_the_key_says_it(
        self, first: str, is_settled: bool
    ) -> None:
        second = "pay" if first == "book" else "book"
        answer = calls("unknown", call(first, {"city": "x"}), call(second, {"city": "2"}))
        row = asked(["x", "1"]) | {"answer_calls": answer}
        parameters = [
            parameter(tool="pay", value_type="string", tool_order=0),
            parameter(tool="book", value_type="number", tool_order=1),
        ]

        assert city(row, parameters=parameters, **REPLACES_ALL)[0] == (1 if is_settled else 0)

    @pytest.mark.parametrize(
        ("pattern", "text"),
        [
            (r"^(a+)+$", "a" * 100_000 + "!"),
            (r"^(\w+\s?)*$", "a" * 100_000 + "!"),
            (r"^(.*)*=(.*)*$", "a" * 100_000),
            (r"(?=(a+)+b)", "a" * 100_000),
        ],
    )
    def test_no_text_makes_a_pattern_crawl(self, pattern: str, text: str) -> None:
        started = time.process_time()

        found = city(asked(["x", "y"], ["x", text]), parameters=[parameter(pattern=pattern)])

        assert found == (1, 1, 1, "compared")
        assert time.process_time() - started < 2
