"""Warehouses to export: a sweep of two models, and one of hostile answers."""

import shutil
from pathlib import Path

import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.warehouse import Warehouse
from tests.documents import run, runs_document, scenario_path, write, write_sweep
from tests.exports.hostile import TEXTS


def build_small(directory: Path) -> None:
    write_sweep(directory / "results")
    open_warehouse(directory / "warehouse", create=True).ingest(directory / "results", jobs=1)


def build_changed(small: Warehouse, directory: Path) -> None:
    """The small warehouse after another ingest: a file of one model without runs, a new model."""
    shutil.copytree(small.path, directory / "warehouse")
    empty = write(scenario_path(directory / "results", "model-1"), runs_document({}))
    added = write(scenario_path(directory / "results", "it's new"), runs_document())
    open_warehouse(directory / "warehouse").ingest(empty.parents[3], added, jobs=1)


def build_hostile(directory: Path) -> None:
    """A warehouse whose answers, one in each scenario, are hostile texts."""
    for number, text in enumerate(TEXTS):
        answers = [
            {"step_id": "3", "agent_id": "weather_agent", "content": text},
            {"step_id": "4", "agent_id": "bank_agent", "content": None},
        ]
        document = runs_document({"run #1": run(sub_agent_history=answers)})
        write(scenario_path(directory / "results", scenario=str(number)), document)
    open_warehouse(directory / "warehouse", create=True).ingest(directory / "results", jobs=1)


@pytest.fixture(scope="session")
def demo(demo: Path) -> Warehouse:
    """The warehouse of the demo."""
    return open_warehouse(demo / "warehouse")


@pytest.fixture(scope="session")
def small(make_once) -> Warehouse:
    return open_warehouse(make_once("small_export", build_small) / "warehouse")


@pytest.fixture(scope="session")
def changed(make_once, small: Warehouse) -> Warehouse:
    directory = make_once("changed_export", lambda directory: build_changed(small, directory))
    return open_warehouse(directory / "warehouse")


@pytest.fixture(scope="session")
def hostile(make_once) -> Warehouse:
    return open_warehouse(make_once("hostile_export", build_hostile) / "warehouse")
