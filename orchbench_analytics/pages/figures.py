"""Figures for papers: a column of 8 cm, legible there, in colours that everybody can tell apart.

Charts are Vega-Lite, made with altair; the plan is the page's own picture. What colour says is also
said by shape, fill or sign, so that a figure reads in grey. PDF files hold their fonts; an SVG file
asks for fonts that every system has, or one of the same widths.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import hypot, log10
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from orchbench_analytics.errors import PathError, SelectionError
from orchbench_analytics.metrics import HEADLINE, LABELS
from orchbench_analytics.outputs.screen import named_contenders
from orchbench_analytics.outputs.terminal import printable_line
from orchbench_analytics.queries import shown_as

if TYPE_CHECKING:
    import altair as alt

FORMATS = (".svg", ".pdf", ".png")
WIDTH = 302  # pixels of CSS in 8 cm
FONT = "Arial, Helvetica, Liberation Sans, sans-serif"
_SIZE = 10  # pixels: 7.5 points
_PIXELS_PER_INCH = 300
_COST_WIDTH, _COST_HEIGHT = 254, 220  # of the chart without its axes
_EXTENT = 24  # of an axis whose chart has an exact width
_LONGEST_NAME = 34
_MOST_NAMES = 30
# Okabe and Ito 2008: told apart by people with any kind of colour blindness.
BLUE, ORANGE, _GREEN, _BLACK = "#0072B2", "#D55E00", "#009E73", "#000000"
_COLOURS = [BLUE, ORANGE, _GREEN, _BLACK, "#CC79A7", "#E69F00", "#56B4E9"]
_GREY, _PALE = "#767676", "#DDDDDD"
_AVERAGE = LABELS[HEADLINE[0]]


Point = tuple[float, float]
Box = tuple[float, float, float, float]


class Figure(NamedTuple):
    """A picture as SVG, which notebooks show; it can be saved in other formats."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def content(self, suffix: str) -> bytes:
        """The picture as the content of a file that ends in .svg, .pdf or .png."""
        if suffix == ".svg":
            return self.svg.encode()
        import vl_convert

        if suffix == ".pdf":
            return bytes(vl_convert.svg_to_pdf(_in_points_of_pixels(self.svg)))
        scale = _PIXELS_PER_INCH / 96
        return bytes(vl_convert.svg_to_png(self.svg, scale=scale))


def _in_points_of_pixels(svg: str) -> str:
    """The picture at 72 units an inch, as PDF measures, in place of 96."""
    head, bracket, body = svg.partition(">")
    sizes = re.compile(r'\b(width|height)="([\d.]+)"')
    return sizes.sub(lambda m: f'{m[1]}="{float(m[2]) * 72 / 96:g}"', head) + bracket + body


def require_figure_file(path: Path) -> None:
    """Refuse a file whose ending is not that of a figure."""
    if path.suffix.lower() not in FORMATS:
        raise PathError(f"{path}: a figure ends in {', '.join(FORMATS)}")


def leaderboard_figure(board: pl.DataFrame) -> Figure:
    """Models with the interval of their average, in the order of ranks; a line divides tiers."""
    import altair as alt

    rows = _named(board).filter(pl.col(HEADLINE[0]).is_not_null())
    rows = _in_points(rows, HEADLINE[0], "low", "high")
    order = rows["name"].to_list()
    tiers = rows["tier_number"].to_list()
    last = [order[n] for n in range(len(order) - 1) if tiers[n] != tiers[n + 1]]
    x = alt.X(f"{HEADLINE[0]}:Q", title=f"{_AVERAGE}, points", scale=alt.Scale(zero=False))
    y = alt.Y("name:N", sort=order, title=None)
    base = alt.Chart(_data(rows)).encode(y=y)
    spans = base.mark_rule(color=BLUE, strokeWidth=2).encode(x="low:Q", x2="high:Q")
    points = base.mark_point(filled=True, size=34, color=_BLACK, opacity=1).encode(x=x)
    lines = (
        alt.Chart(_data(pl.DataFrame({"name": last}, schema={"name": pl.String})))
        .mark_rule(color=_GREY, strokeDash=[2, 2], yOffset=_row_height(len(order)) / 2)
        .encode(y=y)
    )
    return _drawn(lines, spans, points, height=_row_height(len(order)) * len(order))


_COLUMN_LESS_ROW = "column − row, points"


