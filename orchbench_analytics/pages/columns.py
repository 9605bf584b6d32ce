"""Frames as the page reads them: JSON by columns, texts by number, packed with gzip."""

from __future__ import annotations

import base64
import gzip
from math import isfinite
from typing import Any

import msgspec
import polars as pl
import polars.selectors as cs

# The page shows four digits. Ties apart, seven are enough to round a figure to the same four.
_DIGITS = 7
_LEVEL = 7  # 9 takes four times as long and saves three hundredths


def columns_of(frame: pl.DataFrame, *, is_exact: bool = False) -> dict[str, Any]:
    """A frame as `{"count": rows, "columns": {name: column}}`.

    A column of texts is `{"words": distinct texts, "codes": their numbers, -1 for null}`; any
    other column is `{"values": numbers or null}`, with 1 and 0 for true and false. Figures are
    rounded, unless they have to be exact.
    """
    numbers = frame.select(~cs.string()).with_columns(cs.boolean().cast(pl.Int8))
    if not is_exact:
        numbers = numbers.with_columns(cs.float().round(_DIGITS))
    columns = {name: {"values": _values(numbers[name])} for name in numbers.columns} | {
        series.name: _words(series.to_list()) for series in frame.select(cs.string())
    }
    return {"count": len(frame), "columns": {name: columns[name] for name in frame.columns}}


def _words(texts: list[str | None]) -> dict[str, Any]:
    """Distinct texts in order of appearance, which compresses well, and the code of each text."""
    words = [text for text in dict.fromkeys(texts) if text is not None]
    codes = {word: code for code, word in enumerate(words)}
    return {"words": words, "codes": [-1 if text is None else codes[text] for text in texts]}


def _values(series: pl.Series) -> list[Any]:
    """The values as JSON writes them shortest: a whole number has no point; null if not finite."""
    if not series.dtype.is_float():
        return series.to_list()
    return [_short(value) for value in series.to_list()]


def _short(value: float | None) -> float | int | None:
    if value is None or not isfinite(value):
        return None
    return int(value) if value == int(value) else value


def packed(value: object) -> str:
    """A value as JSON, gzip and base64: letters, digits and `+/=`, inert in any page."""
    data = gzip.compress(msgspec.json.encode(value), _LEVEL, mtime=0)
    return base64.b64encode(data).decode("ascii")
