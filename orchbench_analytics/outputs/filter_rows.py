"""The rows that are wanted: by model, language and experiment, in an order, up to a number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import NamedTuple

import polars as pl

from orchbench_analytics.errors import SelectionError
from orchbench_analytics.metrics import resolve_metric
from orchbench_analytics.outputs.labels import label_of

_MODEL_COLUMNS = ("model", "candidate_model", "baseline_model")
_EXPERIMENT_COLUMNS = ("experiment", "candidate_experiment", "baseline_experiment")


class RowFilter(NamedTuple):
    """Which rows are wanted, and in which order."""

    models: Sequence[str] = ()
    languages: Sequence[str] = ()
    experiments: Sequence[str] = ()
    sort: str | None = None
    limit: int | None = None


def filter_rows(rows: pl.DataFrame, wanted: RowFilter) -> pl.DataFrame:
    """The rows that are wanted; a name that fits none is an error."""
    rows = _of_models(rows, wanted.models)
    rows = _matching(rows, wanted.experiments, _EXPERIMENT_COLUMNS, "experiment")
    rows = _matching(rows, wanted.languages, ("language",), "language")
    if wanted.sort is not None:
        rows = _sorted(rows, wanted.sort)
    return rows if wanted.limit is None else rows.head(wanted.limit)


def _of_models(rows: pl.DataFrame, patterns: Sequence[str]) -> pl.DataFrame:
    """The rows of models, which may be named as tables name them: `model/experiment`."""
    sides = zip(_MODEL_COLUMNS, _EXPERIMENT_COLUMNS, strict=True)
    both = [
        pl.format("{}/{}", *side).alias(side[0]) for side in sides if {*side} <= {*rows.columns}
    ]
    named = rows.select(both)
    pairs = [name for name in patterns if name in _distinct(named, named.columns)]
    others = [name for name in patterns if name not in pairs]
    if not pairs:
        return _matching(rows, patterns, _MODEL_COLUMNS, "model")
    is_pair = pl.any_horizontal(expression.is_in(pairs) for expression in both)
    return rows.filter(is_pair | _is_wanted(rows, others, _MODEL_COLUMNS, "model"))


def _matching(
    rows: pl.DataFrame, patterns: Sequence[str], columns: Sequence[str], kind: str
) -> pl.DataFrame:
    """The rows with a matching name in one of the columns."""
    return rows.filter(_is_wanted(rows, patterns, columns, kind)) if patterns else rows


def _is_wanted(
    rows: pl.DataFrame, patterns: Sequence[str], columns: Sequence[str], kind: str
) -> pl.Expr:
    there = [column for column in columns if column in rows.columns]
    if not there:
        raise SelectionError(f"--{kind} does not apply here: these rows have no {kind}")
    known = _distinct(rows, there)
    wanted = {name for pattern in patterns for name in matching_names(pattern, known, kind)}
    return pl.any_horizontal(pl.col(column).is_in(wanted) for column in there)


def _distinct(rows: pl.DataFrame, columns: Iterable[str]) -> list[str]:
    return sorted({name for column in columns for name in rows[column].unique() if name})


def matching_names(pattern: str, known: Sequence[str], kind: str) -> list[str]:
    """The known names that a pattern such as `graded-*` fits, whatever the case of letters."""
    lowered = pattern.lower()
    found = [n for n in known if n == pattern] or [
        name for name in known if fnmatchcase(name.lower(), lowered)
    ]
    if found:
        return found
    close = get_close_matches(pattern, known, n=3)
    hint = f"did you mean {' or '.join(close)}?" if close else f"there are {_few(known)}"
    raise SelectionError(f"no {kind} {pattern!r}; {hint}")


def _few(known: Sequence[str], count: int = 8) -> str:
    more = f", … ({len(known):,} in all)" if len(known) > count else ""
    return (", ".join(known[:count]) + more) or "none"


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
    close = get_close_matches(name, columns, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(columns)}"
    raise SelectionError(f"no column {name!r} to sort by; {hint}")
