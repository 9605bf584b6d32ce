"""Whatever models and files say, every table, view and star relation keeps its declared schema."""

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow.parquet as pq
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.exports.relations import Relation, flat_relations, stage
from orchbench_analytics.exports.star import star_relations
from orchbench_analytics.queries import views
from orchbench_analytics.schema import arrow_schema, polars_schema
from orchbench_analytics.tables import TABLES
from orchbench_analytics.views.catalog import frame_of
from orchbench_analytics.warehouse import Warehouse
from tests.documents import (
    PLAN,
    agent_card,
    call,
    judge_log,
    results_document,
    run,
    runs_document,
    scenario_path,
    write,
)
from tests.exports.hostile import build_shapes
from tests.ingest.test_fuzz import CORRUPTIONS, ODD_VALUES, kinds

MUTATED = 300
CALLS: tuple[Any, ...] = (
    *({}, None, [], "x", {"function": None}, {"function": {}}, {"function": {"name": None}}),
    *({"function": {"arguments": "{}"}}, {"function": {"name": "", "arguments": ""}}),
    *(call(name, arguments) for name in ("", "f", "\ud800", 7, None) for arguments in ODD_VALUES),
)


def build_odd(directory: Path) -> None:
    """Odd calls, labels, contents, verdicts, figures and schemas, each in a scenario of its own."""
    results = directory / "results"
    for number, odd in enumerate(CALLS):
        write(scenario_path(results, "calls", str(number)), runs_document({"run #1": _called(odd)}))
    for number, odd in enumerate(ODD_VALUES):
        renamed = PLAN.replace("workflow_1", f"workflow_{odd}")
        other = run(main_agent_history=[{"step_id": 2, "content": renamed}])
        history = {"run #1": _labelled(odd), "run #2": _answered(odd), "run #3": other}
        document = runs_document(history, scenario_id=odd, generated_at=odd, usage=odd)
        write(scenario_path(results, "values", str(number)), document)
        usage = dict.fromkeys(("total_calls", "total_tokens", "total_cost"), odd)
        path = scenario_path(results, f"=usage {number}", "", language="KO")
        write(path.with_name("u_out.json"), runs_document(usage=usage))
        logs = results / "values/exp/llm_evaluation_logs_EN"
        write(logs / f"{number}_out_trial_run #1.json", judge_log(odd))
        figures = results_document() | {"overall_statistics": {"key_metrics": {"Average": odd}}}
        write(results / f"figures {number}-result.json", figures)
        schema = {"properties": {"a": odd, "": {"type": odd, "enum": odd}}}
        tools = [{"name": name, "parameters": schema} for name in ("f", "", odd)]
        card = agent_card(str(number)) | {"tools": [*tools, odd]}
        write(directory / f"agent_cards/EN/{number}.json", card)
    printed = (
        b"2026-11-17 12:07:30.616 | ERROR    | a:b:1 - =cmd()\x00<script>\xff\xed\xa0\x80\t\r\n"
    )
    write(results / "values/exp/scenario_processing_EN.log", printed)
    _ingest(directory)


def _called(odd: Any) -> Any:
    """A run in which the label and the answer make an odd call."""
    document = run()
    document["label"]["3-1"]["tool_calls"] = [odd]
    document["sub_agent_history"][0]["tool_calls"] = [odd, call()]
    return document


def _labelled(odd: Any) -> Any:
    document = run()
    document["label"] |= {
        "2": {"role": "assistant", "content": odd},
        "4": {"agent_id": odd, "content": odd},
        "": {"agent_id": "a", "content": odd, "tool_calls": odd},
    }
    return document


def _answered(odd: Any) -> Any:
    entry = {"step_id": odd, "agent_id": odd, "content": odd, "tool_calls": odd}
    return run(
        main_agent_history=[entry, {"step_id": 2, "content": odd}], sub_agent_history=[entry]
    )


def build_mutated(directory: Path) -> None:
    chance = random.Random(13)
    for number in range(MUTATED):
        path, document = kinds(number)
        write(directory / "results" / path, chance.choice(CORRUPTIONS)(chance, document))
    write(directory / "agent_cards/EN/card.json", agent_card())
    _ingest(directory)


def build_empty(directory: Path) -> None:
    """A warehouse of which every table but one is empty."""
    write(scenario_path(directory / "results"), b"{")
    open_warehouse(directory / "warehouse", create=True).ingest(directory / "results", jobs=1)


def _ingest(directory: Path) -> None:
    opened = open_warehouse(directory / "warehouse", create=True)
    opened.ingest(directory / "results", agent_cards=[directory / "agent_cards"], jobs=1)


