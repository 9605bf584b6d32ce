"""Everything the scenarios talk about, read from the data files beside this module.

A mapping with one entry per language (`{en: "Bakery", ko: "빵집"}`) stands for the entry of
the language that is read, wherever it is in a file.
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from orchbench_analytics.demo.agent import Agent, Tool
from orchbench_analytics.demo.slots import Slot
from orchbench_analytics.demo.templates import Template

LANGUAGES = ("EN", "KO")
DATA = Path(__file__).parent

T = TypeVar("T")


class Phrases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What holds a dialogue together, and the slots that every agent's texts may name."""

    opening: tuple[str, ...]
    first: tuple[str, ...]
    further: tuple[str, ...]
    dependent: tuple[str, ...]
    system: str
    refined_query: str
    bare: str
    closing: tuple[str, ...]
    chatter: tuple[str, ...]
    thought: tuple[str, ...]
    preamble: tuple[str, ...]
    please: str
    unsure: str
    slots: dict[str, Slot]


class World(NamedTuple):
    """The agents, their tools and the words of one language."""

    language: str
    phrases: Phrases
    agents: tuple[Agent, ...]
    tools: dict[str, Tool]
    agent_of: dict[str, str]
    slots: dict[str, Slot]


@cache
def world(language: str) -> World:
    """The world as it is said in one language."""
    return read_world(DATA, language)


@cache
def templates() -> tuple[Template, ...]:
    """The scenario templates, in the order of their file."""
    content = (DATA / "scenarios.yaml").read_bytes()
    return tuple(msgspec.yaml.decode(content, type=dict[str, Template]).values())


def read_world(directory: Path, language: str) -> World:
    """Read a directory of data files; agents stand in the order of their ports."""
    phrases = _read(directory / "phrases.yaml", Phrases, language)
    files = sorted((directory / "agents").glob("*.yaml"))
    agents = sorted((_read(path, Agent, language) for path in files), key=lambda a: a.port)
    return World(
        language=language,
        phrases=phrases,
        agents=tuple(agents),
        tools={tool.name: tool for agent in agents for tool in agent.tools},
        agent_of={tool.name: agent.agent_id for agent in agents for tool in agent.tools},
        slots=phrases.slots | {name: s for agent in agents for name, s in agent.slots.items()},
    )


def _read(path: Path, kind: type[T], language: str) -> T:
    document = _in_language(msgspec.yaml.decode(path.read_bytes()), language.lower())
    try:
        return msgspec.convert(document, kind)
    except msgspec.ValidationError as error:
        raise msgspec.ValidationError(f"{path.name}: {error}") from error


def _in_language(value: object, language: str) -> object:
    """The value with every choice of languages made."""
    match value:
        case dict() if {key.upper() for key in value} == {*LANGUAGES}:
            return _in_language(value[language], language)
        case dict():
            return {key: _in_language(inner, language) for key, inner in value.items()}
        case list():
            return [_in_language(inner, language) for inner in value]
        case _:
            return value
