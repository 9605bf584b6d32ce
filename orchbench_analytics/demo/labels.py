"""What a scenario expects: plans, calls and rejections, as objects and as the label document."""

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

from orchbench_analytics.demo.yaml_text import to_yaml

AWAITING = "AWAITING_USER_INPUT"
BARRED = "TOOL_CONSTRAINT_VIOLATION"

Document = dict[str, Any]


class Call(NamedTuple):
    """A tool call."""

    name: str
    arguments: Document


class PlanStep(NamedTuple):
    """A step of a workflow."""

    agent_id: str
    status: str
    query: str


class Workflow(NamedTuple):
    """A workflow of a plan."""

    name: str
    status: str
    after: tuple[str, ...]
    steps: tuple[PlanStep, ...]


@dataclass(frozen=True, slots=True)
class PlanLabel:
    """A planning step; hardness multiplies every model's chance to err here."""

    step: int
    workflows: tuple[Workflow, ...]
    hardness: float


@dataclass(frozen=True, slots=True)
class CallLabel:
    """A step where calls are due; where it is not usable, the document's own label is damaged."""

    step: int
    agent_id: str
    calls: tuple[Call, ...]
    hardness: float
    is_usable: bool = True


@dataclass(frozen=True, slots=True)
class RejectionLabel:
    """A step where a rejection is due, and the call that an eager model would make instead."""

    step: int
    agent_id: str
    marker: str | None
    content: str
    guess: Call
    hardness: float


Label = PlanLabel | CallLabel | RejectionLabel


@dataclass(frozen=True, slots=True)
class Scenario:
    """A dialogue with its labels in order, and the label document that every run repeats."""

    scenario_id: str
    language: str
    labels: tuple[Label, ...]
    document: Document


class PlanStyle(NamedTuple):
    """How a scenario's labels spell their plans."""

    agent_key: str
    dependency_key: str


def plan_text(workflows: tuple[Workflow, ...], style: PlanStyle) -> str:
    """A gold plan as its YAML text."""
    blocks = []
    for workflow in workflows:
        body: Document = {
            "status": workflow.status,
            "type": "dependent" if workflow.after else "independent",
        }
        if workflow.after:
            is_text = len(workflow.after) == 1 and style.dependency_key == "depend_on"
            body[style.dependency_key] = workflow.after[0] if is_text else [*workflow.after]
        body["steps"] = [
            {"status": step.status, style.agent_key: step.agent_id, "refined_query": step.query}
            for step in workflow.steps
        ]
        blocks.append(to_yaml({workflow.name: body}))
    return "\n\n".join(blocks)


def call_text(calls: tuple[Call, ...], results: list[object]) -> str:
    """Gold calls with their results, as the YAML text of the sub-agent step."""
    if len(calls) == 1:
        return to_yaml(
            {
                "tool": calls[0].name,
                "arguments": calls[0].arguments,
                "tool_call_result": results[0],
            }
        )
    return to_yaml(
        {
            "tool_call": [{"tool": call.name, "arguments": call.arguments} for call in calls],
            "tool_call_result": result_of(calls, results),
        }
    )


def result_of(calls: tuple[Call, ...], results: list[object]) -> object:
    """What the tool step holds: one result, or a list of them with their tools."""
    if len(calls) == 1:
        return results[0]
    return [
        {"tool": call.name, "result": result} for call, result in zip(calls, results, strict=True)
    ]


def tool_call(call: Call, call_id: str) -> Document:
    """A call in the shape of the label document."""
    return {
        "type": "function",
        "id": call_id,
        "function": {"name": call.name, "arguments": arguments_text(call.arguments)},
    }


def arguments_text(arguments: Document) -> str:
    """Arguments as the JSON text that travels in a call."""
    return json.dumps(arguments, ensure_ascii=False)
