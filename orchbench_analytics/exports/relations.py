"""What is exported: tables and views, computed once in a temporary DuckDB, and their hashes.

The manifest of an export holds a hash of every part of every table. The next export compares it
with the warehouse and writes what changed.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import duckdb
import msgspec
import pyarrow as pa

from orchbench_analytics.queries import KINDS, describe_view, views
from orchbench_analytics.schema import DUCKDB_TYPES, Column, Table, arrow_schema, count, text
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.store.replace import staging_beside
from orchbench_analytics.tables import TABLES
from orchbench_analytics.views.catalog import (
    MODEL_TAGS,
    PROFILES,
    needed_by,
    populate,
    quoted_name,
    silent_duckdb,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


STAGE = "stage"  # the name of the database that rows are computed in
_THREADS = 2  # each needs a share of the memory


class Memory(NamedTuple):
    """The memory limit of DuckDB at each step, in MiB; beyond it DuckDB spills to the disk."""

    computing: int  # views
    making: int  # a star from them
    reading: int  # the result: few of its blocks stay in memory
    indexing: int  # a DuckDB file with keys


SMALL = Memory(computing=96, making=80, reading=32, indexing=128)
LARGE = Memory(2048, 2048, 2048, 2048)  # for warehouses with texts of many megabytes


class Relation(NamedTuple):
    """An exported table: its columns, primary key, foreign keys and description.

    `part_column` tells the parts of a relation that change on their own, which are models.
    """

    table: Table
    description: str
    key: tuple[str, ...] = ()
    references: Mapping[str, str] = {}

    @property
    def name(self) -> str:
        """The name of the table."""
        return self.table.name

    def without_keys(self) -> Relation:
        """The relation for a format that has no keys, or where they are not wanted."""
        return Relation(self.table, self.description)

    @property
    def part_column(self) -> str | None:
        """The column whose values are the parts; null where the relation is one part."""
        return part_column(self.table.column_names)


def part_column(names: Sequence[str]) -> str | None:
    """The column of a table whose values are the parts; null where the table is one part."""
    return next((name for name in ("model_sk", "model") if name in names), None)


# For formats that have no place for descriptions.
DESCRIPTIONS = Relation(
    Table(
        "export_columns",
        "exported table, and column of one",
        (
            text("relation", "Name of the table."),
            text("column_name", "Name of the column; empty where the row is about the table."),
            text("description", "What it is."),
        ),
    ),
    "What the tables and columns are.",
    ("relation", "column_name"),
)


@contextmanager
def stage(memory: Memory = SMALL) -> Iterator[duckdb.DuckDBPyConnection]:
    """A temporary DuckDB file; what killed exports left is removed first."""
    with staging_beside(Path(tempfile.gettempdir()) / STAGE) as directory:
        connection = silent_duckdb(directory / f"{STAGE}.duckdb", threads=_THREADS)
        try:
            limit_memory(connection, memory.computing)
            connection.execute("set preserve_insertion_order = false")
            connection.execute("set fsync_mode = 'none'")  # sinks sync what must last
            yield connection
        finally:
            connection.close()


def limit_memory(connection: duckdb.DuckDBPyConnection, mebibytes: int) -> None:
    """Limit the memory that DuckDB uses for its work and for cached blocks."""
    connection.execute(f"set memory_limit = '{mebibytes}MiB'")


def flat_relations(
    connection: duckdb.DuckDBPyConnection,
    root: Path,
    manifest: Manifest,
    names: Sequence[str],
    spark: SparkSession | None = None,
) -> list[Relation]:
    """The named tables and views, or all of them, as SQL shows them."""
    known = [*TABLES, PROFILES.name, MODEL_TAGS.name, *views()]
    chosen = list(dict.fromkeys(names)) or known
    compute(connection, root, manifest, {*chosen, MODEL_TAGS.name}, spark)
    return [_flat(connection, name) for name in chosen]


def compute(
    connection: duckdb.DuckDBPyConnection,
    root: Path,
    manifest: Manifest,
    names: set[str],
    spark: SparkSession | None = None,
) -> None:
    """Make the named relations; views become tables, since other views read their rows."""
    needed = needed_by(*names)
    if spark is not None:
        from orchbench_analytics.engines.spark.views import (
            copy_views,
        )  # imports what only Spark needs

        populate(connection, root, manifest, names=needed - views().keys())
        copy_views(connection, spark, root, manifest, names & views().keys())
        return
    populate(connection, root, manifest, names=needed)
    for view in views().values():
        if view.name in needed:
            connection.execute(f"drop view main.{view.name}")
            connection.execute(f"create table main.{view.name} as {view.query}")


def _flat(connection: duckdb.DuckDBPyConnection, name: str) -> Relation:
    if name in TABLES:
        return Relation(TABLES[name], f"One row per {TABLES[name].grain}.")
    if name == PROFILES.name:
        return Relation(PROFILES, f"One row per {PROFILES.grain}.", ("profile",))
    if name == MODEL_TAGS.name:
        return _model_tags(connection)
    view = views()[name]
    table = describe_view(connection, view)
    nullable = {column.name for column in table.columns if column.nullable}
    key = tuple(view.grain.split(", "))
    return Relation(
        table,
        f"{view.description} One row per {view.grain}.",
        key if nullable.isdisjoint(key) else (),
    )


def _model_tags(connection: duckdb.DuckDBPyConnection) -> Relation:
    """The tags of models as a table; a tag of a type that we do not export becomes a text."""
    keys = MODEL_TAGS.columns
    described = connection.execute(f"describe main.{MODEL_TAGS.name}").fetchall()[len(keys) :]
    tags = tuple(
        Column(tag, KINDS.get(kind, "text"), f"Tag `{tag}`.", nullable=True)
        for tag, kind, *_ in described
    )
    table = Table(MODEL_TAGS.name, MODEL_TAGS.grain, (*keys, *tags))
    columns = ", ".join(
        f"cast({quoted_name(c.name)} as {DUCKDB_TYPES[c.kind]}) as {quoted_name(c.name)}"
        for c in table.columns
    )
    source = f"main.{table.name}"
    connection.execute(f"create or replace table {source} as select {columns} from {source}")
    return Relation(table, f"One row per {table.grain}.", tuple(c.name for c in keys))


def descriptions_table(relations: Sequence[Relation]) -> pa.Table:
    """The descriptions of tables and their columns, as rows of `export_columns`."""
    schema = arrow_schema(DESCRIPTIONS.table)
    rows = [
        row
        for relation in relations
        for row in (
            (relation.name, "", relation.description),
            *((relation.name, c.name, c.description) for c in relation.table.columns),
        )
    ]
    return pa.table([list(column) for column in zip(*rows, strict=True)], schema=schema)


_MANIFEST_TABLE = Table(
    "export_manifest",
    "part of an exported table; written last",
    (
        text("relation", "Name of the exported table."),
        text("part", "Value of `model` or `model_sk` as JSON; `all` of a table in one part."),
        count("row_count", "Rows of the part."),
        text("content_hash", "Hash of the rows of the part, whatever their order."),
        text("shape_hash", "Hash of the table's columns."),
        count("generation", "Generation of the warehouse that the export was made from."),
        text("selection", "Options of the export, as JSON."),
    ),
)
MANIFEST_RELATION = Relation(_MANIFEST_TABLE, f"One row per {_MANIFEST_TABLE.grain}.")
_WHOLE = "all"  # the part name of a relation that is not split
_Row = tuple[str, str, int, str, str, int, str]
# DuckDB's own hash of a row. If another release hashes differently, everything is written again.
_HASH = """
select {part}, count(*), sum(hash(rows))
from {table} as rows
group by 1
order by 1
"""


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """The options of an export; only an export with the same options refreshes a target."""

    tables: tuple[str, ...] = ()
    is_star: bool = False
    profile: str | None = None
    is_raw: bool = False
    has_keys: bool = False
    partition_by: tuple[str, ...] = ()


class Part(msgspec.Struct, frozen=True):
    """Rows that change together."""

    row_count: int
    content_hash: str


class Content(msgspec.Struct, frozen=True):
    """The parts of one relation, and its shape."""

    row_count: int
    shape_hash: str
    parts: dict[str, Part]


class Contents(msgspec.Struct, frozen=True, kw_only=True):
    """The manifest of an export."""

    generation: int
    selection: Selection
    relations: dict[str, Content]

    @property
    def digest(self) -> str:
        """One hash of everything exported, whatever the generation."""
        bare = msgspec.json.encode([self.selection, self.relations], order="deterministic")
        return hashlib.sha256(bare).hexdigest()


def contents_of(
    connection: duckdb.DuckDBPyConnection,
    relations: Sequence[Relation],
    *,
    generation: int,
    selection: Selection,
) -> Contents:
    """The manifest of what is about to be exported."""
    return Contents(
        generation=generation,
        selection=selection,
        relations={relation.name: _content(connection, relation) for relation in relations},
    )


def _content(connection: duckdb.DuckDBPyConnection, relation: Relation) -> Content:
    parts = _parts(connection, f"main.{relation.name}", relation.part_column)
    shape = msgspec.json.encode([relation.table, relation.key, relation.references])
    return Content(
        sum(part.row_count for part in parts.values()),
        hashlib.sha256(shape).hexdigest()[:16],
        parts,
    )


def parts_of(
    connection: duckdb.DuckDBPyConnection, name: str, held: Content
) -> dict[str, Part] | None:
    """The parts that a table of an earlier export has now; null if it cannot be read."""
    table = quoted_name(name)
    try:
        columns = [c[0] for c in connection.execute(f"from {table} limit 0").description or ()]
        column = None if _WHOLE in held.parts else part_column(columns)
        return _parts(connection, table, column)
    except (duckdb.Error, OSError):
        return None


def _parts(
    connection: duckdb.DuckDBPyConnection, table: str, column: str | None
) -> dict[str, Part]:
    part = f"'{_WHOLE}'" if column is None else part_name(column)
    rows = connection.execute(_HASH.format(part=part, table=table)).fetchall()
    return {name: Part(number, f"{total:x}") for name, number, total in rows}


def with_other_counts(
    stored: Contents, row_counts: Callable[[str], Counter[Any] | None]
) -> set[str]:
    """The tables of an export with other row counts than it had, by the value of the part column.

    `row_counts` gives the counts that a table has now, or null if it cannot be read.
    """
    return {
        name
        for name, content in stored.relations.items()
        if row_counts(name) != _part_counts(content)
    }


def _part_counts(content: Content) -> Counter[Any]:
    """The row count of each part by the value of its part column, with NUL replaced."""
    counts: Counter[Any] = Counter()
    for name, part in content.parts.items():
        value = None if name == _WHOLE else part_value(name)
        counts[without_nul(value)] += part.row_count
    return counts


def without_nul(value: Any) -> Any:
    """A value with NUL replaced, for formats that cannot hold it."""
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(value, str) else value


def part_name(column: str) -> str:
    """The SQL expression that names the part a row is in."""
    return f"coalesce(cast(to_json({column}) as varchar), 'null')"


def part_value(name: str) -> Any:
    """The value of the part column in a part."""
    return msgspec.json.decode(name)


def changed_parts(new: Content, old: Content | None) -> list[str]:
    """The parts that are new, differ, or are gone; all of them where the shape differs."""
    if old is None or new.shape_hash != old.shape_hash:
        return list(new.parts)
    names = {**new.parts, **old.parts}
    return [name for name in names if new.parts.get(name) != old.parts.get(name)]


def manifest_table(contents: Contents) -> pa.Table:
    """The manifest as rows of `export_manifest`; a relation without rows has one row too."""
    selection = msgspec.json.encode(contents.selection).decode()
    rows = [
        {
            "relation": name,
            "part": part,
            "row_count": held.row_count,
            "content_hash": held.content_hash,
            "shape_hash": content.shape_hash,
            "generation": contents.generation,
            "selection": selection,
        }
        for name, content in contents.relations.items()
        for part, held in (content.parts or {"": Part(0, "")}).items()
    ]
    return pa.Table.from_pylist(rows, arrow_schema(MANIFEST_RELATION.table))


def read_manifest(rows: Iterable[Sequence[Any]]) -> Contents | None:
    """The manifest from rows of `export_manifest`; null if there are none, or they are not ours."""
    try:
        found = msgspec.convert(list(map(list, rows)), type=list[_Row])
        selections = [msgspec.json.decode(row[-1], type=Selection) for row in found[:1]]
    except (msgspec.ValidationError, msgspec.DecodeError):
        return None
    relations: dict[str, Content] = {}
    for relation, part, row_count, content_hash, shape_hash, _, _ in found:
        held = relations.setdefault(relation, Content(0, shape_hash, {}))
        parts = held.parts | ({part: Part(row_count, content_hash)} if part else {})
        relations[relation] = Content(held.row_count + row_count, shape_hash, parts)
    for selection in selections:
        return Contents(generation=found[0][5], selection=selection, relations=relations)
    return None


def read_manifest_table(rows: pa.Table) -> Contents | None:
    """The manifest from the table `export_manifest`, whatever the order of its columns."""
    names = MANIFEST_RELATION.table.column_names
    if not {*names} <= {*rows.column_names}:
        return None
    columns = (rows[name].to_pylist() for name in names)
    return read_manifest(zip(*columns, strict=True))
