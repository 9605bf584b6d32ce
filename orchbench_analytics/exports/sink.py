"""What every sink can do: say what it holds from an earlier export, and take in another."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import pyarrow as pa

from orchbench_analytics.errors import OrchbenchError, PathError
from orchbench_analytics.exports.contents import (
    MANIFEST_RELATION,
    Contents,
    changed_parts,
    manifest_table,
    part_name,
    without_nul,
)
from orchbench_analytics.exports.relations import (
    DESCRIPTIONS,
    SMALL,
    Memory,
    Relation,
    descriptions_table,
)
from orchbench_analytics.exports.values import Rule, selected
from orchbench_analytics.schema import arrow_schema
from orchbench_analytics.store.replace import is_empty, refuse
from orchbench_analytics.views.sql_text import quoted

_BATCH_ROWS = 2_048  # as DuckDB has them: of long texts more would be many megabytes
_GATHERED_BYTES = 8 * 2**20


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What a sink is given: the relations, their rows, and the manifest to be written last."""

    connection: duckdb.DuckDBPyConnection
    relations: Sequence[Relation]
    contents: Contents
    rules: Sequence[Rule] = ()
    documents: dict[str, str] = field(default_factory=dict)  # by the name of their file
    memory: Memory = SMALL

    def rows(self, relation: Relation, parts: Sequence[str] | None = None) -> pa.RecordBatchReader:
        """The rows of a relation, or of some of its parts, in batches, so memory stays flat."""
        query = self.query(relation, parts)
        reader = self.connection.sql(query).to_arrow_reader(_BATCH_ROWS)
        return reader.cast(arrow_schema(relation.table))

    def query(self, relation: Relation, parts: Sequence[str] | None = None) -> str:
        """The same in SQL."""
        query = f"select {selected(relation, self.rules)} from main.{relation.name}"
        if parts is None or relation.part_column is None:
            return query
        names = ", ".join(quoted(part) for part in parts) or "null"
        return f"{query} where {part_name(relation.part_column)} in ({names})"

    def changed(self, relation: Relation, stored: Contents | None) -> list[str]:
        """The parts of a relation that the sink does not hold as they are now."""
        old = stored.relations.get(relation.name) if stored else None
        return changed_parts(self.contents.relations[relation.name], old)

    def changed_count(self, relation: Relation, stored: Contents | None) -> int:
        """How many parts are brought over; a table without rows counts as one when it is new."""
        is_new = stored is None or relation.name not in stored.relations
        return len(self.changed(relation, stored)) or int(is_new)

    def stale(self, held: Contents | None) -> list[str]:
        """The tables of an earlier export that are not in this one."""
        return [name for name in (held.relations if held else ()) if name not in self.names]

    @property
    def names(self) -> set[str]:
        """The names of the relations."""
        return {relation.name for relation in self.relations}

    @property
    def extras(self) -> tuple[tuple[Relation, pa.Table], ...]:
        """Two more tables and their rows: what tables and columns mean, and the manifest last."""
        return (
            (DESCRIPTIONS, descriptions_table(self.relations)),
            (MANIFEST_RELATION, manifest_table(self.contents)),
        )


class Sink(ABC):
    """A place that tables go to. It carries every value and any number of rows, unless it says."""

    def rules(self, *, is_raw: bool) -> Sequence[Rule]:
        """The changes to texts that its format needs."""
        return ()

    def check(self, outgoing: Outgoing) -> None:  # noqa: B027 (most sinks can hold everything)
        """Refuse what it cannot hold, before anything is written."""

    @abstractmethod
    def stored(self) -> Contents | None:
        """The manifest of an earlier export, null if nothing is there; all else is refused."""

    @abstractmethod
    def damaged(self, stored: Contents) -> set[str]:
        """The names of what the sink does not hold as an earlier export left it."""

    @abstractmethod
    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Bring over what changed, and the manifest last."""


class FileSink(Sink):
    """A sink that is one file, written anew beside the old one."""

    unreadable: tuple[type[Exception], ...] = ()  # what `read` raises of other files

    def __init__(self, path: Path) -> None:
        self.path = path

    @abstractmethod
    def read(self) -> Contents | None:
        """The manifest in the file."""

    def stored(self) -> Contents | None:
        """The manifest in the file; null where there is no file, or an empty one."""
        if is_empty(self.path):
            if self.path.is_dir():
                raise PathError(f"{self.path} is a directory; name a file")
            return None
        try:
            held = self.read() if self.path.is_file() else None
        except self.unreadable as error:
            raise refuse(self.path, "an export") from error
        if held is None:
            raise refuse(self.path, "an export")
        return held

    def require_only(self, there: Iterable[str], ours: Iterable[str]) -> None:
        """Refuse a file that somebody added something to: it would be gone with the old export."""
        strangers = sorted({*there} - {*ours})
        if strangers:
            raise PathError(
                f"{self.path} holds other things ({', '.join(strangers[:3])}); "
                "move them out, or name another place"
            )


def column_counts(rows: pa.Table, column: str | None) -> Counter[Any]:
    """How many rows have each value of a column, as formats without NUL hold it."""
    if column is None:
        return Counter({None: rows.num_rows} if rows.num_rows else {})
    counts: Counter[Any] = Counter()
    for entry in rows[column].value_counts().to_pylist():
        counts[without_nul(entry["values"])] += entry["counts"]
    return counts


def gathered(reader: pa.RecordBatchReader) -> Iterator[pa.Table]:
    """The rows in tables of some megabytes each, however long their texts are."""
    held: list[pa.RecordBatch] = []
    for batch in reader:
        held.append(batch)
        if sum(part.nbytes for part in held) >= _GATHERED_BYTES:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)


def require(module: str, *, extra: str) -> ModuleType:
    """A module that only some exports need; where it is missing, how to install it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise OrchbenchError(
            f"this export needs {error.name}; "
            f"install it with: pip install 'orchbench-analytics[{extra}]'"
        ) from error
