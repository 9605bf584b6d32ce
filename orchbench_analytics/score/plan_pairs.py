"""Comparing plans: each distinct pair of label and answer is read, drawn and measured once."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import msgspec

from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.distance import (
    Distance,
    edit_distance,
    similarity,
    upstream_distance,
)
from orchbench_analytics.score.edits import Edit, plan_edits
from orchbench_analytics.score.graphs import (
    Graph,
    component_graph,
    is_malformed,
    is_plain,
    structure_graph,
)
from orchbench_analytics.score.plan_text import read_plan

# Few shapes of graphs make up most pairs: a process remembers their distances from task to task.
_KNOWN_DISTANCES: dict[Any, Distance] = {}
_MOST_KNOWN = 50_000


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
    edits: str = "[]"  # as JSON


class _Drawn(NamedTuple):
    """A text as read under some rules: how, and the graphs of the plan if there is one."""

    read_as: str
    is_malformed: bool = False
    structure: Graph | None = None
    component: Graph | None = None

    has_loop: bool = False

    @property
    def is_read(self) -> bool:
        return self.structure is not None


def plan_rules(profile: Profile) -> PlanRules:
    """The rules of a profile that decide how two plans compare."""
    return PlanRules(**{name: getattr(profile, name) for name in PlanRules._fields})


def pair_id_of(label: str | None, answer: str | None) -> str:
    """A name for a pair of texts."""
    given = "none" if label is None else str(len(label))  # so that no two pairs read the same
    missing = "none" if answer is None else ""
    text = f"{given} {missing}\n{label or ''}{answer or ''}"
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def compare_pairs(task: PairTask) -> list[tuple[PlanRules, ComparedPair]]:
    """Compare each pair under each set of rules; what texts and rules share is done once."""
    drawn: dict[str | None, tuple[_Drawn, ...]] = {}
    for _, label, answer in task.pairs:
        for text in (label, answer):
            if text not in drawn:
                drawn[text] = _draw(text, task.rules)
    known = _KNOWN_DISTANCES
    if len(known) > _MOST_KNOWN:
        known.clear()
    compared = []
    for pair_id, label, answer in task.pairs:
        measured: dict[Any, dict[str, Any]] = {}
        for rules, wanted, given in zip(task.rules, drawn[label], drawn[answer], strict=True):
            columns: dict[str, Any] = {}
            if wanted.is_read and given.is_read:
                # Rules that draw the same graphs and measure alike give the same figures; only
                # loops are measured differently by networkx.
                how = rules.distance if wanted.has_loop or given.has_loop else "exact"
                key = (id(wanted), id(given), how, rules.agent_weight, rules.status_weight)
                if key not in measured:
                    measured[key] = _measure(given, wanted, rules, known)
                columns = measured[key]
            pair = ComparedPair(
                pair_id,
                wanted.is_read,
                given.is_read,
                given.read_as,
                given.is_malformed,
                **columns,
                **_sizes("label", wanted),
                **_sizes("answer", given),
            )
            compared.append((rules, pair))
    return compared


def _draw(text: str | None, all_rules: tuple[PlanRules, ...]) -> tuple[_Drawn, ...]:
    """The text as each set of rules reads and draws it."""
    basic = read_plan(text, thorough=False)
    drawn: list[_Drawn] = []
    known: dict[tuple[Any, ...], _Drawn] = {}
    for rules in all_rules:
        reading = basic
        if basic.plan is None and rules.plan_search == "thorough":
            reading = read_plan(text, thorough=True)
        if reading.plan is None:
            drawn.append(_Drawn(reading.how))
            continue
        edges = () if is_plain(reading.plan) else (rules.structure_edges, rules.component_edges)
        key = (reading.how, edges)
        if key not in known:
            structure = structure_graph(reading.plan, edges=rules.structure_edges)
            component = component_graph(reading.plan, edges=rules.component_edges)
            known[key] = _Drawn(
                reading.how,
                is_malformed(reading.plan),
                structure,
                component,
                any(source == target for source, target in (*structure.edges, *component.edges)),
            )
        drawn.append(known[key])
    return tuple(drawn)


def _sizes(side: str, drawn: _Drawn) -> dict[str, Any]:
    if drawn.structure is None or drawn.component is None:
        return {}
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
    for name in ("structure", "component"):
        given, wanted = getattr(answer, name), getattr(label, name)
        found = measure(given, wanted, **weights, known=known)
        columns[f"{name}_distance"] = found.value
        columns[f"{name}_lower_bound"] = found.lower_bound
        columns[f"{name}_similarity"] = similarity(found.value, given, wanted)
        columns["is_ged_exact"] &= found.is_exact
        if given != wanted:
            edits += plan_edits(given, wanted, found, **weights)
    edits_json = msgspec.json.encode([edit._asdict() for edit in edits]).decode()
    return columns | {"edits": edits_json}
