"""What a sink can do, and what sinks share: changed values, table definitions, seals."""

from __future__ import annotations

import hashlib
import importlib
import os
import shutil
import zipfile
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import duckdb
import msgspec
import pyarrow as pa

from orchbench_analytics.errors import OrchbenchError, PathError
from orchbench_analytics.exports.relations import (
    DESCRIPTIONS,
    MANIFEST_RELATION,
    SMALL,
    Content,
    Contents,
    Memory,
    Relation,
    changed_parts,
    descriptions_table,
    manifest_table,
    part_name,
    read_manifest,
    without_nul,
)
from orchbench_analytics.schema import DUCKDB_TYPES, Kind, arrow_schema
from orchbench_analytics.store.files import FileStamp, Stamps, fault_of, stamp_file
from orchbench_analytics.store.replace import MADE_BY, is_empty, marked_names, new_directory, refuse
from orchbench_analytics.views.catalog import quoted, quoted_name

EXCEL_TEXT = 32_767  # the most that a cell holds, in UTF-16 code units
_KEPT = EXCEL_TEXT - 1  # the ellipsis takes one
_PAST_16_BITS = r"regexp_replace($text, '[\x{0}-\x{FFFF}]', '', 'g')"


class Rule(NamedTuple):
    """A change to texts: in words, and in SQL of `$text` its condition and its result."""

    what: str
    applies: str
    gives: str


REPLACE_NUL = Rule(
    "with NUL characters, which became �",
    "contains($text, chr(0))",
    "replace($text, chr(0), '�')",
)
DEFUSE_FORMULA = Rule(
    "that a spreadsheet would run, which have an apostrophe before them (--raw leaves them)",
    r"regexp_matches($text, '^[=+\-@\t\r]')",
    "chr(39) || $text",
)
CUT_LONG = Rule(
    f"longer than {EXCEL_TEXT:,} characters, which were cut and end in …",
    f"length($text) + length({_PAST_16_BITS}) > {EXCEL_TEXT}",
    f"left($text, {_KEPT} - length({_PAST_16_BITS.replace('$text', f'left($text, {_KEPT})')}))"
    " || '…'",
)


def selected(relation: Relation, rules: Sequence[Rule]) -> str:
    """The columns of a relation in SQL, with every rule applied to its texts."""
    return ", ".join(
        f"{_changed(column.name, rules)} as {quoted_name(column.name)}"
        if column.kind == "text" and rules
        else quoted_name(column.name)
        for column in relation.table.columns
    )


def count_changes(
    connection: duckdb.DuckDBPyConnection, relations: Sequence[Relation], rules: Sequence[Rule]
) -> dict[str, int]:
    """How many values each rule changes, by column and rule, in words."""
    counted: dict[str, int] = {}
    for relation in relations:
        texts = [column.name for column in relation.table.columns if column.kind == "text"]
        asked = [(name, rule) for name in texts for rule in rules]
        if not asked:
            continue
        tests = (f"count(*) filter ({_of(rule.applies, quoted_name(n))})" for n, rule in asked)
        query = f"select {', '.join(tests)} from main.{relation.name}"
        found = connection.execute(query).fetchone() or ()
        for (name, rule), number in zip(asked, found, strict=True):
            if number:
                counted[f"{relation.name}.{name}: values {rule.what}"] = number
    return counted


def _changed(column: str, rules: Sequence[Rule]) -> str:
    expression = quoted_name(column)
    for rule in rules:
        applies, gives = _of(rule.applies, expression), _of(rule.gives, expression)
        expression = f"case when {applies} then {gives} else {expression} end"
    return expression


def _of(template: str, expression: str) -> str:
    return template.replace("$text", expression)


class Dialect(NamedTuple):
    """The column types of a database, and what it adds to a foreign key."""

    types: Mapping[Kind, str]
    reference_suffix: str = ""


_COMMON: Mapping[Kind, str] = {"text": "text", "bool": "boolean", "timestamp": "timestamp"}
_DEFERRED = " deferrable initially deferred"
SQLITE = Dialect({**_COMMON, "int": "integer", "float": "real"}, _DEFERRED)
POSTGRES = Dialect({**_COMMON, "int": "bigint", "float": "double precision"}, _DEFERRED)
DUCKDB = Dialect(DUCKDB_TYPES)


def create_table(relation: Relation, dialect: Dialect, present: set[str]) -> str:
    """The statement that creates a table; it refers only to tables that are present."""
    lines = [
        f"{quoted_name(c.name)} {dialect.types[c.kind]}{'' if c.nullable else ' not null'}"
        for c in relation.table.columns
    ]
    if relation.key:
        lines.append(f"primary key ({', '.join(map(quoted_name, relation.key))})")
    lines += references(relation, dialect, present)
    return f"create table {quoted_name(relation.name)} ({', '.join(lines)})"


def references(relation: Relation, dialect: Dialect, present: set[str]) -> list[str]:
    """The foreign keys of a table that refer to tables that are present."""
    return [
        f"foreign key ({quoted_name(column)}) references {quoted_name(table)} "
        f"({quoted_name(column)}){dialect.reference_suffix}"
        for column, table in relation.references.items()
        if table in present
    ]


