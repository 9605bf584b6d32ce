"""Comparing plans: each distinct pair of label and answer is read, drawn and measured once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from functools import partial
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
from orchbench_analytics.score.graphs import Graph, component_graph, structure_graph
from orchbench_analytics.score.outline import Outline, Workflow, outline
from orchbench_analytics.score.plan_text import read_plan

# Few graphs make up most pairs: a process remembers what it drew and measured from task to task.
_KNOWN_DRAWINGS: dict[Any, _Drawing] = {}
_KNOWN_FIGURES: dict[Any, tuple[Any, ...]] = {}
_KNOWN_DISTANCES: dict[Any, Distance] = {}
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


_NO_FIGURES = tuple(
    ComparedPair._field_defaults[name]
    for name in ComparedPair._fields[ComparedPair._fields.index("structure_distance") :]
)


# Columns of compared pairs by rules, in the order of a pair's fields: they travel faster.
Compared = dict[PlanRules, list[tuple[Any, ...]]]


class _Drawing(NamedTuple):
    """The two graphs of a plan, their sizes, and whether a node depends on itself."""

    structure: Graph
    component: Graph
    sizes: tuple[int, int, int]  # workflows, dependencies, steps
    has_loop: bool


class _Drawn(NamedTuple):
    """A text as read under some rules: how, and its drawing if there is a plan in it."""

    read_as: str
    is_malformed: bool = False
    drawing: _Drawing | None = None
    is_long: bool = False

    @property
    def sizes(self) -> tuple[int | None, ...]:
        return self.drawing.sizes if self.drawing is not None else (None, None, None)


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
    if max(len(_KNOWN_DRAWINGS), len(_KNOWN_FIGURES), len(_KNOWN_DISTANCES)) > _MOST_KNOWN:
        forget()
    texts = {text for _, *texts in task.pairs for text in texts}
    drawn = {text: _draw(text, task.rules) for text in texts}
    rows: list[list[tuple[Any, ...]]] = [[] for _ in task.rules]
    for pair_id, label, answer in task.pairs:
        readings = zip(task.rules, drawn[label], drawn[answer], rows, strict=True)
        for rules, wanted, given, rows_of_rules in readings:
            row = (
                pair_id,
                wanted.drawing is not None,
                given.drawing is not None,
                given.read_as,
                given.is_malformed,
                *wanted.sizes,
                *given.sizes,
                *_figures(given, wanted, rules),
            )
            rows_of_rules.append(row)
    return {
        rules: list(zip(*rows_of_rules, strict=True))
        for rules, rows_of_rules in zip(task.rules, rows, strict=True)
    }


def forget() -> None:
    """Forget what was remembered, all at once: figures go by the identity of drawings."""
    _KNOWN_DRAWINGS.clear()
    _KNOWN_FIGURES.clear()
    _KNOWN_DISTANCES.clear()


def _draw(text: str | None, all_rules: Iterable[PlanRules]) -> list[_Drawn]:
    """The text as each set of rules reads and draws it."""
    basic = read_plan(text, thorough=False)
    is_long = len(text or "") - (text or "").rfind("</think>") > _LONGEST_KNOWN
    outlines: dict[str, Outline] = {}
    drawings: dict[Any, _Drawing] = {}
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
        workflows, is_sound, is_plain = outlines[how]
        edges = ("every_dependency",) * 2
        if not is_plain:
            edges = (rules.structure_edges, rules.component_edges)
        if (how, edges) not in drawings:
            draw = _draw_plan if is_long else _draw_known_plan
            drawings[how, edges] = draw(workflows, *edges)
        drawn.append(_Drawn(how, not is_sound, drawings[how, edges], is_long))
    return drawn


def _draw_plan(
    workflows: tuple[Workflow, ...], structure_edges: Any, component_edges: Any
) -> _Drawing:
    structure = structure_graph(workflows, edges=structure_edges)
    component = component_graph(workflows, edges=component_edges)
    sizes = (len(structure.nodes), len(structure.edges), len(component.nodes))
    return _Drawing(structure, component, sizes, structure.has_loop or component.has_loop)


def _draw_known_plan(workflows: tuple[Workflow, ...], *edges: Any) -> _Drawing:
    """The plan's drawing: the same object for equal plans, and for plans that look the same."""
    key = (workflows, edges)
    drawing = _KNOWN_DRAWINGS.get(key)
    if drawing is None:
        drawing = _draw_plan(workflows, *edges)
        drawing = _KNOWN_DRAWINGS.setdefault(drawing[:2], drawing)
        _KNOWN_DRAWINGS[key] = drawing
    return drawing


def _figures(given: _Drawn, wanted: _Drawn, rules: PlanRules) -> tuple[Any, ...]:
    """The last columns of a compared pair; each pair of drawings is measured once."""
    if given.drawing is None or wanted.drawing is None:
        return _NO_FIGURES
    # Only loops are measured differently by networkx; without them, rules share their figures.
    is_upstream = rules.distance == "networkx" and (
        given.drawing.has_loop or wanted.drawing.has_loop
    )
    weights = {"agent_weight": rules.agent_weight, "status_weight": rules.status_weight}
    key = (id(given.drawing), id(wanted.drawing), is_upstream, *weights.values())
    is_long = given.is_long or wanted.is_long
    figures = None if is_long else _KNOWN_FIGURES.get(key)
    if figures is None:
        options: dict[str, Any] = {**weights, "known": None if is_long else _KNOWN_DISTANCES}
        measure = partial(upstream_distance if is_upstream else edit_distance, **options)
        figures = _measure(given.drawing[:2], wanted.drawing[:2], measure, weights)
        if not is_long:
            _KNOWN_FIGURES[key] = figures
    return figures


def _measure(
    answer: tuple[Graph, Graph],
    label: tuple[Graph, Graph],
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
