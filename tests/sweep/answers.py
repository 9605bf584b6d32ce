"""How a model answers a scenario: its plans, calls, rejections, mistakes and broken forms."""

import copy
import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from tests.sweep.models import CallForm, Experiment, Model, PlanForm
from tests.sweep.scenarios import (
    AWAITING,
    BARRED,
    Call,
    CallLabel,
    Document,
    PlanLabel,
    RejectionLabel,
    Scenario,
    Workflow,
    arguments_text,
    to_yaml,
)
from tests.sweep.world import Agent, Phrases, World, world

T = TypeVar("T")


class Luck:
    """The luck of a model at one step; pressure above 1 makes every mishap likelier."""

    def __init__(self, rng: random.Random, *, pressure: float = 1.0) -> None:
        self.rng = rng
        self._pressure = pressure

    def strikes(self, rate: float) -> bool:
        """Whether a mishap of this rate happens; never at 0, always at 1."""
        survival: float = (1 - min(rate, 1.0)) ** self._pressure
        return self.rng.random() >= survival

    def pick(self, options: Sequence[T]) -> T:
        """One of some options."""
        return options[int(self.rng.random() * len(options))]


def mistaken(calls: tuple[Call, ...], model: Model, luck: Luck, world: World) -> list[Call]:
    """The calls as this model makes them."""
    made = [_made(call, model, luck, world) for call in calls]
    if len(made) > 1 and luck.strikes(model.lost_call):
        made.pop()
    return made


def _made(call: Call, model: Model, luck: Luck, world: World) -> Call:
    words = world.phrases
    schema = world.tools[call.name].parameters
    arguments: Document = {}
    for key, value in call.arguments.items():
        if luck.strikes(model.lost_key):
            continue
        is_query = key == "refinedQuery"
        if luck.strikes(model.reworded * (1.6 if is_query else 0.6)):
            arguments[key] = reworded(value, luck, words)
        elif luck.strikes(model.wrong_value * (0.6 if is_query else 1.0)):
            arguments[key] = wrong(value, schema.get(key, {}), luck)
        else:
            arguments[key] = value
    unused = [key for key in schema if key not in call.arguments]
    if luck.strikes(model.extra_key):
        arguments[luck.pick([*unused, "note"])] = luck.pick(("", words.please, 1, True))
    name = (
        _other_tool(call.name, luck, world.agent_of)
        if luck.strikes(model.wrong_tool)
        else call.name
    )
    return Call(name, arguments)


def _other_tool(name: str, luck: Luck, agent_of: dict[str, str]) -> str:
    far = [other for other in agent_of if agent_of[other] != agent_of[name]]
    near = [other for other in agent_of if other not in far and other != name] or far
    invented = re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()
    return luck.pick((luck.pick(near), luck.pick(near), luck.pick(far), invented))


def reworded(value: object, luck: Luck, words: Phrases) -> object:
    """The same thing said otherwise: a reader would accept it, a comparison of texts does not."""
    if not isinstance(value, str) or not value:
        return value
    changed = luck.pick(
        (value.lower(), value.upper(), f"{value} {words.please}", value.replace(" ", ""))
    )
    return changed if changed != value else f"{value} {words.please}"


def wrong(value: object, schema: dict[str, Any], luck: Luck) -> object:
    """Another value of the same kind, or nearly."""
    match value:
        case bool():
            return not value
        case int():
            return value + luck.pick((-1, 1, 2, 10))
        case float():
            return round(value * luck.pick((0.5, 1.5, 10)), 2)
        case list() if len(value) > 1:
            return value[:-1]
        case list():
            return [*value, *(wrong(item, schema.get("items", {}), luck) for item in value)]
        case dict():
            key = luck.pick([*value])
            inner = schema.get("properties", {}).get(key, {})
            return {**value, key: wrong(value[key], inner, luck)}
        case str():
            return _wrong_text(value, schema, luck)
        case _:
            return None


def _wrong_text(value: str, schema: dict[str, Any], luck: Luck) -> str:
    others: list[str] = [word for word in schema.get("enum", ()) if word != value]
    if others:
        return luck.pick(others)
    if "pattern" in schema and value[-1:].isdigit():
        digit = str((int(value[-1]) + luck.pick((1, 2, 3))) % 10)
        return luck.pick((value[:-1] + digit, value[:-1] + digit, re.sub(r"[-:]", "", value)))
    first, _, rest = value.partition(" ")
    return luck.pick(("N/A", rest or first[:1], first if rest else value * 2, "unknown"))


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


STATUSES = ("pending", "completed", "canceled")


def answer_plan(label: PlanLabel, model: Model, luck: Luck, world: World) -> list[Document]:
    """The entries a model leaves for a planning step, usually one."""
    words = world.phrases
    if luck.strikes(model.no_plan):
        return [_entry(label.step, luck.pick(words.chatter))]
    plan = _planned(label.workflows, model, luck, world.agents)
    text = _plan_text(plan, luck.pick(model.plan_forms), luck, words)
    if luck.strikes(model.thinks):
        text = f"<think>\n{luck.pick(words.thought)}\n</think>\n\n{text}"
    entry = _entry(label.step, text)
    if luck.strikes(model.broken):
        return break_plan(entry, plan, luck, words, everything=model.breaks_everything)
    return [entry]


