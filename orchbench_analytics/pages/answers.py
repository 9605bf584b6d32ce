"""Texts of a shard: labels as numbers, answers cut at a limit, calls as how they differ."""

from __future__ import annotations

from typing import NamedTuple

import polars as pl

_LABELS = ("label_content", "label_calls")
_ANSWERS = ("answer_content", "answer_calls")


class Difference(NamedTuple):
    """How much of a label an answer begins and ends with, in UTF-16, and what is between."""

    start: int
    end: int
    middle: str


def difference(answer: str, label: str) -> Difference:
    """The answer as the beginning of the label, a text of its own, and the end of the label."""
    if answer == label:
        return Difference(_units(label), 0, "")
    start = _common_length(answer, label)
    rest, label_rest = answer[start:], label[start:]
    end = _common_length(rest[::-1], label_rest[::-1])
    middle = answer[start : len(answer) - end]
    return Difference(_units(label[:start]), _units(label[len(label) - end :]), middle)


def with_texts(rows: pl.DataFrame, labels: pl.DataFrame, *, answer_limit: int) -> pl.DataFrame:
    """Rows with numbers for labels; answers cut at the limit; calls by how they differ.

    Beside an answer that was cut stands its length.
    """
    answers = [name for name in _ANSWERS if name in rows.columns]
    length = {name: pl.col(name).str.len_chars() for name in answers}
    found = rows.with_columns(
        *(pl.col(name).str.slice(0, answer_limit) for name in answers),
        *(
            pl.when(length[name] > answer_limit).then(length[name]).alias(f"{name}_length")
            for name in answers
        ),
    )
    if "answer_calls" in answers:
        found = found.with_columns(_differences(found["answer_calls"], found["label_calls"]))
    columns = [name for name in _LABELS if name in rows.columns]
    return found.with_columns(numbers_of(rows[name], labels) for name in columns)


def numbers_of(texts: pl.Series, labels: pl.DataFrame) -> pl.Series:
    """The numbers of labels' texts."""
    found = texts.to_frame("text").join(labels, on="text", how="left", maintain_order="left")
    return found["number"].alias(texts.name)


def _differences(answers: pl.Series, labels: pl.Series) -> list[pl.Series]:
    """The parts of each answer; without a label or an answer there is nothing to share."""
    pairs = pl.DataFrame({"answer": answers, "label": labels})
    distinct = pairs.unique(maintain_order=True)
    found = [
        (None, None, answer) if answer is None or label is None else difference(answer, label)
        for answer, label in distinct.iter_rows()
    ]
    schema = {
        "answer_calls_start": pl.Int64,
        "answer_calls_end": pl.Int64,
        "answer_calls": pl.String,
    }
    parts = distinct.hstack(pl.DataFrame(found, schema=schema, orient="row"))
    keys = ["answer", "label"]
    told = pairs.join(parts, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return told.select(*schema).get_columns()


def _common_length(first: str, second: str) -> int:
    """With how many equal characters both texts begin."""
    pairs = enumerate(zip(first, second, strict=False))
    shortest = min(len(first), len(second))
    return next((place for place, (one, other) in pairs if one != other), shortest)


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
