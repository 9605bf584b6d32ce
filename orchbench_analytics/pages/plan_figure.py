"""The plan picture as a figure: both graphs below each other, as the page draws them.

A state has a colour, a fill and a line of its own, which a legend explains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element, tostring

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.outputs.terminal import printable_line
from orchbench_analytics.pages.figures import BLUE, FONT, ORANGE, Figure
from orchbench_analytics.pages.plan_picture import (
    CHANGED,
    EXTRA,
    GRAPHS,
    MISSING,
    SAME,
    PictureEdge,
    PictureNode,
)

_WIDTH, _HEIGHT, _ACROSS, _DOWN, _MARGIN = 190, 46, 56, 26, 28  # of a box, and around it
_KEY_WIDTH = 150
_TITLES = {"structure": "Workflows and what they wait for", "component": "Agents and their order"}
_STYLE = f"text{{font-family:{FONT};font-size:14px;fill:#000}} .title{{font-weight:bold}}"
_LONGEST = 22

Spot = tuple[float, float]


class _State(NamedTuple):
    word: str
    colour: str
    dashes: str
    fill: str


_STATES = {
    SAME: _State("in both", "#5B6270", "none", "#FFFFFF"),
    MISSING: _State("missing", ORANGE, "6 4", "#FBE9DF"),
    EXTRA: _State("extra", BLUE, "2 3", "#DFEDF6"),
    CHANGED: _State("changed", "#8A6D00", "8 3 2 3", "#FBF3D5"),
}


def plan_figure(parts: Mapping[str, Any]) -> Figure:
    """Both graphs of a gold plan and an answered one; `parts` are those of a drawing."""
    drawn, width, top = [], float(_MARGIN + _KEY_WIDTH * len(_STATES)), 34.0
    for graph in GRAPHS:
        nodes, edges, layer_sizes, is_drawn = parts[graph]
        if not is_drawn or not nodes:
            continue
        title = _element("text", x=_MARGIN, y=14, **{"class": "title"})
        title.text = _TITLES[graph]
        tallest = max(layer_sizes)
        body = _group(0, 12, *_graph([*map(_node, nodes)], [*map(_edge, edges)], layer_sizes))
        drawn.append(_group(0, top, title, body))
        across = 2 * _MARGIN + len(layer_sizes) * (_WIDTH + _ACROSS) - _ACROSS
        width, top = max(width, across), top + 2 * _MARGIN + tallest * (_HEIGHT + _DOWN) - 14
    if not drawn:
        raise SelectionError("this plan has nothing to draw, or is too large to be drawn")
    picture = _element("svg", xmlns="http://www.w3.org/2000/svg", width=width, height=top)
    picture.set("viewBox", f"0 0 {width:g} {top:g}")
    style, heads = _element("style"), _element("defs")
    style.text = _STYLE
    heads.extend(_heads())
    paper = _element("rect", width="100%", height="100%", fill="#FFFFFF")
    picture.extend((style, heads, paper, *_legend(), *drawn))
    return Figure(tostring(picture, encoding="unicode"))


def _node(row: Any) -> PictureNode:
    return PictureNode(*row)


def _edge(row: Any) -> PictureEdge:
    return PictureEdge(*row)


def _graph(
    nodes: list[PictureNode], edges: list[PictureEdge], layer_sizes: list[int]
) -> Iterator[Element]:
    tallest = max(layer_sizes)

    def spot(layer: int, place: float) -> Spot:
        free = (tallest - layer_sizes[layer]) / 2
        return _MARGIN + layer * (_WIDTH + _ACROSS), _MARGIN + (place + free) * (_HEIGHT + _DOWN)

    spots = [spot(node.layer, node.place) for node in nodes]
    for edge in edges:
        yield _arrow(edge, nodes, spots, spot)
    for node, place in zip(nodes, spots, strict=True):
        yield from _box(node, place)


def _box(node: PictureNode, place: Spot) -> Iterator[Element]:
    (x, y), state = place, _STATES[node.state]
    yield _element("rect", x=x, y=y, width=_WIDTH, height=_HEIGHT, rx=8, fill=state.fill,
        stroke=state.colour, stroke_width=1 if node.state == SAME else 2,
        stroke_dasharray=state.dashes)  # fmt: skip
    lines = _lines(node)
    for number, line in enumerate(lines):
        level = y + (28 if len(lines) == 1 else 20 + 18 * number)
        text = _element("text", x=x + _WIDTH / 2, y=level, text_anchor="middle")
        text.text = line
        yield text


def _lines(node: PictureNode) -> list[str]:
    """A name, or agent above status; a name of the answer below."""
    name = printable_line(node.name)
    if node.answer_name:
        return [_cut(name), f"= {_cut(printable_line(node.answer_name))}"]
    agent, bracket, status = name.removesuffix(")").rpartition(" (")
    return [_cut(agent), _cut(status)] if bracket and name.endswith(")") else [_cut(name)]


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _arrow(
    edge: PictureEdge,
    nodes: list[PictureNode],
    spots: list[Spot],
    spot: Callable[[int, float], Spot],
) -> Element:
    state, source, target = _STATES[edge.state], nodes[edge.source], nodes[edge.target]
    between = enumerate(edge.places_between, source.layer + 1)
    stops = [spot(layer, place) for layer, place in between]
    route = _route(spots[edge.source], spots[edge.target], stops, target.layer - source.layer)
    return _element("path", d=route, fill="none", stroke=state.colour,
        stroke_width=1.2 if edge.state == SAME else 2, stroke_dasharray=state.dashes,
        marker_end=f"url(#head-{edge.state})")  # fmt: skip


def _route(source: Spot, target: Spot, stops: list[Spot], layers: int) -> str:
    """The path of an arrow over so many layers, straight through the places kept free for it."""
    (x, y), (to_x, to_y) = source, target
    right, middle, end = x + _WIDTH, y + _HEIGHT / 2, to_y + _HEIGHT / 2
    if source == target:  # a loop: an arc above the upper right corner
        return f"M{right - 40} {y}C{right - 46} {y - 27} {right + 12} {y - 27} {right - 12} {y}"
    if layers > 0:
        path, here, level = f"M{right} {middle}", right, middle
        for stop_x, stop_y in stops:
            next_level, half = stop_y + _HEIGHT / 2, (here + stop_x) / 2
            path += f"C{half} {level} {half} {next_level} {stop_x} {next_level}H{stop_x + _WIDTH}"
            here, level = stop_x + _WIDTH, next_level
        half = (here + to_x) / 2
        return f"{path}C{half} {level} {half} {end} {to_x} {end}"
    if layers == 0:  # both in a cycle: an arc beside the column
        return f"M{right} {middle - 6}C{right + 34} {middle} {right + 34} {end} {right} {end + 6}"
    to_right = to_x + _WIDTH
    return f"M{x} {middle}C{x - 40} {middle - 50} {to_right + 40} {end - 50} {to_right} {end}"


def _heads() -> Iterator[Element]:
    for number, state in _STATES.items():
        head = _element("marker", id=f"head-{number}", viewBox="0 0 10 10", refX=9, refY=5,
            markerWidth=9, markerHeight=9, markerUnits="userSpaceOnUse", orient="auto")  # fmt: skip
        head.append(_element("path", d="M0 1L9 5L0 9z", fill=state.colour))
        yield head


def _legend() -> Iterator[Element]:
    for place, state in enumerate(_STATES.values()):
        box = _element("rect", width=26, height=16, rx=4, fill=state.fill, stroke=state.colour,
            stroke_width=2, stroke_dasharray=state.dashes)  # fmt: skip
        word = _element("text", x=34, y=13)
        word.text = state.word
        yield _group(_MARGIN + _KEY_WIDTH * place, 8, box, word)


def _group(x: float, y: float, *children: Element) -> Element:
    group = _element("g", transform=f"translate({x:g} {y:g})")
    group.extend(children)
    return group


def _element(tag: str, **attributes: object) -> Element:
    names = {"stroke_width", "stroke_dasharray", "text_anchor", "marker_end"}
    return Element(
        tag, {n.replace("_", "-") if n in names else n: str(v) for n, v in attributes.items()}
    )
