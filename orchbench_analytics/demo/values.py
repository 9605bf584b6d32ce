"""Values that fill the gaps in a text, and how each is said."""

import datetime as dt
from typing import NamedTuple

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
