"""Patterns: both engines agree, and no text takes more than its time."""

import re
import warnings
from itertools import product

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchbench_analytics.engines.local import Local
from orchbench_analytics.score.steps import patterns
from orchbench_analytics.score.steps.match_worker import matches
from orchbench_analytics.score.steps.patterns import MOST_FAILURES, fit_patterns, is_simple
from tests.rows import judgement, parameter, score_rows
from tests.score.steps.asked import asked, city

CRAWLING = r"^(?!-)([a-z0-9]+-?)+$"
ENDLESS = "a" * 40 + "!"

CHARACTERS = "ab1_-. \u00e9\u0663\n"
LITERALS = st.sampled_from(["a", "b", "1", "-", "\u00e9", r"\.", r"\-", r"\n"])
SETS = st.sampled_from(["[ab]", "[^a]", "[a-z0-9]", r"[\d-]", r"[^\s_.]", "[-a]"])
CLASSES = st.sampled_from([".", r"\d", r"\w", r"\s", r"\D", r"\W", r"\S"])
QUANTIFIERS = st.sampled_from(["", "*", "+", "?", "*?", "{2}", "{1,2}", "{2,}?", "{0,1}"])
BOUNDARIES = st.sampled_from(["^", "$", r"\b"])


def grouped(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    quantified = st.builds("{}{}".format, inner, QUANTIFIERS)
    alternatives = st.lists(quantified | BOUNDARIES, max_size=3).map("".join)
    return st.builds(
        "({}{})".format,
        st.sampled_from(["", "?:"]),
        st.lists(alternatives, min_size=1, max_size=2).map("|".join),
    )


ATOMS = st.recursive(LITERALS | SETS | CLASSES, grouped, max_leaves=5)
PATTERNS = st.lists(st.builds("{}{}".format, ATOMS, QUANTIFIERS) | BOUNDARIES, max_size=4).map(
    "".join
)


def fits(pattern: str, *texts: str) -> list[bool | None]:
    """What is found of each text, in the order given."""
    found = fit_patterns(pl.DataFrame({"pattern": pattern, "text": list(texts)}))
    by_text = dict(found.select("text", "fits").rows())
    return [by_text[text] for text in texts]


@given(
    drawn=st.lists(PATTERNS, min_size=5, max_size=20, unique=True),
    texts=st.lists(st.text(CHARACTERS, max_size=5), min_size=3, max_size=9, unique=True),
)
@settings(max_examples=40)
def test_the_linear_engine_agrees_with_python(drawn: list[str], texts: list[str]) -> None:
    assert all(map(is_simple, drawn))
    pairs = list(product(drawn, texts))

    found = fit_patterns(pl.DataFrame(pairs, schema=["pattern", "text"], orient="row"))

    fits_of = {(pattern, text): fits for pattern, text, fits in found.iter_rows()}
    for pair, by_python in zip(pairs, patterns._try_each(pairs), strict=True):
        if by_python is not None:  # Python's engine came to an end
            assert fits_of[pair] == by_python, pair


@pytest.mark.parametrize(
    "pattern",
    [
        r"^\d{4}-\d{2}-\d{2}$",
        r"^[A-Z]{2}\d+(?:/[a-z_]+)?$",
        r"([a-z]+|\d+)*\.txt",
        r"[^@\s]+@[^@\s]+\.[a-z]{2,}",
        r"^010-?[0-9]{4}-?[0-9]{4}$",
        "서울|부산",
        "",
    ],
)
def test_simple_patterns_are_left_to_the_linear_engine(pattern: str) -> None:
    assert is_simple(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        CRAWLING,
        r"(?i)a",
        r"(?<=a)b",
        r"(a)\1",
        r"(?P<n>a)",
        r"(?<n>a)",
        r"(?>a)",
        "a*+",
        "a**",
        "a{2}{3}",
        "a{,3}",
        "{",
        "^*",
        r"\Ba",
        r"a\Z",
        r"a\z",
        r"\<a",
        r"\pL",
        r"\x41",
        "[[:alpha:]]",
        "[a&&b]",
        "[a--b]",
        "[]a]",
        r"[\b]",
        "[]",
        "\\",
    ],
)
def test_what_engines_may_read_differently_is_left_to_python(pattern: str) -> None:
    assert not is_simple(pattern)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = [matches(pattern, text) for text in ("a", "b", "<a", "aa", "")]

    assert fits(pattern, "a", "b", "<a", "aa", "") == expected


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"a$", "a\n"),
        (r"a$\n", "a\n"),
        (r"\s", "\x1c"),
        (r"\w", "\u0b72"),
        (r"\d", "\u0663"),
        (r"\W", "\u0301"),
    ],
)
def test_texts_on_which_engines_may_differ_are_left_to_python(pattern: str, text: str) -> None:
    assert fits(pattern, text) == [re.match(pattern, text) is not None]


def test_a_text_without_end_costs_itself_only() -> None:
    assert fits(CRAWLING, "-a", ENDLESS, "a-b", "seoul", "x!") == [False, None, True, True, False]


def test_a_pattern_that_fails_often_is_not_tried_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def fail(_: object, pattern: str, text: str) -> bool | None:
        tried.append(f"{pattern} {text}")
        return None if pattern == "(?!x)" else True

    monkeypatch.setattr(patterns._Worker, "fits", fail)
    texts = [f"{number:02}" for number in range(MOST_FAILURES + 10)]

    assert fits("(?!x)", *texts) == [None] * len(texts)
    assert tried == [f"(?!x) {text}" for text in texts[:MOST_FAILURES]]
    assert fits("(?!y)", *texts) == [True] * len(texts)


def test_without_a_process_to_try_them_patterns_are_not_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(patterns.sys, "executable", "/nowhere/python")

    assert fits("(?!x)a", "a") == [None]
    assert fits("a", "a") == [True]


class TestUncheckedKeys:
    """A key whose pattern was not checked goes to the judge, and is flagged."""

    PARAMETERS = (parameter(pattern=CRAWLING),)

    def flags(self, given_text: str, **schema: object) -> list[bool]:
        parameters = [parameter(pattern=CRAWLING, **schema)]
        found = score_rows(asked("x", given_text), parameters=parameters)
        return found.arguments["is_pattern_unchecked"].to_list()

    def test_it_goes_to_the_judge(self) -> None:
        verdict = judgement(answer_values=f'["{ENDLESS}"]', label_values='["x"]')

        found = city(asked("x", ENDLESS), judgements=[verdict], parameters=self.PARAMETERS)

        assert found == (1, 0, 0, "judge")

    def test_it_is_flagged(self) -> None:
        assert self.flags(ENDLESS) == [True]
        assert self.flags("seoul") == [False]
        assert self.flags("-seoul") == [False]

    def test_a_key_that_its_type_settles_needs_no_pattern(self) -> None:
        assert self.flags(ENDLESS, value_type="number") == [False]
        assert self.flags(ENDLESS, value_type="integer") == [False]


def test_a_worker_of_the_local_engine_can_try_patterns() -> None:
    pairs = pl.DataFrame({"pattern": CRAWLING, "text": ["-a", "a-b", ENDLESS]})

    with Local(2) as engine:
        found = list(engine.run(fit_patterns, [pairs, pairs]))

    assert [frame["fits"].to_list() for frame in found] == [[False, True, None]] * 2
