"""A template played out as a dialogue: the label document, and what it expects."""

import json
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tests.sweep.world import Document, Draw, Mode, Move, Task, Template, Turn, World, world

PLAIN = re.compile(r"[A-Za-z]\w*", re.ASCII)
RESERVED = {"yes", "no", "true", "false", "null", "on", "off", "y", "n"}


def to_yaml(value: Mapping[str, object]) -> str:
    """Write a mapping as block YAML, with texts in double quotes unless they are single words."""
    return "\n".join(_lines(value, ""))


def _lines(value: object, pad: str) -> Iterator[str]:
    match value:
        case dict() if value:
            for key, inner in value.items():
                if isinstance(inner, dict | list) and inner:
                    yield f"{pad}{key}:"
                    yield from _lines(inner, pad + "  ")
                else:
                    yield f"{pad}{key}: {_scalar(inner)}"
        case list() if value:
            for item in value:
                first, *rest = _lines(item, pad + "  ")
                yield f"{pad}- {first[len(pad) + 2 :]}"
                yield from rest
        case _:
            yield pad + _scalar(value)


def _scalar(value: object) -> str:
    if isinstance(value, str) and PLAIN.fullmatch(value) and value.lower() not in RESERVED:
        return value
    return json.dumps(value, ensure_ascii=False)


AWAITING = "AWAITING_USER_INPUT"
BARRED = "TOOL_CONSTRAINT_VIOLATION"


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


UNUSABLE_RATE = 0.02
REPLAN_RATE = 0.5
SYSTEM_RATE = 0.75


def build_scenario(seed: int, language: str, scenario_id: str, template: Template) -> Scenario:
    """Fill a template with values of chance; the same seed gives the same scenario."""
    dialogue = _Dialogue(random.Random(f"{seed}/{language}/{scenario_id}"), world(language))
    for turn in template:
        dialogue.play(turn)
    return Scenario(scenario_id, language, tuple(dialogue.labels), dialogue.document)


class _Open(NamedTuple):
    """A move still to be made, with the number of its workflow."""

    number: int
    place: int
    move: Move


