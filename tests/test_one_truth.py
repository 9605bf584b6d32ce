"""The screen, files, Python and the page give the same figure for the same question."""

from __future__ import annotations

import io
import json
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from orchbench_analytics.metrics import HEADLINE
from orchbench_analytics.warehouse import Warehouse, open_warehouse

pytestmark = pytest.mark.long

KEYS = ("candidate_model", "candidate_experiment", "baseline_model", "baseline_experiment")
FIGURES = ("difference", "low", "high", "p_value", "p_unadjusted", "verdict")


@pytest.fixture(scope="module")
def warehouse(demo_directory: Path) -> Warehouse:
    return open_warehouse(demo_directory / "warehouse")


def contenders(warehouse: Warehouse) -> list[tuple[str, str]]:
    return warehouse.models().select("model", "experiment").unique().sort(pl.all()).rows()


def test_a_verdict_is_what_its_interval_says_for_every_pair(warehouse: Warehouse) -> None:
    """All pairs, metrics and languages: no row says one thing and shows another."""
    found = pl.concat(
        warehouse.compare(first, second) for first, second in combinations(contenders(warehouse), 2)
    )
    assert found.height > 100
    leaves_out = (pl.col("low") > 0) | (pl.col("high") < 0)
    is_found = pl.col("verdict").is_in(["better", "worse"])
    told = found.drop_nulls("low")
    assert told.filter(leaves_out != is_found).is_empty()
    assert told.filter((pl.col("p_value") <= 0.05) != is_found).is_empty()


def test_the_command_writes_what_python_returns(orchbench, warehouse: Warehouse) -> None:
    for first, second in list(combinations(contenders(warehouse), 2))[::16]:
        models = ("/".join(first), "/".join(second))
        told = orchbench("compare", warehouse.path, *models, "--format", "csv").stdout
        written = pl.read_csv(io.StringIO(told), infer_schema_length=None)
        order = ["metric", "language"]
        returned = warehouse.compare(first, second).sort(order)
        assert_frame_equal(written.sort(order), returned, check_dtypes=False)


def test_two_models_one_against_all_and_all_pairs_have_one_p(warehouse: Warehouse) -> None:
    every = warehouse.compare()
    for first in contenders(warehouse):
        against = warehouse.compare(first)
        for row in against.iter_rows(named=True):
            pair = {name: row[name] for name in KEYS}
            turned = dict(zip(KEYS, [*pair.values()][2:] + [*pair.values()][:2], strict=True))
            (same,) = (every.filter(**p) for p in (pair, turned) if every.filter(**p).height)
            assert same["p_unadjusted"].item() == pytest.approx(row["p_unadjusted"], abs=1e-12)
            assert abs(same["difference"].item()) == pytest.approx(abs(row["difference"]))


@pytest.mark.parametrize("language", ["EN", "KO"])
def test_ranks_by_language_are_those_of_the_view(
    orchbench, warehouse: Warehouse, language: str
) -> None:
    view = warehouse.table("language_ranks").filter(profile="spec", language=language).collect()
    asked = ("leaderboard", warehouse.path, "--language", language, "--format", "json")
    told = json.loads(orchbench(*asked).stdout)
    key = ("model", "experiment", "rank_number", "coverage", *HEADLINE)
    ranked = {tuple(row[name] for name in key) for row in told}
    assert ranked == set(view.select(key).iter_rows())
