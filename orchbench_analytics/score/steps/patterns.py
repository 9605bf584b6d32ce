"""Patterns of tool schemas: which texts match one from its start, in bounded time.

Python's `re` defines the answer, and can take exponential time for it. Where a linear-time engine
must agree with it, that engine answers; all else is left to Python, in a process that is killed
if it takes too long.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import cache
from importlib.resources import files
from threading import Timer

import polars as pl

LONGEST_TEXT = 10_000  # in characters, of what is given to Python's engine
MOST_FAILURES = 5  # of one pattern: its other texts are not tried after them
_MOST_SECONDS = 30.0  # by the clock, where a worker cannot measure its CPU time

# The syntax that both engines read alike. It has no flags, look-around, references, named or
# atomic groups, possessive or stacked quantifiers, set operations, or escapes of one engine only.
_ESCAPED = r"""\\[.^$*+?()\[\]{}|/\\,:;@%=!"'#&~-]|\\[ntr]"""
_SHORTHAND = r"\\[dDwWsS]"
_MEMBER = rf"(?:[^\\\[\]^&~-]|{_ESCAPED})"
_SET = rf"\[\^?-?(?:{_MEMBER}-{_MEMBER}|{_MEMBER}|{_SHORTHAND})++-?\]"
_ATOM = rf"(?:[^\\\[\](){{}}|*+?^$]|{_ESCAPED}|{_SHORTHAND}|{_SET}|\))"
_QUANTIFIER = r"(?:[*+?]|\{\d{1,3}(?:,(?:\d{1,3})?)?\})\??"
_SIMPLE = re.compile(rf"(?:{_ATOM}(?:{_QUANTIFIER})?|\((?:\?:)?|[|^$]|\\b)*+")
# What is a digit, a letter or a space beyond ASCII depends on the engine's version of Unicode.
_CLASS = re.compile(r"\\[dDwWsSb]")
_PLAIN_TEXT = r"\A[\t\n\r -~]*\z"


def fit_patterns(pairs: pl.DataFrame) -> pl.DataFrame:
    """Each distinct `pattern` and `text`, with `fits`: null where it was not found out.

    A pattern that cannot be read fits every text.
    """
    distinct = pairs.select("pattern", "text").unique().sort("pattern", "text")
    patterns = distinct.select("pattern").unique()
    simple = patterns.with_columns(
        is_simple=_each(patterns, is_simple), has_class=_each(patterns, _has_class)
    )
    text = pl.col("text")
    is_alike = (
        pl.col("is_simple")
        & (~pl.col("has_class") | text.str.contains(_PLAIN_TEXT))
        & ~text.str.ends_with("\n")  # Python's `$` also matches before a last line break
    )
    matches = text.str.contains(pl.format("^(?:{})", "pattern"), strict=False)
    tried = distinct.join(simple, on="pattern", maintain_order="left").select(
        "pattern", "text", fits=pl.when(is_alike).then(matches)
    )
    left = tried.filter(pl.col("fits").is_null()).drop("fits")
    by_python = left.with_columns(fits=pl.Series(_try_each(left.iter_rows()), dtype=pl.Boolean))
    return pl.concat([tried.drop_nulls("fits"), by_python])


def is_simple(pattern: str) -> bool:
    """The pattern is of a syntax that both engines read alike."""
    return _SIMPLE.fullmatch(pattern) is not None


def _has_class(pattern: str) -> bool:
    return _CLASS.search(pattern) is not None


def _each(patterns: pl.DataFrame, holds: Callable[[str], bool]) -> pl.Series:
    return pl.Series([holds(pattern) for pattern in patterns["pattern"]], dtype=pl.Boolean)


def _try_each(pairs: Iterable[tuple[str, str]]) -> list[bool | None]:
    """Whether each text fits its pattern by Python's engine; null where that has no end."""
    found: list[bool | None] = []
    failures: Counter[str] = Counter()
    with closing(_Worker()) as worker:
        for pattern, text in pairs:
            fits = None
            if len(text) <= LONGEST_TEXT and failures[pattern] < MOST_FAILURES:
                fits = worker.fits(pattern, text)
                failures[pattern] += fits is None
            found.append(fits)
    return found


class _Worker:
    """A process with Python's engine, started when it is needed, and again after it was killed.

    It is a plain subprocess: the worker processes of an engine may not have children of the kind
    that `multiprocessing` starts.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def fits(self, pattern: str, text: str) -> bool | None:
        """Whether the text matches from its start; null if that takes too long."""
        try:
            answer = self._ask(json.dumps([pattern, text]))
        except OSError:  # it cannot be started, or was gone before it was asked
            answer = ""
        if not answer:
            self.close()
            return None
        return bool(json.loads(answer))

    def _ask(self, question: str) -> str:
        """The line that answers another, or nothing where the process came to its end first."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-W", "ignore", "-c", _program()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="ascii",
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        timer = Timer(_MOST_SECONDS, process.kill)
        timer.start()
        try:
            process.stdin.write(f"{question}\n")
            process.stdin.flush()
            return process.stdout.readline()
        finally:
            timer.cancel()

    def close(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


@cache
def _program() -> str:
    return (files(__package__) / "match_worker.py").read_text(encoding="utf-8")
