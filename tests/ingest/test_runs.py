"""Reading scenario files: a part of the wrong shape costs that part, and is named."""

import json
from typing import Any

import msgspec
import pytest

from orchbench_analytics.ingest.decode import UnreadableDocument, read_with
from orchbench_analytics.ingest.flatten import ReadRuns, read_runs
from tests.documents import run, runs_document

WRONG: list[Any] = [None, True, 7, 1.5, "text", [], [1, "a"], {}, {"a": 1}]


def read(document: Any) -> ReadRuns:
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    return read_with(read_runs, data)[0]


def test_all_runs_are_read() -> None:
    runs = read(runs_document())

    assert list(runs.runs) == ["run #1", "run #2"]
    assert [entry.step_id for entry in runs.runs["run #1"].sub_agent_history.entries] == ["3", "4"]
    assert list(runs.runs["run #1"].gold.steps) == ["3", "4"]
    assert runs[2:] == ([], [], [])


@pytest.mark.parametrize("wrong", [w for w in WRONG if not isinstance(w, dict)])
def test_a_run_that_is_no_object_costs_that_run(wrong: Any) -> None:
    runs = read(runs_document({"run #1": wrong, "run #2": run()}))

    assert list(runs.runs) == ["run #2"]
    assert runs.unreadable_runs == ["$.history.run #1"]
    assert runs.unreadable_entries == []


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        (None, "null"),
        (True, "boolean"),
        (7, "number"),
        (1.5, "number"),
        ("text", "text"),
        ({"a": 1}, "object"),
        ({}, "empty"),
        ("", "empty"),
    ],
)
@pytest.mark.parametrize("name", ["main_agent_history", "sub_agent_history"])
def test_a_history_that_is_no_list_costs_that_history(name: str, wrong: Any, kind: str) -> None:
    runs = read(runs_document({"run #1": run(**{name: wrong}), "run #2": run()}))

    assert getattr(runs.runs["run #1"], name) == ([], kind)
    assert runs.runs["run #1"].gold == runs.runs["run #2"].gold
    assert runs.unreadable_entries == [f"$.history.run #1.{name}"]


@pytest.mark.parametrize("wrong", [w for w in WRONG if not isinstance(w, dict)])
def test_an_answer_that_is_no_object_costs_that_answer(wrong: Any) -> None:
    answers = run()["sub_agent_history"]

    runs = read(runs_document({"run #1": run(sub_agent_history=[answers[0], wrong, answers[1]])}))

    kept = runs.runs["run #1"].sub_agent_history.entries
    assert [entry.step_id for entry in kept] == ["3", msgspec.UNSET, "4"]
    assert runs.unreadable_entries == ["$.history.run #1.sub_agent_history[1]"]


@pytest.mark.parametrize("wrong", [w for w in WRONG if not isinstance(w, dict)])
def test_labels_of_the_wrong_shape_cost_themselves(wrong: Any) -> None:
    labels = run()["label"]

    all_wrong = read(runs_document({"run #1": run(label=wrong)}))
    one_wrong = read(runs_document({"run #1": run(label=labels | {"4": wrong})}))

    assert all_wrong.runs["run #1"].gold[:2] == ({}, {})
    assert all_wrong.unreadable_entries == ["$.history.run #1.label"]
    assert list(one_wrong.runs["run #1"].gold.steps) == ["3"]
    assert one_wrong.unreadable_entries == ["$.history.run #1.label.4"]


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", ["step_id", "agent_id", "content", "tool_calls"])
def test_what_an_agent_wrote_is_taken_whatever_it_is(name: str, wrong: Any) -> None:
    runs = read(runs_document({"run #1": run(sub_agent_history=[{name: wrong}])}))

    assert getattr(runs.runs["run #1"].sub_agent_history.entries[0], name) == wrong
    assert runs.unreadable_entries == []


def test_missing_parts_are_named() -> None:
    runs = read(runs_document({"run #1": {}}))

    assert runs.unreadable_entries == [
        "$.history.run #1.main_agent_history",
        "$.history.run #1.sub_agent_history",
        "$.history.run #1.label",
    ]


@pytest.mark.parametrize("wrong", [w for w in WRONG if not isinstance(w, dict)])
def test_without_runs_a_document_is_of_another_kind(wrong: Any) -> None:
    with pytest.raises(UnreadableDocument) as caught:
        read({"history": wrong})

    assert caught.value.problem.reason == "wrong_type"
    assert caught.value.problem.place == "$.history"


def test_a_number_too_large_costs_only_itself() -> None:
    answers = b'[{"step_id": "3", "content": 1e999}, 7, {"step_id": "4", "content": 1e999}]'
    document = json.dumps(runs_document({"run #1": run(sub_agent_history="here")})).encode()

    runs = read(document.replace(b'"here"', answers))

    kept = runs.runs["run #1"].sub_agent_history.entries
    assert [(e.step_id, e.content) for e in kept] == [
        ("3", None),
        (msgspec.UNSET, msgspec.UNSET),
        ("4", None),
    ]
    assert runs.unreadable_entries == ["$.history.run #1.sub_agent_history[1]"]


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        (b'"run #2"', b'"run #1"', "$.history.run #1"),
        (b'"generated_at"', b'"scenario_id"', "$.scenario_id"),
        (b'"total_calls"', b'"total_cost"', "$.usage.total_cost"),
        (b'"label": {"1"', b'"label": {}, "label": {"1"', "$.history.run #1.label"),
        (b'"main_agent_history"', b'"label"', "$.history.run #1.label"),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_keys_given_twice_are_named(
    before: bytes, after: bytes, place: str, indent: int | None
) -> None:
    data = json.dumps(runs_document()).encode().replace(before, after, 1)
    if indent:
        data = data.replace(b", ", b",\n  ").replace(b": ", b" : ")

    runs = read(data)

    assert runs.repeated_keys[:1] == [place]


def test_parts_in_another_order_are_no_repetition() -> None:
    runs = read(runs_document({"run #1": dict(reversed(run().items())), "run #2": run()}))

    assert runs.repeated_keys == []
