"""Tables for papers: rounded, with intervals, the best in bold, and no text that acts."""

from importlib.metadata import version

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchbench_analytics.outputs.paper import about_sweep, latex, markdown, paper_table

VERSION = f"orchbench-analytics {version('orchbench-analytics')}"
BOARD = pl.DataFrame(
    {
        "rank_number": [1, 2, 3],
        "rank_low": [1, 1, 3],
        "rank_high": [2, 2, 3],
        "model": ["가나다", "b_c", "d"],
        "average_score": [0.98765, 0.95, None],
        "low": [0.9, 0.9, None],
        "high": [1.0, 0.99, None],
        "tier_number": [1, 1, 2],
        "scenario_count": [24, 24, 24],
        "profile": ["spec", "spec", "spec"],
    }
)
PAIRS = pl.DataFrame(
    {
        "candidate_model": ["a", "b"],
        "verdict": ["worse", "no difference shown"],
        "difference": [-0.05, 0.001],
        "low": [-0.09, -0.02],
        "high": [-0.01, 0.022],
        "p_value": [0.01, 0.9],
    }
)


def test_a_board_in_markdown() -> None:
    table = paper_table(BOARD, about="24 scenarios × 3 runs (EN)")
    assert markdown(table).splitlines() == [
        f"24 scenarios × 3 runs (EN); profile spec; 95 % intervals in brackets; {VERSION}.",
        "",
        "| rank | model | Average | tier |",
        "| --: | --- | --: | --: |",
        "| 1 \\[1, 2\\] | 가나다 | **98.8 \\[90.0, 100.0\\]** | 1 |",
        "| 2 \\[1, 2\\] | b\\_c | 95.0 \\[90.0, 99.0\\] | 1 |",
        "| 3 \\[3, 3\\] | d |  | 2 |",
    ]


def test_a_board_in_latex() -> None:
    text = latex(paper_table(BOARD.with_columns(model=pl.Series(["a", "b_c", "d"]))))
    body = text[text.index("\\toprule") : text.index("\\bottomrule")]
    assert body.splitlines() == [
        "\\toprule",
        "rank & model & Average & tier \\\\",
        "\\midrule",
        "1 {[}1, 2{]} & a & \\textbf{98.8 {[}90.0, 100.0{]}} & 1 \\\\",
        "2 {[}1, 2{]} & b\\_c & 95.0 {[}90.0, 99.0{]} & 1 \\\\",
        "\\midrule",  # a new tier
        "3 {[}3, 3{]} & d &  & 2 \\\\",
    ]
    assert "\\begin{tabular}{rlrr}" in text
    assert "scenarios 24; profile spec; 95 \\% intervals in brackets" in text


def test_a_header_in_latex_is_no_wider_than_its_column() -> None:
    frame = pl.DataFrame({"model": ["a", "b"], "baseline_value": [0.1, 0.2]})
    assert "model & \\shortstack[r]{baseline\\\\score} \\\\" in latex(paper_table(frame))


def test_a_difference_that_is_not_shown_has_a_dagger() -> None:
    table = paper_table(PAIRS)
    (difference,) = (column for column in table.columns if column.header == "difference")
    assert difference.texts == ["−5.0 [−9.0, −1.0]", "+0.1 [−2.0, +2.2]†"]
    assert "† no difference shown" in table.caption
    assert "verdict" not in [column.header for column in table.columns]


def test_a_verdict_that_says_more_is_kept() -> None:
    table = paper_table(PAIRS.with_columns(verdict=pl.Series(["worse", "held"])))
    assert "verdict" in [column.header for column in table.columns]


def test_the_best_of_each_metric_is_bold_and_equals_are_not() -> None:
    frame = pl.DataFrame(
        {"model": ["a", "b"], "average_score": [0.5, 0.5], "function_call_f1": [0.1, 0.2]}
    )
    best = {column.header: column.best for column in paper_table(frame).columns}
    assert best == {"model": frozenset(), "FC": frozenset({1})}


def test_columns_that_do_not_fit_are_named() -> None:
    wide = pl.DataFrame({f"column_{n}": ["x" * 29, "y" * 29 + str(n)] for n in range(6)})
    table = paper_table(wide)
    assert [len(table.columns), len(table.left_out)] == [3, 3]
    assert "% left out, seen with --wide: column 3" in latex(table)
    assert "<!-- left out, seen with --wide: column 3" in markdown(table)
    assert len(paper_table(wide, is_whole=True).columns) == 6


def test_the_rows_of_a_query_stay_as_they_are() -> None:
    table = paper_table(BOARD, is_verbatim=True)
    assert [column.header for column in table.columns] == BOARD.columns
    assert (table.caption, table.divided) == ("", frozenset())


def test_a_caption_says_what_scores_rest_on() -> None:
    scores = pl.DataFrame(
        {"language": ["EN", "KO", "KO"], "scenario": ["1", "1", "1"], "run_count": [3, 3, 3]}
    )
    assert about_sweep(scores) == "2 scenarios × 3 runs (EN, KO)"
    uneven = scores.with_columns(run_count=pl.Series([1, 3, 2]))
    assert about_sweep(uneven) == "2 scenarios × 1 to 3 runs (EN, KO)"
    assert about_sweep(scores.clear()) == ""


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("a|b", "a\\|b"),
        ("x\\|y", "x\\\\\\|y"),
        ("<img src=x onerror=1> &lt;", "&lt;img src=x onerror=1&gt; &amp;lt;"),
        ("[a](b) `c` *d*", "\\[a\\](b) \\`c\\` \\*d\\*"),
        ("두 줄\n글", "두 줄 글"),
        ("\x1b[31mred", "\ufffd\\[31mred"),
    ],
)
def test_a_cell_of_markdown_stays_a_text(text: str, cell: str) -> None:
    table = paper_table(pl.DataFrame({text: [text]}), is_verbatim=True)
    header, _, row = markdown(table).splitlines()
    assert (header, row) == (f"| {cell} |", f"| {cell} |")


@given(st.text(min_size=1, max_size=20))
def test_no_character_acts_in_latex(text: str) -> None:
    table = paper_table(pl.DataFrame({"x": [text]}), is_verbatim=True)
    row = latex(table).split("\\midrule\n")[1].split(" \\\\\n\\bottomrule")[0]
    plain = row
    for command in (
        *("textbackslash{}", "textasciitilde{}", "textasciicircum{}", "textless{}"),
        *("textgreater{}", "textbar{}", "ldots{}", "textsuperscript{\\textdagger}"),
    ):
        plain = plain.replace(f"\\{command}", "")
    for escaped in ("\\&", "\\%", "\\$", "\\#", "\\_", "\\{", "\\}", "$\\times$", "$-$"):
        plain = plain.replace(escaped, "")
    plain = plain.replace("{[}", "").replace("{]}", "").replace('{"}', "")
    assert not set(plain) & set("\\{}$&#^_%~")
