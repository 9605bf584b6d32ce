"""Mending documents: valid UTF-8 and standard JSON from what a more lenient reader accepts."""

from __future__ import annotations

import codecs
import json
import re
from typing import Any, NamedTuple

from orchbench_analytics.ingest.documents import Problem

DEEPEST = 100
_MOST_MENDED_BYTES = 32 * 2**20
_CHUNK = 2**20
_LONGEST_INTEGER = 400
_STRING_OR_BRACKET = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\Z)|[\[\]{}]', re.DOTALL)
_WORDS = {
    "not_a_number": "NaN or Infinity, which JSON does not have; read as null",
    "number_too_large": "a number too large to be held; read as null",
    "lone_surrogate": "half of a character that takes two \\u escapes; read as �",
    "too_deep": f"brackets nested more than {DEEPEST} deep; read as null from there on",
    "nonstandard_json": "not quite JSON, such as a line break within a text; read all the same",
}


class Mended(NamedTuple):
    """A document as standard JSON, and what had to be done to it; null where nothing had to."""

    data: bytes
    problem: Problem | None


def to_utf8(data: bytes) -> Mended:
    """The document as valid UTF-8 without a byte-order mark."""
    encoding = json.detect_encoding(data)
    if encoding == "utf-8":
        offset = _first_bad_byte(data)
        if offset is None:
            return Mended(data, None)
        words = "not UTF-8; such bytes were read as �"
        problem = Problem("invalid_utf8", words, f"byte {offset}")
    elif encoding == "utf-8-sig":
        words = "starts with a byte-order mark; read without it"
        problem = Problem("byte_order_mark", words, "byte 0")
    else:
        code = encoding[:6].replace("-", "")
        problem = Problem(code, f"{code.upper()}, not UTF-8; read as such", "byte 0")
    return Mended(data.decode(encoding, "replace").encode(), problem)


def to_standard_json(data: bytes, *, is_too_deep: bool) -> Mended | None:
    """UTF-8 as JSON that any reader accepts; none where even a lenient reader cannot read it.

    NaN, numbers too large and what is nested too deep become null, lone surrogates become �.
    """
    if len(data) > _MOST_MENDED_BYTES:
        return None
    text, place = data.decode(), None
    if is_too_deep:
        text, position = _without_deepest(text)
        place = f"byte {len(text[:position].encode())}"
    try:
        mended, reason = _mend(text)
    except ValueError:
        return None
    except RecursionError:
        return None if is_too_deep else to_standard_json(data, is_too_deep=True)
    reason = "too_deep" if is_too_deep else reason
    return Mended(mended, Problem(reason, _WORDS[reason], place))


def _mend(text: str) -> tuple[bytes, str]:
    """The text as standard JSON, and the code of what was wrong with it."""
    reasons: list[str] = []

    def null(reason: str) -> Any:
        reasons.append(reason)

    def integer(digits: str) -> int | None:
        return int(digits) if len(digits) <= _LONGEST_INTEGER else null("number_too_large")

    def number(digits: str) -> float | None:
        value = float(digits)
        return value if abs(value) < float("inf") else null("number_too_large")

    value = json.loads(
        text,
        strict=False,
        parse_int=integer,
        parse_float=number,
        parse_constant=lambda _: null("not_a_number"),
    )
    standard = json.dumps(value, ensure_ascii=False)
    mended = standard.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if mended != standard:
        reasons.append("lone_surrogate")
    return mended.encode(), reasons[0] if reasons else "nonstandard_json"


def _first_bad_byte(data: bytes) -> int | None:
    """The offset of the first byte that is not UTF-8."""
    if data.isascii():
        return None
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(data), _CHUNK):  # so that little is decoded at once
        end = start + _CHUNK
        try:
            decoder.decode(data[start:end], final=end >= len(data))
        except UnicodeDecodeError as error:  # its offset counts from what was left of the last
            return min(end, len(data)) - len(error.object) + error.start
    return None


def _without_deepest(text: str) -> tuple[str, int]:
    """The text with null for what is nested too deep, and where the first of those began."""
    pieces: list[str] = []
    first = kept = start = len(text)
    kept = depth = 0
    for token in _STRING_OR_BRACKET.finditer(text):
        if token[0] in "[{":
            depth += 1
            if depth == DEEPEST + 1:
                start = token.start()
        elif token[0] in "]}":
            if depth == DEEPEST + 1:
                pieces.append(text[kept:start])
                kept = token.end()
                first = min(first, start)
            depth -= 1
    return "null".join([*pieces, text[kept:]]), first
