"""What the scenarios talk about: agents, tools, words and values, read from the data files here.

- `agents/*.yaml`: one agent each, with its tools and the values its texts draw on;
- `scenarios.yaml`: who is asked for what, in which order, and what goes wrong;
- `phrases.yaml`: the words between the requests.

A mapping with one entry per language (`{en: "Bakery", ko: "빵집"}`) stands for the entry of the
language that is read. A data file declares a slot by its kind, for example `{kind: number, low: 2,
high: 6}`. Texts name slots in braces: `{island}` is the slot's value, `{day:said}` the way people
say it, `{island:을}` the value with its Korean particle. In arguments and results, `$guests` is the
value with its type. A result may repeat a shape: `{rows: 4, each: {...}}`.
"""

import datetime as dt
import random
from collections.abc import Collection, Iterable, Iterator
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

MONTHS = "January February March April May June July August September October November December"
WEEKDAYS_KO = "월화수목금토일"

# A particle after a consonant, and the one that takes its place after a vowel.
PARTICLES = {
    "은": "는",
    "이": "가",
    "을": "를",
    "과": "와",
    "으로": "로",
    "이나": "나",
    "이라": "라",
}
# Digits read in Korean (영 일 이 삼 사 오 육 칠 팔 구): do they end in a consonant?
DIGIT_ENDS_IN_CONSONANT = "013678"


class Word(str):
    """A text that takes its Korean particle by itself: `{island:을}`."""

    __slots__ = ()

    def __format__(self, particle: str) -> str:
        if not particle:
            return str(self)
        last = self[-1:]
        final = (ord(last) - 0xAC00) % 28 if "가" <= last <= "힣" else -1
        has_consonant = final > 0 if final >= 0 else last in DIGIT_ENDS_IN_CONSONANT
        if particle == "으로" and (final == 8 or last in "178"):
            has_consonant = False
        return str(self) + (particle if has_consonant else PARTICLES[particle])


class Day(NamedTuple):
    """A date that prints as 2031-05-14, or with `{day:said}` as people say it."""

    date: dt.date
    language: str

    def __str__(self) -> str:
        return self.date.isoformat()

    def __format__(self, style: str) -> str:
        if style != "said":
            return str(self)
        if self.language == "KO":
            weekday = WEEKDAYS_KO[self.date.weekday()]
            return f"{self.date.month}월 {self.date.day}일({weekday})"
        return f"{self.date.day} {MONTHS.split()[self.date.month - 1]}"


class Term(NamedTuple):
    """A code that a tool takes, and with `{hall:said}` the word people use for it."""

    code: str
    word: Word

    def __str__(self) -> str:
        return self.code

    def __format__(self, style: str) -> str:
        if style.startswith("said"):
            return format(self.word, style.removeprefix("said"))
        return self.code


Value = Word | Day | Term | int | float | bool


class SlotKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    """What all kinds of slots can do."""

    def values(self, rng: random.Random, language: str, today: dt.date) -> Iterator[Value]:
        """Draw values without end."""
        while True:
            yield from self._drawn(rng, language, today)

    def _drawn(self, rng: random.Random, language: str, today: dt.date) -> Iterable[Value]:
        """A few values, at least one."""
        raise NotImplementedError


class Choice(SlotKind, frozen=True, tag="choice"):
    """One of some texts, in turn, in a random order."""

    of: tuple[str, ...]

    def _drawn(self, rng: random.Random, language: str, today: dt.date) -> Iterable[Value]:
        return map(Word, rng.sample(self.of, len(self.of)))


class Terms(SlotKind, frozen=True, tag="term"):
    """One of some codes, each with the word people use for it."""

    words: dict[str, str]

    def _drawn(self, rng: random.Random, language: str, today: dt.date) -> Iterable[Value]:
        codes = rng.sample([*self.words], len(self.words))
        return [Term(code, Word(self.words[code])) for code in codes]


class Number(SlotKind, frozen=True, tag="number"):
    """A whole number, or a decimal one where the step is."""

    low: float
    high: float
    step: float = 1

    def _drawn(self, rng: random.Random, language: str, today: dt.date) -> Iterable[Value]:
        count = round((self.high - self.low) / self.step)
        value = round(self.low + rng.randint(0, count) * self.step, 2)
        return [int(value) if value == int(value) else value]


