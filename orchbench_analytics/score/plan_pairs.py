"""Comparing plans: each distinct pair of label and answer is read, drawn and measured once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from functools import lru_cache, partial
from typing import Any, NamedTuple

import msgspec

from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.distance import (
    Distance,
    NeedsNetworkx,
    edit_distance,
    similarity,
    upstream_distance,
)
from orchbench_analytics.score.edits import Edit, plan_edits
from orchbench_analytics.score.graphs import Graph, component_graph, structure_graph
from orchbench_analytics.score.outline import Outline, Workflow, outline
from orchbench_analytics.score.plan_text import read_plan

# Few graphs make up most pairs: a process remembers what it measured from task to task.
_KNOWN_DISTANCES: dict[Any, Distance] = {}
_KNOWN_FIGURES: dict[Any, tuple[Any, ...]] = {}
_MOST_KNOWN = 20_000
_LONGEST_KNOWN = 10_000  # characters of a text, or a hostile one would stay in memory


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
    """Pairs to compare under each of some rules.

    Importing networkx takes longer than most tasks. Where it is not to be used, pairs that need it
    are left.
    """

    rules: tuple[PlanRules, ...]
    pairs: list[Pair]
    may_use_networkx: bool = True


class ComparedPair(NamedTuple):
    """What one pair of plans gives; distances and sizes are null where a side cannot be read."""

    pair_id: str
    is_label_read: bool
    is_answer_read: bool
    read_as: str
    is_malformed: bool
    label_workflow_count: int | None = None
    label_dependency_count: int | None = None
    label_step_count: int | None = None
    answer_workflow_count: int | None = None
    answer_dependency_count: int | None = None
    answer_step_count: int | None = None
    structure_distance: float | None = None
    structure_lower_bound: float | None = None
    structure_similarity: float | None = None
    component_distance: float | None = None
    component_lower_bound: float | None = None
    component_similarity: float | None = None
    is_ged_exact: bool = True
    edits: str = "[]"  # as JSON


class Compared(NamedTuple):
    """Compared pairs by rules, and those that were left because they need networkx.

    As columns, in the order of a compared pair's fields: they travel faster between processes.
    """

    columns: dict[PlanRules, list[tuple[Any, ...]]]
    left: dict[PlanRules, list[Pair]]


_Graphs = tuple[Graph, Graph]  # structure and component


class _Drawn(NamedTuple):
    """A text as read under some rules: how, and the graphs of the plan if there is one."""

    read_as: str
    is_malformed: bool = False
    graphs: _Graphs | None = None
    is_long: bool = False

    @property
    def sizes(self) -> tuple[int | None, ...]:
        """Workflows, dependencies and steps."""
        if self.graphs is None:
            return None, None, None
        structure, component = self.graphs
        return len(structure.nodes), len(structure.edges), len(component.nodes)


def plan_rules(profile: Profile) -> PlanRules:
    """The rules of a profile that decide how two plans compare."""
    return PlanRules(**{name: getattr(profile, name) for name in PlanRules._fields})


def pair_id_of(label: str | None, answer: str | None) -> str:
    """A name for a pair of texts."""
    given = "none" if label is None else str(len(label))  # so that no two pairs read the same
    missing = "none" if answer is None else ""
    text = f"{given} {missing}\n{label or ''}{answer or ''}"
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def compare_pairs(task: PairTask) -> Compared:
    """Compare each pair under each set of rules; what texts and rules share is done once."""
    for known in (_KNOWN_DISTANCES, _KNOWN_FIGURES):
        if len(known) > _MOST_KNOWN:
            known.clear()
    texts = {text for _, *texts in task.pairs for text in texts}
    drawn = {text: _draw(text, task.rules) for text in texts}
    compared: dict[PlanRules, list[ComparedPair]] = {}
    left: dict[PlanRules, list[Pair]] = {}
    for pair in task.pairs:
        pair_id, label, answer = pair
        for rules, wanted, given in zip(task.rules, drawn[label], drawn[answer], strict=True):
            row: tuple[Any, ...] = (
                pair_id,
                wanted.graphs is not None,
                given.graphs is not None,
                given.read_as,
                given.is_malformed,
                *wanted.sizes,
                *given.sizes,
            )
            try:
                figures = _figures(given, wanted, rules, may_use_networkx=task.may_use_networkx)
            except NeedsNetworkx:
                left.setdefault(rules, []).append(pair)
            else:
                compared.setdefault(rules, []).append(ComparedPair(*row, *figures))
    columns = {rules: list(zip(*rows, strict=True)) for rules, rows in compared.items()}
    return Compared(columns, left)


def _draw(text: str | None, all_rules: Iterable[PlanRules]) -> list[_Drawn]:
    """The text as each set of rules reads and draws it."""
    basic = read_plan(text, thorough=False)
    outlines: dict[str, Outline] = {}
    drawn = []
    for rules in all_rules:
        plan, how = basic
        if plan is None and rules.plan_search == "thorough":
            plan, how = read_plan(text, thorough=True)
        if plan is None:
            drawn.append(_Drawn(how))
            continue
        if how not in outlines:
            outlines[how] = outline(plan)
        workflows, is_sound = outlines[how]
        is_long = len(text or "") - (text or "").rfind("</think>") > _LONGEST_KNOWN
        draw = _draw_graphs if is_long else _draw_known_graphs
        graphs = draw(workflows, rules.structure_edges, rules.component_edges)
        drawn.append(_Drawn(how, not is_sound, graphs, is_long))
    return drawn


def _draw_graphs(
    workflows: tuple[Workflow, ...], structure_edges: Any, component_edges: Any
) -> _Graphs:
    structure = structure_graph(workflows, edges=structure_edges)
    return structure, component_graph(workflows, edges=component_edges)


_draw_known_graphs = lru_cache(_MOST_KNOWN)(_draw_graphs)


def _figures(
    given: _Drawn, wanted: _Drawn, rules: PlanRules, *, may_use_networkx: bool
) -> tuple[Any, ...]:
    """The last columns of a compared pair, none where a side cannot be read; each pair once."""
    if given.graphs is None or wanted.graphs is None:
        return ()
    # Only loops are measured differently by networkx; without them, rules share their figures.
    is_upstream = rules.distance == "networkx" and any(
        graph.has_loop for graph in (*given.graphs, *wanted.graphs)
    )
    weights = {"agent_weight": rules.agent_weight, "status_weight": rules.status_weight}
    key = (given.graphs, wanted.graphs, is_upstream, *weights.values())
    figures = _KNOWN_FIGURES.get(key)
    if figures is None:
        is_long = given.is_long or wanted.is_long
        options: dict[str, Any] = {**weights, "known": None if is_long else _KNOWN_DISTANCES}
        if is_upstream:
            measure = partial(upstream_distance, may_use_networkx=may_use_networkx, **options)
        else:
            measure = partial(edit_distance, **options)
        figures = _measure(given.graphs, wanted.graphs, measure, weights)
        if not is_long:
            _KNOWN_FIGURES[key] = figures
    return figures


def _measure(
    answer: _Graphs,
    label: _Graphs,
    measure: Callable[[Graph, Graph], Distance],
    weights: dict[str, float],
) -> tuple[Any, ...]:
    """Distance, lower bound and similarity of both graphs, whether they are exact, and edits."""
    figures: list[float] = []
    edits: list[Edit] = []
    is_exact = True
    for given, wanted in zip(answer, label, strict=True):
        found = measure(given, wanted)
        figures += (found.value, found.lower_bound, similarity(found.value, given, wanted))
        is_exact = is_exact and found.is_exact
        if given != wanted:
            edits += plan_edits(given, wanted, found, **weights)
    return (*figures, is_exact, msgspec.json.encode(edits).decode())
