"""Flattening: documents to rows, as answered."""

import json
from typing import Any, ClassVar

import msgspec
import pytest

from orchbench_analytics.ingest.decode import (
    JudgeLog,
    ResultsDocument,
    UnreadableDocument,
    read_with,
)
from orchbench_analytics.ingest.flatten import (
    Flat,
    StepLabel,
    flatten_judge_log,
    flatten_results,
    flatten_run_log,
    flatten_runs,
    label_signature,
    read_runs,
)
from orchbench_analytics.ingest.part import read_and_flatten
from orchbench_analytics.ingest.sources import InputFile
from orchbench_analytics.tables import TABLES
from tests.documents import PLAN, call, judge_log, results_document, run, runs_document

KEY = {"model": "m", "experiment": "exp", "language": "EN"}


def flatten(document: Any) -> Flat:
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    return read_with(lambda data: flatten_runs(KEY | {"scenario": "12"}, read_runs(data)), data)[0]


def table(flat: Flat, name: str) -> list[dict[str, Any]]:
    """The rows of a table; each must have all its columns."""
    assert all(row.keys() == set(TABLES[name].column_names) for row in flat.rows[name])
    return flat.rows[name]


def step_rows(**changes: Any) -> list[dict[str, Any]]:
    return table(flatten(runs_document({"run #1": run(**changes)})), "steps")


def test_a_step_has_its_label_and_its_answer() -> None:
    call_row, rejection_row = step_rows()

    calls = '[{"name":"getForecast","arguments":"{\\"city\\": \\"Seoul\\"}"}]'
    assert call_row == {
        "model": "m",
        "experiment": "exp",
        "language": "EN",
        "scenario": "12",
        "run": "run #1",
        "step_id": "3",
        "run_position": 0,
        "has_label": True,
        "label_agent_id": "weather_agent",
        "label_content": "",
        "label_calls": calls,
        "has_call_key": True,
        "answer_position": 0,
        "answer_number": 1,
        "answer_agent_id": "weather_agent",
        "answer_content": "",
        "answer_calls": calls,
        "step_kind": "text",
        "content_kind": "text",
        "question": "How is the weather?",
        "step_key": "m/exp/EN/12/run #1/3/0",
    }
    assert rejection_row["label_content"] == "AWAITING_USER_INPUT"
    assert (rejection_row["label_calls"], rejection_row["answer_calls"]) == (None, None)


def test_a_plan_has_its_label_and_its_answer() -> None:
    (row,) = table(flatten(runs_document({"run #1": run()})), "plans")

    assert (row["step_id"], row["label_content"]) == ("2", PLAN)
    assert row["answer_content"] == '{"workflow_1": {"steps": []}}'
    assert row["is_numbered_run"]


def test_a_scenario_has_its_usage_and_counts() -> None:
    (row,) = table(flatten(runs_document()), "scenarios")

    assert {
        name: value for name, value in row.items() if name not in ("scenario_id", "label_signature")
    } == {
        "model": "m",
        "experiment": "exp",
        "language": "EN",
        "scenario": "12",
        "client_model": None,
        "generated_at": "2025-07-16",
        "generated_seconds": None,
        "run_count": 2,
        "numbered_run_count": 2,
        "step_count": 4,
        "call_key_count": 2,
        "plan_count": 2,
        "plan_answer_count": 2,
        "step_answer_count": 4,
        "missing_answer_count": 0,
        "missing_plan_count": 0,
        "empty_answer_count": 0,
        "surplus_answer_count": 0,
        "unreadable_run_count": 0,
        "unreadable_entry_count": 0,
        "unreadable_places": None,
        "least_counter_count": 9,  # three answers in the first run, six up to the end of the second
        "usage_call_count": 3,
        "input_token_count": 100,
        "output_token_count": 20,
        "total_token_count": 120,
        "total_cost": 0.5,
    }


def label(agent: str | None, *tools: str) -> StepLabel:
    calls = "[" + ",".join(f'{{"name":"{tool}","arguments":"{{}}"}}' for tool in tools) + "]"
    return StepLabel(True, agent, "words of its own", calls if tools else None, bool(tools))


def test_a_signature_is_of_agents_and_tools_in_their_order() -> None:
    asked = [label("travel", "book", "pay"), label("bank")]
    signature = label_signature([asked, [label("other run")]])
    translated = [label._replace(content="자신의 말") for label in asked]
    assert signature == label_signature([translated])
    assert signature != label_signature([asked[::-1]])
    assert signature != label_signature([[label("travel", "pay", "book"), label("bank")]])
    assert signature != label_signature([[label("hotel", "book", "pay"), label("bank")]])
    assert label_signature([]) is label_signature([[]]) is None


