"""Reading contents: mostly a text; a list of parts; or something that is not a text at all."""

from __future__ import annotations

from typing import Any

import polars as pl

from orchbench_analytics.score.steps.read_calls import REJECTION_TYPES
from orchbench_analytics.score.steps.values import decode_json
from orchbench_analytics.score.steps.written_calls import calls_in_text
from orchbench_analytics.texts import clean_text


def read_contents(steps: pl.DataFrame) -> pl.DataFrame:
    """Add each answer's text, the calls written in it, and the marker that is one of its parts.

    Each distinct content is read once. A list is read as its text parts joined; an object, a number
    or a boolean is not a text.
    """
    parts = _read_parts(steps)
    kind, content = pl.col("content_kind"), pl.col("answer_content")
    texts = steps.join(
        parts, on=["content_kind", "answer_content"], how="left", maintain_order="left"
    ).with_columns(answer_text=pl.when(kind == "text").then(content).otherwise("joined_text"))
    written = _calls_written_as_text(texts["answer_text"])
    return texts.join(written, on="answer_text", how="left", maintain_order="left")


def join_parts(parts: list[Any]) -> str:
    """The texts among the parts of a content, one after the other: plain, or under `text`."""
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return clean_text("".join(text for text in texts if isinstance(text, str)))


def _read_parts(steps: pl.DataFrame) -> pl.DataFrame:
    """For each distinct list or object: its joined text, and the rejection type among its parts."""
    given = (
        steps.filter(pl.col("content_kind").is_in(["list", "object"]))
        .select("content_kind", "answer_content")
        .unique(maintain_order=True)
    )
    values = [_decoded(content) for content in given["answer_content"]]
    joined = [join_parts(value) if isinstance(value, list) else None for value in values]
    markers = [next((m for m in REJECTION_TYPES if m in value), None) for value in values]
    return given.with_columns(
        joined_text=pl.Series(joined, dtype=pl.String),
        marker_part=pl.Series(markers, dtype=pl.String),
    )


def _decoded(content: str) -> Any:
    try:
        return decode_json(content)
    except ValueError:  # nested too deep
        return []


def _calls_written_as_text(texts: pl.Series) -> pl.DataFrame:
    """For each distinct text that may hold a call: the call it is, if it is one."""
    distinct = texts.drop_nulls().unique(maintain_order=True)
    candidates = distinct.filter(distinct.str.contains("{", literal=True))
    written = [calls_in_text(text) for text in candidates]
    return pl.DataFrame(
        {"answer_text": candidates, "written_calls": pl.Series(written, dtype=pl.String)}
    ).drop_nulls()
