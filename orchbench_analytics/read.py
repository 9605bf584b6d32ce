"""Reading documents: bytes to typed values, and what is wrong with them in plain words."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from orchbench_analytics.documents import Entry, Label, Run, RunsDocument, Sniffed

MAX_DOCUMENT_BYTES = 128 * 1024 * 1024
_UNREADABLE_PLACES_KEPT = 5
_BYTE_OFFSET = re.compile(r"\(byte (\d+)\)")
_JSON_PATH = re.compile(r" - at `(?:key in )?(\$[^`]*)`")


class UnreadableDocument(Exception):  # noqa: N818 (a model's or a disk's failure: data, no error)
    """A document that cannot be used: a code, the place in it, and plain words."""

    def __init__(self, reason: str, message: str, *, place: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.place = place


class ReadRun(NamedTuple):
    """A run, or what of it could be read, its labels, and the places of what could not."""

    run: Run | None
    labels: dict[str, Label]
    unreadable: list[str]


class ReadRuns(NamedTuple):
    """A scenario file, its runs by name, and the code of the repair it took."""

    document: RunsDocument
    runs: dict[str, ReadRun]
    repair: str | None


Document = TypeVar("Document")
_TOO_DEEP = UnreadableDocument(
    "too_deep", "brackets are nested too deep to be a result of this benchmark"
)


def read_bytes(path: str, *, limit: int = MAX_DOCUMENT_BYTES) -> bytes:
    """The file as stored, at most `limit` bytes of it."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(limit + 1)
    except FileNotFoundError as error:
        raise UnreadableDocument("vanished", "the file went away while it was read") from error
    except IsADirectoryError as error:
        raise UnreadableDocument("is_directory", "a directory, not a file") from error
    except PermissionError as error:
        raise UnreadableDocument("no_permission", "no permission to read the file") from error
    except OSError as error:
        raise UnreadableDocument("unreadable", f"cannot be read: {error.strerror}") from error
    if len(data) > limit:
        raise UnreadableDocument(
            "too_large", f"larger than {limit // 2**20} MiB; no result file of this benchmark is"
        )
    return data


def decompress(data: bytes, path: str, *, limit: int = MAX_DOCUMENT_BYTES) -> bytes:
    """The document inside a `.gz` or `.zst` file; other files as they are."""
    codec = "gzip" if path.endswith(".gz") else "zstd" if path.endswith(".zst") else None
    if codec is None:
        return data
    import pyarrow as pa

    try:
        with pa.CompressedInputStream(pa.py_buffer(data), codec) as stream:
            document: bytes = stream.read(limit + 1)
    except OSError as error:
        raise UnreadableDocument("bad_compression", f"not valid {codec} data: {error}") from error
    if len(document) > limit:
        raise UnreadableDocument("too_large", f"unpacks to more than {limit // 2**20} MiB")
    return document


def decode(data: bytes, type_: type[Document]) -> tuple[Document, str | None]:
    """A typed document, and the code of the repair it took (byte-order mark, bad UTF-8, NaN…)."""
    if not data.strip():
        raise UnreadableDocument("empty", "the file is empty", place="byte 0")
    try:
        data.decode()  # the decoder skips what it need not keep, and bad UTF-8 with it
        return msgspec.json.decode(data, type=type_), None
    except RecursionError as error:
        raise _TOO_DEEP from error
    except msgspec.ValidationError as error:
        if "out of range" not in str(error):  # a number too large is the reader's limit, no fault
            raise _explain(error, data) from error
        failure: Exception = error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        failure = error
    repaired, repair = _repair(data)
    if repaired is None:
        raise _explain(failure, data) from failure
    try:
        return msgspec.json.decode(repaired, type=type_), repair
    except msgspec.DecodeError as error:
        raise _explain(error, repaired) from error


def read_runs(data: bytes) -> ReadRuns:
    """A scenario file with all its runs; a run whose shape is off is read as far as it goes."""
    document, repair = decode(data, RunsDocument)
    try:
        runs = _read_all(document)
    except msgspec.DecodeError as error:
        repaired, repair = _repair(data)
        if repaired is None:
            raise _explain(error, data) from error
        return read_runs(repaired)._replace(repair=repair)
    except RecursionError as error:
        raise _TOO_DEEP from error
    return ReadRuns(document, runs, repair)


def _read_all(document: RunsDocument) -> dict[str, ReadRun]:
    """Every run of a document; the labels of equal bytes are decoded once."""
    labels: dict[bytes, tuple[dict[str, Label], list[str]]] = {}
    runs = {}
    for name, raw in document.history.items():
        place = f"$.history.{name}"
        unreadable: list[str] = []
        try:
            run: Run | None = msgspec.json.decode(raw, type=Run)
        except msgspec.ValidationError:
            run, unreadable = _salvage_run(msgspec.json.decode(raw), place)
        if run is None:
            runs[name] = ReadRun(None, {}, unreadable)
            continue
        label = bytes(run.label)
        if label not in labels:
            labels[label] = _read_labels(run.label)
        by_step, bad_keys = labels[label]
        unreadable = unreadable + [f"{place}.label{key}" for key in bad_keys]
        runs[name] = ReadRun(run, by_step, unreadable)
    return runs


