"""Reading scenario files: every run as far as it goes, so that a bad part costs only itself."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from orchbench_analytics.ingest.decode import (
    ABSENT,
    DoubtfulRunsDocument,
    Entry,
    Label,
    NoEntry,
    Run,
    RunsDocument,
    decode_or_none,
)
from orchbench_analytics.texts import calls_text, kind_of, remembering, text_of

_decode_labels = msgspec.json.Decoder(dict[str, Label]).decode
_decode_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_label = msgspec.json.Decoder(Label).decode

_PLAN_STARTS = (b'"w', b'"\\')  # in JSON: `workflow_…`, or an escaped character


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


def question_before(gold: Gold, step: str) -> str | None:
    """What the user said last before a step."""
    before = bisect_left(gold.questions, (step_number(step), ""))
    return gold.questions[before - 1][1] if before else None


def step_number(step: str) -> int:
    """A step's number; a step without one comes after all others."""
    digits = step[:9]
    return int(digits) if digits.isdecimal() else 10**9


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


_decode_document = msgspec.json.Decoder(RunsDocument).decode
_decode_doubtful = msgspec.json.Decoder(DoubtfulRunsDocument).decode
_decode_run = msgspec.json.Decoder(Run).decode
_decode_history = msgspec.json.Decoder(list[Entry]).decode
_decode_items = msgspec.json.Decoder(list[msgspec.Raw]).decode
_decode_entry = msgspec.json.Decoder(Entry).decode

_NO_GOLD = Gold({}, {}, {}, [], [])
_KEY = re.compile(rb'"([^"\\]*+)"\s*+:')
_PART_NAMES = frozenset(name.encode() for name in Run.__struct_fields__)


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