@pytest.mark.parametrize("calls", ["1.5", "null", "{}", '["x"]', "[" * 5000])
def test_gold_calls_of_any_shape_have_a_signature(calls: str) -> None:
    assert label_signature([[StepLabel(True, "agent", None, calls, True)]]) is not None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("5541.582577455", 5541.582577455), (12, 12.0), ("nan", None), ("1e999", None), (None, None)],
)
def test_seconds_of_the_benchmark_s_clock_are_a_number(value: Any, seconds: float | None) -> None:
    (row,) = table(flatten(runs_document(generated_at=value)), "scenarios")

    assert row["generated_seconds"] == seconds


def test_labels_without_answers_are_rows_and_counted() -> None:
    document = runs_document({"run #1": run(sub_agent_history=[], main_agent_history=[])})

    flat = flatten(document)

    (scenario,) = table(flat, "scenarios")
    assert (scenario["step_count"], scenario["missing_answer_count"]) == (2, 2)
    assert (scenario["plan_count"], scenario["missing_plan_count"]) == (1, 1)
    assert scenario["empty_answer_count"] == 0
    assert [row["answer_number"] for row in table(flat, "steps")] == [None, None]
    assert [row["answer_content"] for row in table(flat, "plans")] == [None]


def test_empty_answers_are_told_apart_from_lost_ones() -> None:
    answers = [
        {"step_id": "3", "content": None},
        {"step_id": "3", "content": " \n\n", "tool_calls": []},
        {"step_id": "3"},
        {"step_id": "3", "content": None, "tool_calls": [{"function": {"name": "f"}}]},
        {"step_id": "3", "content": ["text"]},
        {"step_id": "3", "content": "text", "tool_calls": None},
    ]
    plans = [{"step_id": 2, "content": ""}]
    document = runs_document({"run #1": run(sub_agent_history=answers, main_agent_history=plans)})

    (scenario,) = table(flatten(document), "scenarios")

    assert scenario["empty_answer_count"] == 4
    assert (scenario["missing_answer_count"], scenario["missing_plan_count"]) == (1, 0)


def test_answers_without_labels_are_rows_and_counted() -> None:
    flat = flatten(runs_document({"run #1": run(label={})}))

    (scenario,) = table(flat, "scenarios")
    assert (scenario["step_count"], scenario["surplus_answer_count"]) == (0, 2)
    assert [row["has_label"] for row in table(flat, "steps")] == [False, False]


def test_a_second_answer_to_a_step_is_surplus() -> None:
    answers = run()["sub_agent_history"]

    flat = flatten(runs_document({"run #1": run(sub_agent_history=[*answers, answers[0]])}))

    (scenario,) = table(flat, "scenarios")
    assert (scenario["step_count"], scenario["surplus_answer_count"]) == (2, 1)
    assert [row["answer_number"] for row in table(flat, "steps")] == [1, 1, 2]


def test_runs_numbered_with_gaps_are_kept_and_counted() -> None:
    flat = flatten(runs_document({"run #1": run(), "run #3": run(), "extra": run()}))

    (scenario,) = table(flat, "scenarios")
    assert (scenario["run_count"], scenario["numbered_run_count"]) == (3, 2)
    assert {row["run"]: row["is_numbered_run"] for row in table(flat, "plans")} == {
        "run #1": True,
        "run #3": True,
        "extra": False,
    }


def test_parts_that_cannot_be_read_are_counted_and_named() -> None:
    history = {"run #1": 7, "run #2": run(label=[]), "run #3": run(main_agent_history=[7])}

    flat = flatten(runs_document(history))

    (scenario,) = table(flat, "scenarios")
    assert (scenario["unreadable_run_count"], scenario["unreadable_entry_count"]) == (1, 2)
    assert scenario["unreadable_places"] == (
        "$.history.run #1, $.history.run #2.label, $.history.run #3.main_agent_history[0]"
    )
    assert flat.problem is not None
    assert (flat.problem.reason, flat.problem.place) == (
        "unreadable_parts",
        scenario["unreadable_places"],
    )


