"""What holds of steps under any profile: calls as read, markers, places in the judge's log."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import polars as pl
from polars._typing import PolarsDataType

from orchbench_analytics.score.steps.read_calls import REJECTION_TYPES, calls_in_text, read_calls
from orchbench_analytics.tables import STEP_KEY
from orchbench_analytics.texts import compact_json

NO_CALLS = "[]"
NO_CALLS_ID = pl.lit(0, dtype=pl.UInt32)
RUN_COLUMNS = ("model", "experiment", "language", "scenario", "run")

_TEXTS = pl.List(pl.String)  # as JSON until the frame is made: polars is slow to take lists
_CALLS_SCHEMA: dict[str, PolarsDataType] = {
    "calls_text": pl.String,
    "calls_id": pl.UInt32,
    "call_count": pl.Int64,
    "names": pl.String,
    "tools": pl.String,
    "rejection_key": pl.String,
    "has_placeholder": pl.Boolean,
    "has_invalid_arguments": pl.Boolean,
    "is_malformed": pl.Boolean,
    "voids_file": pl.Boolean,
}
_ARGUMENTS_SCHEMA: dict[str, PolarsDataType] = {
    "calls_id": pl.UInt32,
    "argument_key": pl.String,
    "values_json": pl.String,
    "one_sided_count": pl.Int64,
    "only_under": pl.String,
}


_FACTS = (
    "row", *(column.name for column in STEP_KEY), "has_label", "label_agent_id", "label_id",
    "label_tools", "label_type", "is_call_labelled", "is_unusable_label", "is_answered",
    "answer_position", "answer_number", "answer_agent_id", "answer_id", "answer_tools",
    "answer_call_count", "answer_rejection_key", "answer_is_malformed", "voids_file", "text_kind",
    "marker_after_thinking", "marker_anywhere", "written_id", "written_tools",
    "written_is_malformed", "judge_index",
)  # fmt: skip


class ReadCalls(NamedTuple):
    """Distinct texts of calls, each read once: one row per text, and one per argument key of it."""

    calls: pl.DataFrame
    arguments: pl.DataFrame


class StepFacts(NamedTuple):
    """What holds of steps under any profile, and the calls they refer to."""

    steps: pl.DataFrame
    read: ReadCalls


def step_facts(steps: pl.DataFrame) -> StepFacts:
    """For each step: ids of its calls, rejection markers, defects, its place in the judge's log.

    The texts themselves are left behind: from here on, ids stand for them.
    """
    written = _calls_written_as_text(steps)
    steps = steps.with_row_index("row").join(
        written, on="answer_content", how="left", maintain_order="left"
    )
    texts = pl.concat(
        [
            pl.Series([NO_CALLS]),
            *(
                steps[name].drop_nulls()
                for name in ("label_calls", "answer_calls", "written_calls")
            ),
        ]
    ).unique(maintain_order=True)
    read = read_distinct_calls(texts)
    facts = (
        steps.lazy()
        .with_columns(pl.col("label_calls", "answer_calls").fill_null(NO_CALLS))
        .join(_side(read.calls, "label"), on="label_calls", how="left", maintain_order="left")
        .join(_side(read.calls, "answer"), on="answer_calls", how="left", maintain_order="left")
        .join(_side(read.calls, "written"), on="written_calls", how="left", maintain_order="left")
        .with_columns(
            after_thinking=pl.col("answer_content").str.replace(r"(?s)^.*</think>", ""),
            is_answered=pl.col("answer_position").is_not_null(),
        )
        .with_columns(
            label_type=_marker("label_content"),
            marker_after_thinking=_marker("after_thinking"),
            marker_anywhere=_marker("answer_content"),
            text_kind=_text_kind(),
            is_call_labelled=pl.col("label_call_count") > 0,
            is_unusable_label=(pl.col("has_call_key") & (pl.col("label_call_count") == 0))
            | pl.col("label_has_placeholder"),
            voids_file=pl.col("is_answered")
            & (
                pl.col("answer_voids_file")
                | ((pl.col("answer_call_count") == 0) & pl.col("answer_content").is_null())
            ),
        )
        .with_columns(judge_index=_judge_index())
        .select(_FACTS)
        .collect(engine="in-memory")
    )
    return StepFacts(facts, read)


def read_distinct_calls(texts: Iterable[str]) -> ReadCalls:
    """Read each text of calls once; the text of no calls has id 0."""
    calls: list[tuple[Any, ...]] = []
    arguments: list[tuple[Any, ...]] = []
    for calls_id, text in enumerate(texts):
        read = read_calls(text)
        tools = compact_json(sorted(read.names)) if read.names else None
        names = compact_json(read.names)
        calls.append((text, calls_id, read.call_count, names, tools, *read[3:]))
        arguments += [
            (calls_id, a.key, compact_json(a.values), a.one_sided_count, a.only_under)
            for a in read.arguments
        ]
    return ReadCalls(
        _frame(calls, _CALLS_SCHEMA).with_columns(pl.col("names").str.json_decode(_TEXTS)),
        _frame(arguments, _ARGUMENTS_SCHEMA).with_columns(
            values=pl.col("values_json").str.json_decode(_TEXTS)
        ),
    )


def _frame(rows: list[tuple[Any, ...]], schema: dict[str, PolarsDataType]) -> pl.DataFrame:
    """Rows as a frame, column by column, which is twice as fast as row by row."""
    return pl.DataFrame(list(zip(*rows, strict=True)), schema=schema)


def _calls_written_as_text(steps: pl.DataFrame) -> pl.DataFrame:
    """For each distinct content that may hold a call: the call it is, if it is one."""
    contents = steps["answer_content"].drop_nulls().unique(maintain_order=True)
    candidates = contents.filter(contents.str.contains("{", literal=True))
    written = [calls_in_text(content) for content in candidates]
    return pl.DataFrame(
        {"answer_content": candidates, "written_calls": pl.Series(written, dtype=pl.String)}
    ).drop_nulls()


def _side(calls: pl.DataFrame, side: str) -> pl.LazyFrame:
    """The calls' columns, named for the side of the step they are joined to."""
    return (
        calls.lazy()
        .drop("names")
        .rename({name: f"{side}_{name}" for name in calls.columns if name != "names"})
        .rename({f"{side}_calls_text": f"{side}_calls", f"{side}_calls_id": f"{side}_id"})
    )


