"""Texts of a shard: labels by number, and answers cut at a limit and told by what differs."""

from __future__ import annotations

from collections.abc import Mapping
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
    start = _common_length(answer, label)
    rest, label_rest = answer[start:], label[start:]
    end = _common_length(rest[::-1], label_rest[::-1])
    middle = answer[start : len(answer) - end]
    return Difference(_units(label[:start]), _units(label[len(label) - end :]), middle)


def with_texts(
    rows: pl.DataFrame, label_numbers: Mapping[str, int], *, answer_limit: int
) -> pl.DataFrame:
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
    labels = [name for name in _LABELS if name in rows.columns]
    return found.with_columns(numbers_of(rows[name], label_numbers) for name in labels)


def numbers_of(texts: pl.Series, numbers: Mapping[str, int]) -> pl.Series:
    """The numbers of labels' texts."""
    found = [None if text is None else numbers[text] for text in texts.to_list()]
    return pl.Series(texts.name, found, dtype=pl.Int64)


def _differences(answers: pl.Series, labels: pl.Series) -> list[pl.Series]:
    """The parts of each answer; without a label or an answer there is nothing to share."""
    pairs = zip(answers.to_list(), labels.to_list(), strict=True)
    found = [
        (None, None, answer) if answer is None or label is None else difference(answer, label)
        for answer, label in pairs
    ]
    starts, ends, middles = zip(*found, strict=True) if found else ((), (), ())
    return [
        pl.Series("answer_calls_start", starts, dtype=pl.Int64),
        pl.Series("answer_calls_end", ends, dtype=pl.Int64),
        pl.Series("answer_calls", middles, dtype=pl.String),
    ]


def _common_length(first: str, second: str) -> int:
    """With how many equal characters both texts begin."""
    pairs = enumerate(zip(first, second, strict=False))
    shortest = min(len(first), len(second))
    return next((place for place, (one, other) in pairs if one != other), shortest)


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
