"""Eight invented agents of an island coast, one module each."""

from collections.abc import Mapping

from orchbench_analytics.demo.domain.bakery import BAKERY
from orchbench_analytics.demo.domain.ferry import FERRY
from orchbench_analytics.demo.domain.garden import GARDEN
from orchbench_analytics.demo.domain.library import LIBRARY
from orchbench_analytics.demo.domain.museum import MUSEUM
from orchbench_analytics.demo.domain.observatory import OBSERVATORY
from orchbench_analytics.demo.domain.parts import Agent, Tool
from orchbench_analytics.demo.domain.post import POST
from orchbench_analytics.demo.domain.trail import TRAIL
from orchbench_analytics.demo.slots import Choice, DayAhead, Number, Slot

AGENTS: tuple[Agent, ...] = (
    FERRY,
    MUSEUM,
    GARDEN,
    LIBRARY,
    OBSERVATORY,
    BAKERY,
    TRAIL,
    POST,
)

TOOLS: Mapping[str, Tool] = {tool.name: tool for agent in AGENTS for tool in agent.tools}
AGENT_OF: Mapping[str, str] = {
    tool.name: agent.agent_id for agent in AGENTS for tool in agent.tools
}

SLOTS: Mapping[str, Slot] = {
    "day": DayAhead(2, 20),
    "later": DayAhead(21, 45),
    "guests": Number(2, 6),
    "person": Choice(
        ("Maren Holt", "Tobias Finch", "Ines Calder", "Rowan Pike", "Edda Voss", "Callum Reyes"),
        ("한가온", "윤새봄", "서다올", "문이든", "배하람", "임라온"),
    ),
    **{name: slot for agent in AGENTS for name, slot in agent.slots.items()},
}
