"""Odd files through a whole ingest: what they do to the figures of a file under each profile."""

import json
from pathlib import Path
from typing import Any

import pytest

from orchbench_analytics import open_warehouse
from tests.documents import (
    agent_card,
    call,
    experiment_directory,
    judge_log,
    run,
    runs_document,
    scenario_path,
    write,
)

CALL_SCORES = ("name_f1", "key_f1", "value_f1")
MISSPELT = run(
    sub_agent_history=[
        {"step_id": "3", "content": "", "tool_calls": [call(arguments={"city": "Seul"})]},
        {"step_id": "4", "content": "AWAITING_USER_INPUT"},
    ]
)


def scores(
    tmp_path: Path, history: Any, log: Any = None, schema: Any = None, *names: str
) -> dict[str, tuple[Any, ...]]:
    """Figures of a scenario file by profile; its first run may have a judge's log."""
    results = tmp_path / "results"
    write(scenario_path(results), runs_document(history))
    if log is not None:
        logs = experiment_directory(results) / "llm_evaluation_logs_EN"
        write(logs / "12_out_trial_run #1.json", log)
    card = agent_card()
    card["tools"][0]["parameters"]["properties"]["city"] = schema or {"type": "string"}
    write(tmp_path / "cards" / "EN" / "weather_agent.json", card)
    warehouse = open_warehouse(tmp_path / "warehouse", create=True)
    warehouse.ingest(results, agent_cards=[tmp_path / "cards"])
    rows = (
        warehouse.table("scenario_scores")
        .select("profile", *(names or CALL_SCORES))
        .collect()
        .rows()
    )
    return {profile: tuple(figures) for profile, *figures in rows}


@pytest.mark.parametrize(
    ("log", "spec", "upstream"),
    [
        (None, 0.0, 0.0),
        (judge_log(), 0.5, 0.5),
        (json.dumps(judge_log()).encode()[:-20], 0.0, 0.5),
    ],
    ids=["no log", "whole", "cut off"],
)
def test_a_log_cut_off_sets_values_to_the_key_f1_upstream(
    tmp_path: Path, log: Any, spec: float, upstream: float
) -> None:
    found = scores(tmp_path, {"run #1": MISSPELT, "run #2": MISSPELT}, log)

    assert found["spec"] == found["strict"] == (1.0, 1.0, spec)
    assert found["upstream"] == (1.0, 1.0, upstream)


@pytest.mark.parametrize(
    ("message", "spec", "upstream"),
    [
        ({"content": "", "reasoning_content": '{"city": {"tp_count": 1}}'}, 1.0, 0.0),
        ({"content": '{"city": {"tp_count": 1}}', "reasoning_content": "Hm."}, 1.0, 1.0),
    ],
)
def test_the_reasoning_of_a_bare_message_counts_except_upstream(
    tmp_path: Path, message: Any, spec: float, upstream: float
) -> None:
    log = judge_log() | {"llm_responses": [{"call_index": 0, "llm_response": message}]}

    found = scores(tmp_path, {"run #1": MISSPELT}, log)

    assert (found["spec"][2], found["upstream"][2]) == (spec, upstream)


@pytest.mark.parametrize(("first", "value_f1"), [('{"city": {"tp_count": 1}}', 1.0), ("Hm.", 0.0)])
def test_of_two_verdicts_on_a_call_the_first_counts(
    tmp_path: Path, first: str, value_f1: float
) -> None:
    log = judge_log(first)
    log["llm_responses"] += judge_log('{"city": {"tp_count": 1}}')["llm_responses"]

    found = scores(tmp_path, {"run #1": MISSPELT}, log)

    assert {figures[2] for figures in found.values()} == {value_f1}
    usage = open_warehouse(tmp_path / "warehouse").table("judge_usage").collect()
    assert set(usage["surplus_verdict_count"]) == {1}


@pytest.mark.parametrize(
    ("value_type", "upstream"), [("", 0.0), (0, 0.0), (7, 1.0), ("date", 1.0), ("string", 0.0)]
)
def test_a_type_of_unknown_name_sets_values_to_the_key_f1_upstream(
    tmp_path: Path, value_type: Any, upstream: float
) -> None:
    found = scores(tmp_path, {"run #1": MISSPELT}, None, {"type": value_type})

    assert (found["spec"][2], found["upstream"][2]) == (0.0, upstream)


@pytest.mark.parametrize(
    ("changes", "is_void"),
    [
        ({}, True),
        ({"sub_agent_history": None}, True),
        ({"sub_agent_history": {"a": 1}}, True),
        ({"sub_agent_history": []}, False),
        ({"sub_agent_history": {}}, False),
    ],
    ids=["absent", "null", "object", "list", "empty"],
)
def test_a_run_without_labels_and_history_voids_its_file_upstream(
    tmp_path: Path, changes: dict[str, Any], is_void: bool
) -> None:
    bare = {"main_agent_history": [], "label": {}} | changes
    names = ("name_f1", "true_positive_call_count", "true_positive_reject_count")

    found = scores(tmp_path, {"run #1": run(), "run #2": bare}, None, None, *names)

    assert found["spec"] == found["strict"] == (1.0, 1, 1)
    assert found["upstream"] == ((0.0, 0, 0) if is_void else (0.5, 1, 1))
    report = open_warehouse(tmp_path / "warehouse").check()
    assert report.differences.is_empty()


def test_a_bare_list_of_calls_as_text_is_recovered_except_upstream(tmp_path: Path) -> None:
    text = '[{"name": "getForecast", "arguments": {"city": "Seoul"}}]'
    answers = [
        {"step_id": "3", "content": text},
        {"step_id": "4", "content": "AWAITING_USER_INPUT"},
    ]

    found = scores(tmp_path, {"run #1": run(sub_agent_history=answers)})

    assert found["spec"] == found["strict"] == (1.0, 1.0, 1.0)
    assert found["upstream"] == (0.0, 0.0, 0.0)
