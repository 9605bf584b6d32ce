"""The agents' cards: who they are and the schemas of their tools."""

import random
from collections.abc import Iterator, Mapping

from orchbench_analytics.demo.domain import AGENTS, SLOTS
from orchbench_analytics.demo.domain.parts import QUERY_ABOUT, Agent, Tool
from orchbench_analytics.demo.draw import Draw
from orchbench_analytics.demo.labels import Document
from orchbench_analytics.demo.phrases import PHRASES
from orchbench_analytics.demo.slots import Both

FIRST_PORT = 12000


def agent_cards(language: str) -> Iterator[tuple[str, Document]]:
    """Every agent's id with its card in one language."""
    for place, agent in enumerate(AGENTS):
        yield agent.agent_id, _card(agent, language, FIRST_PORT + place)


def tool_parameters(tool: Tool, language: str) -> Document:
    """A tool's parameters as a JSON schema."""
    query = {"refinedQuery": {"type": "string", "description": QUERY_ABOUT}}
    return {
        "type": "object",
        "properties": _localised({**query, **tool.parameters}, language),
        "required": [*tool.required],
        "additionalProperties": False,
    }


def _card(agent: Agent, language: str, port: int) -> Document:
    draw = Draw(random.Random(f"card/{agent.agent_id}/{language}"), language, SLOTS)
    frame = PHRASES[language].first[0]
    return {
        "agent_card": {
            "name": agent.name.said_in(language),
            "agent_id": agent.agent_id,
            "description": agent.about.said_in(language),
            "url": f"http://localhost:{port}/",
            "capabilities": {"streaming": False, "pushNotifications": False},
            "skills": [
                {
                    "id": tool.name,
                    "name": tool.title.said_in(language),
                    "description": tool.about.said_in(language),
                    "examples": [
                        frame.format(draw.text(ask)) for ask in tool.wording(language).asks
                    ],
                }
                for tool in agent.tools
            ],
        },
        "tools": [
            {
                "name": tool.name,
                "description": tool.about.said_in(language),
                "parameters": tool_parameters(tool, language),
            }
            for tool in agent.tools
        ],
    }


def _localised(value: object, language: str) -> object:
    match value:
        case Both():
            return value.said_in(language)
        case Mapping():
            return {key: _localised(inner, language) for key, inner in value.items()}
        case list():
            return [_localised(inner, language) for inner in value]
        case _:
            return value
