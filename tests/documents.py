"""Small documents made by hand, and where the benchmark would put them."""

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa

Document = dict[str, Any]

PLAN = "workflow_1:\n  steps:\n    - status: pending\n      agent_id: weather_agent\n"


def call(name: str = "getForecast", arguments: Any = '{"city": "Seoul"}') -> Document:
    return {
        "id": "call_1",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def run(**changes: Any) -> Document:
    """One plan, one call and one rejection, all labelled and answered."""
    label = {
        "1": {"role": "user", "content": "How is the weather?"},
        "2": {"role": "assistant", "content": PLAN},
        "3": {"role": "assistant", "agent_id": "weather_agent", "content": "tool: getForecast"},
        "3-1": {"role": "assistant", "content": "", "tool_calls": [call()]},
        "3-2": {"role": "tool", "content": "sunny"},
        "4": {"role": "assistant", "agent_id": "bank_agent", "content": "AWAITING_USER_INPUT"},
    }
    answers = [
        {"step_id": "3", "agent_id": "weather_agent", "content": "", "tool_calls": [call()]},
        {"step_id": "4", "agent_id": "bank_agent", "content": "AWAITING_USER_INPUT"},
    ]
    plans = [{"step_id": 2, "role": "assistant", "content": '{"workflow_1": {"steps": []}}'}]
    return {
        "main_agent_history": plans,
        "sub_agent_history": answers,
        "label": label,
    } | changes


def runs_document(history: Any = None, **changes: Any) -> Document:
    """A scenario file with two runs."""
    usage = {
        "total_calls": 3,
        "total_input_tokens": 100,
        "total_output_tokens": 20,
        "total_tokens": 120,
        "total_cost": 0.5,
    }
    return {
        "scenario_id": "12",
        "generated_at": "2025-07-16",
        "history": {"run #1": run(), "run #2": run()} if history is None else history,
        "usage": usage,
    } | changes


def judge_log(verdict: Any = '{"city": {"tp_count": 1}}', **changes: Any) -> Document:
    """A judge's log about one key of one call."""
    question = {
        "call_index": 0,
        "predicted_call": {"function_name": ["getForecast"], "arguments": {"city": ["Seul"]}},
        "actual_call": {"function_name": ["getForecast"], "arguments": {"city": ["Seoul"]}},
        "auto_results": [],
    }
    answer = {
        "call_index": 0,
        "llm_response": {"choices": [{"message": {"content": verdict}}]},
    }
    return {"input_data": [question], "llm_responses": [answer]} | changes


def results_document(directory: str = "results/m/exp/step_wise_evaluation_EN/m") -> Document:
    """An evaluator's result file about one scenario."""
    return {
        "directory": directory,
        "overall_statistics": {"total_files": 1, "key_metrics": {"Average": 0.5, "FC": 0.25}},
        "detailed_results": [
            {"file_path": f"{directory}/12_out.json", "FC": 0.25, "detail": {"skipped": 1}}
        ],
    }


def agent_card(agent_id: str = "weather_agent", tool: str = "getForecast") -> Document:
    """A card of an agent with one tool of one parameter."""
    city = {"type": ["string", "null"], "enum": ["Seoul", "Busan"]}
    return {
        "agent_card": {"name": "Weather", "agent_id": agent_id},
        "tools": [{"name": tool, "parameters": {"properties": {"city": city}}}],
    }


def write(path: Path, document: Any = None) -> Path:
    """Write a document as JSON, packed as the suffix says; bytes are written as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if document is None:
        document = runs_document()
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    elif path.suffix == ".zst":
        data = pa.compress(data, codec="zstd", asbytes=True)
    path.write_bytes(data)
    return path


def experiment_directory(root: Path, model: str = "m", experiment: str = "exp") -> Path:
    return root / model / experiment


def scenario_path(
    root: Path, model: str = "m", scenario: str = "12", language: str = "EN", name: str = "exp"
) -> Path:
    """Where the benchmark leaves a scenario's runs."""
    steps = experiment_directory(root, model, name) / f"step_wise_evaluation_{language}"
    return steps / model / f"{scenario}_out.json"


def write_sweep(root: Path, models: int = 2, scenarios: int = 3) -> Path:
    """A results tree with runs, a result file and judge logs for each model."""
    for model in [f"model-{number}" for number in range(models)]:
        directory = experiment_directory(root, model)
        for scenario in map(str, range(scenarios)):
            write(scenario_path(root, model, scenario))
            log = directory / "llm_evaluation_logs_EN" / f"{scenario}_out_trial_run #1.json"
            write(log, judge_log())
        steps = f"results/{model}/exp/step_wise_evaluation_EN/{model}"
        write(directory / "evaluation_result_EN.json", results_document(steps))
    return root
