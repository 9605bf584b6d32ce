"""Figures for papers: a column of 8 cm, legible there, in colours that everybody can tell apart.

Charts are Vega-Lite, made with altair; the plan is the page's own picture. What colour says is also
said by shape, fill or sign, so that a figure reads in grey. PDF files hold their fonts; an SVG file
asks for fonts that every system has, or one of the same widths.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import polars as pl

from orchbench_analytics.errors import PathError, SelectionError
from orchbench_analytics.metrics import HEADLINE, metric_label
from orchbench_analytics.outputs.screen import named_contenders
from orchbench_analytics.outputs.terminal import printable_line
from orchbench_analytics.queries import label_of

if TYPE_CHECKING:
    import altair as alt

FORMATS = (".svg", ".pdf", ".png")
_WIDTH = 302  # pixels of CSS in 8 cm
FONT = "Arial, Helvetica, Liberation Sans, sans-serif"
_SIZE = 10  # pixels: 7.5 points
_PIXELS_PER_INCH = 300
_COST_WIDTH, _COST_HEIGHT = 255, 200  # of the chart without its axes
_LONGEST_NAME = 34
_MOST_NAMES = 30
# Okabe and Ito 2008: told apart by people with any kind of colour blindness.
BLUE, ORANGE, _GREEN, _BLACK = "#0072B2", "#D55E00", "#009E73", "#000000"
_COLOURS = [BLUE, ORANGE, _GREEN, _BLACK, "#CC79A7", "#E69F00", "#56B4E9"]
_GREY, _PALE = "#767676", "#DDDDDD"
_AVERAGE = metric_label(HEADLINE[0])


Box = tuple[float, float, float, float]


class _Spot(NamedTuple):
    """Where a name stands beside its point."""

    align: Literal["left", "right"]
    across: float
    down: float

    def box(self, x: float, y: float, *, length: int) -> Box:
        width = length * 0.54 * (_SIZE - 2)
        left = x + self.across - (width if self.align == "right" else 0)
        return left, y + self.down - 5, left + width, y + self.down + 5


_SPOTS = tuple(
    spot
    for down in (0, -10, 10, -19, 19, -28, 28, -37, 37)
    for spot in (_Spot("left", 6, down), _Spot("right", -6, down))
)


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
            domain=[-most, 0, most],
            range=[ORANGE, "#FFFFFF", BLUE],
            interpolate="rgb",
            clamp=True,
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
    rows = rows.with_columns(is_on=pl.col("front") == "on")
    costs_of = rows["run_cost"].to_list()
    is_log = min(costs_of) > 0 and max(costs_of) > 20 * min(costs_of)
    rows = rows.with_columns(spot=pl.Series(_spots_of(rows, is_log=is_log), dtype=pl.Int64))
    across = alt.Scale(type="log" if is_log else "linear", zero=False, padding=12)
    base = alt.Chart(_data(rows)).encode(
        x=alt.X("run_cost:Q", title=label_of("run_cost"), scale=across,
                axis=alt.Axis(tickCount=4, grid=False)),
        y=alt.Y(f"{HEADLINE[0]}:Q", title=f"{_AVERAGE}, points", scale=alt.Scale(zero=False)),
    )  # fmt: skip
    front = base.transform_filter("datum.is_on").mark_line(
        interpolate="step-after", color=_GREY, strokeDash=[3, 2]
    )
    fill = alt.condition("datum.is_on", alt.value(BLUE), alt.value("#FFFFFF"))
    points = base.mark_point(size=40, stroke=BLUE, opacity=1).encode(fill=fill)
    names = [
        base.transform_filter(f"datum.spot == {number}")
        .mark_text(align=spot.align, dx=spot.across, dy=spot.down, fontSize=_SIZE - 2)
        .encode(text="name:N")
        for number, spot in enumerate(_SPOTS)
    ]
    return _drawn(front, points, *names, height=_COST_HEIGHT)


def _spots_of(rows: pl.DataFrame, *, is_log: bool) -> list[int | None]:
    """Where the name of each point stands, by number; none where it would hide another one.

    Names of the front come first.
    """
    x = rows["run_cost"].log() if is_log else rows["run_cost"]
    y = rows[HEADLINE[0]]
    places = list(zip(_scaled(x, _COST_WIDTH), _scaled(-y, _COST_HEIGHT), strict=True))
    taken = [(px - 4, py - 4, px + 4, py + 4) for px, py in places]
    found: list[int | None] = [None] * rows.height
    for row in sorted(range(rows.height), key=lambda row: not rows["is_on"][row]):
        for number, spot in enumerate(_SPOTS):
            box = spot.box(*places[row], length=len(rows["name"][row]))
            if box[0] > 0 and box[2] < _COST_WIDTH and not any(_overlap(box, o) for o in taken):
                found[row] = number
                taken.append(box)
                break
    return found


def _scaled(values: pl.Series, size: float) -> list[float]:
    low, high = (float(end) for end in (values.min(), values.max()))  # type: ignore[arg-type]  # it has rows
    return [size * (0.05 + 0.9 * (value - low) / ((high - low) or 1)) for value in values]


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
        color=alt.Color("language:N", scale=scale, title=label_of("language")),
    )
    spans = base.mark_rule(strokeWidth=1.5).encode(
        x=alt.X("unstable_step_low:Q"), x2="unstable_step_high:Q"
    )
    points = base.mark_point(filled=True, size=30, opacity=1).encode(
        x=alt.X("unstable_step_rate:Q", title="Steps not decided alike, %"),
        shape=alt.Shape(
            "language:N", scale=alt.Scale(domain=languages), title=label_of("language")
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
        alt.LayerChart(layer=parts).properties(height=height, width=_WIDTH, autosize=fit)
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


def _row_height(count: int) -> int:
    return 15 if count <= _MOST_NAMES else 12


def _named(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with the name of their model, short enough for an axis, each of its own."""
    names = [_short(name) for name in named_contenders(rows)["model"].to_list()]
    return rows.with_columns(name=pl.Series(names, dtype=pl.String))


def _side(side: str) -> pl.Expr:
    name, most = pl.col(f"{side}_model"), _LONGEST_NAME
    return pl.when(name.str.len_chars() <= most).then(name).otherwise(name.str.head(most - 1) + "…")


def _short(name: str) -> str:
    visible = printable_line(name)
    return visible if len(visible) <= _LONGEST_NAME else f"{visible[: _LONGEST_NAME - 1]}…"


def _in_points(rows: pl.DataFrame, *columns: str) -> pl.DataFrame:
    return rows.with_columns(pl.col(columns) * 100)
