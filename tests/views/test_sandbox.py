"""The sandbox of `sql`: no statement of any type reads or writes a file, inside or outside.

Statements are made around every statement type that DuckDB enumerates, so that a type which a new
version brings fails the test until it is tried here.
"""

import hashlib
from pathlib import Path

import duckdb
import pytest

from orchbench_analytics import open_warehouse
from orchbench_analytics.errors import QueryError
from orchbench_analytics.views.catalog import all_relations
from orchbench_analytics.views.query import ask, connect_for_query, fetch
from orchbench_analytics.warehouse import Warehouse

SECRET = "a secret that no query may see"

# {inside} is a Parquet file of the warehouse, {outside} a file with the secret, {new} a new file.
STATEMENTS = {
    "SELECT": [
        "select * from read_text('{outside}')",
        "select * from read_csv('{outside}')",
        "select * from read_parquet('{inside}')",
        "select * from parquet_metadata('{inside}')",
        "select * from '{inside}'",
        "select * from glob('{directory}/*')",
        "from query('from read_text(''{outside}'')')",
        "with s as (select * from read_blob('{outside}')) from s",
        "describe from read_csv('{outside}')",
        "select getenv('HOME')",
    ],
    "INSERT": ["insert into main.profiles select * from main.profiles"],
    "UPDATE": ["update main.profiles set profile = 'x'"],
    "CREATE": [
        "create table t as select 1",
        "create view v as from read_text('{outside}')",
        "create table t as from read_text('{outside}')",
        "create schema s",
        "create secret (type s3)",
    ],
    "DELETE": ["delete from main.profiles"],
    "PREPARE": ["prepare p as select * from read_text('{outside}')"],
    "EXECUTE": ["execute p"],
    "ALTER": ["alter view main.steps rename to stairs"],
    "TRANSACTION": ["begin transaction", "commit"],
    "COPY": [
        "copy (select 1) to '{new}'",
        "copy (select 1) to '{new}' (format parquet, use_tmp_file false)",
        "copy (select 1) to '{inside}' (format parquet, use_tmp_file false)",
        "copy main.steps from '{outside}'",
    ],
    "ANALYZE": ["analyze"],
    "VARIABLE_SET": ["set variable x = (select content from read_text('{outside}'))"],
    "CREATE_FUNC": ["create macro m() as table from read_text('{outside}')"],
    "EXPLAIN": ["explain copy (select 1) to '{new}'"],
    "DROP": ["drop view main.steps", "drop table main.profiles"],
    "EXPORT": ["export database '{new}'"],
    "PRAGMA": ["pragma database_size", "pragma enable_profiling", "pragma log_query_path='{new}'"],
    "VACUUM": ["vacuum"],
    "CALL": ["call pragma_database_size()", "call force_checkpoint()"],
    "SET": [
        "set enable_external_access = true",
        "set allowed_paths = ['{outside}']",
        "set temp_directory = '{new}'",
        "set log_query_path = '{new}'",
        "reset lock_configuration",
    ],
    "LOAD": ["load httpfs", "install httpfs", "load '{outside}'", "update extensions"],
    "RELATION": [],  # made by the client's own functions, not from text
    "EXTENSION": [],  # of extensions, and none can be loaded
    "LOGICAL_PLAN": [],  # made by the client's own functions, not from text
    "INVALID": ["selec 1"],
    "ATTACH": ["attach '{new}' as other", "attach '{outside}' (read_only)"],
    "DETACH": ["detach memory"],
    "MULTI": ["pivot (from read_csv('{outside}')) on 1", "import database '{new}'"],
    "COPY_DATABASE": ["copy from database memory to other"],
    "MERGE_INTO": [
        "merge into main.profiles using main.steps on true when matched then delete",
    ],
}
WRAPPINGS = (
    "{}",
    "{};",
    "  /* only reading */ {}",
    "explain {}",
    "explain analyze {}",
    "explain (analyze) {}",
    "explain /* x */ analyze {}",
    "select 1; {}",
    "{}; select 1",
)
CASES = [
    (wrapping.format(statement) if "{}" in wrapping else statement)
    for statements in STATEMENTS.values()
    for statement in statements
    for wrapping in WRAPPINGS
]


@pytest.fixture(scope="module")
def warehouse(demo: Path) -> Warehouse:
    return open_warehouse(demo / "warehouse")


def digest(directory: Path) -> str:
    """A name for all files below a directory and what is in them."""
    seen = hashlib.sha256()
    for file in sorted(p for p in directory.rglob("*") if p.is_file()):
        seen.update(str(file.relative_to(directory)).encode() + b"\0" + file.read_bytes())
    return seen.hexdigest()


def test_every_statement_type_is_tried() -> None:
    assert set(duckdb.StatementType.__members__) == STATEMENTS.keys()
    assert len(CASES) >= 250


def test_no_statement_reaches_a_file(warehouse: Warehouse, tmp_path: Path) -> None:
    outside = tmp_path / "outside.csv"
    outside.write_text(f"column\n{SECRET}\n", encoding="utf-8")
    names = {
        "inside": next(warehouse.path.glob("scores/*/scored_plans.parquet")),
        "outside": outside,
        "directory": warehouse.path,
        "new": tmp_path / "new",
    }
    before = digest(warehouse.path), digest(tmp_path)
    connection = connect_for_query(warehouse.path, warehouse.manifest(), names=all_relations())
    answered = []
    for case in CASES:
        text = case.format(**names)
        try:
            rows = str(fetch(ask(connection, text)).to_dicts())
        except QueryError:
            continue
        answered.append(text)
        assert SECRET not in rows
        assert str(tmp_path) not in rows or "explain" in text
    assert (digest(warehouse.path), digest(tmp_path)) == before
    assert len(fetch(ask(connection, "from main.profiles"))) == len(warehouse.manifest().profiles)
    # What is answered at all: plans of what would fail, and figures of the empty memory.
    assert not [text for text in answered if not text.strip().startswith("explain")], answered
