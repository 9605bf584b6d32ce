"""Reading contents: mostly a text; a list of parts; or something that is not a text at all."""

from __future__ import annotations

import polars as pl

from orchbench_analytics.score.steps.read_calls import REJECTION_TYPES
from orchbench_analytics.score.steps.written_calls import calls_in_text
from orchbench_analytics.score.values import join_parts, read_parts


def read_contents(steps: pl.DataFrame) -> pl.DataFrame:
    """Add each answer's text, the calls written in it, and the marker that is one of its parts.

    Each distinct content is read once. A list is read as its text parts joined; an object, a number
    or a boolean is not a text.
    """
    kind, content = pl.col("content_kind"), pl.col("answer_content")
    texts = steps.join(
        _read_parts(steps), on="row", how="left", maintain_order="left"
    ).with_columns(answer_text=pl.when(kind == "text").then(content).otherwise("joined_text"))
    written = _calls_written_as_text(texts["answer_text"])
    return texts.join(written, on="answer_text", how="left", maintain_order="left")


def _read_parts(steps: pl.DataFrame) -> pl.DataFrame:
    """For each list or object: its joined text, and the rejection type among its parts."""
    given = steps.filter(pl.col("content_kind").is_in(["list", "object"]))
    read = {content: _parts_read(content) for content in given["answer_content"].unique()}
    parts = [read[content] for content in given["answer_content"]]
    return given.select(
        "row",
        joined_text=pl.Series([text for text, _ in parts], dtype=pl.String),
        marker_part=pl.Series([marker for _, marker in parts], dtype=pl.String),
    )


def _parts_read(content: str) -> tuple[str | None, str | None]:
    parts = read_parts(content)
    marker = next((marker for marker in REJECTION_TYPES if marker in parts), None)
    return join_parts(parts), marker


def _calls_written_as_text(texts: pl.Series) -> pl.DataFrame:
    """For each distinct text that may hold a call: the call it is, if it is one."""
    distinct = texts.drop_nulls().unique(maintain_order=True)
    candidates = distinct.filter(distinct.str.contains("{", literal=True))
    written = [calls_in_text(text) for text in candidates]
    return pl.DataFrame(
        {"answer_text": candidates, "written_calls": pl.Series(written, dtype=pl.String)}
    ).drop_nulls()
