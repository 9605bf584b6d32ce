"""What holds of steps under any profile: calls as read, markers, places in the judge's log."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import polars as pl
from polars._typing import PolarsDataType

from orchbench_analytics.score.steps.read_calls import REJECTION_TYPES, read_calls, read_contents
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
    "tools": pl.String,
    "rejection_key": pl.String,
    "has_placeholder": pl.Boolean,
    "has_list_name": pl.Boolean,
    "is_malformed": pl.Boolean,
    "voids_file": pl.Boolean,
}
_NAMES_SCHEMA: dict[str, PolarsDataType] = {
    "calls_id": pl.UInt32,
    "reading": pl.String,
    "names": pl.String,
}
_ARGUMENTS_SCHEMA: dict[str, PolarsDataType] = {
    "calls_id": pl.UInt32,
    "reading": pl.String,
    "argument_key": pl.String,
    "values_json": pl.String,
    "one_sided_count": pl.Int64,
}
_VOID_CONTENTS = ("null", "number", "boolean")  # where there is no call either
_VOID_STEPS = ("absent", "list", "object", "no_object")


_FACTS = (
    "row", *(column.name for column in STEP_KEY), "step_key", "has_label", "label_agent_id",
    "label_id", "label_tools", "label_type", "is_call_labelled", "has_gold_call",
    "is_unusable_label", "run_position", "is_answered", "answer_position", "answer_number",
    "answer_agent_id", "answer_id", "answer_tools", "answer_call_count", "answer_rejection_key",
    "answer_has_list_name", "answer_is_malformed", "voids_file", "text_kind", "is_in_parts",
    "marker_after_thinking", "marker_anywhere", "marker_part", "written_id", "written_tools",
    "written_is_malformed", "judge_index",
)  # fmt: skip


class ReadCalls(NamedTuple):
    """Distinct texts of calls, each read once: a row per text, per reading, and per key of one."""

    calls: pl.DataFrame
    names: pl.DataFrame
    arguments: pl.DataFrame


class StepFacts(NamedTuple):
    """What holds of steps under any profile, and the calls they refer to."""

    steps: pl.DataFrame
    read: ReadCalls


def step_facts(steps: pl.DataFrame) -> StepFacts:
    """For each step: ids of its calls, rejection markers, defects, its place in the judge's log.

    The texts themselves are left behind: from here on, ids stand for them.
    """
    steps = read_contents(steps.with_row_index("row"))
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
        .with_columns(is_call_labelled=_is_list("label_calls"))
        .with_columns(pl.col("label_calls", "answer_calls").fill_null(NO_CALLS))
        .join(_side(read.calls, "label"), on="label_calls", how="left", maintain_order="left")
        .join(_side(read.calls, "answer"), on="answer_calls", how="left", maintain_order="left")
        .join(_side(read.calls, "written"), on="written_calls", how="left", maintain_order="left")
        .with_columns(
            after_thinking=pl.col("answer_text").str.replace(r"(?s)^.*</think>", ""),
            is_answered=pl.col("answer_position").is_not_null(),
            has_gold_call=pl.col("label_call_count") > 0,
        )
        .with_columns(
            label_type=_marker("label_content"),
            marker_after_thinking=_marker("after_thinking"),
            marker_anywhere=_marker("answer_text"),
            text_kind=_text_kind(),
            is_in_parts=pl.col("content_kind").is_in(["list", "object"]).fill_null(False),
            is_unusable_label=(pl.col("has_call_key") & ~pl.col("has_gold_call"))
            | pl.col("label_has_placeholder"),
            voids_file=_voids_file(),
        )
        .with_columns(judge_index=_judge_index())
        .select(_FACTS)
        .collect(engine="in-memory")
    )
    return StepFacts(facts, read)


def read_distinct_calls(texts: Iterable[str]) -> ReadCalls:
    """Read each text of calls once; the text of no calls has id 0."""
    calls: list[tuple[Any, ...]] = []
    names: list[tuple[Any, ...]] = []
    arguments: list[tuple[Any, ...]] = []
    for calls_id, text in enumerate(texts):
        read = read_calls(text)
        tools = compact_json(sorted(read.tools)) if read.tools else None
        calls.append((text, calls_id, read.call_count, tools, *read[2:-1]))
        for name, reading in read.readings.items():
            names.append((calls_id, name, compact_json(reading.names)))
            arguments += [
                (calls_id, name, a.key, compact_json(a.values), a.one_sided_count)
                for a in reading.arguments
            ]
    return ReadCalls(
        _frame(calls, _CALLS_SCHEMA),
        _frame(names, _NAMES_SCHEMA).with_columns(pl.col("names").str.json_decode(_TEXTS)),
        _frame(arguments, _ARGUMENTS_SCHEMA).with_columns(
            values=pl.col("values_json").str.json_decode(_TEXTS)
        ),
    )


def _frame(rows: list[tuple[Any, ...]], schema: dict[str, PolarsDataType]) -> pl.DataFrame:
    """Rows as a frame, column by column, which is twice as fast as row by row."""
    return pl.DataFrame(list(zip(*rows, strict=True)), schema=schema)


def _side(calls: pl.DataFrame, side: str) -> pl.LazyFrame:
    """The calls' columns, named for the side of the step they are joined to."""
    return (
        calls.lazy()
        .rename({name: f"{side}_{name}" for name in calls.columns})
        .rename({f"{side}_calls_text": f"{side}_calls", f"{side}_calls_id": f"{side}_id"})
    )


