from __future__ import annotations

import contextlib
import json
import random
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from orchbench_analytics.score.plans.graphs import (
    BadValueError,
    LimitError,
    PlanReading,
    load_yaml,
    read_plan,
)
from tests.bounded import no_runaway

STEP = {"agent_id": "search_agent", "status": "pending", "refined_query": "q: 'x' #1"}
PLAN: dict[str, Any] = {
    "workflow_1": {"status": "pending", "steps": [STEP]},
    "workflow_2": {"depends_on": ["workflow_1"], "steps": [STEP, STEP | {"status": "done"}]},
}
AS_JSON = json.dumps(PLAN)
AS_YAML = yaml.safe_dump(PLAN)
FLAT = {"workflow_1": "search", "workflow_2": 2}


@pytest.mark.parametrize(
    ("text", "expected", "how"),
    [
        (f"Here:\n```json\n{AS_JSON}\n```\nDone.", PLAN, "json_block"),
        (f"```json\n{AS_JSON}```\n```json\n{{}}\n```", PLAN, "json_block"),
        (json.dumps(FLAT), FLAT, "flat_object"),
        (f"First {{}} then {json.dumps(FLAT)} and {{}}", FLAT, "flat_object"),
        (AS_JSON, PLAN, "braces"),
        (f"Sure. {AS_JSON} Done. }}", PLAN, "braces"),
        (f"```json\n{{broken\n```\n{AS_JSON}", PLAN, "braces"),
        ('{"a": {}, "workflow_1": {}}', {"a": {}, "workflow_1": {}}, "json"),
        ('{"workflow_a": {}}', {"workflow_a": {}}, "json"),
        (f"Here:\n```yaml\n{AS_YAML}```\nDone: yes", PLAN, "yaml_block"),
        (f"```yaml\nnote: 1\n```\n```yaml\n\n{AS_YAML}```", PLAN, "yaml_block"),
        (AS_YAML, PLAN, "yaml"),
        (f"note: hello\n{AS_YAML}", {"note": "hello"} | PLAN, "yaml"),
        (
            "workflow_1\nstatus: done\nsteps:\n- agent_id: a\n- b\nand c\nworkflow_2:",
            {
                "workflow_1": {
                    "status": "done",
                    "steps": [{"agent_id": "a"}, "b and c"],
                },
                "workflow_2:": None,
            },
            "reindented",
        ),
    ],
)
def test_each_way_of_reading(text: str, expected: dict[str, Any], how: str) -> None:
    for thorough in (False, True):
        assert read_plan(text, thorough=thorough) == PlanReading(expected, how)


@pytest.mark.parametrize(
    "text",
    [
        'Sure. {"interrupt_workflow_1-1": {"steps": []}, "workflow_1": {"status": "x"}}',
        'Plan: {"workflow_1": {"note": "a } brace", "steps": []}} done',
        'Set {a} of {"b": {"workflow_1": {"note": "\\"}"}}} unclosed {',
    ],
)
def test_only_the_second_look_finds_these(text: str) -> None:
    assert read_plan(text, thorough=False) == PlanReading(None, "no_workflow")
    reading = read_plan(text, thorough=True)
    assert reading.how == "second_look"
    assert reading.plan is not None
    assert "workflow_1" in reading.plan


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "missing"),
        ("", "empty"),
        (" \n\t\u3000", "empty"),
        (f"<think>{AS_JSON}</think>", "empty"),
        (f"{AS_JSON}</think>sorry", "no_workflow"),
        ("workflow planning is not possible", "no_workflow"),
        ("{}", "no_workflow"),
        ("[1, 2]", "no_workflow"),
        ('{"interrupted_workflow_1": {}}', "no_workflow"),
        ('"workflow_1": {', "no_workflow"),
        ('```json\n{"workflow_1": {"steps": [\n```', "no_workflow"),
        ("- workflow_1", "no_workflow"),
        ("workflow_1: [", "no_workflow"),
        ("a: workflow_1\n---\nworkflow_1: {}", "no_workflow"),
    ],
)
def test_reasons(text: str | None, reason: str) -> None:
    for thorough in (False, True):
        assert read_plan(text, thorough=thorough) == PlanReading(None, reason)


def test_only_what_follows_the_last_thought_counts() -> None:
    text = f'<think>{{"workflow_1": 1}}</think>a</think>\n{AS_JSON}'
    assert read_plan(text, thorough=True) == PlanReading(PLAN, "braces")