def pairs_figure(pairs: pl.DataFrame) -> Figure:
    """All pairs: the column's average less the row's, coloured if the difference is shown."""
    import altair as alt

    rows = _in_points(named_contenders(pairs), "difference")
    sides = [
        rows.select(row=_side(one), column=_side(other), value=sign * pl.col("difference"),
            is_shown=pl.col("verdict").is_in(["better", "worse"]), score=f"{other}_value")
        for one, other, sign in (("baseline", "candidate", 1), ("candidate", "baseline", -1))
    ]  # fmt: skip
    cells = pl.concat(sides).drop_nulls("value")
    if cells.is_empty():
        raise SelectionError("there are no two models to compare")
    order = cells.group_by("column").agg(pl.col("score").max()).sort(
        "score", "column", descending=[True, False])["column"].to_list()  # fmt: skip
    most = cells["value"].abs().quantile(0.9) or 1.0  # a dead model does not pale all others
    base = alt.Chart(_data(cells)).encode(
        x=alt.X("column:N", sort=order, title=_COLUMN_LESS_ROW, axis=alt.Axis(labelAngle=-90)),
        y=alt.Y("row:N", sort=order, title=None),
    )
    colour = alt.Color(
        "value:Q",
        scale=alt.Scale(
            domain=[-most, 0, most], range=[ORANGE, "#FFFFFF", BLUE], interpolate="rgb", clamp=True
        ),
        legend=None,
    )
    drawn = base.mark_rect(stroke=_PALE, strokeWidth=0.5).encode(
        color=alt.condition("datum.is_shown", colour, alt.value("#FFFFFF"))
    )
    parts: list[Any] = [drawn]
    if len(order) <= _MOST_NAMES:
        is_dark = f"datum.is_shown && abs(datum.value) > {0.6 * most}"
        parts.append(
            base.mark_text(fontSize=min(_SIZE - 2, 76 / len(order))).encode(
                text=alt.Text("value:Q", format="+.0f"),
                color=alt.condition(is_dark, alt.value("#FFFFFF"), alt.value(_BLACK)),
                opacity=alt.condition("datum.is_shown", alt.value(1), alt.value(0.55)),
            )
        )
    return _drawn(*parts, height=200)


def cost_figure(costs: pl.DataFrame) -> Figure:
    """What a run costs against what it scores; filled points are on the front."""
    import altair as alt

    rows = _in_points(_named(costs), HEADLINE[0]).drop_nulls(["run_cost", HEADLINE[0]])
    if rows.is_empty():
        raise SelectionError("what runs cost is not known; see: orchbench costs --prices")
    rows = rows.with_columns(is_on=pl.col("front") == "on").sort("run_cost", HEADLINE[0])
    least, most = (float(end) for end in (rows["run_cost"].min(), rows["run_cost"].max()))  # type: ignore[arg-type]  # it has rows
    across = _scale(rows["run_cost"], _COST_WIDTH, is_log=least > 0 and most > 20 * least)
    up = _scale(rows[HEADLINE[0]], _COST_HEIGHT)
    names = _placed_names(rows, across, up)
    x = alt.X(
        "run_cost:Q",
        title=_heading("run_cost"),
        scale=across.vega(),
        axis=alt.Axis(tickCount=4, grid=False, labelOverlap=True),
    )
    y = alt.Y(
        f"{HEADLINE[0]}:Q",
        title=f"{_AVERAGE}, points",
        scale=up.vega(),
        axis=alt.Axis(minExtent=_EXTENT, maxExtent=_EXTENT, tickCount=6),
    )
    base = alt.Chart(_data(rows)).encode(x=x, y=y)
    front = base.transform_filter("datum.is_on").mark_line(
        interpolate="step-after", color=_GREY, strokeDash=[3, 2]
    )
    fill = alt.condition("datum.is_on", alt.value(BLUE), alt.value("#FFFFFF"))
    points = base.mark_point(size=40, stroke=BLUE, opacity=1).encode(fill=fill)
    named = alt.Chart(_data(names)).encode(
        x=alt.X("x:Q", scale=across.vega()), y=alt.Y("y:Q", scale=up.vega())
    )
    leads = named.mark_rule(color=_GREY, strokeWidth=0.5).encode(
        x2="run_cost:Q", y2=f"{HEADLINE[0]}:Q"
    )
    of_right = named.transform_filter("datum.is_right").mark_text(
        align="left", dx=2, fontSize=_SIZE - 2
    )
    of_left = named.transform_filter("!datum.is_right").mark_text(
        align="right", dx=-2, fontSize=_SIZE - 2
    )
    texts = [part.encode(text="name:N") for part in (of_right, of_left)]
    return _drawn(leads, front, points, *texts, height=_COST_HEIGHT)


