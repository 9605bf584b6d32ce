"""Postgres, with a server of our own: values, keys, and refreshes that readers do not notice."""

import shutil
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import PathError
from orchbench_analytics.metrics import HEADLINE
from orchbench_analytics.warehouse import Warehouse
from tests.documents import runs_document, scenario_path, write, write_sweep
from tests.exports.conftest import build_hostile, build_small
from tests.exports.formulas import leaderboard_query
from tests.exports.hostile import TEXTS, answers, without_nul
from tests.exports.test_recipes import QUERY, plans_by_view
from tests.services.postgres import postgres_server, server_programs

CHOSEN = ["steps", "scored_steps", "leaderboard"]


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    programs = server_programs()
    if programs is None:
        pytest.skip("Postgres is not installed; make test-services installs it")
    with postgres_server(programs) as uri:
        yield uri


@pytest.fixture
def uri(server: str) -> str:
    """An empty schema of the server."""
    name = f"s{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"create schema {name}")
    return f"{server}&options={quote(f'-csearch_path={name}')}"


@pytest.fixture
def sweep(make_once, tmp_path: Path) -> Warehouse:
    """A warehouse of two models that a test may change."""
    shutil.copytree(make_once("small_export", build_small), tmp_path / "sweep")
    return open_warehouse(tmp_path / "sweep" / "warehouse")


