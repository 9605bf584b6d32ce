"""Reading documents: bytes to typed values, and what is wrong with them in plain words."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import msgspec
import pyarrow as pa

from orchbench_analytics.ingest.documents import Problem, Sniffed, UnreadableDocument
from orchbench_analytics.ingest.repair import Mended, to_standard_json, to_utf8

MAX_DOCUMENT_BYTES = 64 * 2**20
MAX_VALUES = 1_000_000
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
        return make(data), problem
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


def _require_few_values(data: bytes) -> None:
    """Refuse a document of so many values that its rows would take gigabytes.

    Commas and brackets in texts do not count; texts are taken out only where they could matter.
    """
    if len(data) > MAX_VALUES and _value_count(data) > MAX_VALUES:
        bare = data.replace(b"\\\\", b"").replace(b'\\"', b"")
        if _value_count(_STRING.sub(b"", bare)) > MAX_VALUES:
            words = f"more than {MAX_VALUES:,} values, which no result file of this benchmark has"
            raise _unreadable("too_large", words, "$")


def _value_count(data: bytes) -> int:
    return data.count(b",") + data.count(b"{") + data.count(b"[")


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
    words = f"{len(places)} part(s) of an unexpected shape were left out; all else was taken"
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