def comments(relation: Relation) -> Iterator[str]:
    """The statements that attach the descriptions of a table and its columns."""
    table = quoted_name(relation.name)
    yield f"comment on table {table} is {quoted(relation.description)}"
    for column in relation.table.columns:
        place = f"{table}.{quoted_name(column.name)}"
        yield f"comment on column {place} is {quoted(column.description)}"


RowProgress = Callable[[str, int, int], None]
"""Called with the table being written, the rows of it written so far, and all its rows."""
_BATCH_ROWS = 2_048  # DuckDB's vector size; with long texts, more would take many megabytes
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
    progress: RowProgress | None = None

    def rows(self, relation: Relation, parts: Sequence[str] | None = None) -> pa.RecordBatchReader:
        """The rows of a relation, or of some of its parts, in batches, so memory stays flat."""
        query = self.query(relation, parts)
        reader = self.connection.sql(query).to_arrow_reader(_BATCH_ROWS)
        reader = reader.cast(arrow_schema(relation.table))
        if self.progress is None:
            return reader
        told = self._told(reader, relation.name, self.progress)
        return pa.RecordBatchReader.from_batches(reader.schema, told)

    def _told(
        self, reader: pa.RecordBatchReader, name: str, progress: RowProgress
    ) -> Iterator[pa.RecordBatch]:
        """The batches, with a word on how many rows were read before each."""
        total, done = self.contents.relations[name].row_count, 0
        for batch in reader:
            progress(name, done, total)
            yield batch
            done += batch.num_rows

    def query(self, relation: Relation, parts: Sequence[str] | None = None) -> str:
        """The same in SQL."""
        query = f"select {selected(relation, self.rules)} from main.{relation.name}"
        if parts is None or relation.part_column is None:
            return query
        names = ", ".join(quoted(part) for part in parts) or "null"
        return f"{query} where {part_name(relation.part_column)} in ({names})"

    def changed(self, relation: Relation, stored: Contents | None) -> list[str]:
        """The parts of a relation that differ from what the sink holds."""
        return changed_parts(*self.new_and_old(relation, stored))

    def new_and_old(
        self, relation: Relation, stored: Contents | None
    ) -> tuple[Content, Content | None]:
        """What a relation has, and what the sink holds of it."""
        old = stored.relations.get(relation.name) if stored else None
        return self.contents.relations[relation.name], old

    def changed_count(self, relation: Relation, stored: Contents | None) -> int:
        """How many parts are written; a new table without rows counts as one."""
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
        """Two more tables with their rows: the descriptions, and the manifest last."""
        return (
            (DESCRIPTIONS, descriptions_table(self.relations)),
            (MANIFEST_RELATION, manifest_table(self.contents)),
        )


class Sink(ABC):
    """A place that tables are written to.

    It holds every value and any number of rows, unless `rules` or `check` say otherwise.
    """

    takes_keys = False  # whether the user chooses if keys are declared
    takes_partitions = False

    def rules(self, *, is_raw: bool) -> Sequence[Rule]:
        """The changes to texts that its format needs."""
        return ()

    def check(self, outgoing: Outgoing) -> None:  # noqa: B027 (most sinks can hold everything)
        """Refuse what it cannot hold, before anything is written."""

    @abstractmethod
    def stored(self) -> Contents | None:
        """The manifest of an earlier export, or null if there is nothing; all else is refused."""

    @abstractmethod
    def damaged(self, stored: Contents) -> set[str]:
        """The names of tables and files that are not as an earlier export left them."""

    @abstractmethod
    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Write what changed, and the manifest last."""


class FileSink(Sink):
    """A sink that is one file, written again beside the old one."""

    unreadable: tuple[type[Exception], ...] = ()  # what `read` raises for files of other programs

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


def marked_tables(directory: Path) -> set[str] | None:
    """The tables of ours in a directory; null if it is empty, and all else is refused."""
    if is_empty(directory):
        if directory.is_file():
            raise PathError(f"{directory} is a file; name a directory")
        return None
    names = marked_names(directory)
    if names is None:
        raise refuse(directory, "an export")
    return names


def refuse_strangers(path: Path, names: Iterable[str]) -> None:
    """Refuse an export that somebody added these to: they would be lost with the old export."""
    strangers = sorted(names)
    if strangers:
        raise PathError(
            f"{path} holds other things ({', '.join(strangers[:3])}); "
            "move them out, or name another place"
        )


def own_manifest(
    path: Path, rows: Iterable[Sequence[Any]], there: Iterable[str], *, ours: Iterable[str]
) -> Contents | None:
    """The manifest in a file from its rows; `ours` are the names beside those of its tables."""
    held = read_manifest(rows)
    if held is not None:
        known = {*held.relations, MANIFEST_RELATION.name, *ours}
        refuse_strangers(path, {*there} - known)
    return held


def column_counts(rows: pa.Table, column: str | None) -> Counter[Any]:
    """How many rows have each value of a column, with NUL replaced."""
    if column is None:
        return Counter({None: rows.num_rows} if rows.num_rows else {})
    counts: Counter[Any] = Counter()
    for entry in rows[column].value_counts().to_pylist():
        counts[without_nul(entry["values"])] += entry["counts"]
    return counts


def gathered(reader: pa.RecordBatchReader) -> Iterator[pa.Table]:
    """The rows as tables of a few megabytes each, however long their texts are."""
    held: list[pa.RecordBatch] = []
    for batch in reader:
        held.append(batch)
        if sum(part.nbytes for part in held) >= _GATHERED_BYTES:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)


def require(module: str, *, extra: str) -> ModuleType:
    """Import a module that only some exports need, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise OrchbenchError(
            f"this export needs {error.name}; "
            f"install it with: pip install 'orchbench-analytics[{extra}]'"
        ) from error


