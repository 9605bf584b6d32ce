"""A table on a screen: it fits, says what it leaves out, and lets no text act on the terminal."""

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from orchbench_analytics.outputs.screen import Limits, cut, cut_start, screen, wrap
from orchbench_analytics.outputs.terminal import printable, printable_line

BOARD = pl.DataFrame(
    {
        "rank_number": [1, 2],
        "model": ["가나다", "b"],
        "profile": ["spec", "spec"],
        "average_score": [0.98765, None],
        "verdict": ["better", "worse"],
    }
)


def test_what_is_the_same_in_all_rows_is_said_once() -> None:
    assert screen(BOARD, Limits(80)).splitlines() == [
        "profile spec",
        "rank  model   Average  verdict",
        "────  ──────  ───────  ───────",
        "   1  가나다   0.9877  better",
        "   2  b                worse",
    ]


def test_a_query_keeps_its_columns_and_their_names() -> None:
    lines = screen(BOARD, Limits(80), is_verbatim=True).splitlines()
    assert lines[0].split() == BOARD.columns


def test_one_row_keeps_its_columns_below_its_profile() -> None:
    lines = screen(BOARD.head(1), Limits(80)).splitlines()
    assert lines[0] == "profile spec"
    assert lines[1].split() == ["rank", "model", "Average", "verdict"]


def test_tokens_and_seconds_have_few_digits() -> None:
    rows = pl.DataFrame(
        {
            "run_input_tokens": [27943.08, 123.456],
            "mean_seconds": [0.123456, 0.004],
            "x": [0.25, 1],
        }
    )
    lines = screen(rows, Limits(80)).splitlines()
    assert [line.split() for line in lines[-2:]] == [
        ["27,943", "0.12", "0.2500"],
        ["123", "4e-03", "1.0000"],
    ]


def test_columns_and_rows_that_do_not_fit_are_counted() -> None:
    lines = screen(BOARD, Limits(24, rows=1)).splitlines()
    assert lines[-3:] == [
        "1 more column, seen with",
        "--wide: verdict",
        "1 more row, seen with --all",
    ]


def test_better_is_green_and_worse_is_red() -> None:
    plain, coloured = screen(BOARD, Limits(80)), screen(BOARD, Limits(80), is_coloured=True)
    assert "\x1b[32mbetter" in coloured
    assert "\x1b[31mworse" in coloured
    assert "\x1b" not in plain


def test_long_names_wrap_in_the_header_and_long_texts_are_cut() -> None:
    frame = pl.DataFrame({"needed_answer_share": [0.5, 0.25], "text": ["x" * 300, "y"]})
    lines = screen(frame, Limits(60)).splitlines()
    assert lines[0].split() == ["needed"]
    assert max(map(cell_len, lines)) <= 60
    assert lines[-2].endswith("x…")


def test_prose_goes_on_below() -> None:
    frame = pl.DataFrame({"rule": ["a", "b"], "meaning": ["word " * 20, "short"]})
    lines = screen(frame, Limits(40), is_prose=True).splitlines()
    assert " ".join(lines).count("word") == 20
    assert max(map(cell_len, lines)) <= 40


@given(
    st.lists(st.tuples(st.text(max_size=80), st.text(max_size=80), st.floats()), max_size=6),
    st.integers(40, 200),
)
@example(2 * [("", "⺀", 1e29)], 40)  # a caption that is broken in the middle of a figure
def test_no_line_is_longer_than_the_terminal_and_none_acts_on_it(rows, width) -> None:
    frame = pl.DataFrame(
        [
            tuple(t.encode("utf-8", "replace").decode() if isinstance(t, str) else t for t in row)
            for row in rows
        ],
        schema={"model": pl.String, "message": pl.String, "average_score": pl.Float64},
        orient="row",
    )
    text = screen(frame, Limits(width))
    assert all(cell_len(line) <= width for line in text.split("\n"))
    assert printable(text) == text


@pytest.mark.parametrize(
    "hostile",
    [
        "\x1b[31mred",
        "\x1b]0;title\x07",
        "\u202eright to left",
        "\x9b2J",
        "\u2066isolate",
        "a\rb",
        "\u200b",
    ],
)
def test_what_acts_on_a_terminal_is_replaced(hostile) -> None:
    assert not set(printable_line(hostile)) & set("\x1b\x07\u202e\x9b\u2066\r\n\u200b")


def test_a_cut_counts_cells() -> None:
    assert cut("가나다라", 5) == "가나…"
    assert cut("abc", 3) == "abc"


def test_of_a_path_the_end_is_kept() -> None:
    assert cut_start("results/황조롱이.json", 12) == "…조롱이.json"
    assert cut_start("결과/1.json", 12) == "결과/1.json"


def test_lines_are_as_wide_as_their_cells() -> None:
    assert wrap("황조롱이 벼랑 근처", 10) == ["황조롱이", "벼랑 근처"]
    assert wrap("one two", 6, indent="  ") == ["  one", "  two"]
    assert wrap("", 10) == [""]


@given(st.text(alphabet="ab 한글", max_size=60), st.integers(4, 30))
def test_no_line_is_too_long_and_no_character_is_lost(text: str, width: int) -> None:
    lines = wrap(text, width, indent=" ")

    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())
