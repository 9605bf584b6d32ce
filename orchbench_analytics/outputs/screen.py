"""A table that people read, on a screen or in a log.

Values that are the same in all rows go into a caption. Figures are rounded, columns have their
labels. Columns stand in the order in which their table declares them: those that do not fit the
width are left out from the right, and a last line says which, and how to see them.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import polars as pl
from rich.cells import cell_len, chop_cells, set_cell_size

from orchbench_analytics.errors import SelectionError, suggest
from orchbench_analytics.metrics import LABELS, resolve_metric
from orchbench_analytics.outputs import terminal
from orchbench_analytics.outputs.terminal import printable_line
from orchbench_analytics.queries import shown_as
from orchbench_analytics.tables import PROFILE_NAME

_GAP = 2
_NARROWEST_TEXT = 20
_LONGEST_TEXT = 2000
_FEWEST_ROWS = 20
_OTHER_LINES = 8  # of a screen: what is said before and after a table
_GREEN, _RED, _PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[0m"
_GOOD, _BAD = {"better", "rising", "held"}, {"worse", "falling", "crossed", "refused"}
_DIGITS = {"tokens": 0, "seconds": 2}  # after the point, by unit
_SIDES = ("baseline_", "candidate_")
_NONE = pl.Series(dtype=pl.String)
_SIGNED = ("_change", "contribution", "gap")


class Limits(NamedTuple):
    """The room there is: cells of a line, and rows; none is as many as there are."""

    width: int | None
    rows: int | None = None


class Cells(NamedTuple):
    """A column as it is shown: its header, a text for each row, and a colour for each."""

    header: str
    texts: list[str]
    colours: list[str]
    is_number: bool
    width: int


class Readable(NamedTuple):
    """A table in words: what is the same in all rows, and the columns that differ."""

    caption: str
    columns: list[Cells]


def show_table(
    frame: pl.DataFrame,
    *,
    is_wide: bool = False,
    is_whole: bool = False,
    is_verbatim: bool = False,
    is_prose: bool = False,
    mark: str = "--",
) -> None:
    """Write a table that fits the width; wide shows all columns, whole all rows.

    Only a terminal has a height: a pipe gets all rows.
    """
    is_bounded = terminal.is_terminal() and not is_whole
    rows = max(_FEWEST_ROWS, terminal.height() - _OTHER_LINES) if is_bounded else None
    text = screen(
        frame,
        Limits(None if is_wide else terminal.width(), rows),
        is_coloured=terminal.takes_colour(),
        is_verbatim=is_verbatim,
        is_prose=is_prose and not is_wide,
        mark=mark,
    )
    terminal.write_readable(text)


def screen(
    frame: pl.DataFrame,
    limits: Limits,
    *,
    is_coloured: bool = False,
    is_verbatim: bool = False,
    is_prose: bool = False,
    mark: str = "--",
) -> str:
    """The rows as lines that fit; `is_verbatim` keeps columns and their names as they are.

    Prose has sentences in its last column, which go on below instead of being cut. `mark` is what
    the words that show more begin with: --wide and --all, or .wide and .all.
    """
    if frame.is_empty():
        return "no rows\n"
    shown = frame if limits.rows is None else frame.head(limits.rows)
    caption, columns = _readable(shown, frame, is_verbatim=is_verbatim)
    kept = columns if limits.width is None else _fitting(columns, limits.width)
    lines = [*wrap(caption, limits.width)] if caption else []
    lines += _lines(kept, is_coloured=is_coloured, is_prose=is_prose)
    left_out = [" ".join(column.header.split()) for column in columns[len(kept) :]]
    if left_out:
        said = f"{_more(len(left_out), 'column')}, seen with {mark}wide: {', '.join(left_out)}"
        lines += wrap(said, limits.width)
    if frame.height > shown.height:
        lines.append(f"{_more(frame.height - shown.height, 'row')}, seen with {mark}all")
    return "".join(f"{line}\n" for line in lines)


def _readable(shown: pl.DataFrame, among: pl.DataFrame, *, is_verbatim: bool) -> Readable:
    """The rows that are shown in words; the caption holds for all rows that they are among."""
    constant = [] if is_verbatim or among.is_empty() else constant_columns(among)
    names = [name for name in shown.columns if name not in constant]
    headers = list(map(printable_line, names)) if is_verbatim else labels_of(names)
    caption = [
        f"{shown_as(name).label} {_texts(among[name].head(1))[0]}"
        for name in constant
        if among[name][0] is not None
    ]
    columns = [_cells(shown, name, head) for name, head in zip(names, headers, strict=True)]
    return Readable(", ".join(caption), columns)


def labels_of(columns: Sequence[str]) -> list[str]:
    """The labels of columns, no two alike: one whose label is taken keeps its name."""
    labels: list[str] = []
    for place, column in enumerate(columns, start=1):
        choices = (shown_as(column).label, column, f"column {place}")
        free = next(choice for choice in choices if choice not in labels)
        labels.append(printable_line(free))
    return labels


def _more(count: int, what: str) -> str:
    return f"{count:,} more {what}{'s' if count > 1 else ''}"


def constant_columns(frame: pl.DataFrame) -> list[str]:
    """The columns that say the same in all rows; one column is left in any case.

    Of a single row these are the columns without a value, and the profile, which every table says.
    """
    if frame.height < 2:
        same = [n for n in frame.columns if frame[n][0] is None or n == PROFILE_NAME.name]
    else:
        same = [name for name in frame.columns if frame[name].n_unique() == 1]
    return same if len(same) < frame.width else same[1:]


def _cells(frame: pl.DataFrame, name: str, header: str) -> Cells:
    series = frame[name]
    texts = _texts(series)
    longest = max((cell_len(text) for text in texts), default=0)
    is_number = series.dtype.is_numeric()
    widest_word = max((cell_len(word) for word in header.split()), default=0)
    return Cells(header, texts, _colours(frame, name), is_number, max(longest, widest_word, 1))


def _texts(column: pl.Series) -> list[str]:
    digits = _DIGITS.get(shown_as(column.name).unit or "", 4)
    is_metric = column.name == "metric" and column.dtype == pl.String
    named = column.replace(LABELS) if is_metric else column
    return [text_of(value, digits) for value in named.to_list()]


def text_of(value: Any, digits: int = 4) -> str:
    """A value as one line of visible characters; figures are rounded."""
    if value is None:
        return ""
    if isinstance(value, float):
        return _figure(value, digits)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return printable_line(str(value)[:_LONGEST_TEXT])


def _figure(value: float, digits: int) -> str:
    if value != 0 and abs(value) < 0.5 / 10**digits:
        return f"{value:.0e}"
    return f"{value:,.{digits if abs(value) < 1000 else min(digits, 1)}f}"


def _colours(frame: pl.DataFrame, name: str) -> list[str]:
    """Green for what is better, red for what is worse."""
    if name in ("verdict", "difference") and "verdict" in frame.columns:
        return [_colour_of(verdict) for verdict in frame["verdict"]]
    if name in ("verdict", "status", "outcome"):
        return [_colour_of(value) for value in frame[name]]
    if name.endswith(_SIGNED) and frame[name].dtype.is_numeric() and name != "rank_change":
        return [_GREEN if v and v > 0 else _RED if v and v < 0 else "" for v in frame[name]]
    return [""] * frame.height


def _colour_of(word: Any) -> str:
    return _GREEN if word in _GOOD else _RED if word in _BAD else ""


def _fitting(columns: list[Cells], width: int) -> list[Cells]:
    """The first columns that fit, long texts being cut; the first one always does."""
    for count in range(len(columns), 0, -1):
        widths = _shrunk(columns[:count], width)
        if sum(widths) + _GAP * (count - 1) <= width:
            return [c._replace(width=w) for c, w in zip(columns, widths, strict=False)]
    return [columns[0]._replace(width=width)] if columns else []


def _shrunk(columns: Sequence[Cells], width: int) -> list[int]:
    """Widths of columns, the widest texts being narrowed as far as need be."""
    widths = [column.width for column in columns]
    texts = [i for i, column in enumerate(columns) if not column.is_number]
    excess = sum(widths) + _GAP * (len(widths) - 1) - width
    while excess > 0 and texts:
        widest = max(texts, key=lambda i: widths[i])
        if widths[widest] <= _NARROWEST_TEXT:
            break
        widths[widest] -= 1
        excess -= 1
    return widths


def _lines(columns: list[Cells], *, is_coloured: bool, is_prose: bool) -> list[str]:
    if not columns:
        return []
    headers = [wrap(column.header, column.width) for column in columns]
    depth = max(map(len, headers))
    stacked = [[""] * (depth - len(header)) + header for header in headers]
    lines = [
        _joined(
            [_padded(part[level], column) for part, column in zip(stacked, columns, strict=True)]
        )
        for level in range(depth)
    ]
    lines.append(_joined(["─" * column.width for column in columns]))
    for row in range(len(columns[0].texts)):
        cells = []
        for column in columns:
            shorten = cut_start if column.header == "path" else cut
            cell = _padded(shorten(column.texts[row], column.width), column)
            colour = column.colours[row] if is_coloured else ""
            cells.append(f"{colour}{cell}{_PLAIN}" if colour else cell)
        said = wrap(columns[-1].texts[row], columns[-1].width) if is_prose else []
        lines.append(_joined([*cells[:-1], *said[:1]] if said else cells))
        indent = " " * (sum(column.width + _GAP for column in columns[:-1]))
        lines += [indent + more for more in said[1:]]
    return lines


def _joined(cells: list[str]) -> str:
    return (" " * _GAP).join(cells).rstrip()


def _padded(text: str, column: Cells) -> str:
    """Figures stand on the right, so that their digits align."""
    space = " " * (column.width - cell_len(text))
    return space + text if column.is_number else text + space


def cut(text: str, width: int) -> str:
    """One line of at most so many cells; Korean characters are two cells wide."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - 1, 0)).rstrip() + "…"


