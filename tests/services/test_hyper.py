"""Tableau's own engine: it reads back what was exported, and nothing is lost."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import PathError
from orchbench_analytics.warehouse import Warehouse
from tests.exports.conftest import build_hostile, build_small
from tests.exports.formulas import model_query
from tests.exports.hostile import TEXTS, answers, without_nul
from tests.exports.test_star import close

api = pytest.importorskip("tableauhyperapi", reason="make test-services installs it")


@pytest.fixture(scope="module")
def small(make_once: Any) -> Warehouse:
    return open_warehouse(make_once("small_export", build_small) / "warehouse")


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    silence = api.Telemetry.DO_NOT_SEND_USAGE_DATA_TO_TABLEAU
    with (
        api.HyperProcess(silence, parameters={"log_config": ""}) as process,
        api.Connection(process.endpoint, str(path)) as connection,
    ):
        yield connection


def test_rows_are_the_warehouses_and_an_unchanged_one_writes_nothing(
    small: Warehouse, tmp_path: Path
) -> None:
    target = tmp_path / "out.hyper"
    summary = small.export(target)
    with opened(target) as hyper:
        for exported in summary.relations:
            count = hyper.execute_scalar_query(f"select count(*) from {exported.relation}")
            assert count == exported.row_count
    before = target.stat().st_ino  # Hyper touches what it reads
    assert small.export(target).is_unchanged
    assert target.stat().st_ino == before
    assert [path.name for path in tmp_path.iterdir()] == ["out.hyper"]


def test_hostile_texts_lose_their_nul_and_nothing_else(make_once: Any, tmp_path: Path) -> None:
    hostile = open_warehouse(make_once("hostile_export", build_hostile) / "warehouse")
    summary = hostile.export(tmp_path / "out.hyper", tables=["steps"])
    names = ("step_id", "scenario", "answer_content")
    with opened(tmp_path / "out.hyper") as hyper:
        rows = hyper.execute_list_query(f"select {', '.join(names)} from steps")
    found = answers([dict(zip(names, row, strict=True)) for row in rows])
    assert found == [without_nul(text) for text in TEXTS]
    assert list(summary.changed_values.values()) == [1]


def test_formulas_hold_in_hyper(demo: Path, tmp_path: Path) -> None:
    warehouse = open_warehouse(demo)
    warehouse.export(tmp_path / "star.hyper", star=True)
    with opened(tmp_path / "star.hyper") as hyper:
        formulas = dict(hyper.execute_list_query("select metric, formula from metrics"))
        found = hyper.execute_list_query(model_query(formulas))
    names = ", ".join(("profile, model, experiment, language", *formulas))
    wanted = (
        warehouse.connect().sql(f"select {names} from model_scores order by 1, 2, 3, 4").fetchall()
    )
    close(found, wanted, 4)


def test_what_somebody_else_made_is_left_alone(small: Warehouse, tmp_path: Path) -> None:
    (tmp_path / "mine.hyper").write_text("mine", encoding="utf-8")
    with pytest.raises(PathError, match="already exists and is not"):
        small.export(tmp_path / "mine.hyper", tables=["leaderboard"], overwrite=True)
    assert (tmp_path / "mine.hyper").read_text(encoding="utf-8") == "mine"
