"""The kinds of slots: each yields values for one gap, as different as it can.

A data file declares a slot by its kind, for example `{kind: number, low: 2, high: 6}`.
"""

import datetime as dt
import random
from collections.abc import Iterable, Iterator

import msgspec

from orchbench_analytics.demo.values import Day, Term, Value, Word


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
