"""One step as a page: label, answer, how it was read, what was decided and counted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from itertools import zip_longest
from typing import Any

import polars as pl
from rich.cells import cell_len

from orchbench_analytics.outputs import terminal
from orchbench_analytics.outputs.screen import Limits, cut, screen, wrap
from orchbench_analytics.outputs.show import StepKey
from orchbench_analytics.outputs.terminal import printable, printable_line
from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.plans.graphs import outline, read_plan

Table = Callable[[str], pl.LazyFrame]
_LONGEST_TEXT = 4000
_GAP = "   "  # between two plans
_MOST_LINES = 60  # of a plan
_COUNTS = {"TP": "true_positive_count", "FP": "false_positive_count", "FN": "false_negative_count"}


def step_page(table: Table, step: StepKey, *, profile: Profile) -> str:
    """Everything a warehouse knows of one step, as lines of text."""
    place = f"{step.model} / {step.experiment}, {step.language}, scenario {step.scenario}"
    title = printable_line(f"{place}, {step.run}, step {step.step_id}, under {profile.name}")
    head = wrap(title, terminal.width())
    page = _plan_page if step.kind == "plan" else _decision_page
    parts = (head, _asked(table, step), *page(table, step, profile))
    return "\n".join(line for part in parts for line in (*part, ""))


def _asked(table: Table, step: StepKey) -> list[str]:
    """What the user said last before the step."""
    rows = _row(table("plans" if step.kind == "plan" else "steps"), step)
    return _section("Asked", rows["question"], None)


def _decision_page(table: Table, step: StepKey, profile: Profile) -> Iterable[list[str]]:
    given = _row(table("steps"), step)
    scored = _row(_under(table("scored_steps"), profile), step)
    yield _section("Label", given["label_content"], given["label_calls"])
    yield _section("Answer", given["answer_content"], given["answer_calls"])
    yield [
        *_fact("wanted", scored["actual"]),
        *_fact("answered", scored["predicted"]),
        *_fact("read from", scored["call_source"] or scored["failure_reason"]),
        *_fact("agent", scored["agent_id"]),
        *_fact("counted", _counted(scored)),
        *_fact("left out", scored["left_out_reason"]),
        *_fact("flags", _flags(scored)),
        *_fact("FC", _call_scores(scored)),
    ]
    arguments = _all(_under(table("scored_arguments"), profile), step)
    if arguments.height:
        counts = arguments.select(key="argument_key", **_COUNTS, decided_by="decided_by")
        yield ["Arguments", *_table(counts), *_other_values(arguments), *_unchecked(arguments)]
    if scored["judge_index"] is not None:
        yield from _verdicts(table, step, scored["judge_index"])


def _other_values(arguments: pl.DataFrame) -> list[str]:
    """Both sides' values of the keys that do not agree."""
    lines = []
    for row in arguments.iter_rows(named=True):
        if row["false_positive_count"] or row["false_negative_count"]:
            lines += _paragraphs(f"{row['argument_key']}")
            for side in ("label", "answer"):
                lines += _paragraphs(f"  {side}: {row[f'{side}_values'] or 'none'}")
    return ["", *lines] if lines else []


def _unchecked(arguments: pl.DataFrame) -> list[str]:
    """The keys whose values were not compared with the pattern of their schema."""
    keys = arguments.filter("is_pattern_unchecked")["argument_key"]
    said = "its pattern took too long to try, so it counts as fitting"
    return [line for key in keys for line in ("", *_paragraphs(f"{key}: {said}"))]


def _verdicts(table: Table, step: StepKey, index: int) -> Iterable[list[str]]:
    of_run = {name: value for name, value in step.key.items() if name != "step_id"}
    found = table("judgements").filter(call_index=index, **of_run).collect()
    shown = found.select(
        key="argument_key", **_COUNTS, usable=pl.coalesce("unusable_reason", pl.lit("yes"))
    )
    if shown.height:
        yield ["The judge's verdict", *_table(shown)]


def _plan_page(table: Table, step: StepKey, profile: Profile) -> Iterable[list[str]]:
    given = _row(table("plans"), step)
    scored = _row(_under(table("scored_plans"), profile), step)
    yield [
        *_fact("read as", scored["read_as"]),
        *_fact("Plan", scored["plan_similarity"]),
        *_fact("structure", _distance(scored, "structure")),
        *_fact("components", _distance(scored, "component")),
        *_fact("left out", scored["left_out_reason"]),
        *_fact("flags", _flags(scored)),
    ]
    thorough = profile.plan_search == "thorough"
    yield _side_by_side(
        given["label_content"], given["answer_content"], thorough=thorough, width=terminal.width()
    )
    if scored["is_failed"]:
        yield _section("Answer", given["answer_content"], None)
    edits = _all(_under(table("plan_edits"), profile), step).sort("graph", "edit_number")
    if edits.height:
        lines = [line for row in edits.to_dicts() for line in _paragraphs(_edit(row))]
        yield ["Edits from the answer to the label", *lines]


