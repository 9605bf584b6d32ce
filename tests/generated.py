"""Models that hypothesis makes up: labels of every kind, answers right, wrong or broken."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import yaml
from hypothesis import strategies as st

AWAITING, VIOLATION = "AWAITING_USER_INPUT", "TOOL_CONSTRAINT_VIOLATION"

Json = Any
Entry = dict[str, Json]

# What a document is made of


@dataclass(frozen=True)
class Gold:
    """The label of a sub-agent step: what it wants, and its entries by suffix of the step's key."""

    wants: str  # call, rejection, or nothing that can be scored
    entries: dict[str, Entry]

    @property
    def calls(self) -> list[Entry]:
        return self.entries.get("-1", self.entries[""]).get("tool_calls") or []

    @property
    def content(self) -> str:
        return self.entries.get("-1", self.entries[""]).get("content") or ""


@dataclass(frozen=True)
class Step:
    gold: Gold
    answer: str


@dataclass(frozen=True)
class Plan:
    gold: dict[str, Json] | None  # none: a label that no one can read
    answer: str


@dataclass(frozen=True)
class Run:
    steps: tuple[Step, ...]
    plans: tuple[Plan, ...]
    surplus: tuple[str, ...] = ()


Model = tuple[tuple[Run, ...], ...]  # scenario files, each of several runs


def right(gold: Gold) -> Entry:
    if gold.wants == "call":
        return {"content": None, "tool_calls": gold.calls}
    # A label that names no type is met by any rejection; its own words are none.
    is_typed = AWAITING in gold.content or VIOLATION in gold.content
    return {"content": gold.content if is_typed else VIOLATION}


def without_a_key(gold: Gold) -> Entry:
    calls = [call_of(call["function"]["name"], {}) for call in gold.calls]
    return {"content": "", "tool_calls": calls}


def with_an_extra_call(gold: Gold) -> Entry:
    return {"content": "", "tool_calls": [*gold.calls, call_of("other_tool", {"a": "more"})]}


def written_as_text(gold: Gold) -> Entry:
    calls = [{"name": c["function"]["name"], "parameters": {"a": "?"}} for c in gold.calls]
    return {"content": f"<tool_call>\n{json.dumps({'tool_call': calls})}\n</tool_call>"}


def call_of(name: Json, arguments: Json) -> Entry:
    return {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}


def calling(*calls: Json) -> Callable[[Gold], Entry]:
    return lambda _: {"content": "", "tool_calls": list(calls)}


def saying(content: Json) -> Callable[[Gold], Entry]:
    return lambda _: {"content": content}


POOR_CALLS: dict[str, Callable[[Gold], Entry]] = {
    "another tool": calling(call_of("other_tool", '{"a": "1"}')),
    "no arguments": without_a_key,
    "an extra call": with_an_extra_call,
    "a call as text": written_as_text,
    "a call as text of another tool": saying('{"tool": "other_tool", "arguments": {"z": 1}}'),
    "arguments that are no JSON": calling(call_of("other_tool", '{"a": ')),
    "arguments that are a list": calling(call_of("other_tool", "[1]")),
    "a call beside a nameless one": calling(call_of(None, "{}"), call_of("tool_a", "{}")),
}
REJECTIONS = {
    "awaiting": saying(f"Which one? {AWAITING}"),
    "violation": saying(f"<think>{AWAITING}</think> {VIOLATION}"),
}
SILENCES = {
    "no content": saying(None),
    "empty": saying(""),
    "small talk": saying("Let me see."),
    "a thought": saying(f"<think>{VIOLATION}, or a call?</think>"),
    "missing": None,
}
MALFORMED = {
    "null calls": lambda _: {"content": "", "tool_calls": None},
    "calls that are no list": lambda _: {"content": "", "tool_calls": {"name": "tool_a"}},
    "nameless": calling(call_of(None, "{}")),
    "half a call as text": saying('{"tool": "tool_a", "argu'),
    "a number": saying(5),
    "no entry at all": lambda _: {},
    "deep": calling(call_of("tool_a", "[" * 5000)),
    "broken text": saying("\ud800 {\x00"),
}
ANSWERS: dict[str, Callable[[Gold], Entry] | None] = {
    "right": right,
    **POOR_CALLS,
    **REJECTIONS,
    **SILENCES,
    **MALFORMED,
}


def right_plan(gold: dict[str, Json]) -> str:
    return str(yaml.safe_dump(gold, sort_keys=False))


def shorter_plan(gold: dict[str, Json]) -> str:
    return json.dumps(dict(list(gold.items())[:-1]))


def restated_plan(gold: dict[str, Json]) -> str:
    done = {**gold, "workflow_9": {"steps": [{"agent_id": "b", "status": "done"}]}}
    return f"<think>{{}}</think>My plan:\n```json\n{json.dumps(done)}\n```"


MALFORMED_PLANS: dict[str, Callable[[dict[str, Json]], str | None] | None] = {
    "parts of wrong types": lambda _: "workflow_1: 5\nworkflow_2: {steps: [4, {}]}",
    "deep": lambda _: "workflow_1: " + "[" * 3000,
    "aliases": lambda _: "workflow_1: &a [1, *a]",
}
SILENT_PLANS: dict[str, Callable[[dict[str, Json]], str | None] | None] = {
    "small talk": lambda _: "I have a plan.",
    "no content": lambda _: None,
    "missing": None,
}
PLAN_ANSWERS: dict[str, Callable[[dict[str, Json]], str | None] | None] = {
    "right": right_plan,
    "shorter": shorter_plan,
    "restated": restated_plan,
    "another": lambda _: "workflow_1:\n  steps:\n  - {agent_id: z, status: new}",
    **SILENT_PLANS,
    **MALFORMED_PLANS,
}
UNREADABLE_PLAN = "workflow_1: [unclosed"


