"""Rows as dictionaries, and what plain Python needs to count and divide them."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import duckdb

Row = dict[str, Any]

MODEL = ("model", "experiment", "language")
SCORED_MODEL = ("profile", *MODEL)
SCENARIO = (*SCORED_MODEL, "scenario")
RUN = (*SCENARIO, "run")
STEP = (*RUN, "step_id", "answer_position")
OUTCOMES = ("true_positive_count", "false_positive_count", "false_negative_count")
CONFUSION = tuple(
    f"{truth}_{side}_count"
    for truth in ("true_positive", "true_negative", "false_positive", "false_negative")
    for side in ("reject", "call")
)


def grouped(rows: Iterable[Row], keys: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    groups: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[key] for key in keys)].append(row)
    return groups


def by_key(rows: Iterable[Row], keys: Sequence[str]) -> dict[tuple[Any, ...], Row]:
    return {tuple(row[key] for key in keys): row for row in rows}


def ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None


def total(rows: Iterable[Row], name: str) -> Any:
    """The sum over rows that have the figure; none if no row has."""
    known = [row[name] for row in rows if row[name] is not None]
    return sum(known) if known else None


def mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def how_many(rows: Iterable[Row], holds: Callable[[Row], object]) -> int:
    return sum(1 for row in rows if holds(row))


def is_rejection(decision: str) -> bool:
    return decision not in ("call", "failed")


def f1(hits: int, false_hits: int, misses: int) -> float | None:
    """2PR / (P + R), from precision and recall: its last bit can decide what a sum rounds to."""
    if not hits + false_hits + misses:
        return None
    precision, recall = ratio(hits, hits + false_hits) or 0.0, ratio(hits, hits + misses) or 0.0
    return ratio(2 * precision * recall, precision + recall) or 0.0


def prf(prefix: str, f1_name: str, hits: int, false_hits: int, misses: int) -> Row:
    return {
        f"{prefix}_precision": ratio(hits, hits + false_hits),
        f"{prefix}_recall": ratio(hits, hits + misses),
        f1_name: f1(hits, false_hits, misses),
    }


class Rows:
    """The row-level tables of a warehouse, each fetched once and as it is."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self.connection = connection
        self.fetched: dict[str, list[Row]] = {}
        self.rules = {row["profile"]: row for row in self.table("profiles")}

    def table(self, name: str) -> list[Row]:
        if name not in self.fetched:
            result = self.connection.execute(f"select * from main.{name}")
            names = [column[0] for column in result.description or ()]
            rows = [dict(zip(names, row, strict=True)) for row in result.fetchall()]
            # What was reported is not made from the rows of answers.
            self.fetched[name] = [row for row in rows if row.get("profile") != "reported"]
        return self.fetched[name]

    @cached_property
    def steps(self) -> list[Row]:
        return [step for step in self.table("scored_steps") if step["is_scored"]]

    @cached_property
    def plans(self) -> list[Row]:
        return [plan for plan in self.table("scored_plans") if plan["is_scored"]]
