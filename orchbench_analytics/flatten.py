"""Flattening: documents to rows, as answered; nothing is judged here."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from orchbench_analytics.documents import (
    Entry,
    JudgeLog,
    Label,
    ResultsDocument,
    Trouble,
    UnreadableDocument,
)
from orchbench_analytics.read import compact_json, first_places, unreadable_parts
from orchbench_analytics.runs import ReadRun, ReadRuns
from orchbench_analytics.verdicts import judgement_rows

Row = tuple[Any, ...]
Rows = dict[str, list[Row]]

_NO_STEP_LABEL = (False, None, None, None, False)
_PLAN_STARTS = (b'"w', b'"\\')  # in JSON: `workflow_…`, or an escaped character
_LONGEST_TEXTS = 2**28
_INT64 = range(-(2**63), 2**63)


class Gold(NamedTuple):
    """What a run's labels expect, by step: the label columns of `steps`, and gold plans."""

    steps: dict[str, Row]
    plans: dict[str, str]


class Flat(NamedTuple):
    """The rows of a document by table, and what in it could not be read."""

    rows: Rows
    trouble: Trouble | None


def flatten_runs(key: Row, read: ReadRuns) -> Flat:
    """Rows of `scenarios`, `steps` and `plans` for a scenario file of (model, …, scenario)."""
    document = read.document
    names = document.history.keys()
    numbered = {f"run #{number}" for number in range(1, len(names) + 1)}
    golds: dict[int, Gold] = {}
    steps: list[Row] = []
    plans: list[Row] = []
    for name, run in read.runs.items():
        gold = golds.get(id(run.labels)) or golds.setdefault(id(run.labels), _gold(run))
        steps += _step_rows((*key, name), run.sub_agent_history, gold)
        plans += _plan_rows((*key, name, name in numbered), run.main_agent_history, gold)
    _check_size(row[column] for row in steps for column in (8, 9))
    _check_size(row[7] for row in plans)
    labelled = [row for row in steps if row[6] and row[12] in (None, 1)]
    answered = sum(row[11] is not None for row in steps)
    unreadable = read.unreadable_runs + read.unreadable_entries
    usage = document.usage if isinstance(document.usage, dict) else {}
    scenario = (
        *key,
        _text(document.scenario_id),
        _text(document.generated_at),
        len(names),
        len(numbered & names),
        len(labelled),
        sum(row[10] for row in labelled),
        sum(row[7] is not None and row[9] in (None, 1) for row in plans),
        sum(row[8] is not None for row in plans),
        answered,
        sum(row[11] is None for row in steps),
        answered - sum(row[11] is not None for row in labelled),
        len(read.unreadable_runs),
        len(read.unreadable_entries),
        first_places(unreadable),
        _integer(usage.get("total_calls")),
        _integer(usage.get("total_input_tokens")),
        _integer(usage.get("total_output_tokens")),
        _integer(usage.get("total_tokens")),
        _number(usage.get("total_cost")),
    )
    trouble = unreadable_parts(unreadable) or _repeated(read.repeated_keys)
    return Flat({"scenarios": [scenario], "steps": steps, "plans": plans}, trouble)


def flatten_judge_log(key: Row, log: JudgeLog) -> Flat:
    """Rows of `judgements` for a judge's log of (model, …, run)."""
    rows, unreadable = judgement_rows(key, log)
    _check_size(text for row in rows for text in row[-2:])
    return Flat({"judgements": rows}, unreadable_parts(unreadable))


def flatten_results(key: Row, document: ResultsDocument) -> Flat:
    """Rows of `reported_models` and `reported_scenarios` for a result file of (model, …)."""
    statistics, results = document.overall_statistics, document.detailed_results
    unreadable = []
    if not isinstance(statistics, dict):
        unreadable.append("$.overall_statistics")
        statistics = {}
    if not isinstance(results, list):
        unreadable.append("$.detailed_results")
        results = []
    scenarios = []
    for index, result in enumerate(results):
        if not isinstance(result, dict):
            unreadable.append(f"$.detailed_results[{index}]")
            continue
        path = result.get("file_path")
        name = path.replace("\\", "/").rsplit("/", 1)[-1] if isinstance(path, str) else ""
        scenario = re.sub(r"(_out)?\.json(\.gz|\.zst)?$", "", name) or f"#{index}"
        scenarios += [
            (*key, scenario, figure, value)
            for figure, value in _figures({k: v for k, v in result.items() if k != "detail"})
        ]
    models = [(*key, figure, value) for figure, value in _figures(statistics)]
    if unreadable and not scenarios and not models:
        raise UnreadableDocument(Trouble("wrong_type", "no figures in it", unreadable[0]))
    return Flat(
        {"reported_scenarios": scenarios, "reported_models": models}, unreadable_parts(unreadable)
    )


def _check_size(texts: Iterable[str | None]) -> None:
    """Refuse a document that repeats so much that its rows are far larger than itself."""
    if sum(len(text) for text in texts if text is not None) > _LONGEST_TEXTS:
        words = "what is said once and answered many times would take too much room"
        raise UnreadableDocument(Trouble("too_large", words, "$"))


def _repeated(keys: list[str]) -> Trouble | None:
    if not keys:
        return None
    words = "a key is there more than once in the same object; the last one counts"
    return Trouble("duplicate_keys", words, first_places(keys))


def _gold(run: ReadRun) -> Gold:
    """What the labels expect, by step: the columns of `steps`, and the plans."""
    steps = {
        step: _label_columns(step, label, run.labels)
        for step, label in run.labels.items()
        if label.agent_id is not None and "-" not in step
    }
    plans = {
        step: text
        for step, label in run.labels.items()
        if bytes(memoryview(label.content)[:2]) in _PLAN_STARTS
        and (text := msgspec.json.decode(label.content, type=str)).startswith("workflow_")
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
    return compact_json(calls)


def _call(call: Any) -> Any:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        return call
    return {name: function[name] for name in ("name", "arguments") if name in function}


def _step_id(step: Any) -> str:
    if isinstance(step, str):
        return step
    return "" if step is None else compact_json(step)


def _text(value: Any) -> str | None:
    """A text as it is, anything else as JSON, null as null."""
    if value is None:
        return None
    return value if isinstance(value, str) else compact_json(value)


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