def cut_start(text: str, width: int) -> str:
    """The end of a line in at most so many cells: the end of a path says most."""
    return cut(text[::-1], width)[::-1]


def wrap(text: str, width: int | None, *, indent: str = "") -> list[str]:
    """A text in lines of at most so many cells, each indented; only overlong words are broken."""
    if width is None:
        return [indent + text]
    room = max(width - len(indent), 1)
    lines = [""]
    for word in text.split(" "):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_len(joined) <= room:
            lines[-1] = joined
        else:
            lines += chop_cells(word, room)
    return [f"{indent}{line}".rstrip() for line in lines if line] or [""]


def named_contenders(rows: pl.DataFrame, among: pl.DataFrame | None = None) -> pl.DataFrame:
    """Models as `model/experiment` where they have several, so that each has its own name.

    `among` are all the rows of which some are shown: a name tells a model apart from those too.
    """
    several = _of_several_experiments(rows if among is None else among)
    rows = _without_common_experiment(rows)
    for side in ("", *_SIDES):
        model, experiment = f"{side}model", f"{side}experiment"
        is_one_side = bool(side) and rows.get_column(experiment, default=_NONE).n_unique() == 1
        if {model, experiment} <= {*rows.columns} and (side or several):
            is_told = pl.col(model).is_in(several) | pl.lit(is_one_side)
            named = pl.when(is_told).then(pl.format("{}/{}", model, experiment)).otherwise(model)
            rows = rows.with_columns(named.alias(model)).drop(experiment)
    return rows


