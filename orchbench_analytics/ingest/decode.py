"""Reading documents: bytes to typed values, and what is wrong with them in plain words.

Documents are typed only as far as every file has them. What a more lenient reader accepts is mended
to valid UTF-8 and standard JSON.
"""

from __future__ import annotations

import codecs
import json
import os
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple, TypeVar

import msgspec
import pyarrow as pa

from orchbench_analytics.ingest import trees
from orchbench_analytics.paths import is_address

ABSENT = msgspec.Raw(b"null")


class Problem(NamedTuple):
    """What is wrong with a document: a code, plain words, and the place in it."""

    reason: str
    message: str
    place: str | None = None


class UnreadableDocument(Exception):  # noqa: N818 (a model's or a disk's failure: data, no error)
    """A document that cannot be used."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class Entry(msgspec.Struct):
    """What an agent answered, exactly as it stands."""

    step_id: Any = msgspec.UNSET
    agent_id: Any = None
    content: Any = msgspec.UNSET
    tool_calls: Any = msgspec.UNSET


class NoEntry(Entry):
    """An item of a history that is not an object: an answer of which nothing can be read."""


class Label(msgspec.Struct):
    """What is expected of a step; most contents are never needed, so they stay undecoded."""

    agent_id: Any = None
    role: Any = None
    content: msgspec.Raw = ABSENT
    tool_calls: Any = msgspec.UNSET


class Run(msgspec.Struct):
    """One run of a scenario: two histories of answers, and the labels, mostly the same in all."""

    main_agent_history: msgspec.Raw = ABSENT
    sub_agent_history: msgspec.Raw = ABSENT
    label: msgspec.Raw = ABSENT


class RunsDocument(msgspec.Struct):
    """A scenario file in which every run is an object, as nearly all are."""

    history: dict[str, Run]
    scenario_id: Any = None
    generated_at: Any = None
    usage: Any = None


class DoubtfulRunsDocument(msgspec.Struct):
    """A scenario file with its runs still undecoded, so that one can fail alone."""

    history: dict[str, msgspec.Raw]
    scenario_id: Any = None
    generated_at: Any = None
    usage: Any = None


class JudgeLog(msgspec.Struct):
    """What a judge was asked about a run's calls, and what it answered."""

    llm_responses: list[Any]
    input_data: Any = None
    timestamp: Any = None


class ResultsDocument(msgspec.Struct):
    """An evaluator's result file."""

    overall_statistics: Any
    detailed_results: Any = None


class AgentCard(msgspec.Struct):
    """An agent's card: the schemas of its tools."""

    agent_card: dict[str, Any]
    tools: list[Any]


class Sniffed(msgspec.Struct):
    """Just enough of a document to tell its kind."""

    history: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    overall_statistics: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    llm_responses: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    agent_card: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    evaluation_results: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    source_metadata: Any = None
    results: Any = None
    model_name: Any = None
    directory: Any = None


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
        mended, reason = _standard_json(text)
    except ValueError:
        return None
    except RecursionError:
        return None if is_too_deep else to_standard_json(data, is_too_deep=True)
    reason = "too_deep" if is_too_deep else reason
    return Mended(mended, Problem(reason, _WORDS[reason], place))


def _standard_json(text: str) -> tuple[bytes, str]:
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


MAX_DOCUMENT_BYTES = 64 * 2**20
_READ_AHEAD = 16  # objects of a bucket: each answer takes its time
MAX_VALUES = 1_000_000
_MOST_LEVELS = 900  # Python reads 1,000, and from 3.14 on as many as fit on the stack
_NOT_BRACKETS = bytes({*range(256)} - {*b"[]{}"})
_PLACES_KEPT = 5
_BYTE_OFFSET = re.compile(r" ?\(byte (\d+)\)")
_JSON_PATH = re.compile(r" - at `(?:key in )?(\$[^`]*)`")
_STRING = re.compile(rb'"[^"]*+"?')
_ARCHIVES = {
    b"PK\x03\x04": "ZIP",
    b"\xfd7zXZ": "xz",
    b"BZh": "bzip2",
    b"7z\xbc\xaf": "7z",
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
}
_TAR, _TAR_PLACE = b"ustar", 257
_TOO_DEEP = Problem("too_deep", "brackets are nested too deep to be a result of this benchmark")

Document = TypeVar("Document")
Made = TypeVar("Made")


class Sniff(NamedTuple):
    """The kind of a document by what is in it, and the directory it says it was made from."""

    kind: str
    directory: str | None = None


