"""The macros of `sql/`: what they give at their edges, and that sums do not depend on order."""

import math
import random
from collections.abc import Iterator

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchbench_analytics.queries import macros


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        for statements in macros():
            connection.execute(statements)
        yield connection


def value(connection: duckdb.DuckDBPyConnection, expression: str, *given: object) -> object:
    ((found,),) = connection.execute(f"select {expression}", [*given]).fetchall()
    return found


def summed(connection: duckdb.DuckDBPyConnection, numbers: list[float]) -> object:
    rows = "(select unnest(cast(? as double[])) as x)"
    return value(connection, f"exact_sum(x) from {rows}", numbers)


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("share(1, 3)", 1 / 3),
        ("share(0, 3)", 0.0),
        ("share(1, 0)", None),
        ("share(null, 3)", None),
        ("precision_of(1, 3)", 0.25),
        ("precision_of(0, 0)", None),
        ("recall_of(1, 3)", 0.25),
        ("recall_of(0, 0)", None),
        ("exact_mean(x) from (values (0.25), (null), (0.75)) as rows (x)", 0.5),
        ("exact_mean(x) from (values (0.25)) as rows (x) where false", None),
        ("f1(7, 0, 0)", 1.0),
        ("f1(0, 2, 0)", 0.0),
        ("f1(0, 0, 2)", 0.0),
        ("f1(0, 0, 0)", None),
        ("round_half_even(0.00025, 4)", round(0.00025, 4)),
        ("round_half_even(0.49995, 4)", round(0.49995, 4)),
        ("round_half_even(0.03125, 4)", 0.0312),
        ("round_by_rule(0.03125, 'four_digits')", 0.0312),
        ("round_by_rule(0.03125, 'none')", 0.03125),
        ("to_units(cast('nan' as double))", None),
        ("to_units(cast('inf' as double))", None),
        ("to_units(1e300)", None),
        ("to_units(null)", None),
    ],
)
def test_edges(connection: duckdb.DuckDBPyConnection, expression: str, wanted: float) -> None:
    assert value(connection, expression) == wanted


COUNTS = st.integers(0, 10_000)


@given(true_positives=COUNTS, false_positives=COUNTS, false_negatives=COUNTS)
def test_f1_comes_from_precision_and_recall_to_the_last_bit(
    connection: duckdb.DuckDBPyConnection,
    true_positives: int,
    false_positives: int,
    false_negatives: int,
) -> None:
    counts = (true_positives, false_positives, false_negatives)
    wanted = None
    if any(counts):
        wanted = 0.0
    if true_positives:
        precision = true_positives / (true_positives + false_positives)
        recall = true_positives / (true_positives + false_negatives)
        wanted = 2 * precision * recall / (precision + recall)
    assert value(connection, "f1(?, ?, ?)", *counts) == wanted


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.randoms())
def test_a_sum_is_the_same_in_any_order(
    connection: duckdb.DuckDBPyConnection, numbers: list[float], chance: random.Random
) -> None:
    shuffled = chance.sample(numbers, len(numbers))
    assert summed(connection, numbers) == summed(connection, shuffled)


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=5))
def test_a_sum_is_the_double_nearest_to_the_true_sum(
    connection: duckdb.DuckDBPyConnection, numbers: list[int]
) -> None:
    four_digits = [number / 10_000 for number in numbers]
    assert summed(connection, four_digits) == math.fsum(four_digits)


@given(st.tuples(st.integers(0, 10_000), st.integers(0, 10_000)))
def test_a_sum_of_two_is_what_adding_doubles_gives(
    connection: duckdb.DuckDBPyConnection, numbers: tuple[int, int]
) -> None:
    one, other = (number / 10_000 for number in numbers)
    assert summed(connection, [one, other]) == one + other