class _Scale(NamedTuple):
    """From values to pixels, and back."""

    low: float
    high: float
    size: float
    is_log: bool

    def at(self, value: float) -> float:
        value = log10(value) if self.is_log else value
        return self.size * (value - self.low) / (self.high - self.low)

    def value(self, pixel: float) -> float:
        value = self.low + (self.high - self.low) * pixel / self.size
        return 10**value if self.is_log else value

    def vega(self) -> alt.Scale:
        import altair as alt

        ends = [self.value(0), self.value(self.size)]
        return alt.Scale(
            type="log" if self.is_log else "linear", domain=ends, nice=False, zero=False
        )


def _scale(values: pl.Series, size: float, *, is_log: bool = False) -> _Scale:
    turned = values.log10() if is_log else values
    low, high = (float(end) for end in (turned.min(), turned.max()))  # type: ignore[arg-type]  # it has rows
    margin = max(0.05 * (high - low), 0.01 * abs(high)) or 1
    return _Scale(low - margin, high + margin, size, is_log)


def _placed_names(rows: pl.DataFrame, across: _Scale, up: _Scale) -> pl.DataFrame:
    """Each name beside its point, or further off with a line to the point, where it hides nothing.

    Names beside their points are placed first, and among those the front's. Where there are many
    points, only the front has names.
    """
    columns = ("name", "run_cost", HEADLINE[0])
    points = [(across.at(x), up.at(y)) for x, y in rows.select(columns[1:]).iter_rows()]
    is_on = rows["is_on"].to_list()
    front = [point for point, on in zip(points, is_on, strict=True) if on]
    taken = [(x - 4, y - 4, x + 4, y + 4) for x, y in points]
    for (x, y), (to_x, to_y) in pairwise(front):
        taken += [(x, y - 1, to_x, y + 1), (to_x - 1, y, to_x + 1, to_y)]
    waiting = [row for row in range(rows.height) if is_on[row] or rows.height <= _MOST_NAMES]
    waiting.sort(key=lambda row: not is_on[row])
    placed = []
    for mays in (_NEAR, _FAR, _FAR_ACROSS):
        for row in list(waiting):
            name, cost, score = rows.select(columns).row(row)
            width = len(name) * 0.54 * (_SIZE - 2) + 2
            spots = _spots(*points[row], width=width, offsets=mays.offsets)
            inside = (s for s in spots if _is_inside(s.boxes[0], across.size, up.size))
            spot = next((s for s in inside if s.is_free(taken, may_cross=mays.may_cross)), None)
            if spot is not None:
                waiting.remove(row)
                taken += spot.boxes
                here = (across.value(spot.x), up.value(spot.y), spot.is_right)
                placed.append((name, cost, score, *here))
    return pl.DataFrame(placed, schema=(*columns, "x", "y", "is_right"), orient="row")


class _Mays(NamedTuple):
    """How far from its point a name may stand, and whether the line between may cross others."""

    offsets: Sequence[Point]
    may_cross: bool = False


_NEAR = _Mays([(4, 0), (4, 8), (4, -8)])
_AWAY = [(dx, sign * 9 * n) for dx in (4, 20, 44) for n in range(2, 12) for sign in (1, -1)]
_FAR = _Mays(sorted(_AWAY, key=lambda away: hypot(*away)))
_FAR_ACROSS = _FAR._replace(may_cross=True)


class _Spot(NamedTuple):
    """Where a name begins or ends, and the boxes that it and the line to its point take."""

    x: float
    y: float
    is_right: bool
    boxes: list[Box]

    def is_free(self, taken: list[Box], *, may_cross: bool) -> bool:
        boxes = self.boxes[:1] if may_cross else self.boxes
        return not any(_overlap(box, other) for box in boxes for other in taken)


def _spots(x: float, y: float, *, width: float, offsets: Sequence[Point]) -> Iterator[_Spot]:
    for dx, dy in offsets:
        for is_right in (True, False):
            start, level = x + (dx if is_right else -dx), y + dy
            left = start if is_right else start - width
            box = (left, level - 4.5, left + width, level + 4.5)
            yield _Spot(start, level, is_right, [box, *_line((start, level), (x, y))])


