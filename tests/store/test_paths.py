"""Figures come from files alone: neither a directory's name nor a model's name can change them."""

import random
from pathlib import Path

import polars as pl
import polars.selectors as cs
import pytest
from polars.testing import assert_frame_equal

from orchbench_analytics import open_warehouse
from orchbench_analytics.warehouse import Warehouse
from tests.documents import scenario_path, write
from tests.warehouses import ingest

PATHS = 200
NAMES = 200
PIECES = (
    "run=12", "model=foo", "language=KO", "profile=spec", "scenario=1", "=", "a=b=c",
    "x[1]", "a*", "?", "**", "[!a]", "[a-z]", "{a,b}", "[", "]", "it's", 'quo"ted', "sp ace",
    "per%20cent", "%2e%2e", "emoji😀", "모델", "~", "~root", "$HOME", "`x`", ";", "#", "&", "!",
    "new\nline", "tab\t", "\u202eright", "s3:", "file:", "-rf", "...", "\\", "2024-01-01", "1",
    "true", "null", "é", "e\u0301", "x" * 120,
)  # fmt: skip


def generated(count: int, seed: int) -> list[str]:
    """Names put together from pieces that some reader of paths has a meaning for, no two alike."""
    draw = random.Random(seed)
    names = list(PIECES)
    while len(names) < count:
        name = "".join(draw.sample(PIECES, draw.randint(2, 4)))[:200]
        if name not in names:
            names.append(name)
    return names


def figures(warehouse: Warehouse) -> dict[str, pl.DataFrame]:
    """What DuckDB and polars each make of the warehouse's largest table."""
    key = ("profile", "model", "language")
    steps = warehouse.table("scored_steps").group_by(key).agg(cs.numeric().sum()).sort(key)
    return {"view": warehouse.table("confusion_matrix").collect(), "table": steps.collect()}


@pytest.fixture(scope="module")
def expected(demo: Path) -> dict[str, pl.DataFrame]:
    warehouse = open_warehouse(demo / "warehouse")
    return figures(warehouse) | {"scores": warehouse.table("model_scores").collect()}


@pytest.mark.parametrize("start", range(0, PATHS, 10))
@pytest.mark.long
def test_a_warehouse_gives_the_same_figures_wherever_it_lies(
    demo: Path, tmp_path: Path, expected: dict[str, pl.DataFrame], start: int
) -> None:
    home = demo / "warehouse"
    for name in generated(PATHS, seed=1)[start : start + 10]:
        (tmp_path / name).mkdir()
        moved = tmp_path / name / "wh"
        moved.symlink_to(home)

        for what, frame in figures(open_warehouse(moved)).items():
            assert_frame_equal(frame, expected[what], rel_tol=1e-12)
    scores = open_warehouse(moved).table("model_scores").collect()
    assert_frame_equal(scores, expected["scores"], rel_tol=1e-12)


def test_sql_gives_the_same_figures_wherever_the_warehouse_lies(demo: Path, tmp_path: Path) -> None:
    home = demo / "warehouse"
    query = "from main.leaderboard order by all"
    expected = open_warehouse(home).sql(query)
    for name in ("model=foo", "x[1]", "a*", "back\\slash", "\\?", "it's", "모델"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "wh").symlink_to(home)

        assert_frame_equal(
            open_warehouse(tmp_path / name / "wh").sql(query), expected, rel_tol=1e-12
        )


def test_a_pattern_in_the_path_does_not_reach_another_warehouse(tmp_path: Path) -> None:
    for place, model in (("a[1]", "wanted"), ("a1", "other")):
        ingest(tmp_path / place, write(scenario_path(tmp_path / "in", model)), score=True)

    assert (
        open_warehouse(tmp_path / "a[1]").table("leaderboard").collect()["model"].unique()[0]
        == "wanted"
    )


def test_every_model_keeps_its_name_and_its_figures(tmp_path: Path) -> None:
    names = generated(NAMES, seed=2)
    for name in names:
        write(tmp_path / "in" / name / "5_out.json")
    ingest(tmp_path / "wh", tmp_path / "in", score=True)
    warehouse = open_warehouse(tmp_path / "wh")

    board = warehouse.leaderboard()
    assert sorted(board["model"]) == sorted(names)
    assert board["average_score"].n_unique() == 1
    assert set(warehouse.table("scored_steps").collect()["model"]) == set(names)