def _entry(step: int, content: str) -> Document:
    return {"step_id": step, "role": "assistant", "content": content, "tool_calls": []}


def _planned(
    workflows: tuple[Workflow, ...],
    model: Model,
    luck: Luck,
    agents: tuple[Agent, ...],
) -> Document:
    """The plan with this model's mistakes in it, in the form the benchmark's prompt asks for."""
    plan: Document = {}
    for workflow in workflows:
        if len(workflows) > 1 and luck.strikes(model.lost_workflow):
            continue
        steps = []
        for step in workflow.steps:
            agent_id = step.agent_id
            if luck.strikes(model.wrong_agent):
                others = [a.agent_id for a in agents if a.agent_id != agent_id]
                agent_id = luck.pick(others)
            status = step.status
            if luck.strikes(model.wrong_status):
                status = luck.pick([s for s in STATUSES if s != status])
            steps.append({"status": status, "agent_id": agent_id, "refined_query": step.query})
        after = [name for name in workflow.after if not luck.strikes(model.lost_dependency)]
        if plan and not workflow.after and luck.strikes(model.extra_dependency):
            after = [luck.pick([*plan])]
        status = steps[-1]["status"] if len(steps) == 1 else workflow.status
        plan[workflow.name] = _workflow(status, after, steps)
    if not plan or luck.strikes(model.extra_workflow):
        extra = {
            "status": "pending",
            "agent_id": luck.pick(agents).agent_id,
            "refined_query": workflows[-1].steps[-1].query,
        }
        plan[f"workflow_{len(workflows) + 1}"] = _workflow("pending", [], [extra])
    return plan


def _workflow(status: str, after: list[str], steps: list[dict[str, str]]) -> Document:
    body: Document = {"status": status, "type": "dependent" if after else "independent"}
    if after:
        body["depends_on"] = after
    body["steps"] = steps
    return body


def _plan_text(plan: Document, form: PlanForm, luck: Luck, words: Phrases) -> str:
    match form:
        case PlanForm.JSON:
            return json.dumps(plan, ensure_ascii=False)
        case PlanForm.INDENTED_JSON:
            return json.dumps(plan, ensure_ascii=False, indent=2)
        case PlanForm.FENCED_JSON:
            return f"```json\n{json.dumps(plan, ensure_ascii=False, indent=2)}\n```"
        case PlanForm.FENCED_YAML:
            return f"```yaml\n{to_yaml(plan)}\n```"
        case PlanForm.PROSE_JSON:
            return f"{luck.pick(words.preamble)} {json.dumps(plan, ensure_ascii=False)}"
        case PlanForm.YAML:
            return to_yaml(plan) + "\n"


def answer_step(
    label: CallLabel | RejectionLabel, model: Model, luck: Luck, world: World
) -> list[Document]:
    """The entries a model leaves for a sub-agent's step, usually one."""
    words = world.phrases
    entry: Document = {
        "step_id": str(label.step),
        "agent_id": label.agent_id,
        "role": "assistant",
        "content": "",
        "tool_calls": [],
    }
    rejection = _rejection(label, model, luck, words)
    if luck.strikes(model.no_answer):
        entry["content"] = luck.pick(words.chatter)
    elif rejection is not None:
        entry["content"] = rejection
    else:
        due = label.calls if isinstance(label, CallLabel) else (label.guess,)
        calls = mistaken(due, model, luck, world)
        entry |= _call_entry(calls, luck.pick(model.call_forms), luck)
    if luck.strikes(model.thinks):
        thought = f"<think>\n{luck.pick(words.thought)}\n</think>\n\n"
        entry["content"] = thought + entry["content"]
    if luck.strikes(model.broken):
        return break_step(entry, luck, words, everything=model.breaks_everything)
    return [entry]


def _rejection(
    label: CallLabel | RejectionLabel, model: Model, luck: Luck, words: Phrases
) -> str | None:
    """What the model says when it rejects, or nothing when it means to call."""
    match label:
        case CallLabel():
            if not luck.strikes(model.needless_rejection):
                return None
            doubt = words.unsure.format(luck.pick([*label.calls[0].arguments]))
            return _rejecting(AWAITING if luck.strikes(0.8) else BARRED, doubt)
        case RejectionLabel() if luck.strikes(model.missed_rejection):
            return None
        case RejectionLabel(marker=None):
            marker = BARRED if luck.strikes(model.wrong_type) else AWAITING
            return _rejecting(marker, label.content)
        case RejectionLabel() if luck.strikes(model.wrong_type):
            said = label.content.partition(": ")[2].partition(": ")[2]
            return _rejecting(BARRED if label.marker == AWAITING else AWAITING, said)
        case _:
            return label.content