def test_yaml_is_the_yaml_of_pyyaml() -> None:
    text = (
        "workflow_1: {a: yes, b: 012, c: 1:30, d: 2024-01-02, e: ~, f: 1e3, g: .5, h: 0x1f}\n"
        "workflow_1: &x {k: v, k: w, 7: seven, 2024-01-02: day}\n"
        "on: *x\nmerged: {<<: *x, k: z}\n? [a]\n: b\n"
    )
    sound = text.partition("? [a]")[0]
    assert read_plan(text, thorough=True).plan is None
    assert read_plan(sound, thorough=True) == PlanReading(yaml.safe_load(sound), "yaml")


def test_json_is_the_json_of_python() -> None:
    text = '{"workflow_1": NaN, "workflow_1": -Infinity, "n": 123456789012345678901234567890}'
    assert read_plan(text, thorough=True) == PlanReading(json.loads(text), "flat_object")


BAD_VALUES = [
    "2024-02-30",
    "2024-13-45",
    "!!int x",
    "!!int ''",
    "!!float x",
    "!!bool x",
    "!!timestamp x",
    "9" * 5_000,
    "0x" + "f" * 5_000,
    "1:" + "59:" * 200 + "59.5",
]
BAD_YAML = [
    "!!binary a",
    "!!python/object/apply:os.system [ls]",
    "{[a]: b}",
    "{{}: b}",
    "*nothing",
    "[&a x, &a y]",
    "\x00",
    "\ud800",
    "\x07",
]


@pytest.mark.parametrize("scalar", BAD_VALUES + BAD_YAML)
def test_what_pyyaml_chokes_on_is_no_plan(scalar: str) -> None:
    """A text that is not YAML and a value that cannot be built are told apart."""
    reason = "bad_value" if scalar in BAD_VALUES else "no_workflow"
    for thorough in (False, True):
        reading = read_plan(f"workflow_1:\n  a: {scalar}\n", thorough=thorough)
        assert reading == PlanReading(None, reason)


def test_a_bad_number_in_json_is_a_bad_value() -> None:
    text = '{"workflow_1": ' + "9" * 10_000 + "}"
    assert read_plan(text, thorough=True) == PlanReading(None, "bad_value")


@pytest.mark.parametrize(
    "text",
    [
        "```yaml\nworkflow_1: {due: 2024-02-30}\n```\n" + AS_JSON.replace('"workflow_', '"a_'),
        "1: x\nworkflow_1: {}",
        "null: x\nworkflow_1: {}",
        "true: workflow_1",
    ],
)
def test_after_a_bad_value_only_the_thorough_go_on(text: str) -> None:
    assert read_plan(text, thorough=False) == PlanReading(None, "bad_value")
    assert read_plan(text, thorough=True).how != "yaml_block"


def test_keys_that_are_no_text_matter_only_before_the_first_workflow() -> None:
    for thorough in (False, True):
        reading = read_plan("workflow_1: {}\n1: x", thorough=thorough)
        assert reading == PlanReading({"workflow_1": {}, 1: "x"}, "yaml")
    reading = read_plan("1: x\nworkflow_1: {}", thorough=True)
    assert reading == PlanReading({1: "x", "workflow_1": {}}, "yaml")


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ('Plan: {"note": "a { b", "workflow_1": []} ok', {"note": "a { b", "workflow_1": []}),
        ('{"a": 1} {"workflow_1": []} {"workflow_2": []}', {"workflow_1": []}),
        ('{"workflow_1": []}, {"a": 1}', {"workflow_1": []}),
        ('So: {"workflow_a": {"x": 1}, "b": 2}', None),
        (
            'So: {"workflow_a": {"x": 1}, "workflow_b": 2}',
            {"workflow_a": {"x": 1}, "workflow_b": 2},
        ),
        ('{"workflow_1": null}, {"workflow_2": null}', None),
        ('So: {"workflow_1": []}\n ,{"workflow_2": []} ok', None),
        ('{"workflow_a": {"steps": []}} such as {"workflow_1": []}', None),
    ],
)
def test_the_flat_object_is_the_first_with_what_commas_join_to_it(
    text: str, plan: dict[str, Any] | None
) -> None:
    how = "no_workflow" if plan is None else "flat_object"
    assert read_plan(text, thorough=False) == PlanReading(plan, how)


