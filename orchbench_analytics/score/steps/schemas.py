"""Tool schemas: which keys they settle, so that no judge is asked about them."""

from __future__ import annotations

import re

import polars as pl

from orchbench_analytics.score.steps.arguments import PAIR
from orchbench_analytics.score.steps.observe import ReadCalls
from orchbench_analytics.tables import UNKNOWN_LANGUAGE

_NEVER_JUDGED_TYPES = ("number", "boolean", "array", "object")
_KNOWN_TYPES = (*_NEVER_JUDGED_TYPES, "string", "integer")
_INTEGER = r"^\s*[+-]?\d(?:_?\d)*\s*$"  # what Python's int() takes …
_MOST_DIGITS = 4_300  # … and how much of it
_LONGEST_BACKTRACKED = 200  # a text that Python's own regular expressions are tried on
_COMPARED_KEY = (*PAIR, "reading", "argument_key")


def mark_judgeable(
    compared: pl.DataFrame, read: ReadCalls, tool_parameters: pl.DataFrame
) -> pl.DataFrame:
    """Add `is_judgeable`: values unmatched on both sides, and the tool's schema settles nothing.

    Add also `has_unknown_type`: such a key has a type that JSON Schema does not have.
    """
    is_open = (
        pl.col("is_shared")
        & (pl.col("false_positive_count") > 0)
        & (pl.col("false_negative_count") > 0)
    )
    checked = _checked(compared.filter(is_open), read, tool_parameters)
    return (
        compared.join(
            checked, on=_COMPARED_KEY, how="left", nulls_equal=True, maintain_order="left"
        )
        .with_columns(
            is_judgeable=is_open & ~pl.col("is_settled").fill_null(False),
            has_unknown_type=pl.col("has_unknown_type").fill_null(False),
        )
        .drop("is_settled", "unmatched_texts")
    )


def _checked(
    open_keys: pl.DataFrame, read: ReadCalls, tool_parameters: pl.DataFrame
) -> pl.DataFrame:
    """The keys among `open_keys` that a called tool has: is the key settled, its type unknown."""
    known = open_keys.join(
        _schemas(open_keys, read, tool_parameters), on=["language", "used_id", "argument_key"]
    )
    texts = known.select(*_COMPARED_KEY, "value_type", "pattern", text="unmatched_texts")
    misfits = _misfits(texts.explode("text")).select(_COMPARED_KEY).unique()
    is_enum_settled = pl.col("has_enum") & (
        pl.col("false_positive_count") == pl.col("false_negative_count")
    )
    is_type_settled = pl.col("value_type").is_in(_NEVER_JUDGED_TYPES).fill_null(False)
    return known.join(
        misfits.with_columns(is_misfit=pl.lit(True)), on=_COMPARED_KEY, how="left", nulls_equal=True
    ).select(
        *_COMPARED_KEY,
        is_settled=is_type_settled | is_enum_settled | pl.col("is_misfit").fill_null(False),
        has_unknown_type=~pl.col("value_type").is_in(_KNOWN_TYPES).fill_null(True),
    )


def _schemas(
    open_keys: pl.DataFrame, read: ReadCalls, tool_parameters: pl.DataFrame
) -> pl.DataFrame:
    """The schema of each key of each answer, from the called tools in order.

    The type is that of the first tool that gives the key one, so is the pattern; an enum may be
    that of any.
    """
    answers = open_keys.select("language", calls_id="used_id").unique()
    cards = _cards_of(answers["language"].unique(), tool_parameters)
    names = read.names.unique("calls_id", keep="last", maintain_order=True)
    return (
        answers.join(names.select("calls_id", "names"), on="calls_id")
        .with_columns(name_order=pl.int_ranges(pl.col("names").list.len()))
        .explode("names", "name_order")
        .join(cards, left_on=["language", "names"], right_on=["language", "tool"])
        .sort("name_order", "is_of_another", "tool_order")
        .group_by("language", "argument_key", used_id="calls_id", maintain_order=True)
        .agg(
            pl.col("value_type", "pattern").drop_nulls().first(),
            pl.col("has_enum").any(),
        )
    )


def _cards_of(languages: pl.Series, tool_parameters: pl.DataFrame) -> pl.DataFrame:
    """The parameters for each language: a card of an unknown language is for all of them.

    Where the language of the answers is unknown, all cards are.
    """
    card, answers = pl.col("card_language"), pl.col("language")
    return (
        tool_parameters.rename({"language": "card_language"})
        .join(languages.to_frame(), how="cross")
        .filter((card == answers) | (card == UNKNOWN_LANGUAGE) | (answers == UNKNOWN_LANGUAGE))
        .with_columns(is_of_another=card != answers)
    )


def _misfits(texts: pl.DataFrame) -> pl.DataFrame:
    """The rows whose text is not of the type, or does not match the pattern from its start.

    Patterns are tried in linear time, whatever the text; one with look-around, which that engine
    does not know, is left to Python. A doubled backslash counts as one, as cards often have it.
    """
    texts = texts.with_columns(pl.col("pattern").str.replace_all("\\\\", "\\", literal=True))
    text, pattern = pl.col("text"), pl.format("^(?:{})", "pattern")
    is_integer = text.str.contains(_INTEGER) & (text.str.count_matches(r"\d") <= _MOST_DIGITS)
    is_typed = (pl.col("value_type") != "integer").fill_null(True) | is_integer
    # In Python, `$` also matches before a last line break.
    matches = text.str.contains(pattern, strict=False) | text.str.strip_suffix("\n").str.contains(
        pattern, strict=False
    )
    tried = texts.with_columns(fits=is_typed & (pl.col("pattern").is_null() | matches))
    left = tried.filter(pl.col("fits").is_null()).select("pattern", "text").unique()
    by_python = left.with_columns(
        fits_python=pl.Series([_matches(*row) for row in left.iter_rows()], dtype=pl.Boolean)
    )
    return tried.join(by_python, on=["pattern", "text"], how="left").filter(
        ~pl.coalesce("fits", "fits_python")
    )


def _matches(pattern: str, text: str) -> bool:
    try:
        return len(text) <= _LONGEST_BACKTRACKED and re.match(pattern, text) is not None
    except re.error:
        return True
