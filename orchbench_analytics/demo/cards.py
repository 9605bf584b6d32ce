"""The agents' cards: who they are and the schemas of their tools."""

import random
from collections.abc import Iterator

from orchbench_analytics.demo.agent import Agent
from orchbench_analytics.demo.draw import Draw
from orchbench_analytics.demo.labels import Document
from orchbench_analytics.demo.world import World


def agent_cards(here: World) -> Iterator[tuple[str, Document]]:
    """Every agent's id with its card in one language."""
    for agent in here.agents:
        yield agent.agent_id, _card(agent, here)


def _card(agent: Agent, here: World) -> Document:
    draw = Draw(random.Random(f"card/{agent.agent_id}/{here.language}"), here)
    frame = here.phrases.first[0]
    query = {"refinedQuery": {"type": "string", "description": here.phrases.refined_query}}
    return {
        "agent_card": {
            "name": agent.name,
            "agent_id": agent.agent_id,
            "description": agent.about,
            "url": f"http://localhost:{agent.port}/",
            "capabilities": {"streaming": False, "pushNotifications": False},
            "skills": [
                {
                    "id": tool.name,
                    "name": tool.title,
                    "description": tool.about,
                    "examples": [frame.format(draw.text(ask)) for ask in tool.asks],
                }
                for tool in agent.tools
            ],
        },
        "tools": [
            {
                "name": tool.name,
                "description": tool.about,
                "parameters": {
                    "type": "object",
                    "properties": query | tool.parameters,
                    "required": ["refinedQuery", *tool.required],
                    "additionalProperties": False,
                },
            }
            for tool in agent.tools
        ],
    }
