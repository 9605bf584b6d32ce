"""The plan picture: the union of a gold plan and an answered one, in layers.

What the answer lacks, has too much of or has changed is marked with its cost, so that the marked
elements add up to the edit distance. Each distinct comparison is drawn once, whatever model and
profile it is of; the layout depends on the shape alone, and plans have few shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import polars as pl

from orchbench_analytics.outputs.show import StepKey
from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.plans.graphs import (
    DrawingRules,
    Graph,
    Node,
    component_graph,
    drawing_rules,
    outline,
    read_plan,
    structure_graph,
)
from orchbench_analytics.score.plans.score import with_text_parts

if TYPE_CHECKING:  # imported where a plan is drawn: the first screen of the explorer has none
    import networkx as nx

GRAPHS = ("structure", "component")
SAME, MISSING, EXTRA, CHANGED = range(4)
MOST_DRAWN_NODES = 60
MOST_DRAWN_EDGES = 240
MOST_LISTED_EDITS = 400
_SWEEPS = 4  # of the layout, back and forth
_KEY = ("profile", "row")
_NODE_CHANGES = ("wrong_agent", "wrong_status", "wrong_step")
_EXTRA_NODES = ("extra_workflow", "extra_step")

Edge = tuple[int, int]


class PlanEdit(NamedTuple):
    """A row of `plan_edits`, without its key."""

    graph: str
    kind: str
    subject: str
    wanted: str | None
    given: str | None
    cost: float


class PictureNode(NamedTuple):
    """A node of either plan: its name there, its name in the answer if that differs, its place."""

    name: str
    answer_name: str | None
    state: int
    cost: float
    layer: int
    place: int


class PictureEdge(NamedTuple):
    """An edge of either plan, between positions of nodes; equal positions make a loop.

    An edge that passes over layers has a place of its own in each, so that no node hides it.
    """

    source: int
    target: int
    state: int
    cost: float
    places_between: tuple[int, ...] = ()


class Picture(NamedTuple):
    """The union of both graphs; it is not drawn where it is too large, and then it has no parts."""

    nodes: tuple[PictureNode, ...]
    edges: tuple[PictureEdge, ...]
    layer_sizes: tuple[int, ...] = ()
    is_drawn: bool = True


class Drawing(NamedTuple):
    """Both graphs of a comparison with its edits, and the same as JSON."""

    parts: dict[str, Any]
    json: bytes


class Pictures(NamedTuple):
    """Which picture each plan has under each profile, and the distinct pictures."""

    numbers: pl.DataFrame
    drawings: list[Drawing]


def draw_pictures(
    plans: pl.DataFrame, edits: pl.DataFrame, matches: pl.DataFrame, profiles: Mapping[str, Profile]
) -> Pictures:
    """Draw the plans that were read.

    `plans` has `profile`, `row` and both texts; `edits` and `matches` have `profile` and `row`.
    """
    rules = {name: drawing_rules(profile) for name, profile in profiles.items()}
    columns = ("profile", "label_content", "answer_content", "edits", "matches")
    compared = plans.join(_listed(edits, "edits"), on=_KEY, how="left").join(
        _listed(matches, "matches"), on=_KEY, how="left"
    )
    numbers: dict[bytes, int] = {}
    drawings: list[Drawing] = []
    drawn_as = []
    for profile, label, answer, edit_rows, match_rows in compared.select(columns).iter_rows():
        # Without an edit or another name the answer's graphs are the label's, whatever it says.
        is_changed = edit_rows is not None or match_rows is not None
        drawn = _drawing(
            label, answer if is_changed else None, edit_rows, match_rows, rules[profile]
        )
        if drawn.json not in numbers:  # profiles mostly agree
            numbers[drawn.json] = len(drawings)
            drawings.append(drawn)
        drawn_as.append(numbers[drawn.json])
    numbered = compared.with_columns(picture=pl.Series(drawn_as, dtype=pl.Int64))
    return Pictures(numbered.select(*_KEY, "picture"), drawings)


def _listed(rows: pl.DataFrame, name: str) -> pl.DataFrame:
    """The rows of each plan as a JSON list in one column."""
    encoded = pl.struct(pl.exclude(_KEY)).struct.json_encode().alias(name)
    joined = pl.format("[{}]", pl.col(name).str.join(","))
    return rows.select(*_KEY, encoded).group_by(_KEY, maintain_order=True).agg(joined)


@lru_cache(maxsize=32_768)
def _drawing(
    label: str,
    answer: str | None,
    edit_rows: str | None,
    match_rows: str | None,
    rules: DrawingRules,
) -> Drawing:
    edits = [PlanEdit(**row) for row in msgspec.json.decode(edit_rows or "[]")]
    matches = msgspec.json.decode(match_rows or "[]")
    wanted = _graphs(label, rules)
    given = _graphs(answer, rules) if edits or matches else wanted
    found: dict[str, Any] = {"edits": edits[:MOST_LISTED_EDITS], "edit_count": len(edits)}
    for position, graph in enumerate(GRAPHS):
        renamed = {m["answer_node"]: m["label_node"] for m in matches if m["graph"] == graph}
        own_edits = [edit for edit in edits if edit.graph == graph]
        found[graph] = picture(given[position], wanted[position], own_edits, renamed)
    return Drawing(found, msgspec.json.encode(found))


@lru_cache(maxsize=4096)
def _graphs(text: str | None, rules: DrawingRules) -> tuple[Graph, Graph]:
    """Both graphs of a plan's text; empty where no plan is read."""
    plan = read_plan(text, thorough=rules.plan_search == "thorough").plan
    workflows = outline(plan or {}, values=rules.plan_values).workflows
    return (
        structure_graph(workflows, edges=rules.structure_edges),
        component_graph(workflows, edges=rules.component_edges),
    )


