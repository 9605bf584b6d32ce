"""What a data file in `agents/` holds, in one of its languages.

Texts name slots in braces: `{island}` is the slot's value, `{day:said}` the way people say
it, `{island:을}` the value with its Korean particle. In arguments and results, `$guests` is
the value with its type. A result may repeat a shape: `{rows: 4, each: {...}}`.
"""

from typing import Any

import msgspec

from orchbench_analytics.demo.slots import Slot

Schema = dict[str, Any]
"""A parameter as a JSON schema."""


class Missing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request that leaves out what the tool needs, and the dialogue that settles it."""

    keys: tuple[str, ...]
    ask: str
    needs: str
    question: str
    reply: str


class Barred(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request that the tool's own limits forbid, and how it is refused."""

    ask: str
    limit: str
    refusal: str


class Tool(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tool: its schema, a call with gaps, the result, and the words around it.

    Korean asks end in the -아/어 form of the verb. Every tool also takes `refinedQuery`,
    which `query` fills. `varies_by_call` names the slots that differ between two calls made
    at once, `varies_by_row` those that differ between the rows of a result.
    """

    name: str
    title: str
    about: str
    parameters: dict[str, Schema]
    required: tuple[str, ...]
    arguments: dict[str, Any]
    result: dict[str, Any]
    asks: tuple[str, ...]
    query: str
    answer: str
    line: str = ""
    varies_by_call: tuple[str, ...] = ()
    varies_by_row: tuple[str, ...] = ()
    missing: Missing | None = None
    barred: Barred | None = None

    @property
    def row_count(self) -> int:
        """How many rows the result has; 0 where it is not a list."""
        lists = (value for value in self.result.values() if isinstance(value, dict))
        return max((value.get("rows", 0) for value in lists), default=0)


class Agent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An agent: who it is, what it can do, and the values its texts draw on."""

    agent_id: str
    port: int
    name: str
    about: str
    slots: dict[str, Slot]
    tools: tuple[Tool, ...]