# Drawing documents

argument_values = st.one_of(
    st.sampled_from(["1", 1, 1.0, True, None, "", "2024-05-01", "=cmd()", "['1']", -0.0, 2**70]),
    st.text(max_size=3),
    st.lists(st.sampled_from(["b", "a", 2, {"k": 1}]), max_size=2),
    st.dictionaries(st.sampled_from("xy"), st.sampled_from([1, "1", [2]]), max_size=2),
)
arguments = st.dictionaries(
    st.sampled_from(["a", "b", "error", "date"]), argument_values, max_size=3
)
given_arguments = st.one_of(arguments.map(json.dumps), arguments, st.just('{"broken": '))
gold_calls = st.lists(
    st.builds(call_of, st.sampled_from(["tool_a", "tool_b"]), given_arguments),
    min_size=1,
    max_size=2,
)
AGENT = {"agent_id": "a", "content": "go"}


def call_gold(calls: list[Entry], has_key: bool) -> Gold:
    if has_key:
        return Gold("call", {"": AGENT, "-1": {"tool_calls": calls}, "-2": {"content": "done"}})
    return Gold("call", {"": {**AGENT, "tool_calls": calls}})


call_golds = st.builds(call_gold, gold_calls, st.booleans())
rejection_golds = st.sampled_from(
    [
        Gold("rejection", {"": {"agent_id": "a", "content": content}})
        for content in (f"{AWAITING}: when?", f"{VIOLATION}: too late", "I am sorry", None)
    ]
)
unusable_golds = st.sampled_from(
    [
        Gold("nothing", {"": AGENT, "-1": {"content": "??"}}),
        Gold("nothing", {"": AGENT, "-1": {"tool_calls": []}}),
        Gold("nothing", {"": AGENT, "-1": {"tool_calls": [call_of("tool_name", "{}")]}}),
    ]
)
golds = st.one_of(call_golds, rejection_golds, unusable_golds)
plan_steps = st.lists(
    st.fixed_dictionaries(
        {"agent_id": st.sampled_from("ab"), "status": st.sampled_from(["new", "done"])}
    ),
    max_size=2,
)
plan_golds = st.dictionaries(
    st.sampled_from(["workflow_1", "workflow_2", "workflow_3"]),
    st.fixed_dictionaries(
        {"steps": plan_steps},
        optional={"depends_on": st.lists(st.sampled_from(["workflow_1", "workflow_2"]))},
    ),
    min_size=1,
    max_size=3,
)


def runs(
    answers: Sequence[str] = tuple(ANSWERS),
    plan_answers: Sequence[str] = tuple(PLAN_ANSWERS),
    *,
    step_golds: st.SearchStrategy[Gold] = golds,
    has_plans: bool = True,
    has_surplus: bool = True,
) -> st.SearchStrategy[Run]:
    steps = st.lists(st.builds(Step, step_golds, st.sampled_from(answers)), max_size=4)
    plans = st.lists(
        st.builds(Plan, st.one_of(plan_golds, st.none()), st.sampled_from(plan_answers)),
        max_size=2 if has_plans else 0,
    )
    surplus = st.lists(st.sampled_from(["twice", "unlabelled"]), max_size=2 if has_surplus else 0)
    return st.builds(Run, steps.map(tuple), plans.map(tuple), surplus.map(tuple))


def models(run: st.SearchStrategy[Run]) -> st.SearchStrategy[Model]:
    files = st.lists(run, min_size=1, max_size=2).map(tuple)
    return st.lists(files, min_size=1, max_size=2).map(tuple)


# Writing documents


def document(file: Sequence[Run]) -> Json:
    return {
        "scenario_id": "1",
        "history": {f"run #{n}": written_run(run) for n, run in enumerate(file, 1)},
        "usage": {},
    }


def written_run(run: Run) -> Json:
    label: dict[str, Json] = {"1": {"role": "system", "content": "You are …"}}
    main: list[Json] = []
    sub: list[Json] = []
    for number, step in enumerate(run.steps, 10):
        label |= {f"{number}{suffix}": entry for suffix, entry in step.gold.entries.items()}
        answer = ANSWERS[step.answer]
        if answer is not None:
            sub.append({"step_id": str(number), "agent_id": "a", **answer(step.gold)})
    for number, plan in enumerate(run.plans, 2):
        gold = UNREADABLE_PLAN if plan.gold is None else right_plan(plan.gold)
        label[str(number)] = {"role": "assistant", "content": gold}
        plan_answer = PLAN_ANSWERS[plan.answer]
        if plan_answer is not None:
            main.append({"step_id": number, "content": plan_answer(plan.gold or {})})
    for kind in run.surplus:
        if kind == "unlabelled":
            sub.append({"step_id": "99", "content": AWAITING})
        elif sub:
            sub.append({**sub[0], "content": "", "tool_calls": [call_of("tool_a", "{}")]})
    return {"main_agent_history": main, "sub_agent_history": sub, "label": label}


def answering(model: Model, place: tuple[int, int, str, int], answer: str) -> Model:
    f, r, kind, i = place
    run = model[f][r]
    items = list(getattr(run, kind))
    items[i] = replace(items[i], answer=answer)
    new_run = replace(run, **{kind: tuple(items)})
    file = (*model[f][:r], new_run, *model[f][r + 1 :])
    return (*model[:f], file, *model[f + 1 :])
