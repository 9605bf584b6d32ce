"""What people call columns, metrics and models, and rows in the order of a column so called."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import polars as pl

from orchbench_analytics.errors import SelectionError, suggest
from orchbench_analytics.metrics import metric_label, resolve_metric
from orchbench_analytics.outputs.terminal import printable_line
from orchbench_analytics.views.descriptions import label_of

__all__ = ["first_in_order", "label_of", "labels_of", "metric_label", "named_contenders"]

_SIDES = ("baseline_", "candidate_")
_NONE = pl.Series(dtype=pl.String)


def labels_of(columns: Sequence[str]) -> list[str]:
    """The labels of columns, no two alike: one whose label is taken keeps its name."""
    labels: list[str] = []
    for place, column in enumerate(columns, start=1):
        choices = (label_of(column), column, f"column {place}")
        free = next(choice for choice in choices if choice not in labels)
        labels.append(printable_line(free))
    return labels


def named_contenders(rows: pl.DataFrame, among: pl.DataFrame | None = None) -> pl.DataFrame:
    """Models as `model/experiment` where they have several, so that each has its own name.

    `among` are all the rows of which some are shown: a name tells a model apart from those too.
    """
    several = _of_several_experiments(rows if among is None else among)
    rows = _without_common_experiment(rows)
    for side in ("", *_SIDES):
        model, experiment = f"{side}model", f"{side}experiment"
        is_one_side = bool(side) and rows.get_column(experiment, default=_NONE).n_unique() == 1
        if {model, experiment} <= {*rows.columns} and (side or several):
            is_told = pl.col(model).is_in(several) | pl.lit(is_one_side)
            named = pl.when(is_told).then(pl.format("{}/{}", model, experiment)).otherwise(model)
            rows = rows.with_columns(named.alias(model)).drop(experiment)
    return rows


def _of_several_experiments(rows: pl.DataFrame) -> list[str]:
    """The models that have more than one experiment."""
    pairs = [
        rows.select(model=f"{side}model", experiment=f"{side}experiment")
        for side in ("", *_SIDES)
        if {f"{side}model", f"{side}experiment"} <= {*rows.columns}
    ]
    if not pairs:
        return []
    counts = pl.concat(pairs).group_by("model").agg(pl.col("experiment").n_unique())
    return counts.filter(pl.col("experiment") > 1)["model"].to_list()


def _without_common_experiment(rows: pl.DataFrame) -> pl.DataFrame:
    """Comparisons within one experiment, which then is named once."""
    both = [f"{side}experiment" for side in _SIDES]
    if not {*both} <= {*rows.columns} or pl.concat([rows[n] for n in both]).n_unique() != 1:
        return rows
    return rows.rename({both[0]: "experiment"}).drop(both[1])


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
