"""Comparing plans: each distinct pair of label and answer is read, drawn and measured once."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.distance import (
    Distance,
    edit_distance,
    similarity,
    upstream_distance,
)
from orchbench_analytics.score.edits import Edit, plan_edits
from orchbench_analytics.score.graphs import Graph, component_graph, is_malformed, structure_graph
from orchbench_analytics.score.plan_text import PlanReading, read_plan


class PlanRules(NamedTuple):
    """The rules of a profile that decide how two plans compare; the rest of it does not matter."""

    plan_search: str
    structure_edges: Any
    component_edges: Any
    distance: str
    agent_weight: float
    status_weight: float

    @property
    def rules_id(self) -> str:
        """A short name for these rules."""
        return hashlib.sha256(repr(tuple(self)).encode()).hexdigest()[:12]


Pair = tuple[str, str | None, str | None]  # pair id, label, answer; no label: an entry alone


class PairTask(NamedTuple):
    """Pairs to compare under each of some rules."""

    rules: tuple[PlanRules, ...]
    pairs: list[Pair]


class ComparedPair(NamedTuple):
    """What one pair of plans gives; distances and sizes are null where a side cannot be read."""

    pair_id: str
    is_label_read: bool
    is_answer_read: bool
    read_as: str
    is_malformed: bool
    structure_distance: float | None = None
    structure_lower_bound: float | None = None
    structure_similarity: float | None = None
    component_distance: float | None = None
    component_lower_bound: float | None = None
    component_similarity: float | None = None
    is_ged_exact: bool = True
    label_workflow_count: int | None = None
    label_dependency_count: int | None = None
    label_step_count: int | None = None
    answer_workflow_count: int | None = None
    answer_dependency_count: int | None = None
    answer_step_count: int | None = None
    edits: list[dict[str, Any]] = []  # noqa: RUF012 (never changed)


class _Drawn(NamedTuple):
    structure: Graph
    component: Graph


def plan_rules(profile: Profile) -> PlanRules:
    """The rules of a profile that decide how two plans compare."""
    return PlanRules(**{name: getattr(profile, name) for name in PlanRules._fields})


def pair_id_of(label: str | None, answer: str | None) -> str:
    """A name for a pair of texts."""
    digest = hashlib.sha256()
    for text in (label, answer):
        digest.update(b"-" if text is None else b"+" + text.encode() + b"\0")
    return digest.hexdigest()[:24]


def compare_pairs(task: PairTask) -> list[tuple[PlanRules, ComparedPair]]:
    """Compare each pair under each set of rules; a text that occurs in several is read once."""
    readings: dict[tuple[str | None, bool], PlanReading] = {}
    drawings: dict[tuple[str | None, PlanRules], _Drawn] = {}
    known: dict[Any, Distance] = {}

    def read(text: str | None, rules: PlanRules) -> PlanReading:
        for thorough in (False, True):
            if (text, thorough) not in readings:
                readings[text, thorough] = read_plan(text, thorough=thorough)
            reading = readings[text, thorough]
            if reading.plan is not None or rules.plan_search == "basic":
                break
        if reading.plan is not None and (text, rules) not in drawings:
            drawings[text, rules] = _draw(reading.plan, rules)
        return reading

    compared = []
    for pair_id, label, answer in task.pairs:
        for rules in task.rules:
            wanted, given = read(label, rules), read(answer, rules)
            label_drawn, answer_drawn = drawings.get((label, rules)), drawings.get((answer, rules))
            pair = ComparedPair(
                pair_id,
                wanted.plan is not None,
                given.plan is not None,
                given.how,
                given.plan is not None and is_malformed(given.plan),
            )
            if label_drawn is not None:
                pair = pair._replace(**_sizes("label", label_drawn))
            if answer_drawn is not None:
                pair = pair._replace(**_sizes("answer", answer_drawn))
            if label_drawn is not None and answer_drawn is not None:
                pair = pair._replace(**_measure(answer_drawn, label_drawn, rules, known))
            compared.append((rules, pair))
    return compared


def _draw(plan: dict[str, Any], rules: PlanRules) -> _Drawn:
    return _Drawn(
        structure_graph(plan, edges=rules.structure_edges),
        component_graph(plan, edges=rules.component_edges),
    )


def _sizes(side: str, drawn: _Drawn) -> dict[str, Any]:
    return {
        f"{side}_workflow_count": len(drawn.structure.nodes),
        f"{side}_dependency_count": len(drawn.structure.edges),
        f"{side}_step_count": len(drawn.component.nodes),
    }


def _measure(
    answer: _Drawn, label: _Drawn, rules: PlanRules, known: dict[Any, Distance]
) -> dict[str, Any]:
    """Distances, similarities and edits of both graphs."""
    weights: dict[str, Any] = {
        "agent_weight": rules.agent_weight,
        "status_weight": rules.status_weight,
    }
    measure = upstream_distance if rules.distance == "networkx" else edit_distance
    columns: dict[str, Any] = {"is_ged_exact": True}
    edits: list[Edit] = []
    for name, given, wanted in (
        ("structure", answer.structure, label.structure),
        ("component", answer.component, label.component),
    ):
        found = measure(given, wanted, **weights, known=known)
        columns[f"{name}_distance"] = found.value
        columns[f"{name}_lower_bound"] = found.lower_bound
        columns[f"{name}_similarity"] = similarity(found.value, given, wanted)
        columns["is_ged_exact"] &= found.is_exact
        if given != wanted:
            edits += plan_edits(given, wanted, found, **weights)
    return columns | {"edits": [edit._asdict() for edit in edits]}
