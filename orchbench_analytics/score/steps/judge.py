"""The judge: which keys go to it, and what its verdicts replace."""

from __future__ import annotations

import re

import polars as pl

from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.steps.arguments import PAIR
from orchbench_analytics.score.steps.observe import RUN_COLUMNS, ReadCalls
from orchbench_analytics.score.steps.read_calls import decode_json, texts_of
from orchbench_analytics.texts import compact_json

_NEVER_JUDGED_TYPES = ("number", "boolean", "array", "object")
_INTEGER = r"^\s*[+-]?\d(?:_?\d)*\s*$"  # what Python's int() takes …
_MOST_DIGITS = 4_300  # … and how much of it
_LONGEST_BACKTRACKED = 200  # a text that Python's own regular expressions are tried on
_COMPARED_KEY = (*PAIR, "only_under", "argument_key")
_VERDICT_KEY = (*RUN_COLUMNS, "judge_index", "argument_key")
_COUNTS = ("true_positive_count", "false_positive_count", "false_negative_count")


def mark_judgeable(
    compared: pl.DataFrame, read: ReadCalls, tool_parameters: pl.DataFrame
) -> pl.DataFrame:
    """Add `is_judgeable`: values unmatched on both sides, and the tool's schema settles nothing."""
    is_open = (
        pl.col("is_shared")
        & (pl.col("false_positive_count") > 0)
        & (pl.col("false_negative_count") > 0)
    )
    settled = _settled_by_schema(compared.filter(is_open), read, tool_parameters)
    return (
        compared.join(
            settled, on=_COMPARED_KEY, how="left", nulls_equal=True, maintain_order="left"
        )
        .with_columns(is_judgeable=is_open & pl.col("is_settled").is_null())
        .drop("is_settled", "answer_texts")
    )


def read_verdicts(judgements: pl.DataFrame) -> pl.DataFrame:
    """Usable verdicts by step and key, with the values they are about as they are compared."""
    usable = judgements.filter(pl.col("is_usable"))
    values = {
        given: _compared_values(given)
        for column in ("answer_values", "label_values")
        for given in usable[column].drop_nulls().unique()
    }

    def compared(column: str) -> pl.Expr:
        return pl.col(column).replace_strict(values, default=None, return_dtype=pl.String)

    return (
        usable.rename({"call_index": "judge_index"})
        .select(
            *_VERDICT_KEY,
            judged_answer=compared("answer_values"),
            judged_label=compared("label_values"),
            **{f"verdict_{name}": pl.col(name) for name in _COUNTS},
        )
        .unique(_VERDICT_KEY, keep="first", maintain_order=True)
    )


def apply_verdicts(
    arguments: pl.DataFrame, verdicts: pl.DataFrame, profile: Profile
) -> pl.DataFrame:
    """Replace counts of judgeable keys by verdicts, as the profile says; add `decided_by`."""
    judged = arguments.join(verdicts, on=_VERDICT_KEY, how="left", maintain_order="left")
    has_verdict = pl.col("is_judgeable") & pl.col("verdict_true_positive_count").is_not_null()
    if profile.verdict_match == "verified":
        has_verdict &= (pl.col("judged_answer") == pl.col("answer_values")) & (
            pl.col("judged_label") == pl.col("label_values")
        )
    has_verdict = has_verdict.fill_null(False)
    verdict = {name: pl.col(f"verdict_{name}") for name in _COUNTS}
    compared = {name: pl.col(name) for name in _COUNTS}
    if profile.verdict == "replaces_unmatched":
        verdict["true_positive_count"] += compared["true_positive_count"]
    else:
        compared["true_positive_count"] = (
            pl.when(pl.col("is_judgeable")).then(0).otherwise(pl.col("true_positive_count"))
        )
    return judged.with_columns(
        decided_by=pl.when(has_verdict).then(pl.lit("judge")).otherwise(pl.lit("compared")),
        **{
            name: pl.when(has_verdict).then(verdict[name]).otherwise(compared[name])
            for name in _COUNTS
        },
    )


def _compared_values(given: str) -> str:
    """A JSON list of values as the JSON list of their comparable texts."""
    try:
        return compact_json(texts_of(decode_json(given)))
    except ValueError:  # nested too deep
        return compact_json([])


def _settled_by_schema(
    open_keys: pl.DataFrame, read: ReadCalls, tool_parameters: pl.DataFrame
) -> pl.DataFrame:
    """The keys among `open_keys` that never go to the judge, by the schema of the called tool."""
    known = open_keys.join(
        _schemas(open_keys, read, tool_parameters), on=["language", "used_id", "argument_key"]
    )
    texts = known.select(*_COMPARED_KEY, "value_type", "pattern", text="answer_texts").explode(
        "text"
    )
    misfits = _misfits(texts).select(_COMPARED_KEY)
    is_enum_settled = pl.col("has_enum") & (
        pl.col("false_positive_count") == pl.col("false_negative_count")
    )
    by_schema = known.filter(
        pl.col("value_type").is_in(_NEVER_JUDGED_TYPES).fill_null(False) | is_enum_settled
    )
    return (
        pl.concat([misfits, by_schema.select(_COMPARED_KEY)])
        .unique()
        .with_columns(is_settled=pl.lit(True))
    )


def _schemas(
    open_keys: pl.DataFrame, read: ReadCalls, tool_parameters: pl.DataFrame
) -> pl.DataFrame:
    """The schema of each key of each answer: that of the first called tool that has the key."""
    answers = open_keys.select("language", calls_id="used_id").unique()
    return (
        answers.join(read.calls.select("calls_id", "names"), on="calls_id")
        .with_columns(name_order=pl.int_ranges(pl.col("names").list.len()))
        .explode("names", "name_order")
        .join(tool_parameters, left_on=["language", "names"], right_on=["language", "tool"])
        .sort("name_order", "tool_order")
        .unique(["language", "calls_id", "argument_key"], keep="first", maintain_order=True)
        .select("language", "argument_key", "value_type", "has_enum", "pattern", used_id="calls_id")
    )


def _misfits(texts: pl.DataFrame) -> pl.DataFrame:
    """The rows whose text is not of the type, or does not match the pattern from its start.

    Patterns are tried in linear time, whatever the text; one with look-around, which that engine
    does not know, is left to Python.
    """
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
