"""The distance of two plans' graphs by its definition, which networkx computes."""

from __future__ import annotations

import networkx as nx

from orchbench_analytics.score.plans.ged import Weights, substitution_costs, to_networkx, units
from orchbench_analytics.score.plans.graphs import Graph


def networkx_distance(first: Graph, second: Graph, weights: Weights) -> float:
    """The distance by its definition: self-loops are part of what a node costs."""
    costs = units(first, second, weights)
    becoming = substitution_costs(first, second, costs)
    distance = nx.graph_edit_distance(
        _with_folded_loops(first),
        _with_folded_loops(second),
        node_subst_cost=lambda a, b: (
            becoming[a["position"]][b["position"]] / costs.one + abs(a["loops"] - b["loops"])
        ),
        node_del_cost=lambda node: 1 + node["loops"],
        node_ins_cost=lambda node: 1 + node["loops"],
        edge_subst_cost=lambda *_: 0,
    )
    return float(distance)


def _with_folded_loops(graph: Graph) -> nx.DiGraph[int]:
    """The graph without its self-loops, each counted in the attribute `loops` of its node."""
    drawn = to_networkx(len(graph.nodes), graph.edges)
    for node, attributes in drawn.nodes(data=True):
        attributes["loops"] = int(drawn.has_edge(node, node))
    drawn.remove_edges_from(list(nx.selfloop_edges(drawn)))
    return drawn
