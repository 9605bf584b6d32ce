"""What the user asked: only the input files hold it, since no score needs it.

A warehouse that held every question would be 7 % larger.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from orchbench_analytics.ingest.decode import (
    ABSENT,
    UnreadableDocument,
    decode_or_none,
    decompress,
    read_bytes,
    read_with,
)
from orchbench_analytics.texts import text_of


class Question(NamedTuple):
    """What the user said at a step."""

    step_id: str
    text: str


class _Run(msgspec.Struct):
    label: msgspec.Raw = ABSENT


class _Runs(msgspec.Struct):
    history: dict[str, msgspec.Raw]


class _Message(msgspec.Struct):
    role: Any = None
    content: Any = None


_decode_runs = msgspec.json.Decoder(_Runs).decode
_decode_run = msgspec.json.Decoder(_Run).decode
_decode_labels = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_message = msgspec.json.Decoder(_Message).decode


def read_questions(path: str, content_hash: str | None, run: str) -> list[Question] | None:
    """What the user said in a run of a file; none where the file is gone or has changed."""
    if not Path(path).is_file():
        return None
    try:
        data = read_bytes(path)
        if hashlib.sha256(data).hexdigest() != content_hash:
            return None
        found, _ = read_with(lambda document: _questions(document, run), decompress(data, path))
    except UnreadableDocument:
        return None
    return found


def asked_before(questions: list[Question], step_id: str) -> str | None:
    """The last thing the user said before a step."""
    step = _number(step_id)
    before = [question for question in questions if _number(question.step_id) < step]
    return max(before, key=lambda question: _number(question.step_id)).text if before else None


def _questions(document: bytes, run: str) -> list[Question]:
    raw = _decode_runs(document).history.get(run)
    read = None if raw is None else decode_or_none(_decode_run, raw)
    labels = None if read is None else decode_or_none(_decode_labels, read.label)
    messages = {
        step: decode_or_none(_decode_message, label) for step, label in (labels or {}).items()
    }
    return [
        Question(step, text)
        for step, message in messages.items()
        if message is not None
        and message.role == "user"
        and (text := text_of(message.content)) is not None
    ]


def _number(step_id: str) -> int:
    """A step's number; what has none comes after all others."""
    digits = step_id[:9]
    return int(digits) if digits.isdecimal() else 10**9