def picture(
    answer: Graph, label: Graph, edits: Iterable[PlanEdit], renamed: Mapping[str, str]
) -> Picture:
    """The union of both graphs along the mapping that the edits and renamed nodes tell."""
    node_count = len(answer.nodes) + len(label.nodes)
    if node_count > 2 * MOST_DRAWN_NODES or len(answer.edges) + len(label.edges) > MOST_DRAWN_EDGES:
        return Picture((), (), is_drawn=False)
    edits = tuple(edits)
    changes = {edit.subject: edit.cost for edit in edits if edit.kind in _NODE_CHANGES}
    extras = {edit.subject for edit in edits if edit.kind in _EXTRA_NODES}
    positions = _union_positions(answer, label, renamed, extras)
    states = _node_states(answer, label, positions, changes)
    edges = _union_edges(answer, label, positions)
    found = layout(len(states), tuple((edge.source, edge.target) for edge in edges))
    nodes = (
        PictureNode(*state, layer, place)
        for state, layer, place in zip(states, found.layers, found.places, strict=True)
    )
    placed = (
        edge._replace(places_between=places) if places else edge
        for edge, places in zip(edges, found.places_between, strict=True)
    )
    return Picture(tuple(nodes), tuple(placed), found.layer_sizes)


def name_of(node: Node) -> str:
    """A node's name, as `plan_edits` and `plan_matches` have it."""
    return node if isinstance(node, str) else f"{node[0]} ({node[1]})"


def _union_positions(
    answer: Graph, label: Graph, renamed: Mapping[str, str], extras: set[str]
) -> list[int]:
    """Where each node of the answer stands among those of the label, and the extra ones after."""
    label_positions = {name_of(node): position for position, node in enumerate(label.nodes)}
    taken = set(renamed.values())
    positions = []
    extra = len(label.nodes)
    for node in answer.nodes:
        name = name_of(node)
        wanted = renamed.get(name, name)
        is_free = name in renamed or (name not in extras and name not in taken)
        position = label_positions.get(wanted) if is_free else None
        if position is None:
            position, extra = extra, extra + 1
        positions.append(position)
    return positions


def _node_states(
    answer: Graph, label: Graph, positions: list[int], changes: Mapping[str, float]
) -> list[tuple[str, str | None, int, float]]:
    """Name, name in the answer, state and cost of each node of the union."""
    given = dict(zip(positions, map(name_of, answer.nodes), strict=True))
    states: list[tuple[str, str | None, int, float]] = []
    for position, name in enumerate(map(name_of, label.nodes)):
        other = given.get(position)
        if other is None:
            states.append((name, None, MISSING, 1.0))
        elif other == name or name not in changes:
            states.append((name, other if other != name else None, SAME, 0.0))
        else:
            states.append((name, other, CHANGED, changes[name]))
    extras = sorted(position for position in given if position >= len(label.nodes))
    return [*states, *((given[position], None, EXTRA, 1.0) for position in extras)]


def _union_edges(answer: Graph, label: Graph, positions: list[int]) -> list[PictureEdge]:
    given = {(positions[source], positions[target]) for source, target in answer.edges}
    wanted = set(label.edges)
    edges = [
        PictureEdge(*edge, SAME, 0.0) if edge in given else PictureEdge(*edge, MISSING, 1.0)
        for edge in label.edges
    ]
    return [*edges, *(PictureEdge(*edge, EXTRA, 1.0) for edge in sorted(given - wanted))]