@pytest.mark.parametrize(
    ("text", "how"),
    [
        (f"```json\n{AS_JSON}\n \n```", "json_block"),
        (f"```json{AS_JSON}```", "json_block"),
        (f"```json\n[]\n```\n```json\n{AS_JSON}\n```", "json_block"),
        ('```json\n{"workflow_1": {"a": "```"}}\n```', "json_block"),
        (f"```json5\n{AS_JSON}\n```", "braces"),
        (f"```JSON\n{AS_JSON}\n```", "braces"),
        (f"```json\n// plan\n{AS_JSON}\n```", "braces"),
    ],
)
def test_a_json_block_begins_and_ends_with_braces(text: str, how: str) -> None:
    assert read_plan(text, thorough=False).how == how


def test_a_named_workflow_needs_a_later_brace() -> None:
    text = '[ {"workflow_a": {"steps": []}} and "workflow_1": {'
    assert read_plan(text, thorough=False) == PlanReading(None, "no_workflow")
    assert read_plan(f"{text}}}", thorough=False).how == "braces"


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ("workflow_1:\n\tstatus: new", {"workflow_1:": {"status": "new"}}),
        ("workflow_1\na: b\n workflow_2", None),
        ("workflow_1: \n\tstatus: new", None),
        (" \n workflow_1\nstatus: new", {"workflow_1": {"status": "new"}}),
    ],
)
def test_a_reindented_workflow_keeps_its_spacing_and_gains_a_colon(
    text: str, plan: dict[str, Any] | None
) -> None:
    how = "no_workflow" if plan is None else "reindented"
    assert read_plan(text, thorough=False) == PlanReading(plan, how)


@pytest.mark.parametrize("value", ["\tnew", "new\t", '"\\uD800x"', "!", "x # %", "[?]"])
def test_yaml_is_that_of_the_pure_reader(value: str) -> None:
    text = f"workflow_1:\n  a: {value}\n"
    assert loaded(text, load_yaml) == loaded(text, yaml.safe_load)


def test_a_tab_is_not_a_separator() -> None:
    assert read_plan("workflow_1: {a: b}", thorough=True).plan == {"workflow_1": {"a": "b"}}
    assert read_plan("workflow_1: {a:\tb}", thorough=True).plan is None


def test_small_aliases_work_and_large_ones_are_refused() -> None:
    small = "base: &b [a, b]\nworkflow_1: {x: *b, y: *b}\n"
    assert read_plan(small, thorough=True) == PlanReading(yaml.safe_load(small), "yaml")
    lines = ["x0: &x0 [a, a]"] + [f"x{i}: &x{i} [*x{i - 1}, *x{i - 1}]" for i in range(1, 30)]
    bomb = "\n".join([*lines, "workflow_1: *x29"])
    assert read_plan(bomb, thorough=True) == PlanReading(None, "too_large")
    endless = "workflow_1: &w {steps: [*w]}"
    assert read_plan(endless, thorough=True) == PlanReading(None, "too_deep")


