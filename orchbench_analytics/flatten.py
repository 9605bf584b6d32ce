"""Flattening: documents to rows, as answered; nothing is judged here."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from orchbench_analytics.documents import AgentCard, Entry, JudgeLog, Label, ResultsDocument
from orchbench_analytics.read import ReadRun, ReadRuns, first_places
from orchbench_analytics.verdicts import judgement_rows

Row = tuple[Any, ...]
Rows = dict[str, list[Row]]

_NO_STEP_LABEL = (False, None, None, None, False)
_INT64 = range(-(2**63), 2**63)
_encode = msgspec.json.Encoder().encode


class Gold(NamedTuple):
    """What a run's labels expect, by step: the label columns of `steps`, and gold plans."""

    steps: dict[str, Row]
    plans: dict[str, str]


def flatten_runs(key: Row, read: ReadRuns) -> Rows:
    """Rows of `scenarios`, `steps` and `plans` for a scenario file of (model, …, scenario)."""
    document = read.document
    numbered = {f"run #{number}" for number in range(1, len(read.runs) + 1)}
    golds: dict[int, Gold] = {}
    steps: list[Row] = []
    plans: list[Row] = []
    unreadable: list[str] = []
    unreadable_runs = 0
    for name, run in read.runs.items():
        unreadable += run.unreadable
        if run.run is None:
            unreadable_runs += 1
            continue
        gold = golds.get(id(run.labels)) or golds.setdefault(id(run.labels), _gold(run))
        steps += _step_rows((*key, name), run.run.sub_agent_history, gold)
        plans += _plan_rows((*key, name, name in numbered), run.run.main_agent_history, gold)
    labelled = [row for row in steps if row[6] and row[12] in (None, 1)]
    answered = sum(row[11] is not None for row in steps)
    usage = document.usage if isinstance(document.usage, dict) else {}
    scenario = (
        *key,
        _text(document.scenario_id),
        _text(document.generated_at),
        len(read.runs),
        len(numbered.intersection(read.runs)),
        len(labelled),
        sum(row[10] for row in labelled),
        sum(row[7] is not None and row[9] in (None, 1) for row in plans),
        sum(row[8] is not None for row in plans),
        answered,
        sum(row[11] is None for row in steps),
        answered - sum(row[11] is not None for row in labelled),
        unreadable_runs,
        len(unreadable) - unreadable_runs,
        first_places(unreadable),
        _integer(usage.get("total_calls")),
        _integer(usage.get("total_input_tokens")),
        _integer(usage.get("total_output_tokens")),
        _integer(usage.get("total_tokens")),
        _number(usage.get("total_cost")),
    )
    return {"scenarios": [scenario], "steps": steps, "plans": plans}


def flatten_judge_log(key: Row, log: JudgeLog) -> Rows:
    """Rows of `judgements` for a judge's log of (model, …, run)."""
    return {"judgements": judgement_rows(key, log)}


def flatten_results(key: Row, document: ResultsDocument) -> Rows:
    """Rows of `reported_models` and `reported_scenarios` for a result file of (model, …)."""
    scenarios = []
    for index, result in enumerate(document.detailed_results):
        path = result.get("file_path")
        name = path.replace("\\", "/").rsplit("/", 1)[-1] if isinstance(path, str) else ""
        scenario = re.sub(r"(_out)?\.json(\.gz|\.zst)?$", "", name) or f"#{index}"
        scenarios += [
            (*key, scenario, figure, value)
            for figure, value in _figures({k: v for k, v in result.items() if k != "detail"})
        ]
    models = [(*key, figure, value) for figure, value in _figures(document.overall_statistics)]
    return {"reported_scenarios": scenarios, "reported_models": models}


