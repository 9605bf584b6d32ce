"""The best mapping of a smaller graph into a larger one, by branch and bound on bitmasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import NamedTuple

MAX_SEARCHED_NODES = 40

Label = tuple[int, int]
Edges = tuple[tuple[int, int], ...]


class Shape(NamedTuple):
    """A graph whose labels are numbers: they only tell which are equal in the two graphs."""

    labels: tuple[Label, ...]
    edges: Edges


class Costs(NamedTuple):
    """Costs in whole units, so that sums are exact and ties are ties."""

    one: int
    agent: int
    status: int
    both: int

    def of_becoming(self, first: Label, second: Label) -> int:
        """What it costs that a node with one label becomes a node with another."""
        if first[0] == second[0]:
            return 0 if first[1] == second[1] else self.status
        return self.agent if first[1] == second[1] else self.both


class Mapping(NamedTuple):
    """Where each node of the smaller graph goes, what that saves, and the most any could save.

    An edge that is kept saves its deletion and its insertion; a new label takes away its cost.
    """

    targets: tuple[int, ...]
    saved: int
    ceiling: int


def best_mapping(small: Shape, large: Shape, costs: Costs, *, budget: int) -> Mapping:
    """The mapping that saves most; past the budget, or for large graphs, the best one found."""
    targets = _paired_by_label(small, large)
    first = Mapping(targets, _saved(small, large, costs, targets), most_saved(small, large, costs))
    if first.saved == first.ceiling or len(large.labels) > MAX_SEARCHED_NODES:
        return first
    found = _Search(small, large, costs, first, budget).run()
    return _with_namesakes(small, large, costs, found)


def _saved(small: Shape, large: Shape, costs: Costs, targets: Sequence[int]) -> int:
    edges = set(large.edges)
    kept = sum([(targets[source], targets[target]) in edges for source, target in small.edges])
    became = [large.labels[target] for target in targets]
    return 2 * costs.one * kept - sum(map(costs.of_becoming, small.labels, became))


def _with_namesakes(small: Shape, large: Shape, costs: Costs, found: Mapping) -> Mapping:
    """Of equally good mappings prefer one that leaves a node its name: it reads better."""
    targets = list(found.targets)
    namesakes = {label: target for target, label in enumerate(large.labels)}
    for source, label in enumerate(small.labels):
        namesake = namesakes.get(label, targets[source])
        if namesake != targets[source]:
            swapped = [targets[source] if target == namesake else target for target in targets]
            swapped[source] = namesake
            if _saved(small, large, costs, swapped) == found.saved:
                targets = swapped
    return found._replace(targets=tuple(targets))


def _paired_by_label(small: Shape, large: Shape) -> tuple[int, ...]:
    """Pair equal labels, then equal agents, then equal statuses, then the rest in order."""
    targets = [-1] * len(small.labels)
    likenesses: tuple[Callable[[Label], object], ...] = (tuple, itemgetter(0), itemgetter(1), bool)
    for likeness in likenesses:
        unpaired = [source for source, target in enumerate(targets) if target < 0]
        if not unpaired:
            break
        taken = set(targets)
        free: dict[object, list[int]] = {}
        for target in range(len(large.labels) - 1, -1, -1):
            if target not in taken:
                free.setdefault(likeness(large.labels[target]), []).append(target)
        for source in unpaired:
            alike = free.get(likeness(small.labels[source]))
            if alike:
                targets[source] = alike.pop()
    return tuple(targets)


def most_saved(small: Shape, large: Shape, costs: Costs) -> int:
    """What no mapping exceeds: all edges of the sparser graph kept, each node at its cheapest."""
    labels = set(large.labels)
    unlike = [label for label in small.labels if label not in labels]
    least = 0
    if unlike:
        agents, statuses = ({label[part] for label in labels} for part in (0, 1))
        for agent, status in unlike:
            with_agent = costs.status if agent in agents else costs.both
            with_status = costs.agent if status in statuses else costs.both
            least += min(with_agent, with_status)
    return 2 * costs.one * min(len(small.edges), len(large.edges)) - least


class _Neighbours:
    """The edges of a graph as bitmasks, self-loops apart."""

    def __init__(self, shape: Shape) -> None:
        self.after = [0] * len(shape.labels)
        self.before = [0] * len(shape.labels)
        self.loops = [0] * len(shape.labels)
        for source, target in shape.edges:
            if source == target:
                self.loops[source] = 1
            else:
                self.after[source] |= 1 << target
                self.before[target] |= 1 << source


class _Search:
    """Depth first: the node with the fewest good targets goes next, to its best target first."""

    def __init__(
        self, small: Shape, large: Shape, costs: Costs, first: Mapping, budget: int
    ) -> None:
        self.one = costs.one
        self.costs = [[costs.of_becoming(a, b) for b in large.labels] for a in small.labels]
        self.small, self.large = _Neighbours(small), _Neighbours(large)
        # Targets alike in every respect lead to the same costs, so one of each kind is tried.
        columns = list(zip(*self.costs, strict=True))
        likes = zip(columns, self.large.after, self.large.before, self.large.loops, strict=True)
        kinds: dict[object, int] = {}
        self.kinds = [kinds.setdefault(like, len(kinds)) for like in likes]
        self.targets = [-1] * len(small.labels)
        self.best = first
        self.open_ceiling = first.saved
        self.budget = budget

    def run(self) -> Mapping:
        """The best mapping, with a ceiling that is what it saves unless branches were left open."""
        degrees = [
            after.bit_count() + before.bit_count()
            for after, before in zip(self.small.after, self.small.before, strict=True)
        ]
        sources = sorted(range(len(degrees)), key=degrees.__getitem__, reverse=True)
        nowhere = [0] * len(degrees)
        self.visit(sources, list(range(len(self.kinds))), 0, nowhere, nowhere)
        ceiling = min(self.best.ceiling, max(self.best.saved, self.open_ceiling))
        return self.best._replace(ceiling=ceiling)

    def visit(
        self, sources: list[int], free: list[int], saved: int, after: list[int], before: list[int]
    ) -> None:
        """Map the sources left; `after` and `before` say where their neighbours have gone."""
        if not sources:
            if saved > self.best.saved:
                self.best = self.best._replace(targets=tuple(self.targets), saved=saved)
            return
        choices = list({self.kinds[target]: target for target in reversed(free)}.values())
        rows = self.weigh(sources, free, choices, after, before)
        tops = [max(row) for row in rows]
        ceiling = saved + sum(tops)
        slack = ceiling - self.best.saved
        good = [sum(top - w < slack for w in row) for top, row in zip(tops, rows, strict=True)]
        index = good.index(min(good))
        source, rest = sources[index], sources[:index] + sources[index + 1 :]
        losses = sorted((tops[index] - w, c) for w, c in zip(rows[index], choices, strict=True))
        for loss, target in losses:
            if ceiling - loss <= self.best.saved or self.best.saved == self.best.ceiling:
                return
            if self.budget <= 0:
                self.open_ceiling = max(self.open_ceiling, ceiling - loss)
                return
            self.targets[source] = target
            self.visit(
                rest,
                [other for other in free if other != target],
                saved + self.gain(source, target, after, before),
                _with_gone(after, self.small.after, source, target),
                _with_gone(before, self.small.before, source, target),
            )

    def weigh(
        self,
        sources: list[int],
        free: list[int],
        choices: list[int],
        after: list[int],
        before: list[int],
    ) -> list[list[int]]:
        """The most each source can save with each target: its gain, and half of each open edge."""
        self.budget -= len(sources) * len(choices)
        one, two, small, large = self.one, 2 * self.one, self.small, self.large
        sources_left, targets_left = (sum(1 << node for node in nodes) for nodes in (sources, free))
        columns = [
            (
                target,
                large.after[target],
                large.before[target],
                large.loops[target],
                (large.after[target] & targets_left).bit_count(),
                (large.before[target] & targets_left).bit_count(),
            )
            for target in choices
        ]
        rows = []
        for source in sources:
            gone_after, gone_before, loop = after[source], before[source], small.loops[source]
            out_left = (small.after[source] & sources_left).bit_count()
            in_left = (small.before[source] & sources_left).bit_count()
            costs = self.costs[source]
            rows.append(
                [
                    two
                    * ((a & gone_after).bit_count() + (b & gone_before).bit_count() + (x & loop))
                    + one * ((o if o < out_left else out_left) + (i if i < in_left else in_left))
                    - costs[target]
                    for target, a, b, x, o, i in columns
                ]
            )
        return rows

    def gain(self, source: int, target: int, after: list[int], before: list[int]) -> int:
        """What is saved for certain when the source goes to the target."""
        kept = (
            (self.large.after[target] & after[source]).bit_count()
            + (self.large.before[target] & before[source]).bit_count()
            + (self.small.loops[source] & self.large.loops[target])
        )
        return 2 * self.one * kept - self.costs[source][target]


def _with_gone(marks: list[int], neighbours: list[int], source: int, target: int) -> list[int]:
    bit = 1 << target
    pairs = zip(marks, neighbours, strict=True)
    return [mark | bit if mask >> source & 1 else mark for mark, mask in pairs]