class _Dialogue:
    def __init__(self, rng: random.Random, here: World) -> None:
        self.document: Document = {}
        self.labels: list[Label] = []
        self._rng = rng
        self._here = here
        self._words = here.phrases
        self._draw = Draw(rng, here)
        self._tasks: list[Task] = []
        self._status: list[list[str]] = []
        self._style = PlanStyle(
            agent_key="name" if rng.random() < 0.8 else "agent_id",
            dependency_key="depend_on" if rng.random() < 0.7 else "depends_on",
        )
        if rng.random() < SYSTEM_RATE:
            system = self._words.system.format(
                date=self._draw.today,
                name=self._draw.value("person"),
                where=self._draw.value("harbour"),
            )
            self._add({"role": "system", "content": system})

    def play(self, turn: Turn) -> None:
        """One user message, the plan it leads to, and the steps until all is done."""
        first = len(self._tasks)
        self._tasks.extend(turn)
        self._status.extend(["pending"] * len(task.steps) for task in turn)
        self._add({"role": "user", "content": self._request(turn)})
        self._plan()
        todo = [
            _Open(first + offset, index, move)
            for offset, task in enumerate(turn)
            for index, move in enumerate(task.steps)
        ]
        while todo:
            todo = self._work(todo)

    def _work(self, todo: list[_Open]) -> list[_Open]:
        """Make every move that can be made now; what waits for the user is handed back."""
        said: list[str] = []
        replies: list[str] = []
        waiting: list[_Open] = []
        blocked: set[int] = set()
        for number, index, move in todo:
            tool = self._here.tools[move.tool]
            if number in blocked or any(n - 1 in blocked for n in self._tasks[number].after):
                blocked.add(number)
                waiting.append(_Open(number, index, move))
            elif move.mode in (Mode.ASK, Mode.BARE_ASK) and tool.missing:
                self._reject(move, tool.missing.needs)
                said.append(self._text(tool.missing.question))
                replies.append(self._text(tool.missing.reply))
                blocked.add(number)
                waiting.append(_Open(number, index, Move(Mode.CALL, move.tool)))
            elif move.mode is Mode.BARRED and tool.barred:
                self._reject(move, tool.barred.limit)
                said.append(self._text(tool.barred.refusal))
                self._status[number][index] = "canceled"
            else:
                said.extend(self._call(move))
                self._status[number][index] = "completed"
        if not waiting:
            said.append(self._rng.choice(self._words.closing))
        self._add({"role": "assistant", "content": "\n\n".join(said)})
        if waiting:
            self._add({"role": "user", "content": " ".join(replies)})
            if self._rng.random() < REPLAN_RATE:
                self._plan()
        return waiting

    def _request(self, turn: Turn) -> str:
        """What the user says, request by request."""
        sentences: list[str] = []
        is_first = len(self._tasks) == len(turn)
        opening = self._rng.choice(self._words.opening) if is_first else ""
        for task in turn:
            for move in task.steps:
                frames = self._words.dependent if task.after else self._words.further
                for clause in self._clauses(move):
                    frame = self._rng.choice(frames if sentences else self._words.first)
                    sentences.append(frame.format(clause))
                    frames = self._words.further
        return opening + " ".join(sentences)

    def _clauses(self, move: Move) -> list[str]:
        tool = self._here.tools[move.tool]
        match move.mode:
            case Mode.ASK | Mode.BARE_ASK if tool.missing:
                return [self._draw.text(tool.missing.ask)]
            case Mode.BARRED if tool.barred:
                return [self._draw.text(tool.barred.ask)]
            case _:
                clause = self._rng.choice(tool.asks)
                varying = tool.varies_by_call
                return [self._draw.text(clause, nth=n, varying=varying) for n in self._turns(move)]

    def _plan(self) -> None:
        workflows = []
        for number, (task, status) in enumerate(zip(self._tasks, self._status, strict=True), 1):
            steps = tuple(
                PlanStep(self._here.agent_of[move.tool], state, "; ".join(self._queries(move)))
                for move, state in zip(task.steps, status, strict=True)
            )
            overall = status[-1] if len({*status}) == 1 or "canceled" in status else "pending"
            after = tuple(f"workflow_{n}" for n in task.after)
            workflows.append(Workflow(f"workflow_{number}", overall, after, steps))
        content = plan_text(tuple(workflows), self._style)
        step = self._add({"role": "assistant", "content": content})
        self.labels.append(PlanLabel(step, tuple(workflows), self._hardness()))

    def _call(self, move: Move) -> list[str]:
        """Add a step with its calls and results; the words for the user come back."""
        tool, agent_id = self._here.tools[move.tool], self._here.agent_of[move.tool]
        calls = tuple(
            self._made(move, query, nth)
            for nth, query in zip(self._turns(move), self._queries(move), strict=True)
        )
        results = [
            self._draw.fill(
                tool.result,
                nth=nth,
                varying=tool.varies_by_call,
                row_varying=tool.varies_by_row,
            )
            for nth in self._turns(move)
        ]
        content = call_text(calls, results)
        step = self._add({"role": "assistant", "content": content, "agent_id": agent_id})
        is_usable = self._rng.random() >= UNUSABLE_RATE
        is_unread = self._rng.random() < 0.5
        call_id = "call_" + "".join(str(self._rng.randrange(10)) for _ in range(22))
        gold = calls if is_usable else (Call("tool_name", {}),)
        entry: Document = {"role": "assistant", "agent_id": agent_id, "content": ""}
        if is_usable or not is_unread:
            entry["tool_calls"] = [tool_call(call, call_id) for call in gold]
        self.document[f"{step}-1"] = entry
        self.document[f"{step}-2"] = {
            "role": "tool",
            "agent_id": agent_id,
            "tool_call_id": call_id,
            "content": result_of(calls, results),
            "name": tool.name,
        }
        self.labels.append(CallLabel(step, agent_id, calls, self._hardness(), is_usable))
        rows = tool.row_count
        return [
            "\n".join(
                [
                    self._text(tool.answer, nth=nth, varying=tool.varies_by_call),
                    *(
                        "- " + self._draw.text(tool.line, nth=row, varying=tool.varies_by_row)
                        for row in range(nth * rows, (nth + 1) * rows)
                    ),
                ]
            )
            for nth in self._turns(move)
        ]

    def _reject(self, move: Move, template: str) -> None:
        tool, agent_id = self._here.tools[move.tool], self._here.agent_of[move.tool]
        said = self._text(template)
        marker = {Mode.ASK: AWAITING, Mode.BARRED: BARRED}.get(move.mode)
        guess = self._made(move, self._queries(move)[0], 0)
        if move.mode is not Mode.BARRED and tool.missing:
            kept = {k: v for k, v in guess.arguments.items() if k not in tool.missing.keys}
            guess = Call(tool.name, kept)
        key = "reason" if marker == BARRED else "required_info"
        content = f"status: {marker}\n{key}: {said}" if marker else self._words.bare.format(said)
        step = self._add({"role": "assistant", "content": content, "agent_id": agent_id})
        label = RejectionLabel(step, agent_id, marker, content, guess, self._hardness())
        self.labels.append(label)

    def _made(self, move: Move, query: str, nth: int) -> Call:
        tool = self._here.tools[move.tool]
        filled = {
            key: self._draw.fill(value, nth=nth, varying=tool.varies_by_call)
            for key, value in tool.arguments.items()
        }
        return Call(tool.name, {"refinedQuery": query, **filled})

    def _queries(self, move: Move) -> list[str]:
        """The refined query of each call; where a call is not possible yet, the tool's title."""
        tool = self._here.tools[move.tool]
        if move.mode not in (Mode.CALL, Mode.PAIR):
            return [tool.title]
        varying = tool.varies_by_call
        return [self._text(tool.query, nth=nth, varying=varying) for nth in self._turns(move)]

    def _turns(self, move: Move) -> range:
        return range(2 if move.mode is Mode.PAIR else 1)

    def _text(self, template: str, *, nth: int = 0, varying: tuple[str, ...] = ()) -> str:
        said = self._draw.text(template, nth=nth, varying=varying)
        return said[:1].upper() + said[1:]

    def _hardness(self) -> float:
        return round(self._rng.lognormvariate(0, 0.5), 3)

    def _add(self, entry: Document) -> int:
        step = sum("-" not in key for key in self.document) + 1
        self.document[str(step)] = entry
        return step
