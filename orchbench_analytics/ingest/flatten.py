"""Flattening: documents to rows, as answered; nothing is judged here.

A row is a dictionary of the columns of its table. Of a scenario file every run is read as far as it
goes, so that a bad part costs only itself.
"""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from orchbench_analytics.ingest.decode import (
    ABSENT,
    DoubtfulRunsDocument,
    Entry,
    JudgeLog,
    Label,
    NoEntry,
    Problem,
    ResultsDocument,
    Run,
    RunsDocument,
    UnreadableDocument,
    decode_or_none,
    first_places,
    unreadable_parts,
)
from orchbench_analytics.ingest.judge_logs import judgement_rows, row_without_key
from orchbench_analytics.texts import (
    calls_text,
    clean_text,
    kind_of,
    remembering,
    text_of,
)

Row = dict[str, Any]
Key = Mapping[str, Any]  # columns that rows share: model, experiment, language, …
_NO_CALLS: tuple[Any, ...] = (UNSET, None, [], {}, "")
_NOTHING = Entry()
_FIRST = (None, 1)  # numbers of answers: there is none, or it is the first to its step
_COUNTED_IN_DETAIL = ("total_rejection_type_mismatch", "total_failed_generation")
_KEPT_APART = ("detail", "error")  # of a row of a result file: not figures
# Lines of a run's log: what the HTTP library and the benchmark's own logger print.
_HTTP_STATUS = re.compile(r'"HTTP/[0-9.]{1,4} ([0-9]{3})[ "]')
_ERROR_LINE = re.compile(r"^[0-9-]{10} [0-9:.]{8,15} \| ERROR {1,8}\| [^\n]*? - ([^\n]*)", re.M)
_FAILED_REQUEST = re.compile(r"API request failed with status ([0-9]{3})")
_LONGEST_ERROR = 300
_LONGEST_TEXTS = 2**28
_INT64 = range(-(2**63), 2**63)


class Flat(NamedTuple):
    """The rows of a document by table, how long their texts are, and what could not be read."""

    rows: Mapping[str, list[Row]]
    text_length: int
    problem: Problem | None


class StepLabel(NamedTuple):
    """What is expected of a sub-agent step: its agent, content and calls.

    `has_label` says that the label has the step itself, `has_call_key` that a key such as `4-1`
    holds its calls.
    """

    has_label: bool = False
    agent_id: str | None = None
    content: str | None = None
    calls: str | None = None
    has_call_key: bool = False


NO_STEP_LABEL = StepLabel()


class Gold(NamedTuple):
    """What labels expect, by step: of sub-agents, and gold plans.

    `call_keys` are for an answer that names a key of gold calls, such as `4-1`, as its step.
    `questions` are the numbers of steps at which the user spoke, and the words, in order.
    `unreadable` are the JSON paths, below the labels, of those that are not objects.
    """

    steps: dict[str, StepLabel]
    call_keys: dict[str, StepLabel]
    plans: dict[str, str]
    unreadable: list[str]
    questions: list[tuple[int, str]]


class History(NamedTuple):
    """The entries of one history, and what the history is in JSON: mostly a list."""

    entries: list[Entry]
    kind: str


class ReadRun(NamedTuple):
    """A run as far as it could be read."""

    main_agent_history: History
    sub_agent_history: History
    gold: Gold


class ReadRuns(NamedTuple):
    """A scenario file, its readable runs by name, and the JSON paths of what is not in order."""

    document: RunsDocument | DoubtfulRunsDocument
    runs: dict[str, ReadRun]
    unreadable_runs: list[str]
    unreadable_entries: list[str]
    repeated_keys: list[str]


