"""Texts, names and shapes that some format cannot carry, or some program would run."""

from pathlib import Path
from typing import Any

from orchbench_analytics import open_warehouse
from tests.documents import call, run, runs_document, scenario_path, write

LONG = "x" * 40_000
TEXTS = (
    "a\0b",
    "=cmd|' /C calc'!A0",
    "+1",
    "-1",
    "@SUM(A1)",
    "\tx",
    LONG,
    "😀" * 20_000,
    "esc \x1b[31m",
    "\u202eright to left",
    'quote " comma , line\nend',
    "",
    "_x0041_",
)
MODELS = ('it\'s a "model"', "=1+1", "모델; drop table steps")
TAGS = "select,profile,agent,MODEL_LABEL,크기"  # words of SQL, and names of other columns


def without_nul(text: str) -> str:
    return text.replace("\0", "�")


def defused(text: str) -> str:
    return f"'{text}" if text[:1] in set("=+-@\t\r") and text else text


def cut(text: str) -> str:
    """A text as Excel can hold it."""
    text = without_nul(text)
    if len(text.encode("utf-16-le")) // 2 <= 32_767:
        return text
    astral = sum(ord(c) > 0xFFFF for c in text[:32_766])
    return text[: 32_766 - astral] + "…"


def answers(rows: list[dict[str, Any]]) -> list[Any]:
    """The answers to the first step, by scenario."""
    first = [row for row in rows if row["step_id"] == "3"]
    return [row["answer_content"] for row in sorted(first, key=lambda row: int(row["scenario"]))]


def odd_run() -> dict[str, Any]:
    """Steps without a label, without an answer, without an agent, and calls of every bad shape."""
    label = {
        "2": {"role": "assistant", "content": "workflow_1: ["},
        "3": {"role": "assistant", "agent_id": "weather_agent", "content": ""},
        "3-1": {"role": "assistant", "tool_calls": []},
        "4": {"role": "assistant", "agent_id": None, "content": None},
        "5": {"role": "assistant", "agent_id": "bank_agent", "content": "x"},
        "5-1": {"role": "assistant", "content": "no call"},
    }
    answers = [
        {"step_id": "3", "agent_id": None, "content": None, "tool_calls": [call("", "{")]},
        {"step_id": "3", "agent_id": "weather_agent", "tool_calls": [call(), call("b", "[]")]},
        {"step_id": "9", "agent_id": "nobody", "tool_calls": [call("unasked")]},
        {"step_id": "5", "agent_id": "bank_agent", "content": "\0", "tool_calls": None},
    ]
    plans = [{"step_id": 2, "content": None}, {"step_id": 8, "content": '{"workflow_1": 3}'}]
    return run(label=label, sub_agent_history=answers, main_agent_history=plans)


def build_shapes(directory: Path) -> None:
    """Hostile names of models, runs and tags, and a file that cannot be read."""
    for model in MODELS:
        document = runs_document({"run #1": odd_run(), "": run(), "=run": {}})
        document["usage"] = {"total_cost": 1e300, "total_tokens": None}
        write(scenario_path(directory / "results", model, "1"), document)
        write(scenario_path(directory / "results", model, "2"), runs_document({}))
        write(scenario_path(directory / "results", model, "3"), b"{")
    warehouse = open_warehouse(directory / "warehouse", create=True)
    warehouse.ingest(directory / "results", jobs=1)
    (directory / "tags.csv").write_text(f"model,{TAGS}\n=1+1,1,2,3,4,5\n", encoding="utf-8")
    warehouse.tag(directory / "tags.csv")