def ask(uri: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(uri) as connection:
        return connection.execute(query).fetchall()


def change_model(warehouse: Warehouse, directory: Path, model: str, calls: int) -> None:
    """Give a model a scenario that it did not have, or another version of it."""
    document = runs_document(generated_at=f"2026-01-{calls + 1:02}")
    document["history"] = {f"run #{n}": document["history"]["run #1"] for n in range(1, calls + 2)}
    warehouse.ingest(write(scenario_path(directory, model, "77"), document), jobs=1)


def test_rows_keys_and_comments(server: str, uri: str, sweep: Warehouse) -> None:
    summary = sweep.export(uri)

    for exported in summary.relations:
        assert ask(uri, f"select count(*) from {exported.relation}") == [(exported.row_count,)]
    columns, bare = ask(
        uri,
        "select count(*), count(*) filter (where col_description(attrelid, attnum) is null) "
        "from pg_attribute join pg_class on pg_class.oid = attrelid "
        "where attnum > 0 and relkind = 'r' and relnamespace = current_schema()::regnamespace",
    )[0]
    assert (columns > 400, bare) == (True, 0)
    tables = "relkind = 'r' and relnamespace = current_schema()::regnamespace"
    assert (
        ask(
            uri,
            f"select relname from pg_class where {tables} and obj_description(oid) is null",
        )
        == []
    )
    assert sweep.export(uri).is_unchanged


def test_the_leaderboard_is_formed_from_facts(uri: str, demo: Path) -> None:
    warehouse = open_warehouse(demo)
    warehouse.export(uri, star=True)

    formulas = dict(ask(uri, "select metric, formula from metrics"))
    found = ask(uri, leaderboard_query(formulas))

    board = warehouse.connect().sql(
        f"select profile, model, experiment, {', '.join(HEADLINE)} from leaderboard order by 1,2,3"
    )
    expected = board.fetchall()
    order = sorted(found, key=lambda row: row[:3])
    assert [row[:3] for row in order] == [row[:3] for row in expected]
    for got, wanted in zip(order, expected, strict=True):
        assert got[3:] == pytest.approx(wanted[3:], abs=1e-12)
    references = ask(
        uri,
        "select count(*) from pg_constraint where contype = 'f' "
        "and connamespace = current_schema()::regnamespace",
    )
    assert references[0][0] > 25


def test_the_recipe_for_metabase_gives_plan_by_model_and_language(uri: str, demo: Path) -> None:
    tables = ["dim_model", "dim_profile", "dim_scenario", "fact_scenario"]
    open_warehouse(demo).export(uri, star=True, tables=tables)
    found = {row[:2]: row[2] for row in ask(uri, QUERY)}
    wanted = {row[:2]: row[2] for row in plans_by_view(demo)}
    assert found == pytest.approx(wanted, abs=1e-12)


def test_hostile_texts_lose_their_nul_and_nothing_else(uri: str, make_once) -> None:
    hostile = open_warehouse(make_once("hostile_export", build_hostile) / "warehouse")
    summary = hostile.export(uri, tables=["steps"])
    rows = ask(uri, "select step_id, scenario, answer_content from steps")
    names = ("step_id", "scenario", "answer_content")
    found = answers([dict(zip(names, row, strict=True)) for row in rows])
    assert found == [without_nul(text) for text in TEXTS]
    assert list(summary.changed_values.values()) == [1]
    assert "steps.answer_content" in next(iter(summary.changed_values))


def test_one_changed_model_rewrites_its_rows_only(
    uri: str, sweep: Warehouse, tmp_path: Path
) -> None:
    sweep.export(uri, tables=CHOSEN)
    versions = (
        "select model, array_agg(distinct xmin::text) from scored_steps group by 1 order by 1"
    )
    before = dict(ask(uri, versions))
    change_model(sweep, tmp_path / "more", "model-1", 1)

    sweep.export(uri, tables=CHOSEN)

    after = dict(ask(uri, versions))
    assert after["model-0"] == before["model-0"]
    assert after["model-1"] != before["model-1"]
    again = ask(uri, "select relname, n_tup_ins from pg_stat_user_tables")
    sweep.export(uri, tables=CHOSEN)
    assert ask(uri, "select relname, n_tup_ins from pg_stat_user_tables") == again


def test_a_star_is_refreshed_under_its_foreign_keys(
    uri: str, sweep: Warehouse, tmp_path: Path
) -> None:
    sweep.export(uri, star=True)
    change_model(sweep, tmp_path / "more", "it's new", 1)
    summary = sweep.export(uri, star=True)
    assert not summary.is_unchanged
    for exported in summary.relations:
        assert ask(uri, f"select count(*) from {exported.relation}") == [(exported.row_count,)]


def test_readers_see_whole_generations_and_grants_and_views_stay(
    uri: str, sweep: Warehouse, tmp_path: Path
) -> None:
    sweep.export(uri, tables=CHOSEN)
    role = f"r{uuid.uuid4().hex}"
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute(f"create role {role}")
        connection.execute(f"grant select on scored_steps to {role}")
        connection.execute("create view mine as select count(*) as n from scored_steps")
    query = (
        "select (select count(*) from scored_steps), (select count(*) from leaderboard), "
        "(select sum(row_count) from export_manifest where relation = 'scored_steps'), "
        "(select count(distinct generation) from export_manifest)"
    )
    seen: list[tuple[Any, ...]] = []
    is_over = threading.Event()

    def read() -> None:
        with psycopg.connect(uri, autocommit=True) as connection:
            while not is_over.is_set():
                seen.extend(connection.execute(query).fetchall())

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for number in range(5):
        change_model(sweep, tmp_path / "more", "model-1", number + 1)
        assert not sweep.export(uri, tables=CHOSEN).is_unchanged
    is_over.set()
    for reader in readers:
        reader.join()

    assert [row for row in seen if row[0] != row[2] or row[3] != 1] == []
    assert [row for row in seen if not row[0] or not row[1]] == []
    assert len({row[0] for row in seen}) > 1  # they did see it change
    assert ask(uri, "select n from mine") == ask(uri, "select count(*) from scored_steps")
    granted = f"select has_table_privilege('{role}', 'scored_steps', 'select')"
    assert ask(uri, granted) == [(True,)]


def test_tables_of_others_are_left_alone(uri: str, sweep: Warehouse) -> None:
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute("create table steps (mine int)")
    with pytest.raises(PathError, match=r"a table steps that orchbench did not write"):
        sweep.export(uri, tables=CHOSEN)
    with pytest.raises(PathError, match=r"a table steps that orchbench did not write"):
        sweep.export(uri, tables=CHOSEN, overwrite=True)
    assert ask(uri, "select count(*) from steps") == [(0,)]


def test_a_server_that_is_not_there_is_named_without_its_password(tmp_path: Path) -> None:
    warehouse = open_warehouse(tmp_path / "w", create=True)
    warehouse.ingest(write_sweep(tmp_path / "results", 1, 1), jobs=1)
    with pytest.raises(PathError, match=r"cannot connect to postgresql://me:\*\*\*@") as caught:
        warehouse.export(f"postgresql://me:secret@/x?host={tmp_path}", tables=["steps"])
    assert "secret" not in str(caught.value)


def test_what_a_server_refuses_is_said_in_a_sentence(
    server: str, uri: str, sweep: Warehouse
) -> None:
    reader, read_only = (f"u{uuid.uuid4().hex}" for _ in range(2))
    sweep.export(uri, tables=["leaderboard"])
    with psycopg.connect(uri, autocommit=True) as connection:
        for user in (reader, read_only):
            connection.execute(f"create role {user} login password 's3cret'")
            connection.execute(f"grant usage on schema {uri.rpartition('%3D')[2]} to {user}")
        connection.execute(f"grant create on schema public to {read_only}")
        connection.execute(f"alter role {read_only} set default_transaction_read_only = on")
    missing = f"{server}&options={quote('-csearch_path=missing')}"
    for address, user, said in (
        (uri, reader, "lacks a permission; grant usage and create"),  # may not read the manifest
        (server, reader, "lacks a permission; grant usage and create"),
        (server, read_only, "is read-only; write to another"),
        (missing, "postgres", "no schema of the search path exists; create one"),
    ):
        target = address.replace("//postgres@", f"//{user}:s3cret@")
        with pytest.raises(PathError, match=rf"{user}:\*\*\*@.* did not take .*{said}") as caught:
            sweep.export(target, tables=["leaderboard"])
        assert "s3cret" not in str(caught.value)
        assert "select" not in str(caught.value)


def test_what_was_changed_in_the_database_is_written_anew(uri: str, sweep: Warehouse) -> None:
    sweep.export(uri, tables=CHOSEN)
    sizes = {name: ask(uri, f"select count(*) from {name}") for name in CHOSEN}
    for damage, names in (
        ("delete from steps where model = 'model-1'", ["steps"]),
        ("drop table scored_steps", ["scored_steps"]),
        ("truncate leaderboard", ["leaderboard"]),
        ("delete from steps; delete from leaderboard where profile = 'spec'", CHOSEN[::2]),
    ):
        with psycopg.connect(uri, autocommit=True) as connection:
            connection.execute(damage)
        summary = sweep.export(uri, tables=CHOSEN)
        assert summary.repaired == sorted(names)
        assert {name: ask(uri, f"select count(*) from {name}") for name in CHOSEN} == sizes
        assert sweep.export(uri, tables=CHOSEN).is_unchanged


def test_a_model_s_name_is_never_sql(uri: str, sweep: Warehouse, tmp_path: Path) -> None:
    """Some servers take a backslash for an escape, so that a quoted text may end early."""
    odd = f"{uri}%20-cstandard_conforming_strings%3Doff"
    model = "\\') or true --"
    change_model(sweep, tmp_path / "more", model, 1)
    sweep.export(odd, tables=CHOSEN)
    counts = "select model, count(*) from steps group by 1 order by 1"
    before = dict(ask(uri, counts))
    change_model(sweep, tmp_path / "more", model, 2)

    sweep.export(odd, tables=CHOSEN)

    after = dict(ask(uri, counts))
    assert after.keys() == before.keys() == {"model-0", "model-1", model}
    assert {n: after[n] for n in ("model-0", "model-1")} == {
        n: before[n] for n in ("model-0", "model-1")
    }
    assert after[model] > before[model]


@pytest.mark.parametrize("how", ["address", "environment", "role"])
def test_texts_arrive_whatever_the_client_is_set_to(
    uri: str, sweep: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    change_model(sweep, tmp_path / "more", "한국어", 1)
    target = f"{uri}&client_encoding=LATIN1" if how == "address" else uri
    if how == "environment":
        monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    if how == "role":
        with psycopg.connect(uri, autocommit=True) as connection:
            connection.execute("alter role postgres set client_encoding = 'LATIN1'")
    sweep.export(target, tables=["leaderboard"])
    sweep.export(target, tables=["leaderboard"])
    monkeypatch.delenv("PGCLIENTENCODING", raising=False)
    found = ask(f"{uri}&client_encoding=UTF8", "select distinct model from leaderboard order by 1")
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute("alter role postgres reset client_encoding")
    assert found == [("model-0",), ("model-1",), ("한국어",)]


def test_a_database_that_cannot_hold_the_texts_is_refused(server: str, sweep: Warehouse) -> None:
    name = f"d{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"create database {name} encoding LATIN1 locale 'C' template template0")
    other = server.replace("/postgres?", f"/{name}?")
    with pytest.raises(PathError, match=r"keeps texts as LATIN1.*createdb --encoding UTF8"):
        sweep.export(other, tables=["leaderboard"])
    assert ask(other, "select count(*) from pg_tables where schemaname = 'public'") == [(0,)]


@pytest.mark.parametrize("password", ["p@ss/w?rd#1%", "s3cret", "a:b@c/d"])
def test_a_password_reaches_the_server_and_nobody_else(
    server: str, sweep: Warehouse, tmp_path: Path, password: str
) -> None:
    for address in (
        f"POSTGRESQL://me:{quote(password, safe='')}@/x?host={tmp_path}",
        f"postgresql://me@/x?host={tmp_path}&password={quote(password, safe='')}",
    ):
        with pytest.raises(PathError, match="cannot connect to postgresql://me") as caught:
            sweep.export(address, tables=["leaderboard"])
        assert password not in str(caught.value)
        assert quote(password, safe="") not in str(caught.value)


def test_grants_and_views_survive_other_columns(uri: str, sweep: Warehouse, tmp_path: Path) -> None:
    """A tag comes, changes its type and goes: what others have on the table stays."""
    sweep.export(uri, star=True)
    role = f"r{uuid.uuid4().hex}"
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute(f"create role {role}")
        connection.execute(f"grant select on dim_model, fact_step to {role}")
        connection.execute("create view mine as select model from dim_model")
    names = (
        "select attname from pg_attribute where attrelid = 'dim_model'::regclass "
        "and attnum > 0 and not attisdropped"
    )
    before = ask(uri, names)
    for value in ("7", "large", None):
        if value is None:
            sweep.remove(tags=True)
        else:
            (tmp_path / "tags.csv").write_text(f"model,Size\nmodel-0,{value}\n", encoding="utf-8")
            sweep.tag(tmp_path / "tags.csv")
        summary = sweep.export(uri, star=True)
        assert not summary.is_unchanged
        for exported in summary.relations:
            assert ask(uri, f"select count(*) from {exported.relation}") == [(exported.row_count,)]
        if value is not None:
            query = "select \"Size\"::text from dim_model where model = 'model-0'"
            assert ask(uri, query) == [(value,)]
        for table in ("dim_model", "fact_step"):
            granted = f"select has_table_privilege('{role}', '{table}', 'select')"
            assert ask(uri, granted) == [(True,)]
        assert ask(uri, "select count(*) from mine") == [(2,)]
    assert ask(uri, names) == before
    references = "select count(*) from pg_constraint where contype = 'f' and connamespace = "
    assert ask(uri, f"{references} current_schema()::regnamespace")[0][0] > 25


def test_a_column_that_a_view_needs_is_not_dropped(
    uri: str, sweep: Warehouse, tmp_path: Path
) -> None:
    (tmp_path / "tags.csv").write_text("model,Size\nmodel-0,7\n", encoding="utf-8")
    sweep.tag(tmp_path / "tags.csv")
    sweep.export(uri, star=True, tables=["dim_model"])
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute('create view mine as select "Size" from dim_model')
    sweep.remove(tags=True)
    with pytest.raises(PathError, match="something depends on them"):
        sweep.export(uri, star=True, tables=["dim_model"])
    assert len(ask(uri, "select * from mine")) == 2


def test_another_selection_leaves_no_table_behind(uri: str, sweep: Warehouse) -> None:
    sweep.export(uri, tables=CHOSEN)
    sweep.export(uri, tables=["leaderboard", "sources"], overwrite=True)
    tables = "select tablename from pg_tables where schemaname = current_schema() order by 1"
    assert ask(uri, tables) == [("export_manifest",), ("leaderboard",), ("sources",)]
