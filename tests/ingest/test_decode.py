"""Reading: bytes to documents, what is mended on the way, and what is said of the rest."""

import gzip
import io
import json
import lzma
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from orchbench_analytics.ingest.decode import (
    DEEPEST,
    Problem,
    UnreadableDocument,
    decode,
    decompress,
    first_places,
    read_bytes,
    read_with,
    sniff,
    unreadable_parts,
)
from orchbench_analytics.texts import compact_json
from tests.documents import agent_card, judge_log, results_document, runs_document


class Letter(msgspec.Struct):
    """A document of which one part is kept undecoded and another is not looked at."""

    text: Any = None
    raw: msgspec.Raw = msgspec.Raw(b"null")


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def trouble_of(data: bytes) -> Problem:
    with pytest.raises(UnreadableDocument) as caught:
        decode(data, Letter)
    return caught.value.problem


def test_a_document_in_order_is_read_as_it_is() -> None:
    letter, problem = decode('{"text": "안녕"}'.encode(), Letter)

    assert (letter.text, problem) == ("안녕", None)


@pytest.mark.parametrize(
    ("data", "text", "reason", "place"),
    [
        (b'\xef\xbb\xbf{"text": 1}', 1, "byte_order_mark", "byte 0"),
        ('{"text": "안"}'.encode("utf-16"), "안", "utf16", "byte 0"),
        ('{"text": "안"}'.encode("utf-16-be"), "안", "utf16", "byte 0"),
        ('{"text": "안"}'.encode("utf-32"), "안", "utf32", "byte 0"),
        (b'{"text": "a\xffb"}', "a�b", "invalid_utf8", "byte 11"),
        (b'{"skipped": "\xff", "text": 1}', 1, "invalid_utf8", "byte 13"),
        (b'{"text": "\\ud800!"}', "�!", "lone_surrogate", "byte 19"),
        (b'{"skipped": "\\udc00", "text": 1}', 1, "lone_surrogate", "byte 19"),
        (b'{"text": NaN}', None, "not_a_number", "byte 9"),
        (b'{"text": [-Infinity, 1]}', [None, 1], "not_a_number", "byte 11"),
        (b'{"text": [1e999, 1]}', [None, 1], "number_too_large", "$.text[0]"),
        (b'{"text": ' + b"9" * 5000 + b"}", None, "number_too_large", "$.text"),
        (b'{"text": "two\nlines"}', "two\nlines", "nonstandard_json", "byte 13"),
    ],
)
def test_what_a_lenient_reader_accepts_is_mended_and_noted(
    data: bytes, text: Any, reason: str, place: str | None
) -> None:
    letter, problem = decode(data, Letter)

    assert letter.text == text
    assert problem is not None
    assert (problem.reason, problem.place) == (reason, place)
    assert problem.message