def _read_labels(raw: msgspec.Raw) -> tuple[dict[str, Label], list[str]]:
    """The labels by step, and the paths below `label` of those whose shape is off."""
    try:
        return msgspec.json.decode(raw, type=dict[str, Label]), []
    except msgspec.ValidationError:
        pass
    try:
        each = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    except msgspec.ValidationError:
        return {}, [""]
    labels, unreadable = {}, []
    for key, label in each.items():
        try:
            labels[key] = msgspec.json.decode(label, type=Label)
        except msgspec.ValidationError:
            unreadable.append(f".{key}")
    return labels, unreadable


def sniff(data: bytes) -> tuple[str, str | None]:
    """The kind of a document by what is in it, and the directory it says it is about."""
    try:
        document, _ = decode(data, Sniffed)
    except UnreadableDocument as error:
        if error.reason != "wrong_type":
            raise
        return "unknown", None
    if document.overall_statistics is not msgspec.UNSET:
        directory = document.directory
        decoded = (
            None if isinstance(directory, msgspec.UnsetType) else msgspec.json.decode(directory)
        )
        return "results", decoded if isinstance(decoded, str) else None
    if document.history is not msgspec.UNSET:
        return "runs", None
    if document.llm_responses is not msgspec.UNSET:
        return "judge_log", None
    if document.agent_card is not msgspec.UNSET:
        return "agent_card", None
    return "unknown", None


def clean_text(text: str) -> str:
    """The text with lone surrogates replaced, so that it can be stored as UTF-8."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _repair(data: bytes) -> tuple[bytes | None, str | None]:
    """Valid JSON from data that Python's own reader would accept, or would but for bad UTF-8."""
    encoding = json.detect_encoding(data)
    repair = {"utf-8": None, "utf-8-sig": "byte_order_mark"}.get(
        encoding, encoding.replace("-", "")
    )
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode(encoding, "replace")
        repair = "invalid_utf8" if encoding.startswith("utf-8") else f"invalid_{repair}"
    try:
        value = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None, None
    try:
        encoded = json.dumps(_finite(value), ensure_ascii=False).encode("utf-8", "surrogatepass")
    except RecursionError:
        return None, None
    return encoded.decode("utf-8", "replace").encode(), repair or "nonstandard_json"


def _finite(value: Any) -> Any:
    """The value with numbers that JSON cannot hold (1e999, NaN, integers past 64 bits) as null."""
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return None
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return value


def _explain(error: Exception, data: bytes) -> UnreadableDocument:
    text = str(error)
    if isinstance(error, msgspec.ValidationError):
        path = _JSON_PATH.search(text)
        words = text[: path.start()] if path else text
        return UnreadableDocument("wrong_type", words, place=path[1] if path else "$")
    if isinstance(error, UnicodeDecodeError):
        try:
            data.decode()
        except UnicodeDecodeError as exact:
            return UnreadableDocument("invalid_utf8", "not UTF-8", place=f"byte {exact.start}")
    if "truncated" in text:
        return UnreadableDocument(
            "truncated", "the JSON ends before it is complete", place=f"byte {len(data)}"
        )
    offset = _BYTE_OFFSET.search(text)
    place = f"byte {offset[1]}" if offset else None
    return UnreadableDocument("malformed", _BYTE_OFFSET.sub("", text).strip(), place=place)


def _salvage_run(value: Any, place: str) -> tuple[Run | None, list[str]]:
    """The parts of a run that are in order, and the paths of those that are not."""
    if not isinstance(value, dict):
        return None, [place]
    unreadable: list[str] = []
    histories = []
    for name in ("main_agent_history", "sub_agent_history"):
        entries = value.get(name)
        if not isinstance(entries, list):
            unreadable.append(f"{place}.{name}")
            entries = []
        is_entry = [isinstance(entry, dict) for entry in entries]
        unreadable += [f"{place}.{name}[{i}]" for i, good in enumerate(is_entry) if not good]
        histories.append(
            [msgspec.convert(e if isinstance(e, dict) else {}, Entry) for e in entries]
        )
    label = msgspec.Raw(msgspec.json.encode(value.get("label")))
    return Run(histories[0], histories[1], label), unreadable


def first_places(places: list[str]) -> str | None:
    """The first few of many places, as one text."""
    if not places:
        return None
    kept = ", ".join(places[:_UNREADABLE_PLACES_KEPT])
    more = len(places) - _UNREADABLE_PLACES_KEPT
    return f"{kept} and {more} more" if more > 0 else kept