def _of_several_experiments(rows: pl.DataFrame) -> list[str]:
    """The models that have more than one experiment."""
    pairs = [
        rows.select(model=f"{side}model", experiment=f"{side}experiment")
        for side in ("", *_SIDES)
        if {f"{side}model", f"{side}experiment"} <= {*rows.columns}
    ]
    if not pairs:
        return []
    counts = pl.concat(pairs).group_by("model").agg(pl.col("experiment").n_unique())
    return counts.filter(pl.col("experiment") > 1)["model"].to_list()


def _without_common_experiment(rows: pl.DataFrame) -> pl.DataFrame:
    """Comparisons within one experiment, which then is named once."""
    both = [f"{side}experiment" for side in _SIDES]
    if not {*both} <= {*rows.columns} or pl.concat([rows[n] for n in both]).n_unique() != 1:
        return rows
    return rows.rename({both[0]: "experiment"}).drop(both[1])


def first_in_order(rows: pl.DataFrame, *, sort: str | None, limit: int | None) -> pl.DataFrame:
    """The rows sorted by a column, up to so many; a column that is not there is an error."""
    if sort is not None:
        rows = _sorted(rows, sort)
    return rows if limit is None else rows.head(limit)


def _sorted(rows: pl.DataFrame, given: str) -> pl.DataFrame:
    """By a column or its label; a minus before it turns the order."""
    column = _named_column(given.removeprefix("-"), rows.columns)
    return rows.sort(column, descending=given.startswith("-"), nulls_last=True, maintain_order=True)


def _named_column(name: str, columns: Sequence[str]) -> str:
    """The column of that name, be it its own, its label's or another name of a metric."""
    if name in columns:
        return name
    labels = {shown_as(column).label.lower(): column for column in reversed(columns)}
    if name.lower() in labels:
        return labels[name.lower()]
    with suppress(SelectionError):
        if (metric := resolve_metric(name)) in columns:
            return metric
    known = dict.fromkeys([*(shown_as(column).label for column in columns), *columns])
    raise SelectionError(f"no column {name!r} to sort by; {suggest(name, known)}")