def _is_inside(box: Box, width: float, height: float) -> bool:
    return box[0] > 0 and box[1] > 0 and box[2] < width and box[3] < height


def _line(start: Point, end: Point) -> list[Box]:
    """The line to a point as small boxes, up to where the point itself begins."""
    (x, y), (to_x, to_y) = start, end
    length = hypot(to_x - x, to_y - y)
    steps = int((length - 8) / 3)
    ways = [
        (x + (to_x - x) * 3 * n / length, y + (to_y - y) * 3 * n / length) for n in range(steps)
    ]
    return [(px - 1, py - 1, px + 1, py + 1) for px, py in ways]


def _overlap(box: Box, other: Box) -> bool:
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]


def consistency_figure(flips: pl.DataFrame) -> Figure:
    """The share of steps not decided alike in all runs; each language has a colour and a shape."""
    import altair as alt

    rows = _in_points(
        _named(flips), "unstable_step_rate", "unstable_step_low", "unstable_step_high"
    )
    order = rows.group_by("name").agg(pl.col("unstable_step_rate").mean()).sort(
        "unstable_step_rate", "name")["name"].to_list()  # fmt: skip
    languages = sorted({*rows["language"]})
    scale = alt.Scale(domain=languages, range=_COLOURS)  # more languages share them
    base = alt.Chart(_data(rows)).encode(
        y=alt.Y("name:N", sort=order, title=None),
        yOffset=alt.YOffset("language:N", sort=languages),
        color=alt.Color("language:N", scale=scale, title=_heading("language")),
    )
    spans = base.mark_rule(strokeWidth=1.5).encode(
        x=alt.X("unstable_step_low:Q"), x2="unstable_step_high:Q"
    )
    points = base.mark_point(filled=True, size=30, opacity=1).encode(
        x=alt.X("unstable_step_rate:Q", title="Steps not decided alike, %"),
        shape=alt.Shape(
            "language:N", scale=alt.Scale(domain=languages), title=_heading("language")
        ),
    )
    height = (_row_height(len(order)) + 6) * len(order)
    return _drawn(spans, points, height=height)


FIGURES: Mapping[str, Callable[[pl.DataFrame], Figure]] = {
    "leaderboard": leaderboard_figure,
    "pairs": pairs_figure,
    "cost": cost_figure,
    "consistency": consistency_figure,
}


def _drawn(*parts: alt.Chart, height: float) -> Figure:
    import altair as alt
    import vl_convert

    fit = {"type": "fit-x", "contains": "padding"}
    spec = (
        alt.LayerChart(layer=parts).properties(height=height, width=WIDTH, autosize=fit)
        .configure(font=FONT, background="#FFFFFF")
        .configure_axis(labelFontSize=_SIZE, titleFontSize=_SIZE, titleFontWeight="normal",
                        labelColor=_BLACK, titleColor=_BLACK, gridColor=_PALE, labelLimit=170)
        .configure_legend(labelFontSize=_SIZE, titleFontSize=_SIZE, titleFontWeight="normal",
                          orient="top")
        .configure_view(stroke=None)
    )  # fmt: skip
    return Figure(vl_convert.vegalite_to_svg(spec.to_json(validate=False)))


def _data(rows: pl.DataFrame) -> Any:
    """Rows inside the chart, whatever their number: a figure is one file."""
    import altair as alt

    return alt.Data(values=rows.to_dicts())  # type: ignore[no-untyped-call]  # altair's own


def _heading(column: str) -> str:
    label = shown_as(column).label
    return label[:1].upper() + label[1:]


def _row_height(count: int) -> int:
    return 15 if count <= _MOST_NAMES else 12


def _named(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with the name of their model, short enough for an axis, each of its own."""
    visible = map(printable_line, named_contenders(rows)["model"].to_list())
    names = [cut(name, _LONGEST_NAME) for name in visible]
    return rows.with_columns(name=pl.Series(names, dtype=pl.String))


def _side(side: str) -> pl.Expr:
    name, most = pl.col(f"{side}_model"), _LONGEST_NAME
    return pl.when(name.str.len_chars() <= most).then(name).otherwise(name.str.head(most - 1) + "…")


def cut(text: str, longest: int) -> str:
    """A text of at most so many letters."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _in_points(rows: pl.DataFrame, *columns: str) -> pl.DataFrame:
    return rows.with_columns(pl.col(columns) * 100)
