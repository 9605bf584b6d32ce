"""Comparing plans: each distinct pair of label and answer is read, drawn and measured once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.plans.edits import plan_edits
from orchbench_analytics.score.plans.ged import (
    Distance,
    edit_distance,
    similarity,
    upstream_distance,
)
from orchbench_analytics.score.plans.graphs import Graph, component_graph, structure_graph
from orchbench_analytics.score.plans.outline import Outline, Workflow, outline
from orchbench_analytics.score.plans.read_plan import read_plan

# Few graphs make up most pairs: a process remembers what it drew and measured from task to task.
_KNOWN_GRAPHS: dict[Graph, Graph] = {}
_KNOWN_DRAWINGS: dict[Any, _Drawing] = {}
_KNOWN_FIGURES: dict[Any, _Figures] = {}
_KNOWN_DISTANCES: dict[Any, Distance] = {}
_MOST_KNOWN = 20_000
_LONGEST_KNOWN = 10_000  # characters of a text, or a hostile one would stay in memory


class PlanRules(NamedTuple):
    """The rules of a profile that decide how two plans compare; the rest of it does not matter."""

    plan_search: str
    plan_values: Any
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
    label_workflow_count: int | None
    label_dependency_count: int | None
    label_step_count: int | None
    is_answer_read: bool
    read_as: str
    is_malformed: bool
    answer_workflow_count: int | None
    answer_dependency_count: int | None
    answer_step_count: int | None
    structure_distance: float | None
    structure_lower_bound: float | None
    structure_similarity: float | None
    component_distance: float | None
    component_lower_bound: float | None
    component_similarity: float | None
    is_ged_exact: bool
    edits: str  # as JSON


_NO_SIZES = (None, None, None)
_NO_FIGURES = (*(None,) * 6, True, "[]")

# Columns of compared pairs by rules, in the order of a pair's fields: they travel faster.
Compared = dict[PlanRules, list[tuple[Any, ...]]]


class _Drawing(NamedTuple):
    """The two graphs of a plan, their sizes, and whether a node depends on itself."""

    structure: Graph
    component: Graph
    sizes: tuple[int, int, int]  # workflows, dependencies, steps
    has_loop: bool


class _Drawn(NamedTuple):
    """A text as read under some rules: its drawing if there is a plan in it, and what a row says.

    `as_label` and `as_answer` are the fields of a compared pair that the text alone decides.
    """

    drawing: _Drawing | None
    is_long: bool
    as_label: tuple[Any, ...]
    as_answer: tuple[Any, ...]


class _Scale(NamedTuple):
    """How two graphs are measured."""

    is_upstream: bool
    agent_weight: float
    status_weight: float


class _Figures(NamedTuple):
    """How far a graph of the answer is from the label's; edits as JSON, without brackets."""

    values: tuple[float, float, float]  # distance, lower bound, similarity
    is_exact: bool
    edits: str


def plan_rules(profile: Profile) -> PlanRules:
    """The rules of a profile that decide how two plans compare."""
    return PlanRules(**{name: getattr(profile, name) for name in PlanRules._fields})


def name_pairs(pairs: Iterable[tuple[str | None, str | None]]) -> list[Pair]:
    """Pairs of label and answer with a name for each: no two pairs of texts have the same."""
    begun: dict[str | None, Any] = {}  # a label has many answers
    named = []
    for label, answer in pairs:
        if label not in begun:
            text = "none" if label is None else f"{len(label)} {label}"
            begun[label] = hashlib.sha256(text.encode())
        digest = begun[label].copy()
        digest.update(b"none" if answer is None else f" {answer}".encode())
        named.append((digest.hexdigest()[:24], label, answer))
    return named


def compare_pairs(task: PairTask) -> Compared:
    """Compare each pair under each set of rules; what texts and rules share is done once."""
    if max(len(_KNOWN_DRAWINGS), len(_KNOWN_FIGURES), len(_KNOWN_DISTANCES)) > _MOST_KNOWN:
        forget()
    texts = {text for _, *texts in task.pairs for text in texts}
    drawn = {text: _draw(text, task.rules) for text in texts}
    compared = {}
    for number, rules in enumerate(task.rules):
        rows = []
        for pair_id, label, answer in task.pairs:
            wanted, given = drawn[label][number], drawn[answer][number]
            figures = _figures(given, wanted, rules)
            rows.append((pair_id, *wanted.as_label, *given.as_answer, *figures))
        compared[rules] = list(zip(*rows, strict=True))
    return compared


