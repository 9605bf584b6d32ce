"""Agent cards: the tool schemas in them, and what of a card cannot be used."""

from pathlib import Path
from typing import Any

import pytest

from orchbench_analytics.ingest.agent_cards import read_card
from orchbench_analytics.ingest.sources import InputFile, discover, rows_of
from tests.documents import agent_card, write


def read(tmp_path: Path, document: Any) -> Any:
    write(tmp_path / "agent_cards/EN/card.json", document)
    (file,) = rows_of(InputFile, discover([tmp_path]))
    return read_card(file)


def with_parameter(schema: Any) -> dict[str, Any]:
    tool = {"name": "getForecast", "parameters": {"properties": {"city": schema}}}
    return agent_card() | {"tools": [tool]}


@pytest.mark.parametrize(
    ("schema", "limits"),
    [
        ({}, (None, False, None)),
        ({"type": "integer"}, ("integer", False, None)),
        ({"type": ["number", "null"]}, ("number", False, None)),
        ({"type": []}, (None, False, None)),
        ({"type": ""}, (None, False, None)),
        ({"type": ["", "string"]}, (None, False, None)),
        ({"type": None}, (None, False, None)),
        ({"type": 7, "pattern": 7}, ("7", False, None)),
        ({"type": [7]}, ("7", False, None)),
        ({"type": 0}, (None, False, None)),
        ({"enum": []}, (None, True, None)),
        ({"type": "array", "items": {"enum": ["a"]}}, ("array", True, None)),
        ({"pattern": "^a"}, (None, False, "^a")),
    ],
)
def test_a_parameter_has_its_limits(tmp_path: Path, schema: Any, limits: Any) -> None:
    card = read(tmp_path, with_parameter(schema))

    assert card.source.status == "taken"
    assert card.rows == [("EN", "weather_agent", "getForecast", "city", *limits, 0)]


@pytest.mark.parametrize(
    ("document", "reason", "place"),
    [
        (b"", "empty", "byte 0"),
        ({"tools": []}, "wrong_type", "$"),
        (agent_card() | {"tools": {}}, "wrong_type", "$.tools"),
        (agent_card() | {"agent_card": {}}, "wrong_type", "$.agent_card"),
        (agent_card() | {"agent_card": {"agent_id": 7}}, "wrong_type", "$.agent_card"),
    ],
)
def test_a_card_that_cannot_be_used_is_refused(
    tmp_path: Path, document: Any, reason: str, place: str
) -> None:
    source, rows = read(tmp_path, document)

    assert (source.status, source.reason, source.place) == ("refused", reason, place)
    assert rows == []


@pytest.mark.parametrize(
    ("tools", "place"),
    [
        ([7], "$.tools[0]"),
        ([{"name": None}], "$.tools[0]"),
        (
            [{"name": "t", "parameters": {"properties": {"k": 7}}}],
            "$.tools[0].parameters.properties.k",
        ),
    ],
)
def test_a_tool_of_the_wrong_shape_costs_itself(tmp_path: Path, tools: Any, place: str) -> None:
    good = agent_card()["tools"]

    source, rows = read(tmp_path, agent_card() | {"tools": tools + good})

    assert (source.status, source.reason, source.place) == ("taken", "unreadable_parts", place)
    assert [row[2] for row in rows] == ["getForecast"]


def test_a_card_without_an_id_goes_by_its_name(tmp_path: Path) -> None:
    source, _ = read(tmp_path, agent_card() | {"agent_card": {"name": "Weather"}})

    assert source.agent_id == "Weather"
