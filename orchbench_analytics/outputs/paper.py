"""Tables for papers, in LaTeX and in Markdown: rounded, with intervals, the best in bold.

Both formats show one `PaperTable`. Scores are points of 100. An interval stands in brackets behind
its figure, a line divides tiers, and a dagger marks a difference that is not shown. What a query
returns stays as it is, apart from rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple

import polars as pl

from orchbench_analytics.metrics import LABELS, METRICS
from orchbench_analytics.outputs.screen import constant_columns, labels_of, text_of, wrap
from orchbench_analytics.outputs.terminal import printable_line
from orchbench_analytics.queries import shown_as

_WIDEST = 98  # characters of a row, as many as fit a page; unless all columns are asked for
_POINTS = ("score", "_f1", "_similarity", "_value", "_difference", "_deviation", "standard_error")
_SIGNED = ("difference", "gap", "_change", "low", "high")
_OF_INTERVAL = ("average_score", "difference", "gap", "predicted_score", "value")
_FIGURES = ("_rate", "_number", "_score", "_similarity", "_f1", "")
_UNSHOWN = "no difference shown"
_VERDICTS = {"better", "worse", _UNSHOWN}
_MINUS, _DASH, _DAGGER = "−", "–", "†"
_DECIMAL = "{:.4g}"
_LONG = 1_000  # from here on a decimal is written as a count
# How figures of each kind are written, and what they are multiplied by.
_TEMPLATES = {
    "count": ("{:,}", 1),
    "p": ("{:.4f}", 1),
    "points": ("{:.1f}", 100),
    "signed": ("{:+.1f}", 100),
    "percent": ("{:.1f} %", 100),
    "decimal": (_DECIMAL, 1),
}
MARKDOWN_ESCAPES = {c: f"\\{c}" for c in "\\|`*[]_"} | {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
LATEX_ESCAPES = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': '{"}',  # babel makes it a command in some languages
    "[": "{[}",  # after a line break it would be an option
    "]": "{]}",
    "…": r"\ldots{}",
    "×": r"$\times$",
    _MINUS: "$-$",
    _DASH: "--",
    _DAGGER: r"\textsuperscript{\textdagger}",
}
_IN_MARKDOWN, _IN_LATEX = str.maketrans(MARKDOWN_ESCAPES), str.maketrans(LATEX_ESCAPES)
_LATEX = r"""% \usepackage{{booktabs}}
{left_out}\begin{{table}}
\centering
\caption{{{caption}}}
\begin{{tabular}}{{{alignment}}}
\toprule
{head} \\
\midrule
{rows}\bottomrule
\end{{tabular}}
\end{{table}}
"""


class PaperColumn(NamedTuple):
    """A column in words: its header, a text for each row, and which of them are the best."""

    header: str
    texts: list[str]
    is_number: bool
    best: frozenset[int] = frozenset()

    @property
    def width(self) -> int:
        """Of its widest text; the words of a header may stand below each other."""
        return max(map(len, (*self.texts, *self.header.split(), "")))


class PaperTable(NamedTuple):
    """A table in words, the rows before which a tier begins, and the columns left out."""

    caption: str
    columns: list[PaperColumn]
    divided: frozenset[int]
    left_out: list[str]


def kind_of(name: str, dtype: pl.DataType) -> str:
    """How a figure is written: a flag, a count, points of 100, per cent, a p-value, others."""
    if dtype == pl.Boolean:
        return "flag"
    if dtype.is_integer():
        return "count"
    if name.startswith("p_"):
        return "p"
    if name.endswith(_SIGNED) and name != "detectable_difference":
        return "signed"
    if name.endswith(_POINTS) or _is_metric(name):
        return "points"
    return "percent" if shown_as(name).unit == "share" else "decimal"


def paper_table(
    frame: pl.DataFrame, *, about: str = "", is_verbatim: bool = False, is_whole: bool = False
) -> PaperTable:
    """The rows as a table; `about` goes into its caption, and a whole one has all columns."""
    if is_verbatim:
        names = list(frame.columns)
        headers = [printable_line(name) for name in names]
        columns = [_verbatim(frame, *pair) for pair in zip(names, headers, strict=True)]
        return PaperTable("", columns, frozenset(), [])
    constant = constant_columns(frame) if not frame.is_empty() else []
    spans = {value: span for value, span in _spans(frame).items() if value not in constant}
    is_marked = _is_marked(frame)
    hidden = {*constant, *(name for span in spans.values() for name in span)}
    hidden |= {"verdict"} if is_marked else set()
    shown = [name for name in frame.columns if name not in hidden]
    columns = [
        _column(frame, name, header, span=spans.get(name), is_marked=is_marked)
        for name, header in zip(shown, labels_of(shown), strict=True)
    ]
    kept = columns if is_whole else _fitting(columns)
    told = {"scenario_count"} if about else set()
    same = [name for name in constant if frame[name][0] is not None and name not in told]
    said = [
        about,
        *(
            f"{shown_as(name).label} {_writer(name, frame[name].dtype)(frame[name][0])}"
            for name in same
        ),
        "95 % intervals in brackets" if spans else "",
        f"{_DAGGER} {_UNSHOWN}" if is_marked and _UNSHOWN in frame["verdict"] else "",
        f"orchbench-analytics {version('orchbench-analytics')}",
    ]
    caption = "; ".join(part for part in said if part)
    left_out = [column.header for column in columns[len(kept) :]]
    return PaperTable(f"{caption}.", kept, _divided(frame), left_out)


def about_sweep(scores: pl.DataFrame) -> str:
    """What rows of `scenario_scores` rest on: scenarios, runs and languages."""
    if scores.is_empty():
        return ""
    scenarios = scores.select("language", "scenario").n_unique()
    least, most = (int(end) for end in (scores["run_count"].min(), scores["run_count"].max()))  # type: ignore[arg-type]  # it has no nulls
    runs = f"{most}" if least == most else f"{least} to {most}"
    languages = ", ".join(sorted({*scores["language"]}))
    return f"{scenarios:,} scenarios × {runs} run{'' if runs == '1' else 's'} ({languages})"


def latex(table: PaperTable) -> str:
    """A table in LaTeX, for the package booktabs; no text acts as a command."""
    rows = []
    for number in range(_height(table)):
        line = r"\midrule" + "\n" if number in table.divided else ""
        cells = (_bold(c, number, r"\textbf{{{}}}", _IN_LATEX) for c in table.columns)
        rows.append(f"{line}{' & '.join(cells)} \\\\\n")
    return _LATEX.format(
        left_out=f"% left out, seen with --wide: {', '.join(table.left_out)}\n"
        if table.left_out
        else "",
        caption=table.caption.translate(_IN_LATEX),
        alignment="".join("r" if column.is_number else "l" for column in table.columns),
        head=" & ".join(map(_latex_header, table.columns)),
        rows="".join(rows),
    )


def _latex_header(column: PaperColumn) -> str:
    """The header as wide as its column: its words stand below each other where they have to."""
    lines = [line.translate(_IN_LATEX) for line in wrap(column.header, column.width)]
    if len(lines) == 1:
        return lines[0]
    side, stacked = "r" if column.is_number else "l", r"\\".join(lines)
    return rf"\shortstack[{side}]{{{stacked}}}"


def markdown(table: PaperTable) -> str:
    """A table in Markdown, below its caption; no text acts as Markdown."""
    rows = [" | ".join(column.header.translate(_IN_MARKDOWN) for column in table.columns)]
    rows.append(" | ".join("--:" if column.is_number else "---" for column in table.columns))
    for number in range(_height(table)):
        cells = (_bold(column, number, "**{}**", _IN_MARKDOWN) for column in table.columns)
        rows.append(" | ".join(cells))
    above = f"{table.caption.translate(_IN_MARKDOWN)}\n\n" if table.caption else ""
    names = ", ".join(table.left_out)
    below = f"\n<!-- left out, seen with --wide: {names} -->\n" if names else ""
    return above + "".join(f"| {row} |\n" for row in rows) + below


def _height(table: PaperTable) -> int:
    return len(table.columns[0].texts) if table.columns else 0


def _bold(column: PaperColumn, row: int, template: str, escaped: dict[int, Any]) -> str:
    text = column.texts[row].translate(escaped)
    return template.format(text) if row in column.best and text else text


def _verbatim(frame: pl.DataFrame, name: str, header: str) -> PaperColumn:
    texts = [text_of(value) for value in frame[name].to_list()]
    return PaperColumn(header, texts, frame[name].dtype.is_numeric())


def _spans(frame: pl.DataFrame) -> dict[str, tuple[str, str]]:
    """The columns with an interval's ends, by the column of its figure."""
    there, found = {*frame.columns}, {}
    for low in (name for name in frame.columns if name.endswith("low")):
        stem = low.removesuffix("low").removesuffix("_")
        high = f"{low.removesuffix('low')}high"
        figures = [f"{stem}{end}" for end in _FIGURES] if stem else list(_OF_INTERVAL)
        figure = next((name for name in figures if name in there), None)
        if figure is not None and high in there:
            found[figure] = (low, high)
    return found


