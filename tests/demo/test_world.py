"""The data files: every text fills, every tool is used, an agent is one file."""

import json
import random
import re
import shutil
from pathlib import Path

import msgspec
import pytest

from tests.demo.sweep_documents import Document, documents, sub_agent_labels
from tests.sweep.answers import Luck, mistaken
from tests.sweep.models import Model
from tests.sweep.scenarios import Call
from tests.sweep.world import (
    DATA,
    LANGUAGES,
    Draw,
    Mode,
    Word,
    agent_cards,
    read_world,
    templates,
    world,
)


def test_cards_describe_every_tool_and_the_calls_fit_them(sweep: Path) -> None:
    kinds: set[str] = set()
    for language in ("EN", "KO"):
        tools = {}
        for path in (sweep / "agent_cards" / language).iterdir():
            card = json.loads(path.read_bytes())
            assert path.stem == card["agent_card"]["agent_id"]
            assert 2 <= len(card["tools"]) <= 4
            tools |= {tool["name"]: tool["parameters"] for tool in card["tools"]}
        assert tools.keys() == world(language).tools.keys()
        for schema in (s for tool in tools.values() for s in tool["properties"].values()):
            kinds |= {schema["type"], *(key for key in ("enum", "pattern") if key in schema)}
        for document in documents(sweep, "perfect", language):
            for _, _, gold in sub_agent_labels(document["history"]["run #1"]):
                for call in gold.get("tool_calls", []):
                    if call["function"]["name"] != "tool_name":
                        check_fits(call["function"], tools)
    assert kinds == {
        *("string", "integer", "number", "boolean", "array", "object", "enum", "pattern")
    }


def check_fits(function: Document, tools: Document) -> None:
    types = {"string": str, "integer": int, "number": int | float, "boolean": bool}
    types |= {"array": list, "object": dict}
    parameters = tools[function["name"]]
    arguments = json.loads(function["arguments"])
    assert {*parameters["required"]} <= arguments.keys()
    for key, value in arguments.items():
        schema = parameters["properties"][key]
        assert isinstance(value, types[schema["type"]])
        assert value in schema.get("enum", [value])
        assert re.match(schema.get("pattern", ""), str(value))


@pytest.mark.parametrize("language", LANGUAGES)
def test_templates_use_every_tool_and_every_mode(language: str) -> None:
    tools = world(language).tools
    moves = {
        m for template in templates() for turn in template for task in turn for m in task.steps
    }

    assert {move.tool for move in moves} == tools.keys()
    assert {move.mode for move in moves} == {*Mode}
    for move in moves:
        assert tools[move.tool].missing or move.mode not in (Mode.ASK, Mode.BARE_ASK)
        assert tools[move.tool].barred or move.mode is not Mode.BARRED


def test_no_two_agents_share_a_name() -> None:
    here = world("EN")
    slots = [name for agent in here.agents for name in agent.slots] + [*here.phrases.slots]

    assert len(here.slots) == len(slots)
    assert len(here.tools) == sum(len(agent.tools) for agent in here.agents)
    assert len({agent.agent_id for agent in here.agents}) == len(here.agents)
    assert len({agent.port for agent in here.agents}) == len(here.agents)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", world("EN").tools)
def test_every_text_fills(name: str, language: str) -> None:
    tool = world(language).tools[name]
    draw = Draw(random.Random("a test"), world(language))
    texts = [*tool.asks, tool.query, tool.answer, tool.line]
    if tool.missing:
        texts += [tool.missing.ask, tool.missing.needs, tool.missing.question, tool.missing.reply]
    if tool.barred:
        texts += [tool.barred.ask, tool.barred.limit, tool.barred.refusal]

    for template in texts:
        said = draw.text(template, nth=1, varying=tool.varies_by_row)
        assert not re.search(r"[{}]", said)
        assert bool(re.search("[가-힣]", said)) == (language == "KO" and bool(template))
    assert bool(tool.line) == bool(tool.row_count)
    assert {*(tool.missing.keys if tool.missing else ())} <= tool.arguments.keys()
    assert tool.arguments.keys() <= tool.parameters.keys()
    assert {*tool.required} <= tool.parameters.keys()


LIGHTHOUSE = """
agent_id: lighthouse_agent
port: 12100
name: {en: "Lighthouse", ko: "등대"}
about: {en: "Tells when the lamp is lit.", ko: "등대 불을 켜는 시각을 알려 줍니다."}
slots:
  lit_at: {kind: clock, low: 17, high: 21}
tools:
  - name: getLampTimes
    title: {en: "Lamp times", ko: "점등 시각"}
    about: {en: "Tells when the lamp is lit.", ko: "점등 시각을 알려 줍니다."}
    parameters:
      date: {type: string, description: {en: "Day", ko: "날짜"}}
    required: [date]
    arguments: {date: "{day}"}
    result: {litAt: "{lit_at}"}
    asks:
      - {en: "say when the lamp is lit on {day:said}", ko: "{day:said} 점등 시각을 알려"}
    query: {en: "Lamp times on {day:said}", ko: "{day:said} 점등 시각 조회"}
    answer: {en: "The lamp is lit at {lit_at}.", ko: "{lit_at}에 불을 켭니다."}
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    shutil.copytree(DATA / "agents", tmp_path / "agents")
    shutil.copy(DATA / "phrases.yaml", tmp_path)
    return tmp_path


def test_adding_an_agent_is_adding_one_file(data: Path) -> None:
    (data / "agents" / "lighthouse.yaml").write_text(LIGHTHOUSE, encoding="utf-8")

    here = read_world(data, "KO")

    assert here.agents[:-1] == world("KO").agents
    assert here.agent_of["getLampTimes"] == "lighthouse_agent"
    card = dict(agent_cards(here))["lighthouse_agent"]
    assert card["agent_card"]["name"] == "등대"
    assert card["tools"][0]["parameters"]["required"] == ["refinedQuery", "date"]
    careless = Model("careless", wrong_tool=1.0)
    made = mistaken((Call("getLampTimes", {}),), careless, Luck(random.Random(1)), here)
    assert made[0].name != "getLampTimes"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("port: 12100", "prot: 12100"),
        ("kind: clock", "kind: clcok"),
        ('name: {en: "Lighthouse", ko: "등대"}', 'name: {en: "Lighthouse"}'),
    ],
)
def test_a_mistake_in_a_data_file_is_said_with_its_file(data: Path, right: str, wrong: str) -> None:
    text = LIGHTHOUSE.replace(right, wrong)
    (data / "agents" / "lighthouse.yaml").write_text(text, encoding="utf-8")

    with pytest.raises(msgspec.ValidationError, match=r"lighthouse\.yaml: "):
        read_world(data, "EN")


def test_korean_particles_follow_the_sound() -> None:
    said = "{0:을} {0:으로} {1:을} {1:으로} {2:으로} {3:은}".format(
        Word("산장"), Word("나루"), Word("서울"), Word("7")
    )

    assert said == "산장을 산장으로 나루를 나루로 서울로 7은"