def flatten_agent_card(language: str, card: AgentCard) -> list[Row]:
    """Rows of `tool_parameters` for an agent's card, but for the place among all cards."""
    agent = _text(card.agent_card.get("agent_id")) or _text(card.agent_card.get("name")) or ""
    rows: list[Row] = []
    for tool in card.tools:
        if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
            continue
        parameters = tool.get("parameters")
        properties = parameters.get("properties") if isinstance(parameters, dict) else None
        for name, schema in properties.items() if isinstance(properties, dict) else ():
            if isinstance(schema, dict):
                items = schema.get("items")
                pattern = schema.get("pattern")
                rows.append(
                    (
                        language,
                        agent,
                        tool["name"],
                        name,
                        _first_type(schema.get("type")),
                        "enum" in schema or (isinstance(items, dict) and "enum" in items),
                        pattern if isinstance(pattern, str) else None,
                    )
                )
    return rows


def _gold(run: ReadRun) -> Gold:
    """What the labels expect, by step: the columns of `steps`, and the plans."""
    steps = {
        step: _label_columns(step, label, run.labels)
        for step, label in run.labels.items()
        if label.agent_id is not None and "-" not in step
    }
    plans = {
        step: msgspec.json.decode(label.content, type=str)
        for step, label in run.labels.items()
        if bytes(label.content).startswith(b'"workflow_')
    }
    return Gold(steps, plans)


def _step_rows(key: Row, history: list[Entry], gold: Gold) -> list[Row]:
    rows: list[Row] = []
    seen: Counter[str] = Counter()
    for position, entry in enumerate(history):
        step = _step_id(entry.step_id)
        seen[step] += 1
        answer = (_text(entry.agent_id), _text(entry.content), _calls(entry.tool_calls))
        label = gold.steps.get(step, _NO_STEP_LABEL)
        rows.append((*key, step, *label, position, seen[step], *answer))
    for step, label in gold.steps.items():
        if step not in seen:
            rows.append((*key, step, *label, None, None, None, None, None))
    return rows


def _plan_rows(run_key: Row, history: list[Entry], gold: Gold) -> list[Row]:
    *key, is_numbered = run_key
    rows: list[Row] = []
    seen: Counter[str] = Counter()
    for position, entry in enumerate(history):
        step = _step_id(entry.step_id)
        seen[step] += 1
        plan = gold.plans.get(step)
        rows.append((*key, step, is_numbered, plan, position, seen[step], _text(entry.content)))
    for step, plan in gold.plans.items():
        if step not in seen:
            rows.append((*key, step, is_numbered, plan, None, None, None))
    return rows


def _label_columns(step: str, label: Label, labels: dict[str, Label]) -> Row:
    """That there is a label; its agent, content and calls; whether a key `N-1` holds them."""
    call_label = labels.get(f"{step}-1")
    chosen = call_label or label
    content = _text(msgspec.json.decode(chosen.content))
    calls = _calls(chosen.tool_calls)
    return True, _text(label.agent_id), content, calls, call_label is not None


def _calls(calls: Any) -> str | None:
    """Calls as compact JSON: name and arguments as given, without ids, so that equals are equal."""
    if isinstance(calls, list):
        calls = [_call(call) for call in calls]
    elif calls is msgspec.UNSET:
        return None
    return _json(calls)


def _call(call: Any) -> Any:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return call
    return {name: function[name] for name in ("name", "arguments") if name in function}


def _step_id(step: Any) -> str:
    if isinstance(step, str):
        return step
    return "" if step is None else _json(step)


def _text(value: Any) -> str | None:
    """A text as it is, anything else as JSON, null as null."""
    if value is None:
        return None
    return value if isinstance(value, str) else _json(value)


def _json(value: Any) -> str:
    try:
        return _encode(value).decode()
    except OverflowError:  # an integer past 64 bits
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _integer(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and value in _INT64 else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e300 else None


def _figures(values: dict[str, Any], prefix: str = "") -> Iterable[tuple[str, float | None]]:
    """Every number of a nested object by its dotted path; what is no number is null."""
    for name, value in values.items():
        path = f"{prefix}{name}"
        if isinstance(value, dict):
            yield from _figures(value, f"{path}.")
        elif name != "file_path":
            yield path, _number(value)


def _first_type(value: Any) -> str | None:
    if isinstance(value, list):
        value = value[0] if value else None
    return value if isinstance(value, str) else None