def _is_marked(frame: pl.DataFrame) -> bool:
    """Whether a mark at the difference says all that the verdict does."""
    return {"difference", "verdict"} <= {*frame.columns} and {*frame["verdict"]} <= _VERDICTS


def _column(
    frame: pl.DataFrame, name: str, header: str, *, span: tuple[str, str] | None, is_marked: bool
) -> PaperColumn:
    series = frame[name]
    is_number = series.dtype.is_numeric()
    write = _writer(name, series.dtype)
    texts = [write(value) for value in series.to_list()]
    if span is not None:
        ends = zip(*(map(write, frame[end].to_list()) for end in span), strict=True)
        texts = [_with_span(text, *pair) for text, pair in zip(texts, ends, strict=True)]
    if name == "difference" and is_marked:
        unshown = (frame["verdict"] == _UNSHOWN).to_list()
        texts = [
            f"{text}{_DAGGER}" if un else text for text, un in zip(texts, unshown, strict=True)
        ]
    return PaperColumn(header, texts, is_number, _best(name, series))


def _with_span(text: str, low: str, high: str) -> str:
    return f"{text} [{low}, {high}]" if text and low and high else text


def _best(name: str, series: pl.Series) -> frozenset[int]:
    """The rows with the highest score, if not all have it."""
    known = series.drop_nulls()
    if not _is_metric(name) or not series.dtype.is_float() or known.n_unique() < 2:
        return frozenset()
    highest = series.max()
    return frozenset(row for row, value in enumerate(series.to_list()) if value == highest)


