"""The layout of a plan picture: layers along the edges, and places with few crossings.

It depends on the shape alone, and plans have few shapes: each is laid out once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import networkx as nx

Edge = tuple[int, int]
_SWEEPS = 4


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
