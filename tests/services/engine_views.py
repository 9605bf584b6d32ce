"""What the tests of views on other engines share: DuckDB's rows, and how rows are compared."""

import math
import random
from typing import Any

import duckdb
import polars as pl

from orchbench_analytics.queries import macros, views
from orchbench_analytics.warehouse import Warehouse

Row = dict[str, Any]
TOLERANCE = 1e-12


def rows_of_duckdb(warehouse: Warehouse, view: str) -> list[Row]:
    return in_order(view, warehouse.view(view).to_dicts())


def in_order(view: str, rows: list[Row]) -> list[Row]:
    """Rows by the grain of their view; null comes before any value."""
    keys = views()[view].grain.split(", ")
    return sorted(rows, key=lambda row: [(row[key] is not None, row[key]) for key in keys])


def differences(ours: list[Row], theirs: list[Row]) -> list[tuple[str, Any, Any]]:
    """Columns in which rows differ, with both values; floats may differ by a hair."""
    assert [list(row) for row in ours] == [list(row) for row in theirs]
    return [
        (name, mine, other[name])
        for row, other in zip(ours, theirs, strict=True)
        for name, mine in row.items()
        if not is_same(mine, other[name])
    ]


def is_same(mine: Any, other: Any) -> bool:
    """Whether two values have the same type and are equal, or nearly so if they are floats."""
    if type(mine) is not type(other):
        return False
    if isinstance(mine, float):
        return math.isclose(mine, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(mine == other)


def telling_numbers() -> list[float]:
    """Numbers that tell roundings to four digits apart: ties, near ties, and any others."""
    chance = random.Random(16)
    ties = [(2 * k + 1) / 2**power for power in (5, 10, 15) for k in range(5_000)]
    near_ties = [(2 * k + 1) / 20_000 for k in range(10_000)]
    beside = [math.nextafter(x, side) for x in near_ties[:5_000] for side in (-1.0, 2.0)]
    shares = [chance.randrange(1_000) / chance.randrange(1, 1_000) for _ in range(10_000)]
    others = [chance.uniform(-1, 1) * 10.0 ** chance.randint(-9, 9) for _ in range(5_000)]
    return [*ties, *near_ties, *beside, *shares, *others, 0.0, -0.5, -0.03125]


def rounded_by_duckdb(numbers: list[float]) -> list[tuple[Any, ...]]:
    """Each number rounded, in units, and back from units."""
    frame = pl.DataFrame({"place": range(len(numbers)), "x": numbers})  # noqa: F841 (SQL names it)
    with duckdb.connect() as connection:
        for statements in macros():
            connection.execute(statements)
        query = (
            "select round_half_even(x, 4), cast(to_units(x) as varchar), from_units(to_units(x)) "
            "from frame order by place"
        )
        return connection.execute(query).fetchall()