def _rejecting(marker: str, said: str) -> str:
    key = "reason" if marker == BARRED else "required_info"
    return f"status: {marker}\n{key}: {said}"


def _call_entry(calls: list[Call], form: CallForm, luck: Luck) -> Document:
    """The calls as tool calls, or as the text of an answer."""
    if form is CallForm.STRUCTURED:
        return {
            "content": luck.pick(("", "\n\n")),
            "tool_calls": [
                {
                    "id": f"call_{luck.rng.getrandbits(64):016x}",
                    "type": "function",
                    "function": {
                        "name": call.name,
                        "arguments": arguments_text(call.arguments),
                    },
                }
                for call in calls
            ],
        }
    return {"content": _as_text(calls, form), "tool_calls": []}


def _as_text(calls: list[Call], form: CallForm) -> str:
    named = [{"name": call.name, "parameters": call.arguments} for call in calls]
    tooled = [{"tool": call.name, "arguments": call.arguments} for call in calls]
    one: object = named[0] if form in (CallForm.NAME, CallForm.FUNCTION_TAG) else tooled[0]
    if form is CallForm.CALL_LIST or len(calls) > 1:
        one = {"tool_call": tooled}
    text = json.dumps(one, ensure_ascii=False, indent=2 if form is CallForm.FENCED else None)
    match form:
        case CallForm.CALL_TAG:
            return f"<tool_call>\n{text}\n</tool_call>"
        case CallForm.FUNCTION_TAG:
            return f"<function_call>{text}</function_call>"
        case CallForm.FENCED:
            return f"```json\n{text}\n```"
        case _:
            return text


SYSTEM_PROMPT_TOKENS = 1800


@dataclass(frozen=True, slots=True)
class Prepared:
    """A scenario with its label document already encoded, since every run of every model has it."""

    scenario: Scenario
    label: msgspec.Raw
    prompt_tokens: int

    @classmethod
    def of(cls, scenario: Scenario) -> "Prepared":
        """Encode the label document once."""
        label = msgspec.json.encode(scenario.document)
        context = len(label) // (3 if scenario.language == "KO" else 4)
        return cls(scenario, msgspec.Raw(label), SYSTEM_PROMPT_TOKENS + context // 2)


def answer_scenario(
    prepared: Prepared, model: Model, experiment: Experiment, *, runs: int, seed: int
) -> Document:
    """The document of one model, experiment and scenario; its labels are raw JSON."""
    scenario = prepared.scenario
    history: Document = {}
    for run in range(1, runs + 1):
        main, sub = answer_run(scenario, model, experiment, run=run, seed=seed)
        history[f"run #{run}"] = {
            "main_agent_history": main,
            "sub_agent_history": sub,
            "label": prepared.label,
        }
    return {
        "scenario_id": scenario.scenario_id,
        "generated_at": generated_at(seed),
        "history": history,
        "usage": _usage(history, prepared, model),
    }


def answer_run(
    scenario: Scenario, model: Model, experiment: Experiment, *, run: int, seed: int
) -> tuple[list[Document], list[Document]]:
    """The main agent's and the sub-agents' entries; steady models repeat themselves over runs."""
    here = world(scenario.language)
    source = f"{seed}/{model.name}/{experiment.name}/{scenario.language}/{scenario.scenario_id}"
    moods = random.Random(f"{source}/{run}")
    main: list[Document] = []
    sub: list[Document] = []
    for label in scenario.labels:
        is_steady = moods.random() < model.steadiness
        place = f"{source}/{label.step}" if is_steady else f"{source}/{label.step}/{run}"
        luck = Luck(random.Random(place), pressure=label.hardness * experiment.ease)
        if isinstance(label, PlanLabel):
            main += answer_plan(label, model, luck, here)
        else:
            sub += answer_step(label, model, luck, here)
    return main, sub


def generated_at(seed: int) -> str:
    """A time that depends on nothing but the seed."""
    rng = random.Random(f"{seed}/generated_at")
    month, day, hour = rng.randint(1, 12), rng.randint(1, 28), rng.randint(0, 23)
    return f"2026-{month:02d}-{day:02d}T{hour:02d}:00:00"


def _usage(history: Document, prepared: Prepared, model: Model) -> Document:
    per_token = 2 if prepared.scenario.language == "KO" else 4
    calls = output = 0
    for run in history.values():
        for entry in (*run["main_agent_history"], *run["sub_agent_history"]):
            calls += 1
            written = len(entry["content"] or "") + len(str(entry["tool_calls"] or ""))
            output += 12 + int(written / per_token * model.wordiness)
    tokens_in = calls * prepared.prompt_tokens
    cost = (tokens_in * model.price_in + output * model.price_out) / 1_000_000
    return {
        "total_calls": calls,
        "total_input_tokens": tokens_in,
        "total_output_tokens": output,
        "total_tokens": tokens_in + output,
        "total_cost": round(cost, 6),
    }