def read_bytes(path: str, *, limit: int = MAX_DOCUMENT_BYTES) -> bytes:
    """The file as stored, if it has at most `limit` bytes."""
    try:
        if is_address(path):
            data, size = trees.read(path, most_bytes=limit)
            return _of_bounded_size(data, size, limit)
        with open(path, "rb", buffering=0, opener=_open_at_once) as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read() if 0 < size <= limit else b""
    except FileNotFoundError as error:
        raise _unreadable("vanished", "the file went away while it was read") from error
    except IsADirectoryError as error:
        raise _unreadable("is_directory", "a directory, not a file") from error
    except PermissionError as error:
        raise _unreadable("no_permission", "no permission to read the file") from error
    except OSError as error:
        raise _unreadable("unreadable", f"cannot be read: {error.strerror}") from error
    return _of_bounded_size(data, size, limit)


def read_ahead(paths: Sequence[str]) -> Iterator[Callable[[], bytes]]:
    """For each path a function that reads the file; objects of buckets come several at once."""
    if not any(map(is_address, paths)):
        yield from (partial(read_bytes, path) for path in paths)
        return
    threads = ThreadPoolExecutor(_READ_AHEAD)
    try:
        coming: deque[Future[bytes]] = deque()
        for index in range(len(paths)):
            further = paths[index + len(coming) : index + _READ_AHEAD]
            coming += [threads.submit(read_bytes, path) for path in further]
            yield coming.popleft().result
    finally:
        threads.shutdown(cancel_futures=True)


def _of_bounded_size(data: bytes, size: int, limit: int) -> bytes:
    if max(size, len(data)) > limit:
        words = f"larger than {_mebibytes(limit)}, which no result file of this benchmark is"
        raise _unreadable("too_large", words, f"byte {limit}")
    return data


def _open_at_once(path: str, flags: int) -> int:
    """Open a file without waiting for a writer, should it have become a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def decompress(data: bytes, path: str, *, limit: int = MAX_DOCUMENT_BYTES) -> bytes:
    """The document inside a `.gz` or `.zst` file; other files as they are."""
    codec = "gzip" if path.endswith(".gz") else "zstd" if path.endswith(".zst") else None
    if codec is None:
        return _not_an_archive(data)
    try:
        with pa.CompressedInputStream(pa.py_buffer(data), codec) as stream:
            document: bytes = stream.read(limit + 1)
    except OSError as error:
        raise _unreadable("bad_compression", f"not valid {codec} data: {error}") from error
    if len(document) > limit:
        words = f"unpacks to more than {_mebibytes(limit)}"
        raise _unreadable("too_large", words, f"byte {limit}")
    return _not_an_archive(document)


def _not_an_archive(data: bytes) -> bytes:
    """The data, unless it is an archive, which people give in place of what is in it."""
    found = next((name for start, name in _ARCHIVES.items() if data.startswith(start)), None)
    if found is None and data[_TAR_PLACE : _TAR_PLACE + len(_TAR)] == _TAR:
        found = "tar"
    if found is None:
        return data
    words = f"{found} data, not JSON; unpack it, or name single files .json.gz or .json.zst"
    raise _unreadable("archive", words, "byte 0")


def read_with(make: Callable[[bytes], Made], data: bytes) -> tuple[Made, Problem | None]:
    """What `make` makes of a document, and what had to be mended before it could.

    `make` decodes with msgspec; it is called again with standard JSON where that helps.
    """
    if not data.strip():
        raise _unreadable("empty", "the file is empty", "byte 0")
    size = len(data)
    data, problem = to_utf8(data)
    _require_few_values(data)
    try:
        return _made(make, data), problem
    except (msgspec.DecodeError, RecursionError) as error:
        failure = error
    mended = _mend(data, size, failure)
    if mended is not None:
        try:
            return make(mended.data), problem or mended.problem
        except (msgspec.DecodeError, RecursionError) as error:
            if not isinstance(failure, RecursionError):
                failure = error
    reason = explain(failure, size)
    if (
        problem is not None
        and problem.reason.startswith("invalid")
        and reason.reason != "truncated"
    ):
        reason = problem
    raise UnreadableDocument(reason) from failure


def _made(make: Callable[[bytes], Made], data: bytes) -> Made:
    """What `make` makes of a document; one that is nested too deep fails, whatever the Python."""
    is_too_deep = _is_too_deep(data)
    try:
        made = make(data)
    except msgspec.DecodeError as error:
        if is_too_deep and not is_wrong_type(error):
            raise RecursionError from error
        raise
    if is_too_deep:
        raise RecursionError
    return made


def _is_too_deep(data: bytes) -> bool:
    """Whether brackets are nested too deep; those in texts do not count."""
    if data.count(b"[") + data.count(b"{") <= _MOST_LEVELS:
        return False
    brackets = _without_texts(data).translate(None, _NOT_BRACKETS)
    depths = accumulate(1 if bracket in b"[{" else -1 for bracket in brackets)
    return max(depths, default=0) > _MOST_LEVELS


def _require_few_values(data: bytes) -> None:
    """Refuse a document of so many values that its rows would take gigabytes.

    Commas and brackets in texts do not count; texts are taken out only where they could matter.
    """
    may_have_many = len(data) > MAX_VALUES and _value_count(data) > MAX_VALUES
    if may_have_many and _value_count(_without_texts(data)) > MAX_VALUES:
        words = f"more than {MAX_VALUES:,} values, which no result file of this benchmark has"
        raise _unreadable("too_large", words, "$")


def _value_count(data: bytes) -> int:
    return data.count(b",") + data.count(b"{") + data.count(b"[")


def _without_texts(data: bytes) -> bytes:
    bare = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    return _STRING.sub(b"", bare)


def decode(data: bytes, type_: type[Document]) -> tuple[Document, Problem | None]:
    """A typed document, and what had to be mended in it."""
    return read_with(lambda document: msgspec.json.decode(document, type=type_), data)


def sniff(data: bytes) -> Sniff:
    """What kind of document this is."""
    try:
        document, _ = decode(data, Sniffed)
    except UnreadableDocument as error:
        if error.problem.reason != "wrong_type":
            raise
        return Sniff("unknown")
    if document.overall_statistics is not msgspec.UNSET:
        directory = document.directory
        return Sniff("results", directory if isinstance(directory, str) else None)
    if document.evaluation_results is not msgspec.UNSET:  # Every Eval Ever
        stated = document.source_metadata
        details = stated.get("additional_details") if isinstance(stated, dict) else None
        directory = details.get("directory") if isinstance(details, dict) else None
        return Sniff("results", directory) if isinstance(directory, str) else Sniff("unknown")
    if isinstance(document.results, dict) and "OrchestrationBench" in document.results:  # lm-eval
        name = document.model_name
        return Sniff("results", name if isinstance(name, str) else None)
    if document.history is not msgspec.UNSET:
        return Sniff("runs")
    if document.llm_responses is not msgspec.UNSET:
        return Sniff("judge_log")
    return Sniff("unknown" if document.agent_card is msgspec.UNSET else "agent_card")


def explain(failure: Exception, size: int) -> Problem:
    """What is wrong with a document of so many bytes, from the decoder's own words."""
    if isinstance(failure, RecursionError):
        return _TOO_DEEP
    text = str(failure)
    if isinstance(failure, msgspec.ValidationError):
        path = _JSON_PATH.search(text)
        return Problem("wrong_type", _JSON_PATH.sub("", text), path[1] if path else "$")
    if "truncated" in text:
        words = "the JSON ends before it is complete"
        return Problem("truncated", words, f"byte {size}")
    offset = _BYTE_OFFSET.search(text)
    return Problem("malformed", _BYTE_OFFSET.sub("", text), f"byte {offset[1]}" if offset else None)


