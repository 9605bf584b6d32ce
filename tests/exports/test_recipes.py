"""The recipes of `docs/bi.md`: commands that can be run here are run, and give the figures."""

import re
import shlex
from contextlib import chdir
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import polars as pl
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.cli import program
from orchbench_analytics.warehouse import Warehouse

PAGE = Path(__file__).parents[2] / "docs" / "bi.md"
TEXT = PAGE.read_text(encoding="utf-8")
COMMANDS = [
    line
    for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    for line in re.sub(r"\s*\\\n\s*", " ", block).splitlines()
]
(QUERY,) = re.findall(r"```sql\n(.*?)```", TEXT, re.DOTALL)
HERE = [
    command
    for command in COMMANDS
    if "postgresql://" not in command and (".hyper" not in command or find_spec("tableauhyperapi"))
]


def plans_by_view(warehouse: Path) -> list[tuple[Any, ...]]:
    """What the query of the recipe must give."""
    return (
        open_warehouse(warehouse)
        .connect()
        .sql(
            "select model || ' / ' || experiment, language, workflow_similarity from model_scores "
            "where profile = 'spec' order by 1, 2"
        )
        .fetchall()
    )


@pytest.fixture(scope="module")
def kitchen(make_once: Any, demo: Warehouse) -> Path:
    """A directory with `demo/warehouse`, in which every command was run."""

    def build(directory: Path) -> None:
        directory.mkdir()
        (directory / "demo").symlink_to(demo.path.parent)
        with chdir(directory):
            for command in HERE:
                words = shlex.split(command.removeprefix("orchbench "))
                program()(words, standalone_mode=False)

    return Path(make_once("recipes", build))


def test_there_are_five_recipes_and_all_commands_are_ours() -> None:
    assert len(re.findall(r"^## ", TEXT, re.MULTILINE)) == 5
    assert len(COMMANDS) == 6
    assert all(command.startswith("orchbench export demo/warehouse ") for command in COMMANDS)


def test_the_query_gives_plan_by_model_and_language(kitchen: Path) -> None:
    with duckdb.connect(str(kitchen / "star.duckdb"), read_only=True) as star:
        found = star.sql(QUERY).fetchall()
    wanted = plans_by_view(kitchen / "demo" / "warehouse")
    assert [row[:2] for row in found] == [row[:2] for row in wanted]
    assert [row[2] for row in found] == pytest.approx([row[2] for row in wanted], abs=1e-12)


def test_parquet_for_power_bi_adds_up(kitchen: Path) -> None:
    facts = pl.read_parquet(kitchen / "powerbi" / "fact_scenario.parquet")
    joined = facts.join(
        pl.read_parquet(kitchen / "powerbi" / "dim_scenario.parquet"), on="scenario_sk"
    )
    by_language = joined.group_by("model_sk", "language").agg(pl.col("plan_similarity").mean())
    means = by_language.group_by("model_sk").agg(pl.col("plan_similarity").mean())
    models = pl.read_parquet(kitchen / "powerbi" / "dim_model.parquet")
    found = means.join(models, on="model_sk").sort("model", "experiment")
    board = open_warehouse(kitchen / "demo" / "warehouse").table("leaderboard").collect()
    wanted = board.filter(pl.col("profile") == "spec").sort("model", "experiment")
    assert found["plan_similarity"].to_list() == pytest.approx(
        wanted["workflow_similarity"].to_list()
    )
    assert (kitchen / "powerbi" / "metrics.yaml").is_file()


def test_the_workbook_has_the_sheets(kitchen: Path) -> None:
    book = openpyxl.load_workbook(kitchen / "scores.xlsx", read_only=True)
    sheets = {"leaderboard", "model_scores", "tool_scores", "export_columns", "export_manifest"}
    assert set(book.sheetnames) == sheets
    book.close()
