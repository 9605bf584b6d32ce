"""Answers that do not keep to the form: what can be broken about a plan or a call."""

import copy
import json
from collections.abc import Callable

from orchbench_analytics.demo.labels import Document
from orchbench_analytics.demo.luck import Luck
from orchbench_analytics.demo.world import Phrases
from orchbench_analytics.demo.yaml_text import to_yaml

NESTING = 300
SURPLUS_STEP = 99


def break_plan(
    entry: Document, plan: Document, luck: Luck, words: Phrases, *, everything: bool
) -> list[Document]:
    """Break a planning answer: mildly, or in every way there is."""
    entry = copy.copy(entry)
    ways = PLAN_BREAKS if everything else MILD_PLAN_BREAKS
    content = luck.pick(ways)(plan, luck, words)
    if content is Ellipsis:
        return []
    entry["content"] = content
    if everything and luck.strikes(0.1):
        return [entry, {**entry, "step_id": SURPLUS_STEP}]
    return [entry]


def break_step(entry: Document, luck: Luck, words: Phrases, *, everything: bool) -> list[Document]:
    """Break a sub-agent's answer; one without calls can be broken in fewer ways."""
    entry = copy.deepcopy(entry)
    if not everything:
        return MILD_CALL_BREAK(entry, luck) if entry["tool_calls"] else [entry]
    if entry["tool_calls"] and luck.strikes(0.7):
        return luck.pick(CALL_BREAKS)(entry, luck)
    return luck.pick(STEP_BREAKS)(entry, luck, words)


# A way to break a plan gives the content it leaves behind, or ... for no entry at all.
PlanBreak = Callable[[Document, Luck, Phrases], object]


def _cut_json(plan: Document, luck: Luck, words: Phrases) -> object:
    text = json.dumps(plan, ensure_ascii=False, indent=2)
    return f"```json\n{text[: len(text) * 2 // 3]}\n```"


def _flattened(plan: Document, luck: Luck, words: Phrases) -> object:
    return "\n".join(line.strip() for line in to_yaml(plan).splitlines()).replace(":\n", "\n", 1)


def _open_bracket(plan: Document, luck: Luck, words: Phrases) -> object:
    return to_yaml(plan).replace("steps:", "steps: [", 1)


def _tabs(plan: Document, luck: Luck, words: Phrases) -> object:
    return to_yaml(plan).replace("  ", "\t")


def _other_shapes(plan: Document, luck: Luck, words: Phrases) -> object:
    odd: Document = copy.deepcopy(plan)
    first = next(iter(odd))
    shape = luck.pick(("null", "text", "mapping", "null agent", "text step"))
    if shape == "null":
        odd[first] = None
    elif shape == "text":
        odd[first] = luck.pick(words.preamble)
    elif shape == "mapping":
        odd[first]["steps"] = odd[first]["steps"][0]
    elif shape == "null agent":
        odd[first]["steps"][0]["agent_id"] = None
    else:
        odd[first]["steps"].append(luck.pick(words.preamble))
    return json.dumps(odd, ensure_ascii=False)


def _text_dependency(plan: Document, luck: Luck, words: Phrases) -> object:
    odd: Document = copy.deepcopy(plan)
    for body in odd.values():
        if "depends_on" in body:
            body["depends_on"] = body["depends_on"][0]
    return to_yaml(odd)


def _brace_in_text(plan: Document, luck: Luck, words: Phrases) -> object:
    odd: Document = copy.deepcopy(plan)
    next(iter(odd.values()))["note"] = "a } brace"
    return f"{luck.pick(words.preamble)} {json.dumps(odd, ensure_ascii=False)}"


def _only_thinking(plan: Document, luck: Luck, words: Phrases) -> object:
    return f"<think>\n{luck.pick(words.thought)}"


def _nested(plan: Document, luck: Luck, words: Phrases) -> object:
    return '{"workflow_1": ' + "[" * NESTING + "]" * NESTING + "}"


def _nothing(plan: Document, luck: Luck, words: Phrases) -> object:
    return luck.pick((None, "", "\n\n", ...))


PLAN_BREAKS: tuple[PlanBreak, ...] = (
    _cut_json,
    _flattened,
    _open_bracket,
    _tabs,
    _other_shapes,
    _text_dependency,
    _brace_in_text,
    _only_thinking,
    _nested,
    _nothing,
)
MILD_PLAN_BREAKS: tuple[PlanBreak, ...] = (_cut_json, _flattened)


def _function(entry: Document) -> Document:
    function: Document = entry["tool_calls"][0]["function"]
    return function


def _cut_arguments(entry: Document, luck: Luck) -> list[Document]:
    function = _function(entry)
    function["arguments"] = function["arguments"][:-1]
    return [entry]


def _python_arguments(entry: Document, luck: Luck) -> list[Document]:
    function = _function(entry)
    function["arguments"] = str(json.loads(function["arguments"]))
    return [entry]


def _object_arguments(entry: Document, luck: Luck) -> list[Document]:
    function = _function(entry)
    function["arguments"] = json.loads(function["arguments"])
    return [entry]


def _no_object_arguments(entry: Document, luck: Luck) -> list[Document]:
    function = _function(entry)
    function["arguments"] = luck.pick(("null", f"[{function['arguments']}]", "", "3"))
    return [entry]


def _nameless(entry: Document, luck: Luck) -> list[Document]:
    del _function(entry)["name"]
    return [entry]


def _wrong_types(entry: Document, luck: Luck) -> list[Document]:
    function = _function(entry)
    arguments = json.loads(function["arguments"])
    as_text = {key: str(value) for key, value in arguments.items()}
    function["arguments"] = json.dumps(as_text, ensure_ascii=False)
    return [entry]


def _nested_arguments(entry: Document, luck: Luck) -> list[Document]:
    depth = NESTING
    _function(entry)["arguments"] = '{"refinedQuery": ' + "[" * depth + "]" * depth + "}"
    return [entry]


CallBreak = Callable[[Document, Luck], list[Document]]
MILD_CALL_BREAK: CallBreak = _cut_arguments
CALL_BREAKS: tuple[CallBreak, ...] = (
    _cut_arguments,
    _python_arguments,
    _object_arguments,
    _no_object_arguments,
    _nameless,
    _wrong_types,
    _nested_arguments,
)


def _null(entry: Document, luck: Luck, words: Phrases) -> list[Document]:
    if luck.strikes(0.5):
        return [{**entry, "content": None, "tool_calls": []}]
    return [{**entry, "content": luck.pick(words.chatter), "tool_calls": None}]


def _missing(entry: Document, luck: Luck, words: Phrases) -> list[Document]:
    return []


def _surplus(entry: Document, luck: Luck, words: Phrases) -> list[Document]:
    unasked = {**entry, "step_id": str(SURPLUS_STEP)}
    return [entry, {**entry, "content": luck.pick(words.chatter), "tool_calls": []}, unasked]


def _unfinished(entry: Document, luck: Luck, words: Phrases) -> list[Document]:
    text = luck.pick(('{"tool": "', "<tool_call>", f"<think>\n{luck.pick(words.thought)}"))
    return [{**entry, "content": text, "tool_calls": []}]


STEP_BREAKS: tuple[Callable[[Document, Luck, Phrases], list[Document]], ...] = (
    _null,
    _missing,
    _surplus,
    _unfinished,
)