@pytest.mark.parametrize(
    ("entry", "step_kind", "content_kind"),
    [
        ({}, "absent", "absent"),
        ({"step_id": None, "content": None}, "null", "null"),
        ({"step_id": 3, "content": 0}, "number", "number"),
        ({"step_id": 3.0, "content": False}, "number", "boolean"),
        ({"step_id": "3", "content": ""}, "text", "text"),
        ({"step_id": ["3"], "content": []}, "list", "list"),
        ({"step_id": {"3": 3}, "content": {}}, "object", "object"),
        (7, "no_object", "absent"),
    ],
)
def test_what_was_given_is_told_apart_by_its_kind(
    entry: Any, step_kind: str, content_kind: str
) -> None:
    histories = {"sub_agent_history": [entry], "main_agent_history": [entry]}
    flat = flatten(runs_document({"run #1": run(**histories)}))

    for name in ("steps", "plans"):
        answered = [row for row in table(flat, name) if row["answer_position"] is not None]
        kinds = [(row["step_kind"], row["content_kind"]) for row in answered]
        assert kinds == [(step_kind, content_kind)]


@pytest.mark.parametrize(
    ("history", "kind"),
    [([], None), ({}, None), ("", None), (None, "history_null"), ({"a": 1}, "history_object")],
)
def test_an_unanswered_step_says_if_there_was_no_history(history: Any, kind: str | None) -> None:
    changes = {"sub_agent_history": history, "main_agent_history": history}
    flat = flatten(runs_document({"run #1": run(**changes)}))

    assert {row["step_kind"] for name in ("steps", "plans") for row in table(flat, name)} == {kind}


@pytest.mark.parametrize(
    ("changes", "kinds"),
    [
        ({"sub_agent_history": None}, ["history_null"]),
        ({"sub_agent_history": {"a": 1}}, ["history_object"]),
        ({"sub_agent_history": []}, []),
        ({"sub_agent_history": {}}, []),
        ({}, ["history_absent"]),
    ],
)
def test_a_run_without_steps_says_if_there_was_no_history(
    changes: dict[str, Any], kinds: list[str]
) -> None:
    bare = {"main_agent_history": [], "label": {"2": {"content": PLAN}}} | changes
    flat = flatten(runs_document({"run #1": run(), "run #2": bare}))

    found = [row for row in table(flat, "steps") if row["run"] == "run #2"]
    assert [(row["step_id"], row["has_label"], row["step_kind"]) for row in found] == [
        ("", False, kind) for kind in kinds
    ]
    (scenario,) = table(flat, "scenarios")
    assert (scenario["step_count"], scenario["missing_answer_count"]) == (2, 0)


def test_a_planning_step_counts_by_its_number() -> None:
    entries = [{"step_id": step, "content": ""} for step in (2, 2.0, "2", 2.5)]
    flat = flatten(runs_document({"run #1": run(main_agent_history=entries)}))

    assert [row["step_id"] for row in table(flat, "plans")] == ["2", "2", "2", "2.5"]


@pytest.mark.parametrize(
    ("calls", "stored"),
    [
        (None, "null"),
        ([], "[]"),
        ("text", '"text"'),
        ([7, None], "[7,null]"),
        ([{"name": "a", "id": 7}], '[{"flat":{"name":"a"}}]'),
        ([{"id": 7}], '[{"flat":{}}]'),
        ([{"function": None}], '[{"function":null}]'),
        ([{"function": {}}], "[{}]"),
        ([call(arguments={"a": [1]})], '[{"name":"getForecast","arguments":{"a":[1]}}]'),
        ([call(name=2**70)], f'[{{"name":{2**70},"arguments":"{{\\"city\\": \\"Seoul\\"}}"}}]'),
    ],
)
def test_calls_are_kept_as_given_without_their_ids(calls: Any, stored: str) -> None:
    (row, *_) = step_rows(sub_agent_history=[{"step_id": "3", "tool_calls": calls}])

    assert row["answer_calls"] == stored


@pytest.mark.parametrize(
    ("step_id", "stored"), [(3, "3"), ("3", "3"), (None, ""), ([1], "[1]"), (2**70, str(2**70))]
)
def test_a_step_is_known_by_its_text(step_id: Any, stored: str) -> None:
    (row, *_) = step_rows(sub_agent_history=[{"step_id": step_id}])

    assert row["step_id"] == stored
    assert row["has_label"] == (stored == "3")


