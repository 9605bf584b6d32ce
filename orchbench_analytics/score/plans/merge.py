"""Merging graph distances back into the table of plans: joins, and nothing else."""

from __future__ import annotations

from typing import Any

import polars as pl
from polars._typing import PolarsDataType

from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.plans.draw import drawing_rules
from orchbench_analytics.score.plans.ged import GraphPair, Measured

_GRAPHS = ("structure", "component")
_PAIR = list(GraphPair._fields)
_FIGURES = list(Measured._fields)
_TEXTS = ("graph", "answer_graph", "label_graph", "method", "lone_loop", "edits", "matches")
_MEASURED_SCHEMA: dict[str, PolarsDataType] = {
    name: pl.String if name in _TEXTS else pl.Boolean if name == "is_exact" else pl.Float64
    for name in (*_PAIR, *_FIGURES)
}


def drawn_for(plans: pl.DataFrame, texts: pl.DataFrame, profile: Profile) -> pl.DataFrame:
    """Plans with what the profile's rules draw of both sides, and how their graphs are measured."""
    rules = drawing_rules(profile)
    texts = texts.filter(**rules._asdict()).drop(rules._fields)
    rows = plans
    for side in ("label", "answer"):
        columns = {name: f"{side}_{name}" for name in texts.columns}
        rows = rows.join(
            texts.rename(columns), on=f"{side}_text_id", how="left", maintain_order="left"
        )
    return rows.with_columns(
        *(_method(graph, profile).alias(f"{graph}_method") for graph in _GRAPHS),
        *(_lone_loop(graph, profile).alias(f"{graph}_lone_loop") for graph in _GRAPHS),
        agent_weight=pl.lit(profile.agent_weight),
        status_weight=pl.lit(profile.status_weight),
    )


def _method(graph: str, profile: Profile) -> pl.Expr:
    """How a graph is measured: networkx differs only with self-loops, so others are shared."""
    is_by_networkx = _is_looped(graph) & (profile.distance == "networkx")
    return pl.when(is_by_networkx).then(pl.lit("networkx")).otherwise(pl.lit("exact"))


def _lone_loop(graph: str, profile: Profile) -> pl.Expr:
    is_free = _is_looped(graph) & (profile.lone_self_loop == "free")
    return pl.when(is_free).then(pl.lit("free")).otherwise(pl.lit("counted"))


def _is_looped(graph: str) -> pl.Expr:
    return pl.col(f"label_{graph}_has_loop") | pl.col(f"answer_{graph}_has_loop")


def graph_pairs(rows: pl.DataFrame) -> pl.DataFrame:
    """The distinct pairs of graphs to measure: one row for each GraphPair."""
    both_read = pl.col("label_is_read") & pl.col("answer_is_read")
    return pl.concat(_pairs_of(rows.filter(both_read), graph) for graph in _GRAPHS).unique()


def merge(rows: pl.DataFrame, measured: pl.DataFrame) -> pl.DataFrame:
    """Plans with the distances of both their graphs; null where a side could not be read."""
    for graph in _GRAPHS:
        figures = (
            measured.filter(graph=graph)
            .drop("graph")
            .rename({name: f"{graph}_{name}" for name in _FIGURES})
            .rename({name: _own(name, graph) for name in _PAIR[1:5]})
        )
        on = [_own(name, graph) for name in _PAIR[1:]]
        rows = rows.join(figures, on=on, how="left", maintain_order="left")
    is_exact = pl.col("structure_is_exact") & pl.col("component_is_exact")
    return rows.with_columns(
        is_label_read="label_is_read",
        is_answer_read="answer_is_read",
        is_malformed="answer_is_malformed",
        read_as="answer_read_as",
        is_ged_exact=is_exact.fill_null(True),
    )


def measured_frame(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    """What `measure_pairs` returned, as a frame to merge."""
    return pl.DataFrame(rows, schema=_MEASURED_SCHEMA, orient="row")


def _pairs_of(rows: pl.DataFrame, graph: str) -> pl.DataFrame:
    return rows.select(
        pl.lit(graph).alias("graph"),
        *(pl.col(_own(name, graph)).alias(name) for name in _PAIR[1:]),
    )


def _own(name: str, graph: str) -> str:
    """The column of a plan that a field of its pair of graphs is taken from."""
    own = {
        "answer_graph": f"answer_{graph}_graph",
        "label_graph": f"label_{graph}_graph",
        "method": f"{graph}_method",
        "lone_loop": f"{graph}_lone_loop",
    }
    return own.get(name, name)
