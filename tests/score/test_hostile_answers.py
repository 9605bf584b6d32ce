"""Hostile answers through a whole ingest: each costs itself at most, in bounded time and memory.

Each is one answer of a model that is harmless otherwise. All these models are ingested, scored and
queried at once, in a process that may use 30 s of CPU and 4 GiB of memory for the lot. Whatever
comes of a hostile answer, all other rows of its model are those of the harmless model. (Under
`upstream` a malformed answer voids its file, as the public evaluator has it, so there the model's
other file is compared.)
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.tables import SCORED_TABLES
from tests.conftest import MakeOnce
from tests.documents import agent_card, judge_log, run, runs_document, scenario_path, write

INGEST = """
import json, resource, sys
from orchbench_analytics import open_warehouse
from tests.conftest import MakeOnce
resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30))
resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
warehouse, tree, cards = sys.argv[1:]
open_warehouse(warehouse, create=True).ingest(tree, agent_cards=[cards], jobs=1)
for view in ("model_scores", "scenario_scores", "leaderboard"):
    rows = open_warehouse(warehouse).sql(f"from main.{view} order by all")
    rows.write_parquet(f"{warehouse}.{view}.parquet")
"""
HARMLESS = "harmless"
PLACE = "@@ the hostile answer @@"
MEGABYTE = "x" * 2**20
ESCAPES = "=cmd()|'/C calc'!A0 <script>alert(1)</script> \x1b[31m\x1b]0;title\x07\x9b2J\r\n\t"
CRAWL = r"^(\w+\s?)*$"  # a pattern that takes a backtracking reader exponential time


def deep(levels: int, opening: str = "[", closing: str = "]") -> str:
    return opening * levels + "1" + closing * levels


def entry(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def calling(arguments: Any, name: str = "getForecast") -> bytes:
    return entry(content="", tool_calls=[{"function": {"name": name, "arguments": arguments}}])


def calling_raw(arguments: str) -> bytes:
    """A call whose arguments are an object, written as they are given."""
    return calling(PLACE).replace(json.dumps(PLACE).encode(), arguments.encode())


def saying_raw(content: bytes) -> bytes:
    return entry(content=PLACE).replace(json.dumps(PLACE).encode(), content)


def quoted(levels: int) -> Any:
    """Lists in lists around quotes: each level of quoting would double the escapes."""
    value: Any = "'\"\\"
    for _ in range(levels):
        value = [value]
    return value


STEPS: dict[str, bytes] = {
    "arguments text 1,000 deep": calling(f'{{"city": {deep(1_000)}}}'),
    "arguments text 100,000 deep": calling(deep(100_000, '{"a":', "}")),
    "arguments text just readable": calling(f'{{"city": {deep(960)}}}'),
    "arguments 90 deep": calling_raw(f'{{"city": {deep(90)}}}'),
    "arguments 960 deep": calling_raw(f'{{"city": {deep(960)}}}'),
    "arguments 1,000 deep": calling_raw(f'{{"city": {deep(1_000)}}}'),
    "arguments 100,000 deep": calling_raw(f'{{"city": {deep(100_000)}}}'),
    "content 1,000 deep": saying_raw(deep(1_000, '{"a":', "}").encode()),
    "content text 100,000 deep": entry(content=deep(100_000)),
    "a call as text 960 deep": entry(content=f'{{"tool": "a", "arguments": {deep(960)}}}'),
    "a call as text 993 deep": entry(content='{"tool": "a", "arguments": {"a":' + deep(992) + "}}"),
    "quotes 90 deep": calling({"city": quoted(90)}),
    "quotes 900 deep in a text": calling(json.dumps({"city": quoted(900)})),
    "ten thousand keys": calling({f"key {n}": n for n in range(10_000)}),
    "ten thousand keys inside a value": calling({"city": {f"key {n}": n for n in range(10_000)}}),
    "ten thousand calls": entry(
        tool_calls=[
            {"function": {"name": f"tool {n}", "arguments": json.dumps({"city": n, f"k{n}": 1})}}
            for n in range(10_000)
        ]
    ),
    "ten thousand calls of one tool": entry(
        tool_calls=[
            {"function": {"name": "getForecast", "arguments": {"city": str(n)}}}
            for n in range(10_000)
        ]
    ),
    "a megabyte of argument": calling({"city": MEGABYTE}),
    "a megabyte of key": calling({MEGABYTE: 1}),
    "a megabyte of name": calling({}, name=MEGABYTE),
    "a megabyte that is no JSON": calling(MEGABYTE),
    "ten megabytes of content": entry(content=MEGABYTE * 10),
    "numbers too large": calling_raw('{"city": 1e999, "n": -1e999, "m": ' + "9" * 5_000 + "}"),
    "numbers too large in a text": calling('{"city": 1e999, "m": ' + "9" * 5_000 + "}"),
    "an integer of 4,000 digits in a text": calling('{"city": ' + "9" * 4_000 + "}"),
    "a number with a huge exponent": calling('{"city": 1e-999999999, "x": 1E99999999999}'),
    "NaN": calling_raw('{"city": NaN, "x": [Infinity, -Infinity]}'),
    "NaN in a text": calling('{"city": NaN, "x": [Infinity, -Infinity]}'),
    "lone surrogates": saying_raw(rb'"\ud800 \udfff {"'),
    "lone surrogates in a text": calling(r'{"city": "\ud800", "\udfff": ["\ud83d"]}'),
    "NUL characters": calling('{"city\\u0000": "Seo\\u0000ul"}', name="get\x00Forecast"),
    "NUL characters as text": entry(content="\x00{\x00}\x00"),
    "broken UTF-8": saying_raw(b'"\xff\xfe \xc3( \xed\xa0\x80"'),
    "escapes of terminals, sheets and pages": calling({ESCAPES: ESCAPES}, name=ESCAPES),
    "escapes as text": entry(content=ESCAPES, agent_id=ESCAPES),
    "text to crawl over: pattern": calling({"city": "a" * 50_000 + "!"}),
    "text to crawl over: thoughts": entry(content="<think>" * 100_000 + "</think>" * 100_000),
    "text to crawl over: fences": entry(content="```" * 300_000 + "{"),
    "text to crawl over: braces": entry(content="{" * 500_000 + "}" * 500_000),
    "text to crawl over: quotes": entry(content='{"' * 300_000),
    "text to crawl over: tags": entry(content="<tool_call>" * 100_000 + "{}"),
    "SQL": calling({"'); drop table steps; --": "$1 ? {} %s"}, name="'; select 1; --"),
    "calls that are no list": entry(tool_calls={"function": {"name": "getForecast"}}),
    "calls that are no calls": entry(tool_calls=[None, 5, "x", [], {}, {"function": []}]),
    "fields of wrong types": entry(content={"a": [1]}, agent_id=[1], role=5, tool_calls=True),
}

WORKFLOWS = "\n".join(
    f"workflow_{n}:\n  steps:\n  - agent_id: agent {n}\n    status: s{n % 7}" for n in range(1_000)
)
CHAINED = "\n".join(
    f"workflow_{n}: {{steps: [{{agent_id: a{n % 40}}}], depends_on: [workflow_{n * 7 % 1_000}]}}"
    for n in range(1_000)
)
LAUGHS = "\n".join(
    ["x0: &x0 [lol]", *(f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]" for n in range(1, 30))]
)


def planning(content: Any) -> bytes:
    return entry(content=content)


PLANS: dict[str, bytes] = {
    "JSON 1,000 deep": planning(f'{{"workflow_1": {deep(1_000)}}}'),
    "JSON 100,000 deep": planning(f'{{"workflow_1": {deep(100_000)}}}'),
    "YAML 1,000 deep": planning(f"workflow_1: {deep(1_000)}"),
    "YAML 10,000 deep by indentation": planning(
        "workflow_1:\n" + "\n".join(" " * n + "a:" for n in range(1, 1_400))
    ),
    "aliases that expand without end": planning(f"{LAUGHS}\nworkflow_1: {{steps: *x29}}"),
    "aliases that contain themselves": planning("workflow_1: &a {steps: [*a], depends_on: *a}"),
    "merge keys that expand": planning(
        "\n".join(
            [
                "a0: &a0 {k: 1}",
                *(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}" for n in range(1, 30)),
            ]
        )
        + "\nworkflow_1: {<<: *a29}"
    ),
    "a thousand workflows": planning(WORKFLOWS),
    "a thousand dependent workflows": planning(CHAINED),
    "ten thousand workflows as JSON": planning(
        json.dumps({f"workflow_{n}": {"steps": [{"agent_id": f"a{n}"}]} for n in range(10_000)})
    ),
    "a thousand steps in a circle": planning(
        json.dumps({"workflow_1": {"steps": [{"agent_id": f"a{n % 500}"} for n in range(1_000)]}})
    ),
    "a tag that runs code": planning("workflow_1: !!python/object/apply:os.system [exit 1]"),
    "a number in base 60": planning("workflow_1: {steps: [{agent_id: " + "1:" * 50_000 + "1}]}"),
    "numbers too large": planning(
        '{"workflow_1": {"steps": [{"agent_id": 1e999, "status": ' + "9" * 5_000 + "}]}}"
    ),
    "a megabyte of name": planning(f"workflow_{MEGABYTE}: {{steps: [{{agent_id: {MEGABYTE}}}]}}"),
    "NUL, surrogates and escapes": planning(
        json.dumps({"workflow_\x00\ud800": {"steps": [{"agent_id": ESCAPES, "status": "\udfff"}]}})
    ),
    "escapes": planning(json.dumps({f"workflow_{ESCAPES}": {"depends_on": [ESCAPES]}})),
    "broken UTF-8": saying_raw(b'"workflow_1: \xff\xfe"'),
    "text to crawl over: names": planning('"workflow_1": ' * 60_000),
    "text to crawl over: opened": planning('{"workflow_1": {' * 60_000),
    "text to crawl over: fences": planning("```yaml\n" * 100_000 + "workflow_"),
    "text to crawl over: spaces": planning("workflow_1:" + " " * 500_000 + "\n" * 400_000 + "x"),
    "text to crawl over: directives": planning("%TAG ! tag:x,2000:\n" * 40_000 + "workflow_1: 1"),
    "a list of plans": planning([{"workflow_1": deep(500)}]),
    "parts of wrong types": planning(
        '{"workflow_1": 5, "workflow_2": {"steps": {"a": 1}}, "workflow_3": {"steps": [[], null]}}'
    ),
}


CASES: dict[str, tuple[str, bytes]] = {
    f"{kind}: {name}": (kind, answer)
    for kind, answers in (("step", STEPS), ("plan", PLANS))
    for name, answer in answers.items()
}
HOSTILE_STEPS = {"step": "3", "plan": "2"}


def document(kind: str, answer: bytes) -> bytes:
    """A scenario file with the hostile answer in its first run."""
    first = run()
    history = first["sub_agent_history" if kind == "step" else "main_agent_history"]
    step_id, history[0] = history[0]["step_id"], PLACE
    data = json.dumps(runs_document({"run #1": first, "run #2": run()})).encode()
    entry_with_step = json.dumps({"step_id": step_id}).encode()[:-1] + b", " + answer.lstrip(b"{")
    return data.replace(json.dumps(PLACE).encode(), entry_with_step)


def ingest_all(root: Path) -> None:
    """Write a model for each case, and one without; ingest them all."""
    tree, cards = root / "results", root / "agent_cards"
    for number, name in enumerate((HARMLESS, *CASES)):
        model = model_name(number)
        write(scenario_path(tree, model, "13"))
        write(scenario_path(tree, model), None if name == HARMLESS else document(*CASES[name]))
        logs = tree / model / "exp" / "llm_evaluation_logs_EN"
        write(logs / "12_out_trial_run #1.json", judge_log())
    card = agent_card()
    card["tools"][0]["parameters"]["properties"]["city"] = {"type": "string", "pattern": CRAWL}
    write(cards / "EN" / "weather.json", card)
    command = [sys.executable, "-c", INGEST, root / "warehouse", tree, cards]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3_000:]


def model_name(number: int) -> str:
    return f"model-{number:03}"


class Ingested(NamedTuple):
    """Every table and view that rows of a case can be in."""

    raw: dict[str, pl.DataFrame]
    scored: dict[str, pl.DataFrame]
    scenario_scores: pl.DataFrame
    leaderboard: pl.DataFrame


@pytest.fixture(scope="session")
def ingested(make_once: MakeOnce) -> Ingested:
    root = make_once("hostile", ingest_all)
    warehouse = open_warehouse(root / "warehouse")
    return Ingested(
        {name: warehouse.table(name).collect() for name in ("sources", "steps", "plans")},
        {table.name: warehouse.table(table.name).collect() for table in SCORED_TABLES[:-1]},
        pl.read_parquet(root / "warehouse.scenario_scores.parquet"),
        pl.read_parquet(root / "warehouse.leaderboard.parquet"),
    )


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_answer_costs_itself_at_most(name: str, ingested: Ingested) -> None:
    model = model_name([*CASES].index(name) + 1)
    kind, _ = CASES[name]
    hostile_step = HOSTILE_STEPS[kind]

    sources = ingested.raw["sources"].filter(model=model)
    assert set(sources["status"]) == {"taken"}
    for table, rows in {**ingested.raw, **ingested.scored}.items():
        if table != "sources":
            assert other_rows(rows, model, hostile_step).equals(
                other_rows(rows, model_name(0), hostile_step)
            ), table
    for scores in (ingested.scored["scored_steps"], ingested.scored["scored_plans"]):
        counts = [len(scores.filter(model=m)) for m in (model, model_name(0))]
        assert counts[0] == counts[1]


@pytest.mark.parametrize("name", CASES)
def test_its_model_and_file_keep_their_other_scores(name: str, ingested: Ingested) -> None:
    model = model_name([*CASES].index(name) + 1)
    kind, _ = CASES[name]
    scores, usual = (
        ingested.scenario_scores.filter(model=m).drop("model") for m in (model, model_name(0))
    )

    assert scores.filter(scenario="13").equals(usual.filter(scenario="13"))
    honest = pl.col("profile").is_in(["spec", "strict"])
    spared = "plan_" if kind == "step" else "call_"
    columns = [c for c in scores.columns if c.startswith(spared) or c.endswith("_label_count")]
    assert scores.filter(honest).select(columns).equals(usual.filter(honest).select(columns))
    assert len(ingested.leaderboard.filter(model=model)) == 3


def other_rows(rows: pl.DataFrame, model: str, hostile_step: str) -> pl.DataFrame:
    """A model's rows without those of the answer and, under `upstream`, of its file."""
    is_file = pl.col("scenario") == "12"
    is_left_out = is_file & (pl.col("run") == "run #1") & (pl.col("step_id") == hostile_step)
    if "profile" in rows.columns:
        is_left_out |= is_file & (pl.col("profile") == "upstream")
    kept = rows.filter(~is_left_out, model=model).select(
        pl.exclude("model", "step_key", "plan_key")
    )
    return kept.sort(kept.columns, nulls_last=True)