@pytest.mark.parametrize(
    ("value", "tokens", "cost"),
    [
        (7, 7, 7.0),
        (7.0, 7, 7.0),
        (7.5, None, 7.5),
        (True, None, None),
        ("7", None, None),
        (2**63, None, float(2**63)),
        (1e301, None, None),
        (None, None, None),
        ([], None, None),
    ],
)
def test_usage_is_numbers_or_null(value: Any, tokens: int | None, cost: float | None) -> None:
    usage = {"total_tokens": value, "total_cost": value}

    (row,) = table(flatten(runs_document(usage=usage)), "scenarios")

    assert (row["total_token_count"], row["total_cost"]) == (tokens, cost)


@pytest.mark.parametrize("content", [b"1e999", b'"workflow_\\ud800"', b"[" * 990 + b"]" * 990])
def test_a_label_that_only_turns_out_bad_later_costs_only_itself(content: bytes) -> None:
    document = json.dumps(runs_document({"run #1": run()})).encode()
    document = document.replace(b'"AWAITING_USER_INPUT"', content, 1)

    steps = table(flatten(document), "steps")

    assert len(steps) == 2
    assert steps[0]["label_calls"] is not None


def test_a_plan_is_known_however_its_text_is_escaped() -> None:
    document = json.dumps(runs_document({"run #1": run()})).replace(
        '"workflow_1:', r'"\u0077orkflow_1:'
    )

    (plan,) = table(flatten(document.encode()), "plans")

    assert plan["label_content"] == PLAN


def reported(document: Any) -> Flat:
    return flatten_results(KEY, msgspec.convert(document, ResultsDocument))


def reported_row(
    scenario: str, figure: str, value: float | None, message: str | None = None
) -> dict[str, Any]:
    return KEY | {"scenario": scenario, "figure": figure, "value": value, "message": message}


def test_reported_figures_go_by_their_path() -> None:
    flat = reported(
        results_document() | {"overall_statistics": {"a": {"b": 1, "c": None}, "d": "x"}}
    )

    assert table(flat, "reported_models") == [
        KEY | {"figure": "a.b", "value": 1.0, "message": None},
        KEY | {"figure": "a.c", "value": None, "message": None},
        KEY | {"figure": "d", "value": None, "message": None},
    ]
    assert table(flat, "reported_scenarios") == [reported_row("12", "FC", 0.25)]
    assert flat.problem is None


@pytest.mark.parametrize(
    ("changes", "places", "counts"),
    [
        ({"detailed_results": [7, {"FC": 1}]}, "$.detailed_results[0]", (1, 3)),
        ({"detailed_results": None}, "$.detailed_results", (0, 3)),
        ({"overall_statistics": []}, "$.overall_statistics", (1, 0)),
    ],
)
def test_results_of_the_wrong_shape_cost_that_part(
    changes: Any, places: str, counts: tuple[int, int]
) -> None:
    flat = reported(results_document() | changes)

    assert tuple(len(table(flat, name)) for name in flat.rows) == counts
    assert flat.problem is not None
    assert (flat.problem.reason, flat.problem.place) == ("unreadable_parts", places)


def test_results_without_any_figure_are_refused() -> None:
    with pytest.raises(UnreadableDocument):
        reported({"overall_statistics": 7, "detailed_results": 7})


def test_what_an_evaluator_says_went_wrong_is_kept() -> None:
    arguments = {"llm_failed_trials": ["run #2", "run #3"], "error": "no calls"}
    results = [
        {"file_path": "12_out.json", "FC": 1, "detail": {"arguments_detail": arguments}},
        {"error": "Failed to load data from 13_out.json"},
        {"file_path": "14_out.json", "detail": {"arguments_detail": {"llm_failed_trials": 7}}},
    ]

    flat = reported(results_document() | {"detailed_results": results})

    assert table(flat, "reported_scenarios") == [
        reported_row("12", "FC", 1.0),
        reported_row("12", "detail.arguments_detail.error", None, "no calls"),
        reported_row("12", "detail.arguments_detail.llm_failed_trials", 2.0),
        reported_row("#1", "error", None, "Failed to load data from 13_out.json"),
    ]


def test_a_result_without_a_path_goes_by_its_place() -> None:
    flat = reported(results_document() | {"detailed_results": [{"file_path": 7, "FC": 1}]})

    assert table(flat, "reported_scenarios") == [reported_row("#0", "FC", 1.0)]