def flatten_runs(key: Key, read: ReadRuns, *, client_model: str | None = None) -> Flat:
    """Rows of `scenarios`, `steps` and `plans` for a scenario file."""
    document = read.document
    names = document.history.keys()
    numbered = {f"run #{number}" for number in range(1, len(names) + 1)}
    steps: list[Row] = []
    plans: list[Row] = []
    for position, name in enumerate(names):
        run = read.runs.get(name)
        if run is not None:
            run_key = {**key, "run": name}
            of_run = {**run_key, "run_position": position}
            path = _path(*run_key.values())
            steps += _step_rows(of_run, path, run)
            plans += _plan_rows({**of_run, "is_numbered_run": name in numbered}, path, run)
    text_length = _checked_length(
        chain(
            *((step["label_content"], step["label_calls"], step["question"]) for step in steps),
            *((plan["label_content"], plan["question"]) for plan in plans),
        )
    )
    unreadable = read.unreadable_runs + read.unreadable_entries
    usage = document.usage if isinstance(document.usage, dict) else {}
    scenario = {
        **key,
        **_counts(read, steps, plans),
        "client_model": client_model,
        "scenario_id": text_of(document.scenario_id),
        "generated_at": text_of(document.generated_at),
        "generated_seconds": _seconds(document.generated_at),
        "run_count": len(names),
        "numbered_run_count": len(numbered & names),
        "unreadable_run_count": len(read.unreadable_runs),
        "unreadable_entry_count": len(read.unreadable_entries),
        "unreadable_places": first_places(unreadable),
        "usage_call_count": _integer(usage.get("total_calls")),
        "input_token_count": _integer(usage.get("total_input_tokens")),
        "output_token_count": _integer(usage.get("total_output_tokens")),
        "total_token_count": _integer(usage.get("total_tokens")),
        "total_cost": _number(usage.get("total_cost")),
        "label_signature": label_signature(run.gold.steps.values() for run in read.runs.values()),
    }
    problem = unreadable_parts(unreadable) or _repeated(read.repeated_keys)
    rows = {"scenarios": [scenario], "steps": steps, "plans": plans}
    return Flat(rows, text_length, problem)


def _step_rows(of_run: Key, path: str, run: ReadRun) -> list[Row]:
    """Rows of `steps` for a run; without any label or answer, a row says what its history is."""
    gold, history = run.gold, run.sub_agent_history
    rows = []
    seen: dict[str, int] = {}
    for position, entry in enumerate(history.entries):
        step = _step_id(entry.step_id)
        seen[step] = number = seen.get(step, 0) + 1
        label = gold.steps.get(step) or gold.call_keys.get(step, NO_STEP_LABEL)
        rows.append(_step_row(of_run, path, gold, step, label, entry, position, number))
    unanswered = {step: label for step, label in gold.steps.items() if step not in seen}
    no_history = _no_history(history)
    if not rows and not unanswered and no_history is not None:
        unanswered = {"": NO_STEP_LABEL}
    for step, label in unanswered.items():
        row = _step_row(of_run, path, gold, step, label, _NOTHING, None, None)
        rows.append({**row, "step_kind": no_history, "content_kind": None})
    return rows


def _step_row(
    of_run: Key,
    path: str,
    gold: Gold,
    step: str,
    label: StepLabel,
    entry: Entry,
    position: int | None,
    number: int | None,
) -> Row:
    step_kind, content_kind = _kinds(entry)
    return {
        **of_run,
        "step_id": step,
        "has_label": label.has_label,
        "label_agent_id": label.agent_id,
        "label_content": label.content,
        "label_calls": label.calls,
        "has_call_key": label.has_call_key,
        "answer_position": position,
        "answer_number": number,
        "answer_agent_id": text_of(entry.agent_id),
        "answer_content": text_of(entry.content),
        "answer_calls": calls_text(entry.tool_calls),
        "step_kind": step_kind,
        "content_kind": content_kind,
        "question": question_before(gold, step),
        "step_key": _row_key(path, step, position),
    }


def _plan_rows(of_run: Key, path: str, run: ReadRun) -> list[Row]:
    """Rows of `plans` for a run."""
    gold, history = run.gold, run.main_agent_history
    rows = []
    seen: dict[str, int] = {}
    for position, entry in enumerate(history.entries):
        step = _plan_step_id(entry.step_id)
        seen[step] = number = seen.get(step, 0) + 1
        rows.append(_plan_row(of_run, path, gold, step, entry, position, number))
    no_history = _no_history(history)
    for step in gold.plans:
        if step not in seen:
            row = _plan_row(of_run, path, gold, step, _NOTHING, None, None)
            rows.append({**row, "step_kind": no_history, "content_kind": None})
    return rows


