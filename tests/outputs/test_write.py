"""Rows in every format: whole and exact for programs, and the same in batches as at once."""

import io
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from orchbench_analytics import open_warehouse
from orchbench_analytics.cli.app import RowOptions
from orchbench_analytics.errors import PathError
from orchbench_analytics.outputs.write import (
    Format,
    excel,
    first_rows,
    texts_of,
    write_rows,
)

HOSTILE = pl.DataFrame(
    {
        "model": ["=cmd()", "a|b", "\x1b[31mred\x1b[0m", "두 줄\n글", "+1", "plain"],
        "score": [0.5] * 6,
    }
)
ROWS = pl.DataFrame(
    {
        "=name": ["=1+1", None, 'a "quoted", text', "줄\n바꿈", ""],
        "number": [1, None, 3, 4, 5],
        "share": [0.1, 1e300, None, -0.0, 2.5],
        "items": [["a"], [], None, ["b", "c"], ["="]],
    }
)
SPLITS = ([0, 5], [0, 2, 2, 1], [5], [0, 0, 1, 4])


def render(frame: pl.DataFrame, format_: Format) -> str:
    return "".join(texts_of([frame], format_))


def batches(sizes: list[int]) -> Iterator[pl.DataFrame]:
    start = 0
    for size in sizes:
        yield ROWS.slice(start, size)
        start += size


@pytest.mark.parametrize("sizes", SPLITS)
@pytest.mark.parametrize("format_", get_args(Format))
def test_batches_make_the_same_file(tmp_path: Path, format_: str, sizes: list[int]) -> None:
    target = tmp_path / "rows"

    write_rows(batches(sizes), format=format_, output=target)

    if format_ == "parquet":
        assert_frame_equal(pl.read_parquet(target), ROWS)
    elif format_ == "xlsx":
        assert (
            pl.read_excel(io.BytesIO(target.read_bytes()), engine="openpyxl").height == ROWS.height
        )
    else:
        assert target.read_text(encoding="utf-8") == render(ROWS, format_)
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("format_", ["csv", "json", "jsonl"])
def test_no_rows_are_the_same_text(capsys: pytest.CaptureFixture[str], format_: str) -> None:
    write_rows(iter([ROWS.clear()]), format=format_, output=None)

    assert capsys.readouterr().out == render(ROWS.clear(), format_)


def test_parquet_goes_into_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    piped = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(piped))

    write_rows(batches([0, 3, 2]), format="parquet", output=None)

    assert_frame_equal(pl.read_parquet(piped.getvalue()), ROWS)


def test_a_file_is_whole_or_as_it_was(tmp_path: Path) -> None:
    target = tmp_path / "rows.csv"

    def broken() -> Iterator[pl.DataFrame]:
        yield ROWS
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_rows(broken(), format="csv", output=target)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    target, link = tmp_path / "notes.csv", tmp_path / "link.csv"
    target.write_text("mine", encoding="utf-8")
    link.symlink_to(target)

    for path in (target, link):
        with pytest.raises(PathError, match="already exists and is not overwritten"):
            write_rows([ROWS], format="csv", output=path)

    assert target.read_text(encoding="utf-8") == "mine"
    assert link.is_symlink()


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.csv", tmp_path / "link.csv"
    link.symlink_to(real)

    write_rows([ROWS], format="csv", output=link)

    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == render(ROWS, "csv")


def test_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    target = tmp_path / "rows.csv"
    target.touch(mode=0o640)

    write_rows([ROWS], format="csv", output=target)

    assert target.stat().st_mode & 0o777 == 0o640


def test_what_cannot_be_written_is_said() -> None:
    with pytest.raises(PathError, match="No space left"):
        write_rows([ROWS], format="csv", output=Path("/dev/full"))


@pytest.mark.parametrize("limit", [0, 1, 2, 3, 5, 9])
def test_no_more_batches_are_asked_for_than_needed(limit: int) -> None:
    asked = []

    def counted() -> Iterator[pl.DataFrame]:
        for frame in batches([0, 2, 1, 2]):
            asked.append(frame.height)
            yield frame

    assert_frame_equal(pl.concat(first_rows(counted(), limit)), ROWS.head(limit))
    assert sum(asked[:-1]) < max(limit, 1)