def forget() -> None:
    """Forget what was remembered, all at once: figures go by the identity of graphs."""
    _KNOWN_GRAPHS.clear()
    _KNOWN_DRAWINGS.clear()
    _KNOWN_FIGURES.clear()
    _KNOWN_DISTANCES.clear()


def _draw(text: str | None, all_rules: Iterable[PlanRules]) -> list[_Drawn]:
    """The text as each set of rules reads and draws it."""
    basic = read_plan(text, thorough=False)
    is_long = len(text or "") - (text or "").rfind("</think>") > _LONGEST_KNOWN
    outlines: dict[Any, Outline] = {}
    drawn: dict[Any, _Drawn] = {}
    found = []
    for rules in all_rules:
        plan, how = basic
        if plan is None and rules.plan_search == "thorough":
            plan, how = read_plan(text, thorough=True)
        if plan is None:
            as_label, as_answer = (False, *_NO_SIZES), (False, how, False, *_NO_SIZES)
            found.append(_Drawn(None, is_long, as_label, as_answer))
            continue
        if (how, rules.plan_values) not in outlines:
            outlines[how, rules.plan_values] = outline(plan, values=rules.plan_values)
        workflows, is_sound, is_plain = outlines[how, rules.plan_values]
        edges = ("every_dependency",) * 2
        if not is_plain:
            edges = (rules.structure_edges, rules.component_edges)
        key = (how, rules.plan_values, edges)
        if key not in drawn:
            draw = _draw_plan if is_long else _draw_known_plan
            drawing = draw(workflows, *edges)
            sizes = drawing.sizes
            drawn[key] = _Drawn(drawing, is_long, (True, *sizes), (True, how, not is_sound, *sizes))
        found.append(drawn[key])
    return found


def _draw_plan(
    workflows: tuple[Workflow, ...], structure_edges: Any, component_edges: Any
) -> _Drawing:
    structure = structure_graph(workflows, edges=structure_edges)
    component = component_graph(workflows, edges=component_edges)
    sizes = (len(structure.nodes), len(structure.edges), len(component.nodes))
    return _Drawing(structure, component, sizes, structure.has_loop or component.has_loop)


def _draw_known_plan(workflows: tuple[Workflow, ...], *edges: Any) -> _Drawing:
    """The plan's drawing, of graphs that are the same objects wherever they are equal."""
    key = (workflows, edges)
    drawing = _KNOWN_DRAWINGS.get(key)
    if drawing is None:
        new = _draw_plan(workflows, *edges)
        drawing = _KNOWN_DRAWINGS[key] = new._replace(
            structure=_KNOWN_GRAPHS.setdefault(new.structure, new.structure),
            component=_KNOWN_GRAPHS.setdefault(new.component, new.component),
        )
    return drawing


def _figures(given: _Drawn, wanted: _Drawn, rules: PlanRules) -> tuple[Any, ...]:
    """The last fields of a compared pair."""
    if given.drawing is None or wanted.drawing is None:
        return _NO_FIGURES
    # Only loops are measured differently by networkx; without them, rules share their figures.
    has_loop = given.drawing.has_loop or wanted.drawing.has_loop
    scale = _Scale(
        rules.distance == "networkx" and has_loop, rules.agent_weight, rules.status_weight
    )
    measure = _measure if given.is_long or wanted.is_long else _known_figures
    structure = measure(given.drawing.structure, wanted.drawing.structure, scale)
    component = measure(given.drawing.component, wanted.drawing.component, scale)
    return (
        *structure.values,
        *component.values,
        structure.is_exact and component.is_exact,
        f"[{structure.edits}{',' if structure.edits and component.edits else ''}{component.edits}]",
    )


def _known_figures(given: Graph, wanted: Graph, scale: _Scale) -> _Figures:
    """The figures of two graphs; each distinct pair is measured once."""
    key = (id(given), id(wanted), scale)
    figures = _KNOWN_FIGURES.get(key)
    if figures is None:
        figures = _KNOWN_FIGURES[key] = _measure(given, wanted, scale, _KNOWN_DISTANCES)
    return figures


def _measure(
    given: Graph, wanted: Graph, scale: _Scale, known: dict[Any, Distance] | None = None
) -> _Figures:
    weights: dict[str, Any] = scale._asdict()
    distance = upstream_distance if weights.pop("is_upstream") else edit_distance
    found = distance(given, wanted, **weights, known=known)
    edits = plan_edits(given, wanted, found, **weights) if given != wanted else []
    values = (found.value, found.lower_bound, similarity(found.value, given, wanted))
    return _Figures(values, found.is_exact, msgspec.json.encode(edits)[1:-1].decode())
