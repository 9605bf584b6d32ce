"""The judge's logs: what is asked, and what they repeat."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.demo.sweep_documents import MARKERS, Document, read, sub_agent_labels
from tests.sweep.judge import judge_run
from tests.sweep.scenarios import Scenario


def test_judge_logs_repeat_the_calls_they_judge(sweep: Path) -> None:
    logs = sorted(sweep.glob("results/*/*/llm_evaluation_logs_*/*.json"))
    verdicts: Counter[str] = Counter()
    for path in logs:
        log = json.loads(path.read_bytes())
        language = path.parent.name[-2:]
        scenario_id, _, run_name = path.stem.partition("_out_trial_")
        model = path.parts[-4]
        raw = path.parents[1] / f"step_wise_evaluation_{language}" / model
        document = read(raw / f"{scenario_id}_out.json")
        run = document["history"][run_name]
        called = list(called_steps(run))
        assert [i["call_index"] for i in log["input_data"]] == [
            r["call_index"] for r in log["llm_responses"]
        ]
        for item, response in zip(log["input_data"], log["llm_responses"], strict=True):
            step, answer = called[item["call_index"]]
            gold = run["label"][f"{step}-1"]["tool_calls"]
            names = [call["function"]["name"] for call in answer["tool_calls"]]
            assert item["predicted_call"]["function_name"] == names
            assert item["actual_call"]["arguments"]["refinedQuery"] == [
                json.loads(call["function"]["arguments"])["refinedQuery"] for call in gold
            ]
            content = response["llm_response"]["choices"][0]["message"]["content"]
            verdicts["accepts"] += '"tp_count": 1' in content
            verdicts["refuses"] += '"tp_count": 0' in content
            verdicts["unusable"] += "tp_count" not in content
    assert len({path.parts[-4] for path in logs}) == 2
    assert min(verdicts["accepts"], verdicts["refuses"], verdicts["unusable"]) > 0


def called_steps(run: Document) -> Iterator[tuple[str, Document]]:
    labels = {step: gold for step, _, gold in sub_agent_labels(run)}
    for entry in run["sub_agent_history"]:
        rejects = not entry["tool_calls"] and any(m in entry["content"] for m in MARKERS)
        if labels[entry["step_id"]].get("tool_calls") and not rejects:
            yield entry["step_id"], entry


@pytest.mark.parametrize(
    ("predicted", "asked"),
    [
        ({"refinedQuery": "ferries", "travelDate": "2031-05-14"}, ["refinedQuery"]),
        ({"refinedQuery": "Ferries", "travelDate": "2031-05-15"}, ["travelDate"]),
        ({"refinedQuery": "Ferries", "travelDate": "14 May"}, []),  # breaks the pattern
        ({"refinedQuery": "Ferries", "sortBy": "duration"}, []),  # an enum is compared
        ({"refinedQuery": "Ferries", "maxResults": "three"}, []),  # no whole number
        ({"refinedQuery": "Ferries", "maxResults": 4}, ["maxResults"]),
        ({"origin": "Aldmoor"}, []),  # no key in common
    ],
)
def test_the_judge_is_asked_what_the_schema_leaves_open(
    predicted: Document, asked: list[str]
) -> None:
    gold = {"travelDate": "2031-05-14", "sortBy": "fare", "maxResults": 3}
    gold["refinedQuery"] = "Ferries"
    calls = [
        [{"function": {"name": "findFerries", "arguments": json.dumps(arguments)}}]
        for arguments in (predicted, gold)
    ]
    scenario = Scenario("1", "EN", (), {"4": {}, "4-1": {"tool_calls": calls[1]}})
    answer = {"step_id": "4", "content": "", "tool_calls": calls[0]}

    log = judge_run(scenario, [answer], source="a test")

    prompts = [item["llm_prompt"] for item in log["input_data"]]
    assert [key for text in prompts for key in re.findall(r"Argument: (\w+)", text)] == asked