def is_wrong_type(failure: Exception) -> bool:
    """The document has another shape; a number too large for the decoder is not meant."""
    return isinstance(failure, msgspec.ValidationError) and "out of range" not in str(failure)


def decode_or_none(
    decode_: Callable[[bytes | msgspec.Raw], Document], raw: bytes | msgspec.Raw
) -> Document | None:
    """What a decoder makes of JSON, or none where its shape is another."""
    try:
        return decode_(raw)
    except msgspec.ValidationError as error:
        if is_wrong_type(error):
            return None
        raise


def unreadable_parts(places: Sequence[str]) -> Problem | None:
    """What to say of a document in which some places could not be read; null if there are none."""
    if not places:
        return None
    parts = "1 part" if len(places) == 1 else f"{len(places):,} parts"
    words = f"all was taken but {parts} of an unexpected shape"
    return Problem("unreadable_parts", words, first_places(places))


def first_places(places: Sequence[str]) -> str | None:
    """The first few of many places, as one text."""
    if not places:
        return None
    kept = ", ".join(places[:_PLACES_KEPT])
    more = len(places) - _PLACES_KEPT
    return f"{kept} and {more} more" if more > 0 else kept


def _mend(data: bytes, size: int, failure: Exception) -> Mended | None:
    """The document in a form that may be read after all, if its shape is not what is wrong."""
    if is_wrong_type(failure):
        return None
    mended = to_standard_json(data, is_too_deep=isinstance(failure, RecursionError))
    if mended is None or mended.problem is None or mended.problem.place is not None:
        return mended
    return mended._replace(problem=mended.problem._replace(place=explain(failure, size).place))


def _unreadable(reason: str, words: str, place: str | None = None) -> UnreadableDocument:
    return UnreadableDocument(Problem(reason, words, place))


def _mebibytes(count: int) -> str:
    return f"{count / 2**20:g} MiB"
