"""The catalog: the tables of a warehouse and the views of `sql/`, in DuckDB."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import duckdb

from orchbench_analytics.errors import SelectionError, suggest
from orchbench_analytics.profiles import RULES, profile_of, rules_of
from orchbench_analytics.queries import macros, views
from orchbench_analytics.schema import DUCKDB_TYPES, Column, Table
from orchbench_analytics.store.manifest import Manifest, narrow, row_count, table_files
from orchbench_analytics.tables import MODEL_KEY, PROFILE_NAME, SCENARIO_SCORES, TABLES

if TYPE_CHECKING:
    import polars as pl

PROFILES = Table(
    "profiles",
    "profile that the warehouse was scored under",
    (
        PROFILE_NAME,
        *(Column(n, "text" if r.choices else "float", r.sentence) for n, r in RULES.items()),
    ),
)
# Each warehouse has further columns here: its tags.
MODEL_TAGS = Table(
    "model_tags", "model and experiment, with a column for each tag that was given", MODEL_KEY[:2]
)
PROFILES_AND_TAGS = (PROFILES, MODEL_TAGS)

# DuckDB reads these characters in a path as a pattern and has no way to escape them.
_PATTERN_CHARACTERS = set("*?[" if os.sep == "\\" else "*?[\\")
_VIEW_COLUMNS = """
select table_name, column_name
from duckdb_columns()
where schema_name = 'main' and table_name in (select unnest(?))
"""


class Scope(NamedTuple):
    """The profile, the models with their experiments, and the languages that rows are about.

    Null is all of them. Tables then have no other rows, and neither have the views over them.
    """

    profile: str | None = None
    contenders: Sequence[tuple[str, str]] | None = None
    languages: Sequence[str] | None = None

    def narrow(self, manifest: Manifest) -> Manifest:
        """The manifest with only the parts and scores that can have rows in this scope."""
        return narrow(manifest, **self._asdict())

    def condition(self, table: Table) -> str:
        """A condition in SQL for the rows of a table that are in this scope."""
        columns = {column.name for column in table.columns}
        conditions = ["true"]
        if self.profile is not None and "profile" in columns:
            conditions.append(f"profile = {quoted(self.profile)}")
        if self.contenders is not None and "model" in columns:
            pairs = (f"({quoted(model)}, {quoted(other)})" for model, other in self.contenders)
            # The first condition prunes row groups, the second decides.
            conditions.append(_is_one_of("model", [model for model, _ in self.contenders]))
            conditions.append(f"(model, experiment) in ({', '.join(pairs)})")
        if self.languages is not None and "language" in columns:
            conditions.append(_is_one_of("language", self.languages))
        return " and ".join(conditions)


def _is_one_of(column: str, values: Sequence[str]) -> str:
    return f"{column} in ({', '.join(map(quoted, dict.fromkeys(values)))})"


EVERYTHING = Scope()


def connect(
    root: Path,
    manifest: Manifest,
    *,
    only: Iterable[str] | None = None,
    scope: Scope = EVERYTHING,
) -> duckdb.DuckDBPyConnection:
    """An in-memory DuckDB with all tables and views, or with those named and what they read."""
    connection = silent_duckdb()
    names = all_relations() if only is None else only
    populate(connection, root, manifest, names=names, scope=scope)
    return connection


def silent_duckdb(
    file: str | Path = ":memory:", *, threads: int | None = None, read_only: bool = False
) -> duckdb.DuckDBPyConnection:
    """A DuckDB in memory, or of a file, without a progress bar, which would go to stdout.

    DuckDB shows one wherever Python was not started with a script, as in worker processes.
    By default it uses a thread for each core.
    """
    settings: dict[str, Any] = {} if threads is None else {"threads": threads}
    connection = duckdb.connect(file, read_only=read_only, config=settings)
    connection.execute("set enable_progress_bar = false")
    return connection


def all_relations() -> set[str]:
    """The names of all tables and views."""
    return {*TABLES, *(table.name for table in PROFILES_AND_TAGS), *views()}


def needed_by(*names: str) -> set[str]:
    """The tables and views named, and all that they read; an unknown name is an error."""
    known = [*TABLES, *(table.name for table in PROFILES_AND_TAGS), *views()]
    for unknown in (name for name in names if name not in known):
        raise SelectionError(f"no table or view named {unknown!r}; {suggest(unknown, known)}")
    read = {name for view in views().keys() & {*names} for name in views()[view].references}
    return {*names} | (needed_by(*read) if read else set())


def populate(
    connection: duckdb.DuckDBPyConnection,
    root: Path,
    manifest: Manifest,
    *,
    names: Iterable[str],
    scope: Scope = EVERYTHING,
    opens_files: bool = True,
) -> None:
    """Create the named tables, as views of their Parquet files, and the named views.

    What the views read is created too.

    DuckDB opens the files itself, or pyarrow reads them, which verifies the checksums of their
    pages, and DuckDB never opens a file. pyarrow also reads those below a path that DuckDB would
    take for a pattern.
    """
    names = needed_by(*names)
    for statements in macros():
        connection.execute(statements)
    opens_files = opens_files and _PATTERN_CHARACTERS.isdisjoint(str(root.absolute()))
    narrowed = scope.narrow(manifest) if scope != EVERYTHING else manifest
    if "profiles" in names:
        connection.execute(f"create view main.profiles as {profiles_query(narrowed)}")
    if "model_tags" in names:
        names = names | {SCENARIO_SCORES.name}  # says which models there are
    for table in (table for table in TABLES.values() if table.name in names):
        files = table_files(root, narrowed, table.name)
        if files:
            rows = _relation(connection, files, opens_files=opens_files)
            if scope != EVERYTHING:
                rows = rows.filter(scope.condition(table))
            rows.create_view(table.name)
        else:
            connection.execute(f"create view main.{table.name} as {no_rows(table)}")
    if "model_tags" in names:
        _create_tags(connection, table_files(root, manifest, "model_tags"), opens_files=opens_files)
    for view in (view for view in views().values() if view.name in names):
        connection.execute(f"create view main.{view.name} as {view.query}")


def _relation(
    connection: duckdb.DuckDBPyConnection, files: list[Path], *, opens_files: bool
) -> duckdb.DuckDBPyRelation:
    """The rows of Parquet files."""
    if opens_files:
        return connection.read_parquet([str(f.absolute()) for f in files], hive_partitioning=False)
    import pyarrow.dataset as ds

    class Frugal(ds.FileSystemDataset):  # type: ignore[misc]
        """Files that are read as far as DuckDB asks for, and not whole in advance."""

        def scanner(self, **options: Any) -> ds.Scanner:
            return super().scanner(batch_readahead=1, fragment_readahead=1, **options)

    verified = ds.ParquetFileFormat(
        default_fragment_scan_options=ds.ParquetFragmentScanOptions(
            page_checksum_verification=True, pre_buffer=False
        )
    )
    found = ds.dataset([str(file) for file in files], format=verified)
    fragments = [*found.get_fragments()]
    return connection.from_arrow(Frugal(fragments, found.schema, found.format, found.filesystem))


def _create_tags(
    connection: duckdb.DuckDBPyConnection, files: list[Path], *, opens_files: bool
) -> None:
    """Create the table of tags; its rows are few, so it is filled at once."""
    names: list[str] = []
    if files:
        rows = _relation(connection, files, opens_files=opens_files)
        names = tag_names(rows.columns)
        rows.create_view("given_tags")
    query = tags_query("given_tags" if files else None, names)
    connection.execute(f"create table main.model_tags as {query}")
    connection.execute("drop view if exists main.given_tags")


def profiles_query(manifest: Manifest) -> str:
    """A query that gives the rules of every profile that was scored, for views to read."""
    types = {column.name: DUCKDB_TYPES[column.kind] for column in PROFILES.columns}
    rows = (
        ", ".join(f"cast({quoted(str(rules[name]))} as {type_})" for name, type_ in types.items())
        for profile, chosen in manifest.profiles.items()
        for rules in [{**rules_of(profile_of(chosen)), "profile": profile}]
    )
    return " union all ".join([no_rows(PROFILES), *(f"select {row}" for row in rows)])


def tags_query(given: str | None, names: Sequence[str]) -> str:
    """A query that gives models and experiments their tags; experiments inherit their model's."""
    query = "select distinct model, experiment from main.scenario_scores"
    if given is None:
        return query
    tags = "".join(
        f", coalesce(own.{name}, general.{name}) as {name}" for name in map(quoted_name, names)
    )
    return f"""
        select known.model, known.experiment{tags}
        from ({query}) as known
        left join {given} as own
            on known.model = own.model and known.experiment = own.experiment
        left join {given} as general
            on known.model = general.model and general.experiment is null
    """


