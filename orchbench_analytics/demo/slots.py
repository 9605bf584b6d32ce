"""Values that fill the gaps in a text, drawn once per scenario."""

import datetime as dt
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

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


class Both(NamedTuple):
    """The same thing said in English and in Korean."""

    en: str
    ko: str

    def said_in(self, language: str) -> str:
        """The text in one of the two languages."""
        return self.ko if language == "KO" else self.en


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


class Slot(Protocol):
    """A kind of value: yields one after the other, as different as it can."""

    def values(self, rng: random.Random, language: str, today: dt.date) -> Iterator[Value]:
        """Draw values without end."""
        ...


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some texts, in turn, in an order of chance."""

    en: tuple[str, ...]
    ko: tuple[str, ...] = ()

    def values(self, rng: random.Random, language: str, today: dt.date) -> Iterator[Value]:
        """Draw values without end."""
        pool = self.ko if language == "KO" and self.ko else self.en
        while True:
            yield from map(Word, rng.sample(pool, len(pool)))


@dataclass(frozen=True, slots=True)
class Terms:
    """One of some codes, each with its word in both languages."""

    words: Mapping[str, Both]

    def values(self, rng: random.Random, language: str, today: dt.date) -> Iterator[Value]:
        """Draw values without end."""
        while True:
            for code in rng.sample([*self.words], len(self.words)):
                yield Term(code, Word(self.words[code].said_in(language)))


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number, or a decimal one where the step is."""

    low: float
    high: float
    step: float = 1
    times_in_korean: int = 1

    def values(self, rng: random.Random, language: str, today: dt.date) -> Iterator[Value]:
        """Draw values without end."""
        count = round((self.high - self.low) / self.step)
        times = self.times_in_korean if language == "KO" else 1
        while True:
            value = round((self.low + rng.randint(0, count) * self.step) * times, 2)
            yield int(value) if value == int(value) else value


@dataclass(frozen=True, slots=True)
class Flag:
    """True or false."""

    def values(self, rng: random.Random, language: str, today: dt.date) -> Iterator[Value]:
        """Draw values without end."""
        while True:
            yield rng.random() < 0.5


@dataclass(frozen=True, slots=True)
class DayAhead:
    """A date some days after the scenario's own."""

    low: int
    high: int

    def values(self, rng: random.Random, language: str, today: dt.date) -> Iterator[Value]:
        """Draw values without end."""
        while True:
            yield Day(today + dt.timedelta(days=rng.randint(self.low, self.high)), language)


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day, such as 09:35."""

    low: int
    high: int

    def values(self, rng: random.Random, language: str, today: dt.date) -> Iterator[Value]:
        """Draw values without end."""
        while True:
            yield Word(f"{rng.randint(self.low, self.high):02d}:{rng.randrange(0, 60, 5):02d}")


@dataclass(frozen=True, slots=True)
class Code:
    """An identifier; every # becomes a digit."""

    pattern: str

    def values(self, rng: random.Random, language: str, today: dt.date) -> Iterator[Value]:
        """Draw values without end."""
        while True:
            yield Word("".join(str(rng.randint(1, 9)) if c == "#" else c for c in self.pattern))


class Rows(NamedTuple):
    """A list in a tool's result: the same shape several times, each with its own values."""

    size: int
    row: Mapping[str, object]