def _marker(column: str) -> pl.Expr:
    """The first rejection type that the text names; null if none."""
    return pl.coalesce(
        pl.when(pl.col(column).str.contains(kind, literal=True)).then(pl.lit(kind))
        for kind in REJECTION_TYPES
    )


def _text_kind() -> pl.Expr:
    """What the text after thinking is, where it is no call: empty, malformed (braces), or text."""
    text = pl.col("after_thinking")
    is_empty = text.is_null() | (text.str.strip_chars() == "")
    has_brace = text.str.contains("{", literal=True)
    kind = pl.when(has_brace).then(pl.lit("malformed")).otherwise(pl.lit("text"))
    return pl.when(is_empty).then(pl.lit("empty")).otherwise(kind)


def _judge_index() -> pl.Expr:
    """The place of a call among those the judge's log numbers: labelled calls not rejected.

    The log was written by the public evaluator, so its rules of what is a rejection apply here,
    whatever the profile.
    """
    is_rejected = pl.col("answer_rejection_key").is_not_null() | (
        (pl.col("answer_call_count") == 0) & pl.col("marker_anywhere").is_not_null()
    )
    is_numbered = pl.col("is_call_labelled") & pl.col("is_answered") & ~is_rejected
    place = is_numbered.cum_sum().over(RUN_COLUMNS, order_by="answer_position") - 1
    return pl.when(is_numbered).then(place.cast(pl.Int64))
