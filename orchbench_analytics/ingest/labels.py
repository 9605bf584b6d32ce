"""What the labels of a run expect; they repeat from run to run and model to model."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import msgspec

from orchbench_analytics.ingest.decode import decode_or_none
from orchbench_analytics.ingest.documents import Label
from orchbench_analytics.texts import calls_text, text_of

_decode_labels = msgspec.json.Decoder(dict[str, Label]).decode
_decode_members = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_label = msgspec.json.Decoder(Label).decode

_PLAN_STARTS = (b'"w', b'"\\')  # in JSON: `workflow_…`, or an escaped character
_MOST_REMEMBERED = 1024
_LONGEST_REMEMBERED = 64 * 2**10


StepLabel = tuple[bool, str | None, str | None, str | None, bool]  # label columns of `steps`


class Gold(NamedTuple):
    """What labels expect, by step: the label columns of `steps`, and gold plans.

    `call_keys` are those columns for an answer that names a key of gold calls, such as `4-1`, as
    its step. `unreadable` are the JSON paths, below the labels, of those that are not objects.
    """

    steps: dict[str, StepLabel]
    call_keys: dict[str, StepLabel]
    plans: dict[str, str]
    unreadable: list[str]


def read_gold(labels: bytes) -> Gold:
    """What labels expect, from JSON; the same bytes are read once, and must not be changed."""
    read = _remembered if len(labels) <= _LONGEST_REMEMBERED else _read_gold
    return read(labels)


def _read_gold(raw: bytes) -> Gold:
    labels, unreadable = _read_labels(raw)
    steps = {
        step: _columns(step, label, labels)
        for step, label in labels.items()
        if label.agent_id is not None and "-" not in step
    }
    call_keys: dict[str, StepLabel] = {
        step: (False, None, None, calls_text(label.tool_calls), False)
        for step, label in labels.items()
        if step not in steps and isinstance(label.tool_calls, list)
    }
    plans = {
        step: text
        for step, label in labels.items()
        if bytes(memoryview(label.content)[:2]) in _PLAN_STARTS
        and (text := msgspec.json.decode(label.content, type=str)).startswith("workflow_")
    }
    return Gold(steps, call_keys, plans, unreadable)


_remembered = lru_cache(_MOST_REMEMBERED)(_read_gold)


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


def _columns(step: str, label: Label, labels: dict[str, Label]) -> StepLabel:
    """That there is a label; its agent, content and calls; whether a key `N-1` holds them."""
    call_label = labels.get(f"{step}-1")
    chosen = call_label or label
    content = text_of(msgspec.json.decode(chosen.content))
    calls = calls_text(chosen.tool_calls)
    return True, text_of(label.agent_id), content, calls, call_label is not None
