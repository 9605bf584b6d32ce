"""The queries of `sql/`: a header that is true, and one look."""

import re
from pathlib import Path

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from orchbench_analytics import open_warehouse
from orchbench_analytics.queries import View, read_views, sql_directory, views

FILES = sorted(sql_directory().glob("*.sql"))
NAMES = [path.stem for path in FILES]
MACROS = sorted((sql_directory() / "macros").glob("*.sql"))
OWN_FUNCTIONS = {
    name.upper()
    for path in MACROS
    for name in re.findall(r"create or replace macro (\w+)", path.read_text(encoding="utf-8"))
}
KINDS = {"VARCHAR", "BIGINT", "INTEGER", "DOUBLE", "BOOLEAN"}


@pytest.fixture(scope="module")
def connection(demo: Path):
    return open_warehouse(demo / "warehouse").connect()


@pytest.fixture(params=FILES, ids=NAMES)
def path(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture
def view(path: Path) -> View:
    return read_views(sql_directory())[path.stem]


def test_every_file_but_the_stored_query_is_a_view_and_has_a_test_of_its_own() -> None:
    tested = Path(__file__).parent / "sql"
    assert [name for name in NAMES if not (tested / f"test_{name}.py").exists()] == []
    assert set(NAMES) == {"scenario_scores", *views()}


def test_header_is_a_sentence_and_a_grain(path: Path) -> None:
    sentence, grain, *_ = path.read_text(encoding="utf-8").splitlines()
    assert re.fullmatch(r"-- [A-Z].*\.", sentence)
    assert re.fullmatch(r"-- grain: \w+(, \w+)*", grain)


def test_grain_is_true(view: View, connection: duckdb.DuckDBPyConnection) -> None:
    repeated = connection.execute(
        f"select {view.grain}, count(*) from main.{view.name} group by {view.grain}"
        " having count(*) > 1"
    ).fetchall()
    assert repeated == []
    assert connection.execute(f"select count(*) from main.{view.name}").fetchall() != [(0,)]


def test_a_row_says_first_what_it_is_about(view: View, connection) -> None:
    """Its rank may come before, and experiment and profile, the same in most rows, at the end."""
    described = connection.execute(f"describe main.{view.name}").fetchall()
    anywhere = {"rank_number", "experiment", "profile"}
    keys = {*view.grain.split(", ")} - anywhere
    names = [name for name, *_ in described if name not in anywhere]
    assert {*names[: len(keys)]} == keys
    assert {*view.grain.split(", ")} <= {name for name, *_ in described}


def test_layout(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    assert "\t" not in text
    assert text.endswith("\n")
    assert [line for line in lines if line != line.rstrip()] == []
    assert [line for line in lines if len(line) > 100 and not line.startswith("-- grain")] == []
    code = [line for line in lines if not line.startswith("--")]
    assert [line for line in code if (len(line) - len(line.lstrip())) % 4] == []
    assert re.search(r"^select \* from \w+$", lines[-1])


def test_lowercase(path: Path) -> None:
    code = re.sub(r"--.*|'[^']*'", "", path.read_text(encoding="utf-8"))
    assert re.findall(r"\b\w*[A-Z]\w*", code) == []


def test_tables_are_imported_first_and_by_full_name(path: Path) -> None:
    query = sqlglot.parse_one(path.read_text(encoding="utf-8"), read="duckdb")
    ctes = {cte.alias for cte in query.find_all(exp.CTE)}
    tables = list(query.find_all(exp.Table))
    assert {t.name for t in tables if not t.db} <= ctes
    imports = [any(t.db == "main" for t in cte.this.find_all(exp.Table)) for cte in query.ctes]
    assert imports == sorted(imports, reverse=True)


def test_counts_are_named_as_counts(view: View, connection: duckdb.DuckDBPyConnection) -> None:
    described = connection.execute(f"describe main.{view.name}").fetchall()
    keys = view.grain.split(", ")
    whole = [n for n, kind, *_ in described if kind in ("BIGINT", "INTEGER") and n not in keys]
    flags = [n for n, kind, *_ in described if kind == "BOOLEAN"]
    assert [n for n in whole if not n.endswith(("_count", "_rank", "rank_number"))] == []
    assert [n for n in flags if not n.startswith(("is_", "has_"))] == []
    assert [n for n, kind, *_ in described if kind not in KINDS] == []


def test_only_list_items_takes_lists_apart(path: Path) -> None:
    query = sqlglot.parse_one(path.read_text(encoding="utf-8"), read="duckdb")
    nested = [*query.find_all(exp.Explode, exp.Unnest, exp.ParseJSON, exp.Lambda, exp.Star)]
    odd = [n for n in nested if not isinstance(n, exp.Star) or n.args.get("except_")]
    assert not odd or path.stem == "list_items"


def test_columns_have_types_that_every_reader_knows(
    connection: duckdb.DuckDBPyConnection, view: View
) -> None:
    described = connection.execute(f"describe main.{view.name}").fetchall()
    kinds = {name: kind for name, kind, *_ in described}
    plain = ("VARCHAR", "BIGINT", "INTEGER", "DOUBLE", "BOOLEAN")
    assert {name: kind for name, kind in kinds.items() if kind not in plain} == {}


@pytest.mark.parametrize("path", MACROS, ids=[path.stem for path in MACROS])
def test_every_macro_says_what_it_gives(path: Path) -> None:
    statements = path.read_text(encoding="utf-8").split("create or replace macro ")
    assert [text for text in statements[:-1] if not re.search(r"^-- .*\.\n\Z", text, re.M)] == []
    assert [line for line in path.read_text(encoding="utf-8").splitlines() if len(line) > 100] == []


def test_every_macro_is_used() -> None:
    texts = [path.read_text(encoding="utf-8").upper() for path in (*FILES, *MACROS)]
    uses = {name: sum(text.count(f"{name}(") for text in texts) for name in OWN_FUNCTIONS}
    assert [name for name, count in uses.items() if count < 2] == []  # one is its definition


def test_views_divide_only_by_the_macro(path: Path) -> None:
    assert "nullif(" not in path.read_text(encoding="utf-8")