def tag_names(columns: Iterable[str]) -> list[str]:
    """The tags among the columns of a file of tags."""
    return [name for name in columns if name not in ("model", "experiment")]


def describe(connection: duckdb.DuckDBPyConnection, *, kind: Literal["view", "table"]) -> None:
    """Attach descriptions to all tables, columns and views, for any DuckDB client to show.

    `kind` is what the tables were created as. This takes 800 statements, so it is done only where
    descriptions are read.
    """
    from orchbench_analytics.queries import described_columns

    statements: list[str] = []

    def comment(what: str, name: str, text: str) -> None:
        statements.append(f"comment on {what} main.{name} is {quoted(text)}")

    for table in (*TABLES.values(), *PROFILES_AND_TAGS):
        comment("table" if table is MODEL_TAGS else kind, table.name, f"One row per {table.grain}.")
        for column in table.columns:
            comment("column", f"{table.name}.{column.name}", column.description)
    for view in views().values():
        comment("view", view.name, f"{view.description} One row per {view.grain}.")
    meanings = described_columns()
    for view_name, column_name in connection.execute(_VIEW_COLUMNS, [[*views()]]).fetchall():
        comment("column", f"{view_name}.{column_name}", meanings[column_name])
    connection.execute("begin; " + "; ".join(statements) + "; commit")


