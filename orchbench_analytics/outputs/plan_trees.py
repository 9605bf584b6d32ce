"""Two plans as small trees side by side: workflows, what they depend on, and their steps."""

from __future__ import annotations

from itertools import zip_longest

from rich.cells import cell_len

from orchbench_analytics.outputs.terminal import cut, printable_line
from orchbench_analytics.score.plans.graphs import outline
from orchbench_analytics.score.plans.read_plan import read_plan

_GAP = "   "
_MOST_LINES = 60


def side_by_side(label: str | None, answer: str | None, *, thorough: bool, width: int) -> list[str]:
    """The label's plan on the left, the answer's on the right."""
    half = (width - len(_GAP)) // 2
    sides = [["Label", *tree(label, thorough=True)], ["Answer", *tree(answer, thorough=thorough)]]
    lines = []
    for left, right in zip_longest(*sides, fillvalue=""):
        left, right = cut(left, half), cut(right, half)
        lines.append(f"{left}{' ' * (half - cell_len(left))}{_GAP}{right}".rstrip())
    return lines


def tree(text: str | None, *, thorough: bool) -> list[str]:
    """A plan as lines: each workflow, and below it its steps; or why no plan could be read."""
    reading = read_plan(text, thorough=thorough)
    if reading.plan is None:
        return [f"(no plan: {reading.how})"]
    lines = []
    for workflow in outline(reading.plan).workflows:
        after = ", ".join(workflow.every_dependency)
        lines.append(printable_line(workflow.name + (f" after {after}" if after else "")))
        last = len(workflow.steps) - 1
        for place, (agent, status) in enumerate(workflow.steps):
            branch = "└─" if place == last else "├─"
            lines.append(printable_line(f"{branch} {agent} ({status})"))
    return lines if len(lines) <= _MOST_LINES else [*lines[:_MOST_LINES], "…"]