def test_a_judge_log_gives_its_rows_and_its_problem() -> None:
    log = msgspec.convert(judge_log(input_data=7), JudgeLog)

    flat = flatten_judge_log(KEY | {"scenario": "12", "run": "run #1"}, log)

    assert len(table(flat, "judgements")) == 1
    assert flat.problem is not None
    assert flat.problem.place == "$.input_data"


def test_a_long_label_that_is_answered_over_and_over_is_refused() -> None:
    label = {"3": {"agent_id": "weather_agent", "content": "x" * 2**20}}
    answers = [{"step_id": "3"}] * 300

    with pytest.raises(UnreadableDocument) as caught:
        flatten(runs_document({"run #1": run(label=label, sub_agent_history=answers)}))

    assert caught.value.problem.reason == "too_large"


def test_a_plan_with_half_a_character_is_marked_where_it_is() -> None:
    entries = [{"step_id": 2, "content": text} for text in ("a \ud800", "b \ufffd", "c")]
    file = InputFile(
        "12_out.json", "runs", model="m", experiment="exp", language="EN", scenario="12"
    )

    def kinds(entries: Any) -> list[str]:
        document = runs_document({"run #1": run(main_agent_history=entries)})
        flat, _ = read_and_flatten(file, json.dumps(document).encode())
        return [row["content_kind"] for row in table(flat, "plans")]

    assert kinds(entries) == ["broken_text", "broken_text", "text"]
    assert kinds(entries[1:]) == ["text", "text"]


def test_the_log_of_a_run_says_which_requests_failed() -> None:
    log = """\
2026-11-17 12:07:30.616 | ERROR    | src.models.own:chat:1 - API request failed with status 429: {}
Traceback (most recent call last):
    raise RuntimeError(f"API request failed with status {response.status}")
RuntimeError: API request failed with status 429
2026-11-17 12:07:30.625 | INFO     | src.models.own:initialize:42 - initialized successfully
2026-11-17 12:07:30.629 | ERROR    | src.models.own:chat:1 - API request failed with status 500: {}
INFO:httpx:HTTP Request: POST http://host/v1/messages "HTTP/1.1 200 OK"
INFO:httpx:HTTP Request: POST http://host/v1/messages "HTTP/1.1 429 Too Many Requests"
INFO:client._base_client:Retrying request to /v1/messages in 0.4 seconds
ERROR:asyncio:Unclosed connector
"""

    assert table(flatten_run_log(KEY, log), "run_logs") == [
        KEY
        | {
            "failed_request_count": 3,
            "rate_limited_request_count": 2,
            "retried_request_count": 1,
            "logged_error_count": 2,
            "first_error": "API request failed with status 429: {}",
        }
    ]


def test_a_log_of_long_lines_is_read_in_bounded_time_and_kept_short() -> None:
    line = "2026-11-17 12:07:30.616 | ERROR    | " + "a - " * 200_000
    (row,) = table(flatten_run_log(KEY, f"{line}\n" * 3), "run_logs")

    assert (row["logged_error_count"], row["first_error"]) == (3, "a - " * 75)


class TestQuestions:
    LABELS: ClassVar[dict[str, Any]] = {
        "1": {"role": "system", "content": "Today is Friday."},
        "2": {"role": "user", "content": "Book a table."},
        "3": {"role": "assistant", "content": "workflow_1:\n"},
        "4": {"role": "assistant", "agent_id": "bakery"},
        "5": {"role": "user", "content": "At eight."},
        "7": {"role": "user", "content": None},
        "10": {"role": "assistant", "agent_id": "bakery"},
    }

    def test_a_step_has_what_the_user_said_last_before_it(self) -> None:
        answers = [{"step_id": "10", "content": "Yes."}, {"step_id": "2", "content": "No."}]
        document = runs_document(
            {"run #1": run(label=self.LABELS, main_agent_history=[], sub_agent_history=answers)}
        )

        rows = flatten(json.dumps(document).encode()).rows

        asked = {row["step_id"]: row["question"] for row in rows["steps"]}
        assert asked == {"10": "At eight.", "2": None, "4": "Book a table."}
        assert [row["question"] for row in rows["plans"]] == ["Book a table."]

    @pytest.mark.parametrize("labels", [[], {"2": 3}, None])
    def test_labels_of_another_shape_ask_nothing(self, labels: Any) -> None:
        document = runs_document({"run #1": run(label=labels)})

        rows = flatten(json.dumps(document).encode()).rows

        assert {row["question"] for row in rows["steps"]} == {None}