BUILDS: dict[str, Callable[[Path], None]] = {
    "odd": build_odd,
    "mutated": build_mutated,
    "empty": build_empty,
    "shapes": build_shapes,
}


@pytest.fixture(scope="module", params=BUILDS)
def warehouse(request: pytest.FixtureRequest, make_once) -> Warehouse:
    directory = make_once(f"schemas_{request.param}", BUILDS[request.param])
    return open_warehouse(directory / "warehouse")


@pytest.mark.parametrize("relations_of", [flat_relations, star_relations], ids=["flat", "star"])
def test_every_relation_keeps_its_schema(
    warehouse: Warehouse, relations_of: Callable[..., list[Relation]]
) -> None:
    with stage() as connection:
        relations = relations_of(connection, warehouse.path, warehouse.manifest(), ())
        found = {r.name: frame_of(connection.sql(f"from main.{r.name}")) for r in relations}
    broken = []
    for relation in relations:
        frame, columns = found[relation.name], relation.table.columns
        assert frame.columns == list(relation.table.column_names)
        expected = polars_schema(relation.table)
        nulls = frame.null_count().row(0, named=True)
        for column in columns:
            is_like = frame.schema[column.name].is_integer() if column.kind == "int" else False
            if not is_like and frame.schema[column.name] != expected[column.name]:
                broken.append((relation.name, column.name, frame.schema[column.name]))
            if not column.nullable and nulls[column.name]:
                broken.append((relation.name, column.name, "has nulls"))
        if relation.key and frame.select(relation.key).is_duplicated().any():
            broken.append((relation.name, relation.key, "is not a key"))
    assert broken == []


@pytest.mark.parametrize("star", [False, True], ids=["flat", "star"])
def test_all_of_it_is_exported_as_declared(
    warehouse: Warehouse, tmp_path: Path, star: bool
) -> None:
    summary = warehouse.export(tmp_path / "out", star=star)

    assert len(summary.relations) > 10
    for relation in summary.relations:
        file = pq.ParquetFile(tmp_path / "out" / f"{relation.relation}.parquet")
        assert file.metadata.num_rows == relation.row_count
        if relation.relation in TABLES:
            assert file.schema_arrow.equals(arrow_schema(TABLES[relation.relation]))
    everything = {*TABLES, "profiles", "model_tags", *views()}
    assert star or everything == {r.relation for r in summary.relations}


def test_the_hostile_warehouses_have_rows_where_it_matters(make_once) -> None:
    odd = open_warehouse(make_once("schemas_odd", build_odd) / "warehouse")
    empty = open_warehouse(make_once("schemas_empty", build_empty) / "warehouse")
    filled = {name: odd.table(name).select(pl.len()).collect().item() for name in TABLES}

    may_be_empty = {"reported_scenarios", "expected_scenarios"}
    assert {name for name, rows in filled.items() if not rows} <= may_be_empty
    assert [name for name in TABLES if len(empty.table(name).collect())] == ["sources"]


def test_a_step_without_a_label_has_no_label_tools(make_once) -> None:
    odd = open_warehouse(make_once("schemas_shapes", build_shapes) / "warehouse")
    unlabelled = odd.table("scored_steps").filter(pl.col("label_tools").is_null()).collect()
    assert len(unlabelled) > 0
    tools = odd.table("step_tools").filter(pl.col("tool") == "unasked").collect()
    assert tools.filter(pl.col("is_labelled")).is_empty()


@pytest.mark.parametrize("is_star", [False, True], ids=["flat", "star"])
def test_every_sink_with_constraints_takes_it(make_once, is_star: bool, tmp_path: Path) -> None:
    odd = open_warehouse(make_once("schemas_shapes", build_shapes) / "warehouse")
    summary = odd.export(tmp_path / "out.sqlite", star=is_star)
    assert summary.row_count > 0
    opened = sqlite3.connect(tmp_path / "out.sqlite")
    assert opened.execute("pragma foreign_key_check").fetchall() == []
    for exported in summary.relations:
        query = f"select count(*) from {exported.relation}"
        assert opened.execute(query).fetchall() == [(exported.row_count,)]
    opened.close()
    odd.export(tmp_path / "out.duckdb", star=is_star)
    with duckdb.connect(str(tmp_path / "out.duckdb"), read_only=True) as connection:
        for exported in summary.relations:
            query = f"select count(*) from {exported.relation}"
            assert connection.sql(query).fetchall() == [(exported.row_count,)]