def _plan_row(
    of_run: Key,
    path: str,
    gold: Gold,
    step: str,
    entry: Entry,
    position: int | None,
    number: int | None,
) -> Row:
    step_kind, content_kind = _kinds(entry)
    return {
        **of_run,
        "step_id": step,
        "label_content": gold.plans.get(step),
        "answer_position": position,
        "answer_number": number,
        "answer_content": text_of(entry.content),
        "step_kind": step_kind,
        "content_kind": content_kind,
        "question": question_before(gold, step),
        "plan_key": _row_key(path, step, position),
    }


def _row_key(path: str, step: str, position: int | None) -> str:
    """What tells a row from all others of a warehouse: where it stands, as a path."""
    return f"{path}/{_path(step)}/{'-' if position is None else position}"


def _path(*names: str | None) -> str:
    """Names as a path; a name's own `/` is escaped as in a JSON pointer (RFC 6901)."""
    return "/".join([(name or "").replace("~", "~0").replace("/", "~1") for name in names])


def _kinds(entry: Entry) -> tuple[str, str]:
    """What an entry's step id and content are in JSON."""
    if isinstance(entry, NoEntry):
        return "no_object", "absent"
    return kind_of(entry.step_id), kind_of(entry.content)


def _no_history(history: History) -> str | None:
    """What a history is that is not a list, in place of a step id's kind; else null."""
    return None if history.kind in ("list", "empty") else f"history_{history.kind}"


def _step_id(step: Any) -> str:
    return text_of(step) or ""


def _plan_step_id(step: Any) -> str:
    """A planning step counts by its number: 3.0 is step 3."""
    is_whole = isinstance(step, float) and step.is_integer()
    return _step_id(int(step) if is_whole else step)


def question_before(gold: Gold, step: str) -> str | None:
    """What the user said last before a step."""
    before = bisect_left(gold.questions, (step_number(step), ""))
    return gold.questions[before - 1][1] if before else None


def step_number(step: str) -> int:
    """A step's number; a step without one comes after all others."""
    digits = step[:9]
    return int(digits) if digits.isdecimal() else 10**9


def _checked_length(texts: Iterable[str | None]) -> int:
    """The length of all texts; refuses a document whose rows repeat far more than it holds."""
    length = sum(map(len, filter(None, texts)))
    if length > _LONGEST_TEXTS:
        words = "texts that are said once and answered many times would take too much room"
        raise UnreadableDocument(Problem("too_large", words, "$"))
    return length


def _counts(read: ReadRuns, steps: list[Row], plans: list[Row]) -> dict[str, int]:
    """What a scenario file holds, in labels and answers."""
    labelled = [step for step in steps if step["has_label"] and step["answer_number"] in _FIRST]
    unanswered = sum(step["answer_number"] is None for step in labelled)
    planned = [
        plan["answer_number"]
        for plan in plans
        if plan["label_content"] is not None and plan["answer_number"] in _FIRST
    ]
    histories = [(run.main_agent_history, run.sub_agent_history) for run in read.runs.values()]
    entries = [entry for run in histories for history in run for entry in history.entries]
    answered = sum(len(sub.entries) for _, sub in histories)
    return {
        "step_count": len(labelled),
        "call_key_count": sum(step["has_call_key"] for step in labelled),
        "plan_count": len(planned),
        "plan_answer_count": len(entries) - answered,
        "step_answer_count": answered,
        "missing_answer_count": unanswered,
        "missing_plan_count": planned.count(None),
        "empty_answer_count": sum(map(_is_empty, entries)),
        "surplus_answer_count": answered - (len(labelled) - unanswered),
        "least_counter_count": _least_counter(histories),
    }


def _is_empty(entry: Entry) -> bool:
    """Nothing was said and nothing called; an answer that was lost has no entry at all."""
    content = entry.content
    is_blank = content in (None, UNSET) or (isinstance(content, str) and not content.strip())
    return is_blank and entry.tool_calls in _NO_CALLS


def _least_counter(histories: Iterable[tuple[History, History]]) -> int:
    """The answers up to the end of each run, summed over runs.

    The benchmark adds up what its counter says after each run. Every answer takes a call, so a
    file with fewer calls has figures of its own.
    """
    return sum(accumulate(len(main.entries) + len(sub.entries) for main, sub in histories))