def _marker(column: str) -> pl.Expr:
    """The first rejection type that the text names; null if none."""
    return pl.coalesce(
        pl.when(pl.col(column).str.contains(kind, literal=True)).then(pl.lit(kind))
        for kind in REJECTION_TYPES
    )


def _text_kind() -> pl.Expr:
    """What the text after thinking is, where it is not a call: empty, malformed, or text."""
    text = pl.col("after_thinking")
    is_empty = text.is_null() | (text.str.strip_chars() == "")
    is_strange = pl.col("content_kind").is_in(["number", "boolean", "object"])
    is_malformed = text.str.contains("{", literal=True) | is_strange
    kind = pl.when(is_empty).then(pl.lit("empty")).otherwise(pl.lit("text"))
    return pl.when(is_malformed).then(pl.lit("malformed")).otherwise(kind)


def _is_list(column: str) -> pl.Expr:
    return pl.col(column).str.starts_with("[").fill_null(False)


def _voids_file() -> pl.Expr:
    """The answer, or the lack of a history, at which the public evaluator gives up on the file."""
    says_nothing = (pl.col("answer_call_count") == 0) & pl.col("content_kind").is_in(_VOID_CONTENTS)
    is_void = pl.col("answer_voids_file") | says_nothing | pl.col("step_kind").is_in(_VOID_STEPS)
    has_no_history = pl.col("step_kind").str.starts_with("history_")
    return pl.when("is_answered").then(is_void).otherwise(has_no_history).fill_null(False)


def _judge_index() -> pl.Expr:
    """The place of a call among those the judge's log numbers: labelled calls not rejected.

    The log was written by the public evaluator, so its rules of what is a rejection apply here,
    whatever the profile.
    """
    marker = pl.when("is_in_parts").then("marker_part").otherwise("marker_anywhere")
    is_rejected = pl.col("answer_rejection_key").is_not_null() | (
        (pl.col("answer_call_count") == 0) & marker.is_not_null()
    )
    is_numbered = pl.col("is_call_labelled") & pl.col("is_answered") & ~is_rejected
    place = is_numbered.cum_sum().over(RUN_COLUMNS, order_by="answer_position") - 1
    return pl.when(is_numbered).then(place.cast(pl.Int64))
