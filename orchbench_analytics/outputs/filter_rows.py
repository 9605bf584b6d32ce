"""The rows that are wanted: in an order, up to a number."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import polars as pl

from orchbench_analytics.errors import SelectionError, suggest
from orchbench_analytics.metrics import resolve_metric
from orchbench_analytics.outputs.labels import label_of


def first_in_order(rows: pl.DataFrame, *, sort: str | None, limit: int | None) -> pl.DataFrame:
    """The rows sorted by a column, up to so many; a column that is not there is an error."""
    if sort is not None:
        rows = _sorted(rows, sort)
    return rows if limit is None else rows.head(limit)


def _sorted(rows: pl.DataFrame, given: str) -> pl.DataFrame:
    """By a column or its label; a minus before it turns the order."""
    column = _named_column(given.removeprefix("-"), rows.columns)
    return rows.sort(column, descending=given.startswith("-"), nulls_last=True, maintain_order=True)


def _named_column(name: str, columns: Sequence[str]) -> str:
    """The column of that name, be it its own, its label's or another name of a metric."""
    if name in columns:
        return name
    labels = {label_of(column).lower(): column for column in reversed(columns)}
    if name.lower() in labels:
        return labels[name.lower()]
    with suppress(SelectionError):
        if (metric := resolve_metric(name)) in columns:
            return metric
    known = dict.fromkeys([*map(label_of, columns), *columns])
    raise SelectionError(f"no column {name!r} to sort by; {suggest(name, known)}")