class _Manifest(Contents, frozen=True, kw_only=True):
    """The manifest of a directory: that it is ours, and the size and hash of every other file."""

    made_by: str
    files: Stamps


class DirectorySink(Sink):
    """A directory whose files are written one by one; unchanged ones are linked, not written."""

    manifest_name = "manifest.json"

    def __init__(self, path: Path) -> None:
        self.path = path

    @abstractmethod
    def file_name(self, relation: str) -> str:
        """The name of a relation's file."""

    @abstractmethod
    def write_file(self, outgoing: Outgoing, relation: Relation, path: Path) -> None:
        """Write the rows of one relation."""

    def write_others(self, outgoing: Outgoing, staged: Path) -> None:
        """Write what is not the file of one relation."""

    def stored(self) -> Contents | None:
        """The manifest in the directory, if it holds an earlier export and nothing else."""
        if self.path.resolve() == Path.cwd():  # replacing it would break the shell that is in it
            raise PathError(f"{self.path} is the current directory; name another place")
        if is_empty(self.path):
            return None
        manifest = self._manifest()
        if manifest is None:
            raise refuse(self.path, "an export")
        ours = {self.manifest_name, *manifest.files}
        ours |= {str(above) for name in manifest.files for above in Path(name).parents}
        refuse_strangers(self.path, (name for name in _names(self.path) if name not in ours))
        return manifest

    def damaged(self, stored: Contents) -> set[str]:
        """The files that are missing or changed; that of a relation by the relation's name."""
        files = stored.files if isinstance(stored, _Manifest) else {}
        names = {self.file_name(relation): relation for relation in stored.relations}
        faulty = {n for n, stamp in files.items() if fault_of(self.path / n, stamp, read=True)}
        return {names.get(name.split("/")[0], name) for name in faulty}

    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Write the changed files beside links to the unchanged ones, then swap the directories."""
        held = stored.files if isinstance(stored, _Manifest) else {}
        files: dict[str, FileStamp] = {}
        with new_directory(self.path) as staged:
            for relation in outgoing.relations:
                name = self.file_name(relation.name)
                of_relation = {n: stamp for n, stamp in held.items() if n.split("/")[0] == name}
                is_held = stored is not None and relation.name in stored.relations
                if is_held and of_relation and not outgoing.changed(relation, stored):
                    for file in of_relation:
                        _link(self.path / file, staged / file)
                    files |= of_relation
                else:
                    self.write_file(outgoing, relation, staged / name)
            for name, text in outgoing.documents.items():
                (staged / name).write_text(text, encoding="utf-8")
            self.write_others(outgoing, staged)
            written = {n: staged / n for n in _names(staged) if (staged / n).is_file()}
            files |= {n: stamp_file(path) for n, path in written.items() if n not in files}
            known = {name: getattr(outgoing.contents, name) for name in Contents.__struct_fields__}
            manifest = _Manifest(made_by=MADE_BY, files=files, **known)
            content = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
            (staged / self.manifest_name).write_bytes(content)

    def _manifest(self) -> _Manifest | None:
        try:
            content = (self.path / self.manifest_name).read_bytes()
            manifest = msgspec.json.decode(content, type=_Manifest)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None
        return manifest if manifest.made_by == MADE_BY else None


def _names(directory: Path) -> Iterator[str]:
    """The path of everything below a directory; that of a link includes its target."""
    for path in directory.rglob("*"):
        name = path.relative_to(directory).as_posix()
        yield f"{name} -> {path.readlink()}" if path.is_symlink() else name


def _link(source: Path, target: Path) -> None:
    """Hard-link a file into another directory, or copy it if the file system has no hard links."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def seal(path: Path) -> None:
    """Write the hash of its entries into the comment of a ZIP archive, such as a workbook.

    A program that saves the file again, or adds to it, drops the comment or makes it wrong: then
    the file is somebody's work, and not ours.
    """
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = _seal_of(archive)


def is_sealed(path: Path) -> bool:
    """Whether an archive is byte for byte what we wrote."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.comment == _seal_of(archive) and archive.testzip() is None
    except (OSError, zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, EOFError):
        return False


def _seal_of(archive: zipfile.ZipFile) -> bytes:
    entries = [(e.filename, e.CRC, e.file_size, e.date_time) for e in archive.infolist()]
    return f"{MADE_BY} {hashlib.sha256(repr(entries).encode()).hexdigest()}".encode()
