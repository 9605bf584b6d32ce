"""Frames as the page reads them: JSON by columns with their labels, packed with gzip."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec
import polars as pl
import polars.selectors as cs

from orchbench_analytics.outputs.paper import kind_of
from orchbench_analytics.queries import described_columns, shown_as
from orchbench_analytics.schema import Table
from orchbench_analytics.tables.statistics import STATISTICS

# The page shows four digits. Ties apart, seven are enough to round a figure to the same four.
_DIGITS = 7
_LEVEL = 4  # 9 takes six times as long and saves a twentieth
# Columns that only the page has.
_OWN = {
    "is_hard": "The mean score is below a half.",
    "is_contrary": "Models that do well elsewhere do worse here.",
    "outcome": "How the answer to the step or plan went.",
    "outcome_score": "What the answer scored, 0 to 1.",
    "error_pattern": "How the decision went wrong, if it did.",
    "is_unstable": "Not all runs decide this step alike.",
}


@cache
def heads() -> dict[str, dict[str, str]]:
    """Label and description of every column that a table, a view or a statistic has."""
    of_statistics = {
        column.name: column.description for table in STATISTICS for column in table.columns
    }
    described = of_statistics | described_columns() | _OWN
    return {name: _head(name, text) for name, text in described.items()}


def heads_of(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """The same of some columns; one without a description has a label alone."""
    return {name: heads().get(name) or _head(name, "") for name in names}


def columns_of(
    frame: pl.DataFrame, *, table: Table | None = None, is_exact: bool = False
) -> dict[str, Any]:
    """A frame as `{"count": rows, "columns": {name: column}}`.

    A column of texts is `{"words": distinct texts, "codes": their numbers, -1 for null}`; any
    other column is `{"values": numbers or null}`, with 1 and 0 for true and false. `show` says how
    its figures are written. Figures are rounded, unless they have to be exact. With a table, its
    descriptions of columns go along as `heads`.
    """
    numbers = frame.select(~cs.string()).with_columns(cs.boolean().cast(pl.Int8))
    if not is_exact:
        numbers = numbers.with_columns(cs.float().round(_DIGITS))
    columns: dict[str, Any] = {
        name: {"values": _values(numbers[name]), "show": kind_of(name, frame.schema[name])}
        for name in numbers.columns
    }
    columns |= {texts.name: _words(texts) for texts in frame.select(cs.string())}
    found = {"count": len(frame), "columns": {name: columns[name] for name in frame.columns}}
    if table is not None:
        found["heads"] = {c.name: _head(c.name, c.description) for c in table.columns}
    return found


def _head(name: str, description: str) -> dict[str, str]:
    label = shown_as(name).label
    return {"label": label[:1].upper() + label[1:], "title": description}


def _words(texts: pl.Series) -> dict[str, Any]:
    """Distinct texts in order of appearance, which compresses well, and the code of each text."""
    words = texts.drop_nulls().unique(maintain_order=True)
    coded = pl.DataFrame({"word": words}).with_row_index("code")
    rows = pl.DataFrame({"word": texts})
    codes = rows.join(coded, on="word", how="left", maintain_order="left")["code"]
    return {"words": words.to_list(), "codes": codes.cast(pl.Int64).fill_null(-1).to_list()}


def _values(numbers: pl.Series) -> list[Any]:
    """The values as JSON writes them shortest: a whole number has no point; null if not finite."""
    if not numbers.dtype.is_float():
        return numbers.to_list()
    finite = numbers.to_frame().select(pl.when(pl.all().is_finite()).then(pl.all())).to_series()
    return [int(x) if x is not None and x.is_integer() else x for x in finite.to_list()]


def packed(value: object) -> str:
    """A value as JSON, gzip and base64: letters, digits and `+/=`, inert in any page."""
    data = gzip.compress(msgspec.json.encode(value), _LEVEL, mtime=0)
    return base64.b64encode(data).decode("ascii")