def list_relations(root: Path, manifest: Manifest) -> pl.DataFrame:
    """Every table and view: name, kind, number of rows, and what one row is."""
    import polars as pl

    rows = [
        (table.name, "table", row_count(manifest, table.name), f"One row per {table.grain}.")
        for table in TABLES.values()
    ]
    with connect(root, manifest) as connection:
        rows += [
            (table.name, "table", _count(connection, table.name), f"One row per {table.grain}.")
            for table in PROFILES_AND_TAGS
        ]
        rows += [
            (view.name, "view", _count(connection, view.name), view.description)
            for view in views().values()
        ]
    columns = ["relation", "kind", "row_count", "description"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def _count(connection: duckdb.DuckDBPyConnection, name: str) -> int:
    ((count,),) = connection.execute(f"select count(*) from main.{name}").fetchall()
    return int(count)


def view_frame(connection: duckdb.DuckDBPyConnection, name: str) -> pl.DataFrame:
    """All rows of a view, in the order of its grain; of profiles and tags in that of columns."""
    order = views()[name].grain if name in views() else "all"
    return frame_of(connection.sql(f"select * from main.{name} order by {order}"))


def frame_of(relation: duckdb.DuckDBPyRelation) -> pl.DataFrame:
    """The rows of a relation; columns that have the same name are numbered."""
    frame: pl.DataFrame = relation.pl()
    return frame


def quoted(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def quoted_name(identifier: str) -> str:
    """An identifier in SQL, whatever characters it has: people choose the names of tags."""
    return '"' + identifier.replace('"', '""') + '"'


def no_rows(table: Table) -> str:
    """A query that has the columns of a table and no row."""
    columns = (f"cast(null as {DUCKDB_TYPES[c.kind]}) as {c.name}" for c in table.columns)
    return f"select {', '.join(columns)} where false"