class Flag(SlotKind, frozen=True, tag="flag"):
    """True or false."""

    def _drawn(self, rng: random.Random, language: str, today: dt.date) -> Iterable[Value]:
        return [rng.random() < 0.5]


class DayAhead(SlotKind, frozen=True, tag="day"):
    """A date some days after the scenario's own."""

    low: int
    high: int

    def _drawn(self, rng: random.Random, language: str, today: dt.date) -> Iterable[Value]:
        return [Day(today + dt.timedelta(days=rng.randint(self.low, self.high)), language)]


class Clock(SlotKind, frozen=True, tag="clock"):
    """A time of day between two hours, such as 09:35."""

    low: int
    high: int

    def _drawn(self, rng: random.Random, language: str, today: dt.date) -> Iterable[Value]:
        return [Word(f"{rng.randint(self.low, self.high):02d}:{rng.randrange(0, 60, 5):02d}")]


class Code(SlotKind, frozen=True, tag="code"):
    """An identifier; every # becomes a digit."""

    pattern: str

    def _drawn(self, rng: random.Random, language: str, today: dt.date) -> Iterable[Value]:
        return [Word("".join(str(rng.randint(1, 9)) if c == "#" else c for c in self.pattern))]


Slot = Choice | Terms | Number | Flag | DayAhead | Clock | Code


Document = dict[str, Any]
Schema = dict[str, Any]  # a parameter as a JSON schema


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


class Mode(Enum):
    """What a step of a task comes to."""

    CALL = "call"
    PAIR = "pair"  # two calls at once
    ASK = "ask"  # something is missing: the user is asked, and answers
    BARE_ASK = "bare_ask"  # the same, but the label does not name its type
    BARRED = "barred"  # the tool's own limits forbid it


class Move(NamedTuple):
    """One step of a task."""

    mode: Mode
    tool: str


class Task(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A workflow: its steps, and the workflows that come first."""

    steps: tuple[Move, ...]
    after: tuple[int, ...] = ()


Turn = tuple[Task, ...]
Template = tuple[Turn, ...]


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


EPOCH = dt.date(2031, 1, 6)


class Draw:
    """The values of one scenario: a slot's first value is the same wherever it is named."""

    def __init__(self, rng: random.Random, here: World) -> None:
        self.today = EPOCH + dt.timedelta(days=rng.randrange(1200))
        self._rng = rng
        self._here = here
        self._sources: dict[str, Iterator[Value]] = {}
        self._drawn: dict[str, list[Value]] = {}

    def value(self, name: str, nth: int = 0) -> Value:
        """The nth value of a slot, drawn when first asked for."""
        drawn = self._drawn.setdefault(name, [])
        if name not in self._sources:
            slot = self._here.slots[name]
            self._sources[name] = slot.values(self._rng, self._here.language, self.today)
        while len(drawn) <= nth:
            drawn.append(next(self._sources[name]))
        return drawn[nth]

    def text(self, template: str, *, nth: int = 0, varying: Collection[str] = ()) -> str:
        """Fill a text; the slots that vary take their nth value, all others their first."""
        return template.format_map(_Nth(self, nth, varying))

    def fill(
        self,
        template: object,
        *,
        nth: int = 0,
        varying: Collection[str] = (),
        row_varying: Collection[str] = (),
    ) -> object:
        """Fill a nested value; the text `$name` stands for the slot's typed value."""
        match template:
            case {"rows": int(size), "each": row}:
                start = nth * size
                return [self.fill(row, nth=start + i, varying=row_varying) for i in range(size)]
            case str() if template.startswith("$"):
                name = template[1:]
                value = self.value(name, nth if name in varying else 0)
                return str(value) if isinstance(value, Word | Day | Term) else value
            case str():
                return self.text(template, nth=nth, varying=varying)
            case dict():
                return {
                    key: self.fill(inner, nth=nth, varying=varying, row_varying=row_varying)
                    for key, inner in template.items()
                }
            case list():
                return [self.fill(inner, nth=nth, varying=varying) for inner in template]
            case _:
                return template


class _Nth(dict[str, object]):
    """What a text's gaps look into."""

    def __init__(self, draw: Draw, nth: int, varying: Collection[str]) -> None:
        super().__init__()
        self._draw, self._nth, self._varying = draw, nth, varying

    def __missing__(self, name: str) -> object:
        return self._draw.value(name, self._nth if name in self._varying else 0)


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