def label_signature(runs: Iterable[Iterable[StepLabel]]) -> str | None:
    """A hash of the agents and tools that the labels of the first run ask for, in their order.

    Translations of a scenario ask for the same, in words of their own. None without any label.
    """
    asked = [(label.agent_id, _tool_names(label.calls)) for label in next(iter(runs), ())]
    return hashlib.sha256(repr(asked).encode()).hexdigest()[:16] if asked else None


@lru_cache(maxsize=4096)
def _tool_names(calls: str | None) -> tuple[str, ...]:
    """The names of gold calls; labels are the same for all models, so few differ."""
    try:
        found = msgspec.json.decode(calls) if calls else []
    except (msgspec.DecodeError, RecursionError):  # nested beyond what can be read
        found = []
    calls_found = found if isinstance(found, list) else []
    return tuple(str(call.get("name")) for call in calls_found if isinstance(call, dict))


def _repeated(keys: list[str]) -> Problem | None:
    if not keys:
        return None
    words = "a key is there more than once in the same object; the last one counts"
    return Problem("duplicate_keys", words, first_places(keys))


def mark_broken_texts(flat: Flat) -> Flat:
    """The rows of a document in which � stands for half a character: such contents are broken."""
    plans = [
        {**plan, "content_kind": "broken_text"}
        if plan["content_kind"] == "text" and "\ufffd" in plan["answer_content"]
        else plan
        for plan in flat.rows["plans"]
    ]
    return flat._replace(rows={**flat.rows, "plans": plans})


_decode_document = msgspec.json.Decoder(RunsDocument).decode
_decode_doubtful = msgspec.json.Decoder(DoubtfulRunsDocument).decode
_decode_run = msgspec.json.Decoder(Run).decode
_decode_history = msgspec.json.Decoder(list[Entry]).decode
_decode_items = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_entry = msgspec.json.Decoder(Entry).decode
_NO_GOLD = Gold({}, {}, {}, [], [])


def read_runs(data: bytes) -> ReadRuns:
    """A scenario file with all its runs, from standard JSON."""
    document, decoded, bad_runs = _decode_runs(data)
    runs: dict[str, ReadRun] = {}
    bad_entries: list[str] = []
    parts: list[msgspec.Raw] = []
    labels, gold = b"", _NO_GOLD
    for name, run in decoded.items():
        place = f"$.history.{name}"
        parts += (run.main_agent_history, run.sub_agent_history, run.label)
        main, bad_main = _read_history(run.main_agent_history)
        sub, bad_sub = _read_history(run.sub_agent_history)
        if labels != (labels := bytes(run.label)):  # mostly those of the run before
            gold = read_gold(labels)
        bad_entries += [f"{place}.main_agent_history{path}" for path in bad_main]
        bad_entries += [f"{place}.sub_agent_history{path}" for path in bad_sub]
        bad_entries += [f"{place}.label{path}" for path in gold.unreadable]
        runs[name] = ReadRun(main, sub, gold)
    repeated = _repeated_keys(data, [part for part in parts if part is not ABSENT])
    return ReadRuns(document, runs, bad_runs, bad_entries, repeated)


def _decode_runs(
    data: bytes,
) -> tuple[RunsDocument | DoubtfulRunsDocument, dict[str, Run], list[str]]:
    """The document, its runs that are objects, and the paths of those that are not."""
    document = decode_or_none(_decode_document, data)
    if document is not None:
        return document, document.history, []
    doubtful = _decode_doubtful(data)
    read = {name: decode_or_none(_decode_run, raw) for name, raw in doubtful.history.items()}
    bad_runs = [f"$.history.{name}" for name, run in read.items() if run is None]
    return doubtful, {name: run for name, run in read.items() if run is not None}, bad_runs


def _read_history(raw: msgspec.Raw) -> tuple[History, list[str]]:
    """The answers, and the paths of those that are not objects."""
    if raw is ABSENT:
        return History([], "absent"), [""]
    entries = decode_or_none(_decode_history, raw)
    if entries is not None:
        return History(entries, "list"), []
    items = decode_or_none(_decode_items, raw)
    if items is None:
        return History([], _kind_of_history(raw)), [""]
    read = [decode_or_none(_decode_entry, item) for item in items]
    unreadable = [f"[{index}]" for index, entry in enumerate(read) if entry is None]
    return History([entry or NoEntry() for entry in read], "list"), unreadable