def _is_metric(name: str) -> bool:
    """Whether a column has a metric, over all languages or in one."""
    return name in METRICS or any(name.startswith(f"{metric}_") for metric in METRICS)


def _divided(frame: pl.DataFrame) -> frozenset[int]:
    """The rows before which a tier begins, where they stand in the order of tiers."""
    if "tier_number" not in frame.columns or not frame["tier_number"].is_sorted(nulls_last=True):
        return frozenset()
    tiers = frame["tier_number"].to_list()
    return frozenset(row for row in range(1, len(tiers)) if tiers[row] != tiers[row - 1])


def _fitting(columns: Sequence[PaperColumn]) -> list[PaperColumn]:
    """The first columns that fit the width; the first one always does."""
    kept: list[PaperColumn] = []
    width = 0
    for column in columns:
        width += column.width + 2
        if kept and width > _WIDEST:
            break
        kept.append(column)
    return kept


def _writer(name: str, dtype: pl.DataType) -> Callable[[Any], str]:
    """How the values of a column are written; what is absent is empty."""
    if name == "metric":
        return lambda value: LABELS.get(str(value), text_of(value))
    if not dtype.is_numeric():
        return text_of
    template, factor = _TEMPLATES[kind_of(name, dtype)]

    def write(value: Any) -> str:
        if value is None or value != value:  # NaN
            return ""
        is_long = template == _DECIMAL and abs(value) >= _LONG
        return ("{:,.0f}" if is_long else template).format(factor * value).replace("-", _MINUS)

    return write
