"""Where the golden pack lies, and what its figures are."""

from pathlib import Path
from typing import Any, NamedTuple

from orchbench_analytics import open_warehouse
from orchbench_analytics.warehouse import Warehouse

PACK = Path(__file__).parent / "pack"
FIGURES = Path(__file__).parent / "figures.json"
HARNESS = PACK / "harness"
VIEWS = {
    "model_scores": "profile, model, experiment, language",
    "scenario_scores": "profile, model, experiment, language, scenario",
}
QUERY = "from main.{} where profile <> 'reported' order by {}"


# Models and experiments that a judge ruled on, and an evaluator scored.
_TWO, _EXAMPLES, _FOUR = "graded-2/baseline", "graded-2/worked-examples", "graded-4/baseline"


class Alias(NamedTuple):
    """A model of the golden pack as it is there once more, in the benchmark's own tree."""

    directory: str
    model: str
    experiment: str
    client: str
    golden: str
    languages: tuple[str, ...] = ("EN", "KO")
    is_by_hand: bool = False
    is_stopped: bool = False

    @property
    def tree(self) -> Path:
        """The tree it lies in."""
        return HARNESS / self.directory.split("/")[0]


_RESULTS = "results_dir/{}/exp1/orchestration_bench"
ALIASES = (
    Alias("default_layout/quick/20260102_0304", "quick", "20260102_0304", "org_quick", _FOUR),
    Alias(_RESULTS.format("org/large"), "org/large", "exp1", "org_large", _TWO),
    Alias(_RESULTS.format("slow"), "slow", "exp1", "slow-2026-01-01", _EXAMPLES),
    Alias("two_aliases/first/exp1/orchestration_bench", "first", "exp1", "client-4", _FOUR),
    Alias("two_aliases/second/exp1/orchestration_bench", "second", "exp1", "client-4", _TWO),
    Alias("killed/m/exp1", "m", "exp1", "client-2", _TWO, ("EN",), is_stopped=True),
    Alias("by_hand", "org_quick", "default", "org_quick", _FOUR, ("EN",), is_by_hand=True),
)


def golden_warehouse(directory: Path) -> Warehouse:
    """A warehouse of the golden pack."""
    warehouse = open_warehouse(directory / "warehouse", create=True)
    warehouse.ingest(PACK / "results", agent_cards=[PACK / "agent_cards"], jobs=1)
    return warehouse


def figures_of(warehouse: Warehouse) -> dict[str, list[dict[str, Any]]]:
    """Every figure of every model and scenario, under every profile."""
    return {
        view: warehouse.sql(QUERY.format(view, grain)).to_dicts() for view, grain in VIEWS.items()
    }
