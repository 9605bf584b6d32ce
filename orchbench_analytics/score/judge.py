"""The judge: which keys go to it, and what its verdicts replace."""

from __future__ import annotations

import re

import polars as pl

from orchbench_analytics.profiles import Profile
from orchbench_analytics.score.calls import decode_json, texts_of
from orchbench_analytics.score.compare import PAIR
from orchbench_analytics.score.facts import RUN_COLUMNS, ReadCalls

_NEVER_JUDGED_TYPES = ("number", "boolean", "array", "object")
_LONGEST_MATCHED = 10_000  # a pattern is never tried on more than this of a model's text
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
        compared.join(settled, on=[*PAIR, "argument_key"], how="left")
        .with_columns(is_judgeable=is_open & pl.col("is_settled").is_null())
        .drop("is_settled")
    )


def read_verdicts(judgements: pl.DataFrame) -> pl.DataFrame:
    """Usable verdicts by step and key, with the values they are about as comparable texts."""
    usable = judgements.filter(pl.col("is_usable"))
    texts = {
        text: texts_of(decode_json(text))
        for column in ("answer_values", "label_values")
        for text in usable[column].drop_nulls().unique()
    }
    known = pl.DataFrame(
        {"text": list(texts), "texts": list(texts.values())},
        schema={"text": pl.String, "texts": pl.List(pl.String)},
    )
    return (
        usable.rename({"call_index": "judge_index"})
        .join(known, left_on="answer_values", right_on="text", how="left")
        .join(known, left_on="label_values", right_on="text", how="left", suffix="_label")
        .select(
            *_VERDICT_KEY,
            judged_answer=pl.col("texts").cast(pl.List(pl.String)),
            judged_label=pl.col("texts_label").cast(pl.List(pl.String)),
            **{f"verdict_{name}": pl.col(name) for name in _COUNTS},
        )
        .unique(_VERDICT_KEY, keep="first", maintain_order=True)
    )


def apply_verdicts(
    arguments: pl.DataFrame, verdicts: pl.DataFrame, profile: Profile
) -> pl.DataFrame:
    """Replace counts of judgeable keys by verdicts, as the profile says; add `decided_by`."""
    judged = arguments.join(verdicts, on=_VERDICT_KEY, how="left")
    has_verdict = pl.col("is_judgeable") & pl.col("verdict_true_positive_count").is_not_null()
    if profile.verdict_match == "verified":
        has_verdict &= (pl.col("judged_answer") == pl.col("answer_texts")) & (
            pl.col("judged_label") == pl.col("label_texts")
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


def _settled_by_schema(
    open_keys: pl.DataFrame, read: ReadCalls, tool_parameters: pl.DataFrame
) -> pl.DataFrame:
    """The keys among `open_keys` that never go to the judge, by the schema of the called tool."""
    schemas = (
        open_keys.select(*PAIR, "argument_key")
        .join(read.calls.select("calls_id", "names"), left_on="used_id", right_on="calls_id")
        .with_columns(name_order=pl.int_ranges(pl.col("names").list.len()))
        .explode("names", "name_order")
        .join(
            tool_parameters.sort("tool_order"),
            left_on=["language", "names", "argument_key"],
            right_on=["language", "tool", "argument_key"],
        )
        .sort("name_order", "tool_order")
        .unique([*PAIR, "argument_key"], keep="first", maintain_order=True)
    )
    known = open_keys.join(
        schemas.select(*PAIR, "argument_key", "value_type", "has_enum", "pattern"),
        on=[*PAIR, "argument_key"],
    )
    texts = known.select("value_type", "pattern", "answer_texts").explode("answer_texts").unique()
    misfits = [
        text
        for text in texts.iter_rows()
        if not _fits(value_type=text[0], pattern=text[1], text=text[2])
    ]
    misfit_frame = pl.DataFrame(
        misfits,
        schema={"value_type": pl.String, "pattern": pl.String, "answer_texts": pl.String},
        orient="row",
    ).with_columns(is_misfit=pl.lit(True))
    has_misfit = (
        known.select(*PAIR, "argument_key", "value_type", "pattern", "answer_texts")
        .explode("answer_texts")
        .join(misfit_frame, on=["value_type", "pattern", "answer_texts"], nulls_equal=True)
        .select(*PAIR, "argument_key", is_misfit=pl.lit(True))
        .unique()
    )
    return (
        known.join(has_misfit, on=[*PAIR, "argument_key"], how="left")
        .filter(
            pl.col("value_type").is_in(_NEVER_JUDGED_TYPES).fill_null(False)
            | pl.col("is_misfit").fill_null(False)
            | (
                pl.col("has_enum")
                & (pl.col("false_positive_count") == pl.col("false_negative_count"))
            )
        )
        .select(*PAIR, "argument_key", is_settled=pl.lit(True))
    )


def _fits(*, value_type: str | None, pattern: str | None, text: str) -> bool:
    if value_type == "integer":
        try:
            int(text)
        except ValueError:
            return False
    if pattern is None:
        return True
    try:
        return len(text) <= _LONGEST_MATCHED and re.match(pattern, text) is not None
    except re.error:
        return True
