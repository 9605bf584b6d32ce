"""A small sample sweep, made once for all tests that only read."""

from pathlib import Path

from orchbench_analytics import open_warehouse
from tests.sweep import write_sweep


def build_demo(directory: Path) -> None:
    """`results`, `agent_cards` and `warehouse` of eight models."""
    write_sweep(directory, models=8, scenarios=4, runs=2, seed=3, write_judge_logs=True)
    warehouse = open_warehouse(directory / "warehouse", create=True)
    cards = [directory / "agent_cards"]
    warehouse.ingest(directory / "results", agent_cards=cards, jobs=1)
