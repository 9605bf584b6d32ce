"""DuckDB over a warehouse: its tables, and the views of `sql/`."""

from __future__ import annotations

import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import duckdb

from orchbench_analytics import store
from orchbench_analytics.profiles import WEIGHTS, rule_choices
from orchbench_analytics.schema import Table
from orchbench_analytics.store import Manifest
from orchbench_analytics.tables import SCENARIOS, TABLES

if TYPE_CHECKING:
    import polars as pl

_REFERENCE = re.compile(r"\bmain\.(\w+)")
_TYPES = {"text": "varchar", "int": "bigint", "float": "double", "bool": "boolean"}
# Ties go to the even digit, and the exact value of a double decides what is a tie, as in Python.
_ROUND = """
create or replace macro round_half_even(x, digits) as
    cast(printf('%.' || digits || 'f', x) as double)
"""


class View(NamedTuple):
    """A view of `sql/`: its name, what it is about, its grain, and its query."""

    name: str
    description: str
    grain: str
    query: str

    @property
    def references(self) -> set[str]:
        """The tables and views it reads."""
        return set(_REFERENCE.findall(self.query))


def sql_directory() -> Path:
    """Where the queries lie: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parent
    installed = package / "sql"
    return installed if installed.is_dir() else package.parent / "sql"


@cache
def views() -> dict[str, View]:
    """All views, each after those it reads."""
    found = {}
    for path in sorted(sql_directory().glob("*.sql")):
        query = path.read_text(encoding="utf-8")
        header = [
            line.removeprefix("--").strip() for line in query.splitlines() if line[:2] == "--"
        ]
        grain = next(line.removeprefix("grain:").strip() for line in header if "grain:" in line)
        found[path.stem] = View(path.stem, header[0], grain, query)
    order = TopologicalSorter({v.name: v.references & found.keys() for v in found.values()})
    return {name: found[name] for name in order.static_order()}


def connect(
    root: Path, manifest: Manifest, *, view: str | None = None
) -> duckdb.DuckDBPyConnection:
    """An in-memory DuckDB with the warehouse's tables and views, or just what one view needs."""
    connection = duckdb.connect()
    if view is None:
        populate(connection, root, manifest, kind="view", names=all_relations())
        describe(connection, kind="view")
    else:
        populate(connection, root, manifest, kind="view", names=needed_by(view))
    return connection


def all_relations() -> set[str]:
    """The names of everything that can be asked."""
    return {*TABLES, "model_tags", *views()}


def needed_by(view: str) -> set[str]:
    """A view, and all the tables and views it reads."""
    references = views()[view].references
    return {view, *references}.union(*(needed_by(name) for name in references & views().keys()))


def populate(
    connection: duckdb.DuckDBPyConnection,
    root: Path,
    manifest: Manifest,
    *,
    kind: Literal["view", "table"],
    names: set[str],
) -> None:
    """Create the named tables, as views of the Parquet files or as copies, and the named views."""
    connection.execute(_ROUND)
    _create_profiles(connection, manifest)
    if "model_tags" in names:
        names = names | {SCENARIOS.name}  # which models there are to have tags
    for table in TABLES.values():
        if table.name in names:
            files = store.table_files(root, manifest, table.name)
            connection.execute(f"create {kind} main.{table.name} as {_table_query(table, files)}")
    if "model_tags" in names:
        tags = _tags_query(store.tag_files(root, manifest))
        connection.execute(f"create {kind} main.model_tags as {tags}")
    for view in (view for view in views().values() if view.name in names):
        connection.execute(f"create view main.{view.name} as {view.query}")


def describe(connection: duckdb.DuckDBPyConnection, *, kind: Literal["view", "table"]) -> None:
    """Attach to all tables, columns and views the descriptions that any DuckDB client can show."""
    for table in TABLES.values():
        comment(connection, kind, table.name, f"One row per {table.grain}.")
        for column in table.columns:
            comment(connection, "column", f"{table.name}.{column.name}", column.description)
    comment(connection, "table", "profiles", "The rules of a profile. One row per profile.")
    comment(
        connection, kind, "model_tags", "What is known of models. One row per model, experiment."
    )
    for view in views().values():
        comment(connection, "view", view.name, f"{view.description} One row per {view.grain}.")


def frame_of(relation: duckdb.DuckDBPyRelation) -> pl.DataFrame:
    """The rows of a relation, without pyarrow: to import it takes longer than most queries do."""
    import polars as pl

    names = relation.columns
    if len(set(names)) < len(names):
        frame: pl.DataFrame = relation.pl()  # numbers columns that have the same name
        return frame
    return pl.DataFrame(_Stream(relation))


class _Stream:
    """The rows of a relation as a stream and nothing else.

    polars remembers the type of what it was given, and DuckDB complains at exit if that is its own.
    """

    def __init__(self, relation: duckdb.DuckDBPyRelation) -> None:
        self.__arrow_c_stream__ = relation.__arrow_c_stream__


def comment(connection: duckdb.DuckDBPyConnection, kind: str, name: str, text: str) -> None:
    """Attach a description that any DuckDB client can show."""
    connection.execute(f"comment on {kind} main.{name} is {quoted(text)}")


def quoted(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def _table_query(table: Table, files: list[Path]) -> str:
    if files:
        names = ", ".join(quoted(str(file)) for file in files)
        return f"select * from read_parquet([{names}])"
    columns = ", ".join(f"cast(null as {_TYPES[c.kind]}) as {c.name}" for c in table.columns)
    return f"select {columns} where false"


def _create_profiles(connection: duckdb.DuckDBPyConnection, manifest: Manifest) -> None:
    """The rules of every profile that was scored, as a table, so that views can go by them."""
    rules = [*rule_choices(), *WEIGHTS]
    columns = ", ".join(
        f"{rule} {'double' if rule.endswith('_weight') else 'varchar'}" for rule in rules
    )
    connection.execute(f"create table main.profiles (profile varchar, {columns})")
    rows = [[name, *map(chosen.__getitem__, rules)] for name, chosen in manifest.profiles.items()]
    if rows:
        places = ", ".join(f"({', '.join('?' for _ in row)})" for row in rows)
        connection.execute(
            f"insert into main.profiles values {places}", [v for r in rows for v in r]
        )


def _tags_query(files: list[Path]) -> str:
    """Every model and experiment with its tags; a tag without experiment goes for all of them."""
    query = "select distinct model, experiment from main.scenarios"
    if not files:
        return query
    return f"""
        select known.model, known.experiment, tags.* exclude (model, experiment)
        from ({query}) as known
        left join read_parquet({quoted(str(files[0]))}) as tags
            on known.model = tags.model
            and coalesce(tags.experiment, known.experiment) = known.experiment
        qualify row_number() over (
            partition by known.model, known.experiment order by tags.experiment nulls last
        ) = 1
    """
