"""Labels: what they expect, read once where they repeat."""

import json

from orchbench_analytics.ingest.flatten import read_gold
from tests.documents import PLAN, call, run


def test_labels_give_the_columns_of_steps_and_the_plans() -> None:
    gold = read_gold(json.dumps(run()["label"]).encode())

    calls = '[{"name":"getForecast","arguments":"{\\"city\\": \\"Seoul\\"}"}]'
    assert gold.steps == {
        "3": (True, "weather_agent", "", calls, True),
        "4": (True, "bank_agent", "AWAITING_USER_INPUT", None, False),
    }
    assert gold.call_keys == {"3-1": (False, None, None, calls, False)}
    assert gold.plans == {"2": PLAN}
    assert gold.unreadable == []


def test_a_plan_is_known_however_its_text_is_escaped() -> None:
    escaped = json.dumps({"2": {"content": PLAN}}).replace('"workflow', '"\\u0077orkflow')

    assert read_gold(escaped.encode()).plans == {"2": PLAN}


def test_equal_labels_are_read_once_unless_they_are_long() -> None:
    short = json.dumps({"3": {"agent_id": "a", "tool_calls": [call()]}}).encode()
    long = json.dumps({"3": {"agent_id": "a", "content": "x" * 2**17}}).encode()

    assert read_gold(short) is read_gold(bytes(bytearray(short)))
    assert read_gold(long) is not read_gold(long)
    assert read_gold(long) == read_gold(long)
