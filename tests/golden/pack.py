"""Where the golden pack lies, and what its figures are."""

from pathlib import Path
from typing import Any

from orchbench_analytics import open_warehouse
from orchbench_analytics.warehouse import Warehouse

PACK = Path(__file__).parent / "pack"
FIGURES = Path(__file__).parent / "figures.json"
VIEWS = ("model_scores", "scenario_scores")


def golden_warehouse(directory: Path) -> Warehouse:
    """A warehouse of the golden pack."""
    warehouse = open_warehouse(directory / "warehouse", create=True)
    warehouse.ingest(PACK / "results", agent_cards=[PACK / "agent_cards"], jobs=1)
    return warehouse


def figures_of(warehouse: Warehouse) -> dict[str, list[dict[str, Any]]]:
    """Every figure of every model and scenario, under every profile."""
    return {view: warehouse.view(view).to_dicts() for view in VIEWS}
