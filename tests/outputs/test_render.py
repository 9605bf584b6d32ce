"""Rows for people and programs; a model's text is shown, never obeyed."""

import io
import json
import zipfile
from typing import get_args

import polars as pl
import pytest

from orchbench_analytics.errors import PathError
from orchbench_analytics.outputs.render import Format, agreed_format, excel, render
from orchbench_analytics.outputs.write import write_rows

HOSTILE = pl.DataFrame(
    {
        "model": ["=cmd()", "a|b", "\x1b[31mred\x1b[0m", "두 줄\n글", "+1", "plain"],
        "score": [0.5] * 6,
    }
)


def test_a_table_is_aligned_also_with_wide_characters() -> None:
    frame = pl.DataFrame({"name": ["가나", "abc"], "score": [0.25, None]})
    assert render(frame, format="table") == ("name  score\n────  ─────\n가나   0.25\nabc\n")


def test_control_characters_never_reach_the_terminal() -> None:
    text = render(HOSTILE, format="table")
    assert "\x1b" not in text
    assert len(text.splitlines()) == 2 + len(HOSTILE)


def test_markdown_cells_stay_cells() -> None:
    lines = render(HOSTILE, format="markdown").splitlines()
    assert lines[1] == "| --- | --: |"
    assert "a\\|b" in lines[3]
    assert len(lines) == 2 + len(HOSTILE)


def test_csv_holds_no_formulas() -> None:
    back = pl.read_csv(io.StringIO(render(HOSTILE, format="csv")))
    assert back["model"].to_list() == [
        "'=cmd()",
        "a|b",
        "\x1b[31mred\x1b[0m",
        "두 줄\n글",
        "'+1",
        "plain",
    ]


def test_json_is_exact() -> None:
    assert json.loads(render(HOSTILE, format="json")) == HOSTILE.to_dicts()


def test_rows_for_programs_are_whole_and_unrounded() -> None:
    frame = pl.DataFrame({"text": ["x" * 500], "score": [1 / 3]})
    for format_ in ("table", "markdown", "csv"):
        text = render(frame, format=format_)
        assert "x" * 500 in text
        assert "0.3333333333333333" in text


def test_a_backslash_does_not_free_a_pipe() -> None:
    frame = pl.DataFrame({"a|b\nc": ["x\\|y"]})
    header, _, row = render(frame, format="markdown").splitlines()
    assert header == "| a\\|b c |"
    assert row == "| x\\\\\\|y |"


def test_csv_headers_hold_no_formulas() -> None:
    assert render(pl.DataFrame({"=1+1": [1]}), format="csv").startswith("'=1+1\n")


def test_json_lines_are_a_document_a_row() -> None:
    lines = render(HOSTILE, format="jsonl").splitlines()
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
        ("x.XLSX", "xlsx"),
        ("x.parquet", "parquet"),
    ],
)
def test_the_extension_says_the_format(tmp_path, name, format_) -> None:
    assert agreed_format(None, tmp_path / name) == format_
    write_rows([HOSTILE], format=format_, output=tmp_path / name)
    content = (tmp_path / name).read_bytes()
    if format_ in ("parquet", "xlsx"):
        assert content.startswith({"parquet": b"PAR1", "xlsx": b"PK"}[format_])
    else:
        assert content == render(HOSTILE, format=format_).encode()


def test_a_format_and_an_extension_must_agree(tmp_path) -> None:
    with pytest.raises(PathError, match="disagree"):
        agreed_format("csv", tmp_path / "x.json")
    with pytest.raises(PathError, match="extension"):
        agreed_format(None, tmp_path / "x.txt")
    assert agreed_format("csv", tmp_path / "x.txt") == "csv"
    assert agreed_format("csv", None) == "csv"


def test_parquet_is_exact(tmp_path) -> None:
    write_rows([HOSTILE], format="parquet", output=tmp_path / "rows.parquet")
    assert pl.read_parquet(tmp_path / "rows.parquet").equals(HOSTILE)


def test_excel_holds_no_formulas() -> None:
    workbook = zipfile.ZipFile(io.BytesIO(excel(HOSTILE)))
    assert b"<f>" not in workbook.read("xl/worksheets/sheet1.xml")