class Layout(NamedTuple):
    """Layer and place of every node; of every edge its places in the layers it passes over."""

    layers: tuple[int, ...]
    places: tuple[int, ...]
    places_between: tuple[tuple[int, ...], ...]
    layer_sizes: tuple[int, ...]


@lru_cache(maxsize=8192)
def layout(node_count: int, edges: tuple[Edge, ...]) -> Layout:
    """The layout of a graph of so many nodes, with edges between their positions."""
    layers = _layers(node_count, edges)
    stops, layer_of = _stops(layers, edges)
    chains = [[source, *own, target] for (source, target), own in zip(edges, stops, strict=True)]
    rows: list[list[int]] = [[] for _ in range(max(layer_of, default=-1) + 1)]
    for item, layer in enumerate(layer_of):
        rows[layer].append(item)
    places = _places(rows, _neighbours(len(layer_of), chains))
    return Layout(
        tuple(layers),
        tuple(places[:node_count]),
        tuple(tuple(places[stop] for stop in own) for own in stops),
        tuple(map(len, rows)),
    )


def _layers(node_count: int, edges: Sequence[Edge]) -> list[int]:
    """The topological generation of each node; nodes of a cycle share one."""
    import networkx as nx

    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(node_count))
    graph.add_edges_from((source, target) for source, target in edges if source != target)
    condensed = nx.condensation(graph)
    layers = [0] * node_count
    for layer, groups in enumerate(nx.topological_generations(condensed)):
        for group in groups:
            for node in condensed.nodes[group]["members"]:
                layers[node] = layer
    return layers


def _stops(layers: Sequence[int], edges: Sequence[Edge]) -> tuple[list[list[int]], list[int]]:
    """The stops of every edge, and the layer of every node and stop.

    An edge over several layers stops in each of them, as if it went from node to node.
    """
    layer_of = list(layers)
    stops = []
    for source, target in edges:
        between = range(layers[source] + 1, layers[target])
        stops.append(list(range(len(layer_of), len(layer_of) + len(between))))
        layer_of += between
    return stops, layer_of


def _neighbours(count: int, chains: Sequence[Sequence[int]]) -> list[list[int]]:
    neighbours: list[list[int]] = [[] for _ in range(count)]
    for chain in chains:
        for one, other in pairwise(chain):
            neighbours[one].append(other)
            neighbours[other].append(one)
    return neighbours


def _places(rows: Sequence[list[int]], neighbours: Sequence[Sequence[int]]) -> list[int]:
    """Places by the mean place of neighbours, sweeping back and forth: few crossings."""
    places = dict.fromkeys(range(len(neighbours)), 0)
    for sweep in range(_SWEEPS + 1):
        for row in rows if sweep % 2 else reversed(rows):
            if sweep:
                row.sort(key=lambda item: (_middle(item, neighbours[item], places), item))
            places |= {item: place for place, item in enumerate(row)}
    return list(places.values())


def _middle(item: int, beside: Sequence[int], places: Mapping[int, int]) -> float:
    """The mean place of an item's neighbours; its own where it has none."""
    return sum(places[other] for other in beside) / len(beside) if beside else places[item]


class DrawnPlan(NamedTuple):
    """The parts of a picture, and the distance of each graph."""

    parts: dict[str, Any]
    distances: dict[str, float]


def drawn_plan(
    tables: Callable[[str], pl.LazyFrame], step: StepKey, profile: Profile
) -> DrawnPlan | None:
    """Both plans of a step in one picture, with the edits; none where no plan was read."""
    scored = _of_step(tables("scored_plans").filter(profile=profile.name), step)
    compared = scored.filter(pl.col("structure_distance").is_not_null())
    if compared.is_empty():
        return None
    position = compared["answer_position"][0]
    row = pl.col("answer_position").eq_missing(position)
    texts = with_text_parts(_of_step(tables("plans"), step).filter(row))
    key = {"profile": pl.lit(profile.name), "row": pl.lit(0)}
    edits, matches = (
        _of_step(tables(name).filter(profile=profile.name), step).filter(row)
        for name in ("plan_edits", "plan_matches")
    )
    drawn = draw_pictures(
        texts.select("label_content", "answer_content", **key),
        edits.sort("graph", "edit_number").select(
            "graph", "kind", "subject", "wanted", "given", "cost", **key
        ),
        matches.select("graph", "label_node", "answer_node", **key),
        {profile.name: profile},
    )
    distances = {graph: compared[f"{graph}_distance"][0] for graph in GRAPHS}
    return DrawnPlan(drawn.drawings[0].parts, distances)


def _of_step(rows: pl.LazyFrame, step: StepKey) -> pl.DataFrame:
    return rows.filter(**step.key).collect()
