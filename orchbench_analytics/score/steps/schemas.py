"""Tool schemas: which keys they settle, so that no judge is asked about them."""

from __future__ import annotations

import polars as pl

from orchbench_analytics.score.steps.arguments import PAIR
from orchbench_analytics.score.steps.observe import ReadCalls
from orchbench_analytics.score.steps.patterns import fit_patterns
from orchbench_analytics.tables import UNKNOWN_LANGUAGE

_NEVER_JUDGED_TYPES = ("number", "boolean", "array", "object")
_KNOWN_TYPES = (*_NEVER_JUDGED_TYPES, "string", "integer")
_INTEGER = r"^\s*[+-]?\d(?:_?\d)*\s*$"  # what Python's int() takes …
_MOST_DIGITS = 4_300  # … and how much of it
_COMPARED_KEY = (*PAIR, "reading", "argument_key")


def mark_judgeable(
    compared: pl.DataFrame, read: ReadCalls, tool_parameters: pl.DataFrame
) -> pl.DataFrame:
    """Add `is_judgeable`: values unmatched on both sides, and the tool's schema settles nothing.

    Add also `has_unknown_type`: such a key has a type that JSON Schema does not have; and
    `is_pattern_unchecked`: its pattern could not be tried in bounded time, and settles nothing.
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
            pl.col("has_unknown_type", "is_pattern_unchecked").fill_null(False),
            is_judgeable=is_open & ~pl.col("is_settled").fill_null(False),
        )
        .drop("is_settled", "unmatched_texts")
    )


def _checked(
    open_keys: pl.DataFrame, read: ReadCalls, tool_parameters: pl.DataFrame
) -> pl.DataFrame:
    """The keys among `open_keys` that a called tool has: is the key settled, its type unknown."""
    is_enum_settled = pl.col("has_enum") & (
        pl.col("false_positive_count") == pl.col("false_negative_count")
    )
    is_type_settled = pl.col("value_type").is_in(_NEVER_JUDGED_TYPES).fill_null(False)
    known = open_keys.join(
        _schemas(open_keys, read, tool_parameters), on=["language", "used_id", "argument_key"]
    ).with_columns(is_settled=is_type_settled | is_enum_settled)
    texts = known.filter(~pl.col("is_settled")).select(
        *_COMPARED_KEY, "value_type", "pattern", text="unmatched_texts"
    )
    fits = (
        _fits(texts.explode("text"))
        .group_by(_COMPARED_KEY)
        .agg(is_misfit=(~pl.col("fits")).any(), has_unchecked=pl.col("fits").is_null().any())
    )
    return (
        known.join(fits, on=_COMPARED_KEY, how="left", nulls_equal=True)
        .with_columns(pl.col("is_misfit", "has_unchecked").fill_null(False))
        .select(
            *_COMPARED_KEY,
            is_settled=pl.col("is_settled") | pl.col("is_misfit"),
            has_unknown_type=~pl.col("value_type").is_in(_KNOWN_TYPES).fill_null(True),
            is_pattern_unchecked=pl.col("has_unchecked") & ~pl.col("is_misfit"),
        )
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


def _fits(texts: pl.DataFrame) -> pl.DataFrame:
    """Add `fits`: the text is of the type and matches the pattern; null where none can tell.

    A doubled backslash in a pattern counts as one, as cards often have it.
    """
    text, pattern = pl.col("text"), pl.col("pattern")
    is_integer = text.str.contains(_INTEGER) & (text.str.count_matches(r"\d") <= _MOST_DIGITS)
    is_typed = (pl.col("value_type") != "integer").fill_null(True) | is_integer
    texts = texts.with_columns(pattern.str.replace_all("\\\\", "\\", literal=True))
    asked = texts.filter(is_typed & pattern.is_not_null())
    matched = fit_patterns(asked).rename({"fits": "is_matching"})
    return texts.join(matched, on=["pattern", "text"], how="left").with_columns(
        fits=is_typed & (pattern.is_null() | pl.col("is_matching"))
    )
