"""What an export holds, told by content: by it the next export knows what changed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import duckdb
import msgspec
import pyarrow as pa

from orchbench_analytics.exports.relations import Relation, part_column
from orchbench_analytics.schema import Table, arrow_schema, count, text
from orchbench_analytics.views.sql_text import quoted, quoted_name

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
_WHOLE = "all"  # the name of the part of a relation that has just one
_Row = tuple[str, str, int, str, str, int, str]
# DuckDB's own hash of a row. If another release hashes otherwise, all is written anew.
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


def part_counts(content: Content) -> Counter[Any]:
    """The rows of each part by the value of its part column, as formats without NUL hold it."""
    counts: Counter[Any] = Counter()
    for name, part in content.parts.items():
        value = None if name == _WHOLE else part_value(name)
        counts[without_nul(value)] += part.row_count
    return counts


def without_nul(value: Any) -> Any:
    """A value as formats that have no NUL hold it."""
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(value, str) else value


def part_name(column: str) -> str:
    """The SQL expression that names the part a row is in."""
    return f"coalesce(cast(to_json({column}) as varchar), 'null')"


def part_value(name: str) -> Any:
    """The value of the part column in a part."""
    return msgspec.json.decode(name)


def parts_condition(column: str, parts: Sequence[str]) -> str:
    """The SQL condition under which a row is in one of the parts."""
    values = [part_value(part) for part in parts]
    texts = [quoted(v) if isinstance(v, str) else str(v) for v in values if v is not None]
    conditions = [f"{quoted_name(column)} in ({', '.join(texts)})"] if texts else []
    if None in values:
        conditions.append(f"{quoted_name(column)} is null")
    return " or ".join(conditions)


def changed_parts(new: Content, old: Content | None) -> list[str]:
    """The parts that are new, differ, or are gone; all of them where the shape differs."""
    if old is None or new.shape_hash != old.shape_hash:
        return list(new.parts)
    names = {**new.parts, **old.parts}
    return [name for name in names if new.parts.get(name) != old.parts.get(name)]


def manifest_table(contents: Contents) -> pa.Table:
    """The manifest as rows of `export_manifest`; a relation without rows has one all the same."""
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
    """The manifest from rows of `export_manifest`; null if there are none, or others than ours."""
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
