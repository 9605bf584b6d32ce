"""What an invented agent and its tools are made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from orchbench_analytics.demo.slots import Both, Slot

Schema = dict[str, Any]

QUERY_ABOUT = Both(
    "The request in one sentence, with what the conversation has settled so far.",
    "지금까지의 대화에서 정해진 내용을 담아 한 문장으로 다듬은 요청.",
)


class Missing(NamedTuple):
    """A request that leaves out what the tool needs."""

    ask: str
    needs: str
    question: str
    reply: str


class Barred(NamedTuple):
    """A request that the tool's own limits forbid."""

    ask: str
    limit: str
    refusal: str


class Wording(NamedTuple):
    """How a tool's use sounds in one language; Korean asks end in the -아/어 form of the verb."""

    asks: tuple[str, ...]
    query: str
    answer: str
    line: str = ""
    missing: Missing | None = None
    barred: Barred | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: its schema, a call of it with gaps, the result and the words around it."""

    name: str
    title: Both
    about: Both
    parameters: Mapping[str, Schema]
    required: tuple[str, ...]
    arguments: Mapping[str, object]
    result: Mapping[str, object]
    en: Wording
    ko: Wording
    varies: tuple[str, ...] = ()
    twin: tuple[str, ...] = ()
    missing_keys: tuple[str, ...] = ()

    def wording(self, language: str) -> Wording:
        """The words of one language."""
        return self.ko if language == "KO" else self.en


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent: who it is, what it can do, and the values its texts draw on."""

    agent_id: str
    name: Both
    about: Both
    tools: tuple[Tool, ...]
    slots: Mapping[str, Slot] = field(default_factory=dict)


def text(en: str, ko: str, **more: object) -> Schema:
    """A parameter that is text; an `enum` or a `pattern` narrows it."""
    return {"type": "string", "description": Both(en, ko), **more}


def whole(en: str, ko: str, **more: object) -> Schema:
    """A parameter that is a whole number."""
    return {"type": "integer", "description": Both(en, ko), **more}


def decimal(en: str, ko: str, **more: object) -> Schema:
    """A parameter that is a number."""
    return {"type": "number", "description": Both(en, ko), **more}


def flag(en: str, ko: str) -> Schema:
    """A parameter that is true or false."""
    return {"type": "boolean", "description": Both(en, ko)}


def listing(en: str, ko: str, items: Schema) -> Schema:
    """A parameter that is a list."""
    return {"type": "array", "description": Both(en, ko), "items": items}


def record(en: str, ko: str, properties: Mapping[str, Schema]) -> Schema:
    """A parameter that is an object."""
    return {"type": "object", "description": Both(en, ko), "properties": dict(properties)}


DATE_PATTERN = r"^\d{4}-\d{2}-\d{2}$"


def date(en: str, ko: str) -> Schema:
    """A parameter that is a date such as 2031-05-14."""
    return text(en, ko, pattern=DATE_PATTERN)
