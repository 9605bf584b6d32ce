"""Tool schemas: which keys they settle, and what one that cannot be read does to a run."""

from typing import Any

import pytest

from orchbench_analytics.profiles import SPEC, UPSTREAM
from tests.bounded import no_runaway
from tests.rows import Row, call, calls, columns_of, judgement, parameter, score_rows, step
from tests.score.steps.asked import REPLACES_ALL, asked, city


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
            ({"pattern": r"(?=.*x)\w+$"}, "x" * 10_000, False),
            ({"pattern": r"(?=.*x)\w+$"}, "y" * 10_000, True),
            ({"pattern": r"(?=.*x)\w+$"}, "y" * 10_001, False),
            ({"pattern": r"^\w+$"}, "\u0b72", False),
            ({"pattern": r"a$\n"}, "a\n", False),
            ({"pattern": r"\<a"}, "<a", False),
            ({"pattern": r"[a&&b]"}, "a", False),
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
    def test_only_unmatched_predictions_are_checked(self, schema: Row) -> None:
        options: Row = {"parameters": [parameter(**schema)], **REPLACES_ALL}

        assert city(asked(["ten", "20"], ["ten", "30"]), **options)[0] == 0
        assert city(asked(["10", "20"], ["10", "ten"]), **options)[0] == 1

    @pytest.mark.parametrize(
        ("first", "second", "is_settled"),
        [
            ({"value_type": None}, {"value_type": "number"}, True),
            ({"value_type": "string"}, {"value_type": "number"}, False),
            ({"pattern": None}, {"pattern": "^9"}, True),
            ({"pattern": "^2"}, {"pattern": "^9"}, False),
            ({"has_enum": False}, {"has_enum": True}, True),
            ({"has_enum": True}, {"has_enum": False}, True),
            ({"value_type": "string"}, {"pattern": "^9"}, True),
        ],
    )
    def test_of_several_tools_the_first_type_the_first_pattern_and_any_enum_count(
        self, first: Row, second: Row, is_settled: bool
    ) -> None:
        answer = calls(call("book", {"city": "x"}), call("pay", {"city": "2"}))
        row = asked(["x", "1"]) | {"answer_calls": answer}
        parameters = [parameter(tool="book", **first), parameter(tool="pay", **second)]

        assert city(row, parameters=parameters, **REPLACES_ALL)[0] == (1 if is_settled else 0)

    def test_doubled_backslashes_in_a_pattern_are_halved(self) -> None:
        options: Row = {"parameters": [parameter(pattern=r"^\\d$")], **REPLACES_ALL}

        assert city(asked(["x", "1"], ["x", "2"]), **options)[0] == 0
        assert city(asked(["x", "1"], ["x", "two"]), **options)[0] == 1

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

    @pytest.mark.parametrize(
        ("language", "cards", "is_settled"),
        [
            ("EN", {"unknown": "number"}, True),
            ("unknown", {"EN": "number"}, True),
            ("unknown", {"EN": "number", "KO": "string"}, True),
            ("EN", {"unknown": "number", "EN": "string"}, False),
            ("KO", {"unknown": "number", "EN": "string"}, True),
        ],
    )
    def test_a_card_of_no_language_is_for_all_and_answers_of_no_language_have_all(
        self, language: str, cards: dict[str, str], is_settled: bool
    ) -> None:
        row = asked(["x", "1"], ["x", "2"], language=language)
        parameters = [
            parameter(language=card, value_type=value_type, tool_order=order)
            for order, (card, value_type) in enumerate(cards.items())
        ]

        found = city(row, parameters=parameters, **REPLACES_ALL)

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
        with no_runaway():
            found = city(asked(["x", "y"], ["x", text]), parameters=[parameter(pattern=pattern)])

        assert found == (1, 1, 1, "compared")


class TestUnsoundSchemas:
    """A type of unknown name, or a list as tool name, and the values of the whole run."""

    ROWS = (
        asked(step_id="1", answer_position=0),
        asked("Busan", "Busan", step_id="2", answer_position=1),
        asked(step_id="3", run="run #2"),
    )

    def value_f1s(self, *rows: Row, value_type: str, **rules: Any) -> list[Any]:
        parameters = [parameter(value_type=value_type)]
        steps = score_rows(*rows, parameters=parameters, **rules).steps
        return columns_of(steps, "run", "key_f1", "value_f1")

    def test_an_unknown_type_sets_the_values_of_its_run_to_the_key_f1_upstream(self) -> None:
        rows = self.ROWS[:2]

        assert self.value_f1s(*rows, value_type="date") == [
            ("run #1", 1.0, 0.0),
            ("run #1", 1.0, 1.0),
        ]
        assert self.value_f1s(*rows, value_type="date", unsound_schema="key_f1") == [
            ("run #1", 1.0, 1.0),
            ("run #1", 1.0, 1.0),
        ]
        assert self.value_f1s(*rows, value_type="string", unsound_schema="key_f1")[0][2] == 0.0

    def test_a_type_that_no_open_key_has_does_nothing(self) -> None:
        row = asked("Busan", "Busan")

        found = self.value_f1s(row, value_type="date", unsound_schema="key_f1", no_arguments="zero")

        assert found == [("run #1", 1.0, 1.0)]

    def test_a_list_as_name_does_the_same_to_its_run_only(self) -> None:
        listed = step(
            step_id="4",
            label_calls=calls(call("book", {"city": 1})),
            answer_calls=calls(call(["book"], {"city": 1})),
            answer_position=2,
        )

        found = self.value_f1s(*self.ROWS, listed, value_type="string", profile=UPSTREAM)

        assert found == [
            ("run #1", 1.0, 1.0),
            ("run #1", 1.0, 1.0),
            ("run #2", 1.0, 0.0),
            ("run #1", 1.0, 1.0),
        ]
