"""The plan picture as a figure of 8 cm: both graphs below each other, their layers downwards.

A state has a colour, a fill and a line of its own, which a legend explains.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, tostring

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.outputs.terminal import printable_line
from orchbench_analytics.pages.figures import BLUE, FONT, ORANGE, WIDTH, Figure, cut
from orchbench_analytics.pages.plan_picture import (
    CHANGED,
    EXTRA,
    GRAPHS,
    MISSING,
    SAME,
    PictureEdge,
    PictureNode,
)

_HEIGHT, _ACROSS, _DOWN, _MARGIN = 28, 8, 22, 6  # of a box, and around it
_TITLE = 26  # between the top of a title and the first layer, with room for loops
_NARROWEST, _WIDEST = 64, 130  # of boxes; more than fit into the width make the figure wider
_LETTER = 4.6  # pixels that a letter takes
_TITLES = {"structure": "Workflows and what they wait for", "component": "Agents and their order"}
_STYLE = f"text{{font-family:{FONT};font-size:8px;fill:#000}} .title{{font-weight:bold}}"

Spot = tuple[float, float]


class _State(NamedTuple):
    word: str
    colour: str
    dashes: str
    fill: str


_STATES = {
    SAME: _State("in both", "#5B6270", "none", "#FFFFFF"),
    MISSING: _State("missing", ORANGE, "4 2.5", "#FBE9DF"),
    EXTRA: _State("extra", BLUE, "1.3 2", "#DFEDF6"),
    CHANGED: _State("changed", "#8A6D00", "5 2 1.3 2", "#FBF3D5"),
}


def plan_figure(parts: Mapping[str, Any]) -> Figure:
    """Both graphs of a gold plan and an answered one; `parts` are those of a drawing."""
    pictures = {graph: parts[graph] for graph in GRAPHS if parts[graph][3] and parts[graph][0]}
    if not pictures:
        raise SelectionError("this plan has nothing to draw, or is too large to be drawn")
    most = max(size for _, _, layer_sizes, _ in pictures.values() for size in layer_sizes)
    width = max(float(WIDTH), 2 * _MARGIN + most * (_NARROWEST + _ACROSS) - _ACROSS)
    box_width = min(_WIDEST, (width - 2 * _MARGIN + _ACROSS) / most - _ACROSS)
    drawn, top = [], 22.0
    for graph, (nodes, edges, layer_sizes, _) in pictures.items():
        title = _element("text", x=_MARGIN, y=8, **{"class": "title"})
        title.text = _TITLES[graph]
        grid = _Grid(width, box_width, layer_sizes)
        body = _graph(grid, [PictureNode(*row) for row in nodes], [PictureEdge(*e) for e in edges])
        drawn.append(_group(0, top, title, *body))
        top += _TITLE + len(layer_sizes) * (_HEIGHT + _DOWN) - _DOWN + 2 * _MARGIN
    picture = _element("svg", xmlns="http://www.w3.org/2000/svg", width=width, height=top)
    picture.set("viewBox", f"0 0 {width:g} {top:g}")
    style, heads = _element("style"), _element("defs")
    style.text = _STYLE
    heads.extend(_heads())
    paper = _element("rect", width="100%", height="100%", fill="#FFFFFF")
    picture.extend((style, heads, paper, *_legend(), *drawn))
    return Figure(tostring(picture, encoding="unicode"))


class _Grid(NamedTuple):
    """Where boxes stand: a layer below the other, each in the middle."""

    width: float
    box_width: float
    layer_sizes: list[int]

    def spot(self, layer: int, place: float) -> Spot:
        """The upper left corner of a box."""
        step = self.box_width + _ACROSS
        left = (self.width - self.layer_sizes[layer] * step + _ACROSS) / 2
        return left + place * step, _TITLE + layer * (_HEIGHT + _DOWN)


def _graph(grid: _Grid, nodes: list[PictureNode], edges: list[PictureEdge]) -> Iterator[Element]:
    spots = [grid.spot(node.layer, node.place) for node in nodes]
    for edge in edges:
        yield _arrow(grid, edge, nodes, spots)
    for node, place in zip(nodes, spots, strict=True):
        yield from _box(node, place, grid.box_width)


def _box(node: PictureNode, place: Spot, width: float) -> Iterator[Element]:
    (x, y), state = place, _STATES[node.state]
    yield _element("rect", x=x, y=y, width=width, height=_HEIGHT, rx=4, fill=state.fill,
        stroke=state.colour, stroke_width=0.7 if node.state == SAME else 1.3,
        stroke_dasharray=state.dashes)  # fmt: skip
    lines = _lines(node)
    for number, line in enumerate(lines):
        level = y + (17 if len(lines) == 1 else 12 + 10 * number)
        text = _element("text", x=x + width / 2, y=level, text_anchor="middle")
        text.text = cut(line, int(width / _LETTER))
        yield text


def _lines(node: PictureNode) -> list[str]:
    """A name, or agent above status; a name of the answer below."""
    name = printable_line(node.name)
    if node.answer_name:
        return [name, f"= {printable_line(node.answer_name)}"]
    agent, bracket, status = name.removesuffix(")").rpartition(" (")
    return [agent, status] if bracket and name.endswith(")") else [name]


def _arrow(grid: _Grid, edge: PictureEdge, nodes: list[PictureNode], spots: list[Spot]) -> Element:
    state, source, target = _STATES[edge.state], nodes[edge.source], nodes[edge.target]
    between = enumerate(edge.places_between, source.layer + 1)
    stops = [grid.spot(layer, place) for layer, place in between]
    route = _route(
        spots[edge.source], spots[edge.target], stops, target.layer - source.layer, grid.box_width
    )
    return _element("path", d=route, fill="none", stroke=state.colour,
        stroke_width=0.8 if edge.state == SAME else 1.3, stroke_dasharray=state.dashes,
        marker_end=f"url(#head-{edge.state})")  # fmt: skip


def _route(source: Spot, target: Spot, stops: list[Spot], layers: int, width: float) -> str:
    """The path of an arrow over so many layers, straight through the places kept free for it."""
    (x, y), (to_x, to_y) = source, target
    bottom, middle, end = y + _HEIGHT, x + width / 2, to_x + width / 2
    if source == target:  # a loop: an arc above the upper right corner
        right = x + width
        return f"M{right - 24} {y}C{right - 28} {y - 15} {right + 4} {y - 15} {right - 8} {y}"
    if layers > 0:
        path, here, level = f"M{middle} {bottom}", middle, bottom
        for stop_x, stop_y in stops:
            beside, half = stop_x + width / 2, (level + stop_y) / 2
            path += f"C{here} {half} {beside} {half} {beside} {stop_y}V{stop_y + _HEIGHT}"
            here, level = beside, stop_y + _HEIGHT
        half = (level + to_y) / 2
        return f"{path}C{here} {half} {end} {half} {end} {to_y}"
    if layers == 0:  # both in a cycle: an arc below the row
        return f"M{middle} {bottom}C{middle} {bottom + 18} {end} {bottom + 18} {end} {bottom}"
    to_bottom = to_y + _HEIGHT
    return f"M{middle} {y}C{middle - 30} {y - 20} {end - 30} {to_bottom + 20} {end} {to_bottom}"


def _heads() -> Iterator[Element]:
    for number, state in _STATES.items():
        head = _element("marker", id=f"head-{number}", viewBox="0 0 10 10", refX=9, refY=5,
            markerWidth=6, markerHeight=6, markerUnits="userSpaceOnUse", orient="auto")  # fmt: skip
        head.append(_element("path", d="M0 1L9 5L0 9z", fill=state.colour))
        yield head


def _legend() -> Iterator[Element]:
    for place, state in enumerate(_STATES.values()):
        box = _element("rect", width=16, height=9, rx=2, fill=state.fill, stroke=state.colour,
            stroke_width=1.3, stroke_dasharray=state.dashes)  # fmt: skip
        word = _element("text", x=20, y=7.5)
        word.text = state.word
        yield _group(_MARGIN + (WIDTH - 2 * _MARGIN) / len(_STATES) * place, 4, box, word)


def _group(x: float, y: float, *children: Element) -> Element:
    group = _element("g", transform=f"translate({x:g} {y:g})")
    group.extend(children)
    return group


def _element(tag: str, **attributes: object) -> Element:
    names = {"stroke_width", "stroke_dasharray", "text_anchor", "marker_end"}
    return Element(
        tag, {n.replace("_", "-") if n in names else n: str(v) for n, v in attributes.items()}
    )