def repeated(piece: str) -> str:
    return (piece * (1_000_000 // len(piece)))[:999_000]


MERGES = ["m0: &m0 {a: b}"] + [
    f"m{i}: &m{i} {{<<: [{', '.join([f'*m{i - 1}'] * 9)}], k{i}: v}}" for i in range(1, 12)
]
HOSTILE = {
    "deep objects": '{"workflow_1": ' * 60_000,
    "deep lists": '{"workflow_1": ' + "[" * 900_000,
    "deep and closed": '{"workflow_1": ' + "[" * 400_000 + "]" * 400_000 + "}",
    "deep yaml": "# workflow_1\na:\n" + "\n".join(" " * i + "- a:" for i in range(1, 1_300)),
    "deep yaml in one line": "workflow_1: 1\n" + "- " * 400_000,
    "deep flow yaml": "workflow_1: " + "{a: " * 200_000,
    "alias bomb": "\n".join(
        ["workflow_0: &a0 [x]"]
        + [f"workflow_{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 20)]
    ),
    "long text by alias": "a: &a " + "x" * 500_000 + "\nworkflow_1: [" + "*a, " * 100_000 + "]",
    "merge bomb": "\n".join([*MERGES, "workflow_1: {<<: *m11}"]),
    "ten megabytes": '{"workflow_1": "' + "x" * 10_000_000 + '"}',
    "ten megabytes of thought": "x</think>" * 1_200_000 + AS_JSON,
    "braces": repeated("{") + '"workflow_1": {',
    "pairs of braces": '"workflow_1": {' + repeated("{}"),
    "open objects": '{"workflow_1": {' + repeated('{"a":1,'),
    "shallow and unclosed": '{"workflow_1": {' * 90 + repeated("{},"),
    "quotes": '{"workflow_1": {' + repeated('\\"'),
    "quotes and braces": '{"workflow_1": {' + repeated('"{'),
    "names": repeated('"workflow_1'),
    "names of digits": '{"workflow_' + "1" * 990_000,
    "spaces": '{"workflow_1":' + " " * 990_000,
    "fences": "workflow_" + repeated("```json"),
    "yaml fences": repeated("```yaml "),
    "fence and spaces": "```yaml" + repeated(" ") + "```json" + " " * 900,
    "scalars": "workflow_1: [" + repeated("1,"),
    "lines": "workflow_1\n" + repeated("a: b\n"),
    "bullets": "workflow_1:\n" + repeated("- 1\n"),
    "documents": "workflow_1: 1\n" + repeated("---\n"),
    "directives": "\r".join(f"%TAG !a{i}! b" for i in range(60_000)) + "\n--- workflow_1",
    "anchors": "workflow_1: [" + ",".join(f"&a{i} x" for i in range(80_000)),
    "base sixty": "workflow_1: 1" + repeated(":1"),
    "digits": "workflow_1: " + repeated("9"),
    "key after key": "workflow_1: " + repeated("a: "),
    "long key": "workflow_1" + repeated("x") + ": y",
    "nul": "workflow_1: " + repeated("\x00"),
    "half characters": "workflow_1: " + repeated("\ud800"),
    "indicators": "workflow_1: " + repeated("? - : "),
    "tags": "workflow_1: " + repeated("!!str "),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_cost_little(name: str) -> None:
    with no_runaway():
        reading = read_plan(HOSTILE[name], thorough=True)
    assert reading.plan is None or name in ("ten megabytes of thought", "long key")


@pytest.mark.parametrize("name", ["alias bomb", "merge bomb", "deep and closed"])
def test_hostile_texts_take_little_memory(name: str) -> None:
    tracemalloc.start()
    try:
        read_plan(HOSTILE[name], thorough=True)
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("ten megabytes", "too_large"),
        ("deep and closed", "too_deep"),
        ("deep flow yaml", "too_deep"),
        ("merge bomb", "too_large"),
        ("directives", "too_large"),
    ],
)
def test_reasons_of_refusal(name: str, reason: str) -> None:
    assert read_plan(HOSTILE[name], thorough=True) == PlanReading(None, reason)


def test_a_thousand_workflows_are_read() -> None:
    plan = {f"workflow_{i}": {"steps": [STEP, STEP]} for i in range(1_000)}
    for text in (json.dumps(plan), yaml.dump(plan, Dumper=yaml.CSafeDumper)):
        with no_runaway():
            assert read_plan(text, thorough=True).plan == plan


PIECES = (
    *("workflow_1", "workflow_2", "a", "steps", "yes", "null", "12", "1.5", "2024-01-02", "''"),
    *(":", ": ", "\n", "\n  ", "\n    ", "- ", "? ", ", ", "[", "]", "{", "}", "&x ", "*x", "<<"),
    *('"', "'", "#", " ", "|\n", "!!str ", "---\n", "`", "\t", "é", "=", "%", "@", "~"),
)


def test_yaml_is_read_as_pyyaml_reads_it() -> None:
    rng = random.Random("yaml")
    for _ in range(20_000):
        text = "workflow_1: " * rng.randint(0, 1) + "".join(
            rng.choices(PIECES, k=rng.randint(1, 12))
        )
        with contextlib.suppress(LimitError):  # a list that contains itself
            assert loaded(text, load_yaml) == loaded(text, yaml.safe_load), text


def loaded(text: str, load: Callable[[str], object]) -> str:
    """What a reader makes of a text; errors in its values are told from errors in the text."""
    try:
        return repr(load(text))
    except yaml.YAMLError:
        return repr(None)
    except (BadValueError, ValueError, LookupError, AttributeError, TypeError):
        return "bad value"


@settings(max_examples=200)
@given(st.lists(st.sampled_from([*PIECES, AS_JSON, AS_YAML, "```json", "```yaml", "```"])))
def test_no_text_breaks_the_reading(pieces: list[str]) -> None:
    text = "".join(pieces)
    basic, thorough = read_plan(text, thorough=False), read_plan(text, thorough=True)
    assert thorough == basic or basic.plan is None
    assert thorough == basic or "second_look" in thorough.how or basic.how == "bad_value"