def test_csv_holds_no_formulas() -> None:
    back = pl.read_csv(io.StringIO(render(HOSTILE, "csv")))
    assert back["model"].to_list() == [
        "'=cmd()",
        "a|b",
        "\x1b[31mred\x1b[0m",
        "두 줄\n글",
        "'+1",
        "plain",
    ]


@pytest.mark.parametrize("format_", ["csv", "json", "jsonl"])
def test_rows_for_programs_are_whole_and_unrounded(format_: Format) -> None:
    text = render(pl.DataFrame({"text": ["x" * 500], "score": [1 / 3]}), format_)

    assert "x" * 500 in text
    assert "0.3333333333333333" in text


def test_json_is_exact() -> None:
    assert json.loads(render(HOSTILE, "json")) == HOSTILE.to_dicts()


def test_csv_headers_hold_no_formulas() -> None:
    assert render(pl.DataFrame({"=1+1": [1]}), "csv").startswith("'=1+1\n")


def test_json_lines_are_a_document_a_row() -> None:
    lines = render(HOSTILE, "jsonl").splitlines()
    assert [json.loads(line) for line in lines] == HOSTILE.to_dicts()


@pytest.mark.parametrize("format_", get_args(Format))
def test_no_rows_is_no_error(tmp_path, format_) -> None:
    write_rows([HOSTILE.head(0)], format=format_, output=tmp_path / "rows")
    assert (tmp_path / "rows").read_bytes() or format_ == "jsonl"


@pytest.mark.parametrize(
    ("name", "format_"),
    [
        ("x.csv", "csv"),
        ("x.json", "json"),
        ("x.jsonl", "jsonl"),
        ("x.md", "markdown"),
        ("x.tex", "latex"),
        ("x.XLSX", "xlsx"),
        ("x.parquet", "parquet"),
    ],
)
def test_the_extension_says_the_format(tmp_path, name, format_) -> None:
    assert RowOptions(output=tmp_path / name).wanted_format == format_
    write_rows([HOSTILE], format=format_, output=tmp_path / name)
    content = (tmp_path / name).read_bytes()
    if format_ in ("parquet", "xlsx"):
        assert content.startswith({"parquet": b"PAR1", "xlsx": b"PK"}[format_])
    else:
        assert content == render(HOSTILE, format_).encode()


def test_a_format_and_an_extension_must_agree(tmp_path) -> None:
    with pytest.raises(PathError, match="disagree"):
        RowOptions(format="csv", output=tmp_path / "x.json")
    with pytest.raises(PathError, match="extension"):
        RowOptions(output=tmp_path / "x.txt")
    assert RowOptions(format="csv", output=tmp_path / "x.txt").wanted_format == "csv"
    assert RowOptions(format="csv").wanted_format == "csv"


def test_parquet_is_exact(tmp_path) -> None:
    write_rows([HOSTILE], format="parquet", output=tmp_path / "rows.parquet")
    assert pl.read_parquet(tmp_path / "rows.parquet").equals(HOSTILE)


def test_excel_holds_no_formulas() -> None:
    workbook = zipfile.ZipFile(io.BytesIO(excel(HOSTILE)))
    assert b"<f>" not in workbook.read("xl/worksheets/sheet1.xml")


EVERY_TYPE = """
    select interval 1 day as i, '\\xAA'::blob as b, [1, 2] as l, {'a': 1} as s,
    map{'a': 1} as m,
    1.5::decimal(5, 2) as d, now() as t, uuid() as u, 'nan'::double as n, time '10:00' as o,
    170141183460469231731687303715884105727::hugeint as h, '101'::bit as q, null as z
"""


def test_every_type_of_value_comes_out(demo: Path, tmp_path: Path) -> None:
    """As `sql` has it from the process in which the query runs."""
    rows = open_warehouse(demo / "warehouse").sql(EVERY_TYPE, timeout=60)

    for format_ in get_args(Format):
        target = tmp_path / format_
        write_rows([rows], format=format_, output=target, is_verbatim=True)
        assert target.stat().st_size > 0