def _edit(row: dict[str, Any]) -> str:
    """An edit in a line, such as `structure: extra dependency a after b, cost 1`."""
    what, other = row["kind"].replace("_", " "), row["given"] or row["wanted"]
    said = f"{row['graph']}: {what} {row['subject']}"
    if row["kind"].endswith(("_dependency", "_transition")):
        said += f" after {other}"
    elif row["kind"].startswith("wrong_"):
        said += f", given {other}"
    return f"{said}, cost {row['cost']:g}"


def _under(rows: pl.LazyFrame, profile: Profile) -> pl.LazyFrame:
    return rows.filter(pl.col("profile") == profile.name)


def _all(rows: pl.LazyFrame, step: StepKey) -> pl.DataFrame:
    return rows.filter(**step.key).collect()


def _row(rows: pl.LazyFrame, step: StepKey) -> dict[str, Any]:
    """The first row of the step: of several answers the first counts."""
    found = _all(rows, step).sort("answer_position", nulls_last=True)
    return found.row(0, named=True) if found.height else dict.fromkeys(found.columns)


def _section(title: str, content: str | None, calls: str | None) -> list[str]:
    lines = [title]
    if content and content.strip():
        lines += _paragraphs(content.strip("\n"))
    for call in _calls(calls):
        lines += _paragraphs(call)
    return lines if len(lines) > 1 else [title, "  none"]


def _calls(text: str | None) -> list[str]:
    """Calls as `name {arguments}`, a line each."""
    if text is None:
        return []
    try:
        calls = json.loads(text)
    except ValueError:
        return [text]
    if not isinstance(calls, list):
        return [text]
    return [
        f"call {call.get('name')} {_compact(call.get('arguments'))}"
        if isinstance(call, dict)
        else _compact(call)
        for call in calls
    ]


def _compact(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _paragraphs(text: str) -> list[str]:
    """The text in lines that fit, indented; a very long one is cut."""
    shown = text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]} …"
    lines = []
    for line in printable(shown).expandtabs(2).splitlines():
        own = line.lstrip()
        lines += wrap(own, terminal.width(), indent=" " * min(20, 2 + len(line) - len(own)))
    return lines


def _fact(name: str, value: Any) -> list[str]:
    """A line for a fact; none for what is not there."""
    if value is None or value == "":
        return []
    said = f"{value:.4f}" if isinstance(value, float) else printable_line(str(value))
    return [f"{name:<12}{said}"]


def _counted(scored: dict[str, Any]) -> str:
    names = [
        name.removesuffix("_count").replace("_", " ")
        for name, value in scored.items()
        if name.endswith(("_reject_count", "_call_count")) and value
    ]
    return ", ".join(names)


def _flags(scored: dict[str, Any]) -> str:
    names = [n.removeprefix("is_") for n in ("is_type_mismatch", "is_malformed") if scored.get(n)]
    return ", ".join(names).replace("_", " ")


def _call_scores(scored: dict[str, Any]) -> str:
    if not scored["is_call_scored"]:
        return ""
    return ", ".join(f"{part} F1 {scored[f'{part}_f1']:.4f}" for part in ("name", "key", "value"))


def _distance(scored: dict[str, Any], graph: str) -> str:
    similarity, distance = scored[f"{graph}_similarity"], scored[f"{graph}_distance"]
    if similarity is None or distance is None:
        return ""
    return f"{similarity:.4f} at distance {distance:g}"


def _table(frame: pl.DataFrame) -> list[str]:
    """A table; where not all its columns fit, each row as a block."""
    narrow = screen(frame, Limits(terminal.width()), is_verbatim=True)
    if "seen with --wide" not in narrow:
        return narrow.splitlines()
    return [
        line
        for row in frame.iter_rows(named=True)
        for name, value in row.items()
        if value is not None
        for line in _paragraphs(f"{name}: {value}")
    ]


def _side_by_side(
    label: str | None, answer: str | None, *, thorough: bool, width: int
) -> list[str]:
    """The label's plan on the left, the answer's on the right."""
    half = (width - len(_GAP)) // 2
    sides = [["Label", *_tree(label, thorough=True)], ["Answer", *_tree(answer, thorough=thorough)]]
    lines = []
    for left, right in zip_longest(*sides, fillvalue=""):
        left, right = cut(left, half), cut(right, half)
        lines.append(f"{left}{' ' * (half - cell_len(left))}{_GAP}{right}".rstrip())
    return lines


def _tree(text: str | None, *, thorough: bool) -> list[str]:
    """A plan as lines: each workflow, and below it its steps; or why no plan could be read."""
    reading = read_plan(text, thorough=thorough)
    if reading.plan is None:
        return [f"(no plan: {reading.how})"]
    lines = []
    for workflow in outline(reading.plan).workflows:
        after = ", ".join(dict.fromkeys(workflow.every_dependency))
        lines.append(printable_line(workflow.name + (f" after {after}" if after else "")))
        last = len(workflow.steps) - 1
        for place, (agent, status) in enumerate(workflow.steps):
            branch = "└─" if place == last else "├─"
            lines.append(printable_line(f"{branch} {agent} ({status})"))
    return lines if len(lines) <= _MOST_LINES else [*lines[:_MOST_LINES], "…"]
