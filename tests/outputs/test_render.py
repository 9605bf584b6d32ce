"""Rows for people and programs; a model's text is shown, never obeyed."""

import io
import json

import polars as pl
import pytest

from orchbench_analytics.outputs.render import render, show

HOSTILE = pl.DataFrame(
    {
        "model": ["=cmd()", "a|b", "\x1b[31mred\x1b[0m", "두 줄\n글", "+1", "plain"],
        "score": [0.5] * 6,
    }
)


def test_a_table_is_aligned_also_with_wide_characters() -> None:
    frame = pl.DataFrame({"name": ["가나", "abc"], "score": [0.25, None]})
    assert render(frame, format="table") == ("name   score\n────  ──────\n가나  0.2500\nabc\n")


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


def test_long_texts_are_cut_but_not_in_the_last_column() -> None:
    frame = pl.DataFrame({"first": ["x" * 100], "last": ["y" * 100]})
    line = render(frame, format="table").splitlines()[2]
    assert "x" * 59 + "…" in line
    assert "y" * 100 in line


@pytest.mark.parametrize("format_", ["table", "markdown", "csv", "json"])
def test_no_rows_is_no_error(format_) -> None:
    assert render(HOSTILE.head(0), format=format_)


def test_parquet_goes_to_a_file(tmp_path) -> None:
    show(HOSTILE, format="parquet", output=tmp_path / "rows.parquet")
    assert pl.read_parquet(tmp_path / "rows.parquet").equals(HOSTILE)
