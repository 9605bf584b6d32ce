"""Excerpts: a table, chart or picture of the page as a small document, for notebooks.

`marimo.iframe(ranking(…))` shows one; each runs the page's own script and loads nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl

from orchbench_analytics.outputs.show import StepKey
from orchbench_analytics.pages.columns import columns_of, heads_of, packed
from orchbench_analytics.pages.page import SCRIPTS, page_text
from orchbench_analytics.pages.plan_picture import drawn_plan
from orchbench_analytics.pages.words import words
from orchbench_analytics.profiles import Profile

Table = Callable[[str], pl.LazyFrame]
# All of the page's script but what asks a server, and the part that starts the page.
_SCRIPTS = (*(name for name in SCRIPTS if name not in ("live.js", "routes.js")), "excerpts.js")


def table(rows: pl.DataFrame, *, caption: str) -> str:
    """Rows as a table that sorts by any column; figures are rounded."""
    return _excerpt("table", rows=columns_of(rows), caption=caption)


def ranking(rows: pl.DataFrame) -> str:
    """Models with their intervals.

    `rows` has `rank_number`, `name`, the headline metrics, and `low` and `high` of the average.
    """
    return _excerpt("ranking", rows=columns_of(rows))


def confusion(rows: pl.DataFrame) -> str:
    """Labels against answers; `rows` are those of the view `confusion_matrix`."""
    return _excerpt("confusion", rows=columns_of(rows))


def bars(rows: pl.DataFrame, *, caption: str, digits: int = 0) -> str:
    """Named figures as bars; `rows` has `name` and `value`."""
    return _excerpt("bars", rows=columns_of(rows), caption=caption, digits=digits)


def verdicts(comparison: pl.DataFrame) -> str:
    """Differences with intervals and verdicts, as `Warehouse.compare` returns them."""
    return _excerpt("verdicts", rows=columns_of(comparison))


def answers(rows: pl.DataFrame) -> str:
    """Texts side by side; `rows` has `title`, `content` and `calls`."""
    return _excerpt("answers", rows=columns_of(rows))


def plan(tables: Table, step: StepKey, profile: Profile) -> str | None:
    """Both plans of a step in one picture, with the edits; none where no plan was read."""
    drawn = drawn_plan(tables, step, profile)
    if drawn is None:
        return None
    return _excerpt("plan", drawn=drawn.parts, **drawn.distances)


def _excerpt(kind: str, **given: Any) -> str:
    rows = given.get("rows", {"columns": ()})
    said = {"heads": heads_of(rows["columns"]), "words": words({})}
    pieces = {"excerpt": packed({"kind": kind, **said, **given})}
    return page_text(pieces, title=kind, scripts=_SCRIPTS)