def _kind_of_history(raw: msgspec.Raw) -> str:
    """What a history is that is not a list: its JSON kind, or `empty`."""
    value = decode_or_none(msgspec.json.decode, raw)
    return "empty" if value in ({}, "") else kind_of(value)


_decode_labels = msgspec.json.Decoder(dict[str, Label]).decode
_decode_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_label = msgspec.json.Decoder(Label).decode
_PLAN_STARTS = (b'"w', b'"\\')  # in JSON: `workflow_…`, or an escaped character


@remembering(1024, longest=64 * 2**10)
def read_gold(raw: bytes) -> Gold:
    """What labels expect, from JSON."""
    labels, unreadable = _read_labels(raw)
    steps = {
        step: _step_label(step, label, labels)
        for step, label in labels.items()
        if label.agent_id is not None and "-" not in step
    }
    call_keys: dict[str, StepLabel] = {
        step: StepLabel(calls=calls_text(label.tool_calls))
        for step, label in labels.items()
        if step not in steps and isinstance(label.tool_calls, list)
    }
    plans = {
        step: text
        for step, label in labels.items()
        if bytes(memoryview(label.content)[:2]) in _PLAN_STARTS
        and (text := msgspec.json.decode(label.content, type=str)).startswith("workflow_")
    }
    said = {
        step_number(step): words
        for step, label in labels.items()
        if label.role == "user"
        and (words := text_of(msgspec.json.decode(label.content))) is not None
    }
    return Gold(steps, call_keys, plans, unreadable, sorted(said.items()))


def _read_labels(raw: bytes) -> tuple[dict[str, Label], list[str]]:
    """The labels by step, and the paths of those that are not objects."""
    labels = decode_or_none(_decode_labels, raw)
    if labels is not None:
        return labels, []
    members = decode_or_none(_decode_members, raw)
    if members is None:
        return {}, [""]
    read = {step: decode_or_none(_decode_label, member) for step, member in members.items()}
    unreadable = [f".{step}" for step, label in read.items() if label is None]
    return {step: label for step, label in read.items() if label is not None}, unreadable


def _step_label(step: str, label: Label, labels: dict[str, Label]) -> StepLabel:
    call_label = labels.get(f"{step}-1")
    chosen = call_label or label
    content = text_of(msgspec.json.decode(chosen.content))
    calls = calls_text(chosen.tool_calls)
    return StepLabel(True, text_of(label.agent_id), content, calls, call_label is not None)


_KEY = re.compile(rb'"([^"\\]*+)"\s*+:')
_PART_NAMES = frozenset(name.encode() for name in Run.__struct_fields__)


def _repeated_keys(data: bytes, parts: Sequence[msgspec.Raw]) -> list[str]:
    """Paths of keys that an object has more than once, looking past the parts of runs given."""
    between: list[bytes] = []
    position = 0
    for part in map(bytes, parts):
        start = data.find(part[:60], position)
        if start < 0 or not data.startswith(part, start):  # not in this order: look at all
            between, position = [], 0
            break
        between.append(data[position:start])
        position = start + len(part)
    skeleton = b"0".join([*between, data[position:]])
    keys = _KEY.findall(skeleton)
    others = [key for key in keys if key not in _PART_NAMES]
    if len(keys) - len(others) == len(between) and len(set(others)) == len(others):
        return []
    return [f"${path}" for path in _paths(_decode_repeats(skeleton.decode()))]


class _Repeats(list[str]):
    """Paths, below an object, of keys that are there more than once."""


def _repeats(pairs: list[tuple[str, Any]]) -> _Repeats:
    repeats = _Repeats()
    if len(dict(pairs)) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        repeats.extend(f".{key}" for key, count in counts.items() if count > 1)
    for key, value in pairs:
        repeats.extend(f".{key}{path}" for path in _paths(value))
    return repeats


def _paths(value: Any) -> Iterable[str]:
    if isinstance(value, _Repeats):
        return value
    if isinstance(value, list):
        return [f"[{i}]{path}" for i, item in enumerate(value) for path in _paths(item)]
    return ()


