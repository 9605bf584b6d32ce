"""A card's pattern that crawls on an answer, from the files to what is said of it."""

from pathlib import Path

import pytest

from orchbench_analytics import open_warehouse
from tests.documents import agent_card, call, run, runs_document, scenario_path, write

ANSWERS = {"1": "a" * 40 + "!", "2": "-seoul", "3": "busan"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    city = {"type": "string", "pattern": r"^(?!-)([a-z0-9]+-?)+$"}
    card = agent_card()
    card["tools"][0]["parameters"]["properties"]["city"] = city
    write(tmp_path / "cards" / "EN" / "weather_agent.json", card)
    for scenario, text in ANSWERS.items():
        answer = run()["sub_agent_history"][0] | {"tool_calls": [call(arguments={"city": text})]}
        history = {"run #1": run(sub_agent_history=[answer])}
        write(scenario_path(tmp_path / "results", scenario=scenario), runs_document(history))
    return tmp_path


def test_an_ingest_ends_and_says_which_keys_were_not_checked(orchbench, tree: Path) -> None:
    warehouse = tree / "warehouse"

    done = orchbench(
        "ingest", tree / "results", "--agent-cards", tree / "cards", "--into", warehouse
    )
    scored = orchbench("score", warehouse, "-p", "strict")

    assert done.returncode == 0
    for said in (done.stderr, scored.stderr):
        assert "because their pattern took too long: 1; see: orchbench sql" in said
    opened = open_warehouse(warehouse)
    flagged = opened.table("scored_arguments").filter("is_pattern_unchecked").collect()
    assert sorted(flagged["profile"]) == ["spec", "strict", "upstream"]
    assert set(flagged["scenario"]) == {"1"}
    counts = opened.table("argument_scores").collect().filter(profile="spec")
    assert counts["unchecked_argument_count"].to_list() == [1]


def test_the_page_of_the_step_says_it(orchbench, tree: Path) -> None:
    warehouse = tree / "warehouse"
    open_warehouse(warehouse, create=True).ingest(tree / "results", agent_cards=[tree / "cards"])

    said = {
        scenario: " ".join(orchbench("show", warehouse, "m", scenario, "3").stdout.split())
        for scenario in ANSWERS
    }

    assert "city: its pattern took too long to try, so it counts as fitting" in said["1"]
    assert not any("took too long" in said[scenario] for scenario in ("2", "3"))
