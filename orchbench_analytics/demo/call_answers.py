"""How a model answers a sub-agent's step: it calls, rejects or says nothing of use."""

import json

from orchbench_analytics.demo.breakage import break_step
from orchbench_analytics.demo.labels import (
    AWAITING,
    BARRED,
    Call,
    CallLabel,
    Document,
    RejectionLabel,
    arguments_text,
)
from orchbench_analytics.demo.luck import Luck
from orchbench_analytics.demo.mistakes import mistaken
from orchbench_analytics.demo.models import CallForm, Model
from orchbench_analytics.demo.world import Phrases, World


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
        entry |= _written(calls, luck.pick(model.call_forms), luck)
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


def _written(calls: list[Call], form: CallForm, luck: Luck) -> Document:
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
