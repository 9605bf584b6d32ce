"""Which result files no ingest has read."""

from pathlib import Path

from orchbench_analytics import open_warehouse
from orchbench_analytics.pages.news import SourceTree
from tests.documents import agent_card, runs_document, scenario_path, write


def test_what_lies_beside_results_and_agent_cards_is_not_new(tmp_path: Path) -> None:
    results, cards = tmp_path / "results", tmp_path / "cards"
    write(scenario_path(results, "m", "12"), runs_document())
    write(cards / "EN" / "weather_agent.json", agent_card())
    warehouse = open_warehouse(tmp_path / "warehouse", create=True)
    warehouse.ingest(results, agent_cards=cards, jobs=1)
    tree = SourceTree(tmp_path / "warehouse", warehouse.manifest())

    write(tmp_path / "export" / "manifest.json", {"rows": 1})
    assert tree.new_files() == []

    added = write(scenario_path(results, "m", "13"), runs_document())
    assert tree.new_files() == [str(added)]