_decode_repeats = json.JSONDecoder(
    object_pairs_hook=_repeats, parse_int=len, parse_float=len
).decode


def flatten_judge_log(key: Key, log: JudgeLog) -> Flat:
    """Rows of `judgements` for a judge's log of a run."""
    rows, unreadable = judgement_rows(log)
    judged_at = _seconds(log.timestamp)
    judgements = [{**key, **row, "judged_seconds": judged_at} for row in rows]
    values = ((row["answer_values"], row["label_values"]) for row in rows)
    text_length = _checked_length(chain.from_iterable(values))
    return Flat({"judgements": judgements}, text_length, unreadable_parts(unreadable))


def flatten_cut_off_log(key: Key, problem: Problem) -> Flat:
    """The row of `judgements` for a judge's log of a run that ends in the middle."""
    words = f"{problem.message}; none of its verdicts counts"
    row = {**key, **row_without_key(None, "cut_off"), "judged_seconds": None}
    return Flat({"judgements": [row]}, 0, problem._replace(message=words))


def flatten_results(key: Key, document: ResultsDocument) -> Flat:
    """Rows of `reported_models` and `reported_scenarios` for a result file."""
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
        reported = [*_figures(_scenario_figures(result)), *_reported_problems(result)]
        scenarios += [{**key, "scenario": scenario, **row} for row in reported]
    models = [{**key, **row} for row in _figures(statistics)]
    if unreadable and not scenarios and not models:
        raise UnreadableDocument(Problem("wrong_type", "no figures in it", unreadable[0]))
    rows = {"reported_scenarios": scenarios, "reported_models": models}
    return Flat(rows, 0, unreadable_parts(unreadable))


def _scenario_figures(result: dict[str, Any]) -> dict[str, Any]:
    """A row of `detailed_results`; its `detail` repeats it, but for two counts."""
    detail = result.get("detail")
    counted = detail.get("arguments_detail") if isinstance(detail, dict) else None
    counts = counted if isinstance(counted, dict) else {}
    return {name: value for name, value in result.items() if name not in _KEPT_APART} | {
        name: counts[name] for name in _COUNTED_IN_DETAIL if name in counts
    }


def _reported_problems(result: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """What the evaluator says went wrong with a file: errors, and runs it could not judge."""
    details = result.get("detail")
    arguments = details.get("arguments_detail") if isinstance(details, dict) else None
    if "error" in result:
        yield _figure("error", None, text_of(result["error"]))
    if isinstance(arguments, dict):
        if "error" in arguments:
            yield _figure("detail.arguments_detail.error", None, text_of(arguments["error"]))
        if isinstance(arguments.get("llm_failed_trials"), list):
            failed = float(len(arguments["llm_failed_trials"]))
            yield _figure("detail.arguments_detail.llm_failed_trials", failed)


def _figure(name: str, value: float | None, message: str | None = None) -> dict[str, Any]:
    return {"figure": name, "value": value, "message": message}


def _figures(values: dict[str, Any], prefix: str = "") -> Iterable[dict[str, Any]]:
    """Every number of a nested object by its dotted path; what is not a number is null."""
    for name, value in values.items():
        path = f"{prefix}{name}"
        if isinstance(value, dict):
            yield from _figures(value, f"{path}.")
        elif name != "file_path":
            yield _figure(path, _number(value))


def flatten_run_log(key: Key, log: str) -> Flat:
    """The row of `run_logs` for what the benchmark printed while it ran a model."""
    errors = _ERROR_LINE.findall(log)
    refusals = [status for status in _HTTP_STATUS.findall(log) if int(status) >= 400]
    refusals += [match[1] for error in errors if (match := _FAILED_REQUEST.search(error))]
    row = {
        **key,
        "failed_request_count": len(refusals),
        "rate_limited_request_count": refusals.count("429"),
        "retried_request_count": log.count("Retrying request"),
        "logged_error_count": len(errors),
        "first_error": clean_text(errors[0][:_LONGEST_ERROR]) if errors else None,
    }
    return Flat({"run_logs": [row]}, 0, None)


def _seconds(value: Any) -> float | None:
    """A number, also one written as text; none for dates and all else."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    return _number(value)


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
