"""Every view agrees with a computation in plain Python from the row-level tables."""

import math
from pathlib import Path
from typing import Any

import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.queries import describe_view, views
from orchbench_analytics.warehouse import Warehouse
from tests.oracle import Oracle
from tests.oracle.rows import OUTCOMES, by_key, total


@pytest.fixture(scope="module")
def demo(demo: Path) -> Oracle:
    return Oracle(open_warehouse(demo / "warehouse").connect())


@pytest.fixture(scope="module")
def conformance(conformance_warehouse: Warehouse) -> Oracle:
    return Oracle(conformance_warehouse.connect())


@pytest.fixture(params=["demo", "conformance"])
def oracle(request: pytest.FixtureRequest) -> Oracle:
    return request.getfixturevalue(request.param)


def agree(one: Any, other: Any) -> bool:
    if one == other:
        return True
    if isinstance(one, float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return False


@pytest.mark.parametrize("name", sorted(views()))
def test_view_agrees_with_plain_python(name: str, oracle: Oracle) -> None:
    keys = views()[name].grain.split(", ")
    found = by_key(oracle.table(name), keys)
    assert len(found) == len(oracle.table(name)), "the grain is not true"
    wanted = by_key(getattr(oracle, name), keys)
    assert found.keys() == wanted.keys()
    assert found, "a view without rows shows nothing"
    assert next(iter(found.values())).keys() == next(iter(wanted.values())).keys()
    differing = [
        (key, column, value, wanted[key][column])
        for key, row in found.items()
        for column, value in row.items()
        if not agree(value, wanted[key][column])
    ]
    assert differing == []


@pytest.mark.parametrize("name", sorted(views()))
def test_what_the_glossary_says_is_never_null_is_never_null(name: str, oracle: Oracle) -> None:
    never = [
        c.name for c in describe_view(oracle.connection, views()[name]).columns if not c.nullable
    ]
    rows = oracle.table(name)
    assert [column for column in never if any(row[column] is None for row in rows)] == []


def test_arguments_of_a_model_add_up_to_those_of_its_steps(oracle: Oracle) -> None:
    for side in ("key", "value"):
        for outcome in OUTCOMES:
            column = f"{side}_{outcome}"
            assert total(oracle.table("argument_scores"), column) == total(oracle.steps, column)