@pytest.mark.parametrize(
    ("data", "reason", "place"),
    [
        (b"", "empty", "byte 0"),
        (b" \n", "empty", "byte 0"),
        (b'{"text": [1, 2', "truncated", "byte 14"),
        ('{"text": "안'.encode()[:-1], "truncated", "byte 12"),
        (b"\xef\xbb\xbf{", "truncated", "byte 4"),
        (b'{"text": 1} and more', "malformed", "byte 13"),
        (b"{'text': 1}", "malformed", "byte 1"),
        (b"\x89PNG\r\n\x1a\n", "invalid_utf8", "byte 0"),
        (b'["text"]', "wrong_type", "$"),
        (b"12", "wrong_type", "$"),
        (nested(100_000), "wrong_type", "$"),
        (b'{"text": ' + b"[" * 100_000, "too_deep", None),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place(
    data: bytes, reason: str, place: str | None
) -> None:
    problem = trouble_of(data)

    assert (problem.reason, problem.place) == (reason, place)
    assert problem.message


@pytest.mark.parametrize("depth", [*range(940, 1000, 3), 10_000, 200_000])
@pytest.mark.parametrize("key", ["text", "raw", "skipped"])
def test_brackets_nested_deep_cost_only_what_is_inside(depth: int, key: str) -> None:
    data = b'{"before": 1, "' + key.encode() + b'": ' + nested(depth) + b', "after": 2}'

    letter, problem = read_with(_copy_letter, data)

    assert isinstance(letter, Letter)
    assert problem is not None
    assert problem.reason == "too_deep"
    assert problem.place == f"byte {data.index(b'[') + DEEPEST - 1}"


@pytest.mark.parametrize("text", [nested(700), b'"' + b'[\\"{' * 5000 + b'"'])
def test_brackets_that_every_python_reads_are_kept(text: bytes) -> None:
    letter, problem = read_with(_copy_letter, b'{"text": ' + text + b', "raw": 1}')

    assert (letter.text, problem) == (msgspec.json.decode(text), None)


def _copy_letter(data: bytes) -> Letter:
    """Decode as later steps do: all of it, and to text again."""
    letter = msgspec.json.decode(data, type=Letter)
    compact_json([letter.text, msgspec.json.decode(letter.raw)])
    return letter


def test_a_failure_after_decoding_is_mended_as_well() -> None:
    letter, problem = read_with(_copy_letter, b'{"text": 1, "raw": 1e999}')

    assert letter.text == 1
    assert problem is not None
    assert problem.reason == "number_too_large"


def test_a_document_too_large_to_be_mended_is_refused_at_once() -> None:
    data = b'{"text": "' + b"a" * (32 * 2**20) + b'", "raw": NaN}'

    assert trouble_of(data).reason == "malformed"


def test_the_byte_of_bad_utf8_is_found_across_chunks() -> None:
    good = "가".encode() * (2**20)
    data = b'{"text": "' + good + b'\xea\xb0"}'

    _, problem = decode(data, Letter)

    assert problem is not None
    assert problem.place == f"byte {10 + len(good)}"


@pytest.mark.parametrize(
    ("document", "kind", "directory"),
    [
        (runs_document(), "runs", None),
        (judge_log(), "judge_log", None),
        (agent_card(), "agent_card", None),
        (results_document("a/b"), "results", "a/b"),
        (results_document() | {"directory": 7}, "results", None),
        ({"history": 1, "overall_statistics": 2}, "results", None),
        ({"something": "else"}, "unknown", None),
        ([1, 2], "unknown", None),
        (None, "unknown", None),
    ],
)
def test_a_document_is_known_by_what_is_in_it(
    document: Any, kind: str, directory: str | None
) -> None:
    assert sniff(json.dumps(document).encode()) == (kind, directory)


def test_sniffing_names_what_is_wrong_with_a_file() -> None:
    with pytest.raises(UnreadableDocument, match="ends before it is complete"):
        sniff(b'{"history": ')


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [(".gz", gzip.compress), (".zst", lambda data: pa.compress(data, "zstd", asbytes=True))],
)
def test_packed_files_are_unpacked_up_to_a_limit(suffix: str, pack: Any) -> None:
    packed = pack(b"[1, 2]" * 1000)

    assert decompress(packed, f"x.json{suffix}") == b"[1, 2]" * 1000
    for data, reason in ((packed[:-3], "bad_compression"), (b"no", "bad_compression")):
        with pytest.raises(UnreadableDocument) as caught:
            decompress(data, f"x.json{suffix}")
        assert caught.value.problem.reason == reason
    with pytest.raises(UnreadableDocument) as caught:
        decompress(packed, f"x.json{suffix}", limit=5999)
    assert caught.value.problem.reason == "too_large"


def test_an_archive_is_said_to_be_one() -> None:
    tar, zipped = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("1_out.json"))
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("1_out.json", "{}")
    packed = {
        "x.tar": tar.getvalue(),
        "x.tar.gz": gzip.compress(tar.getvalue()),
        "x.tar.xz": lzma.compress(tar.getvalue()),
        "x.zip": zipped.getvalue(),
        "x.json": gzip.compress(b"{}"),
    }
    for path, data in packed.items():
        with pytest.raises(UnreadableDocument) as caught:
            decompress(data, path)
        assert caught.value.problem.reason == "archive"
        assert "unpack it" in caught.value.problem.message


def test_files_are_read_up_to_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b"12345")

    assert read_bytes(str(path), limit=5) == b"12345"
    with pytest.raises(UnreadableDocument) as caught:
        read_bytes(str(path), limit=4)
    assert caught.value.problem.reason == "too_large"


def test_only_the_first_of_many_places_are_named() -> None:
    assert first_places([]) is None
    assert first_places(["$.a", "$.b"]) == "$.a, $.b"
    assert first_places([f"${i}" for i in range(7)]) == "$0, $1, $2, $3, $4 and 2 more"
    assert unreadable_parts([]) is None
