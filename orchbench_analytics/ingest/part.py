"""Making a part: some files of one model, experiment and language, read and written as tables."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from orchbench_analytics.ingest import flatten
from orchbench_analytics.ingest.decode import (
    JudgeLog,
    Problem,
    UnreadableDocument,
    decompress,
    read_ahead,
    read_with,
)
from orchbench_analytics.ingest.flatten import Flat
from orchbench_analytics.ingest.results import read_results
from orchbench_analytics.ingest.sources import InputFile, Source, noted, refused, source_of
from orchbench_analytics.schema import Table, arrow_schema
from orchbench_analytics.store import directories, parquet
from orchbench_analytics.store.files import code_fingerprint, columns_id, name_of
from orchbench_analytics.store.manifest import Part, bring_tables
from orchbench_analytics.tables import RAW_TABLES, TABLES

_CODE = ("ingest", "texts.py")
_MOST_HELD = 32 * 2**20  # bytes of documents, and likewise characters of their rows


@cache
def made_by() -> str:
    """A name for the code and the columns by which input files become rows.

    A part that has another name is read again from its files.
    """
    return name_of(code_fingerprint(*_CODE), columns_id(RAW_TABLES))


class Task(NamedTuple):
    """Files to read into one part, with the hashes of those that were read before."""

    root: Path
    files: list[InputFile]
    known_hashes: dict[str, str]


class Built(NamedTuple):
    """What came of a task: the part (none if no file gave rows), and a row per file read.

    Files past what a part should hold are missing: they make another task.
    """

    part: Part | None
    sources: Sequence[Source]
    unchanged: Sequence[InputFile] = ()


class PartNote(msgspec.Struct):
    """What lies beside a part's tables, so that a killed ingest's parts can be taken over."""

    part: Part
    sources: list[Source]


def build_part(task: Task) -> Built:
    """Read and flatten the task's files, and write their rows as a part."""
    rows: dict[str, list[flatten.Row]] = {}
    sources: list[Source] = []
    unchanged: list[InputFile] = []
    held_bytes = held_text = 0
    for file, read in zip(task.files, read_ahead([f.path for f in task.files]), strict=True):
        if max(held_bytes, held_text) > _MOST_HELD:
            break
        source = source_of(file)
        try:
            data = read()
            content_hash = hashlib.sha256(data).hexdigest()
            if task.known_hashes.get(file.path) == content_hash:
                unchanged.append(file)
                continue
            source = source._replace(content_hash=content_hash)
            data = decompress(data, file.path)
            held_bytes += len(data)
            flat, mended = read_and_flatten(file, data)
        except UnreadableDocument as error:
            sources.append(refused(source, error.problem))
            continue
        held_text += flat.text_length
        for name, new_rows in flat.rows.items():
            rows.setdefault(name, []).extend(new_rows)
        sources.append(noted(source, mended or flat.problem))
    taken = [s for s in sources if s.status == "taken"]
    if not taken:
        return Built(None, sources, unchanged)
    contents = [("\0".join(map(str, s.key)), s.path, s.content_hash or "") for s in taken]
    row_counts = {name: len(data) for name, data in rows.items() if data}
    part = _new_part(task.files[0], contents, row_counts, made_by())
    sources = [s._replace(part_id=part.part_id) if s.status == "taken" else s for s in sources]
    tables = (
        (t.name, parquet.named_to_arrow(t, rows[t.name])) for t in RAW_TABLES if rows.get(t.name)
    )
    note = msgspec.json.encode(PartNote(part, sources))
    directories.write_directory(task.root, part.directory, tables, note=note)
    return Built(part, sources, unchanged)


def read_and_flatten(file: InputFile, data: bytes) -> tuple[Flat, Problem | None]:
    """The rows of one document, and what had to be mended before it could be read."""
    key = {"model": file.model, "experiment": file.experiment, "language": file.language}
    if file.kind == "run_log":
        return flatten.flatten_run_log(
            key, data.decode("utf-8", "replace").replace("\r\n", "\n")
        ), None

    def make(document: bytes) -> Flat:
        if file.kind == "runs":
            scenario = key | {"scenario": file.scenario}
            runs = flatten.read_runs(document)
            return flatten.flatten_runs(scenario, runs, client_model=file.client_model)
        if file.kind == "judge_log":
            log = msgspec.json.decode(document, type=JudgeLog)
            return flatten.flatten_judge_log(
                key | {"scenario": file.scenario, "run": file.run}, log
            )
        return flatten.flatten_results(key, read_results(document, file.path))

    try:
        flat, mended = read_with(make, data)
    except UnreadableDocument as error:
        if file.kind != "judge_log" or error.problem.reason != "truncated":
            raise
        return flatten.flatten_cut_off_log(
            key | {"scenario": file.scenario, "run": file.run}, error.problem
        ), None
    is_broken = file.kind == "runs" and mended is not None and mended.reason == "lone_surrogate"
    return flatten.mark_broken_texts(flat) if is_broken else flat, mended


def rewrite_parts(root: Path, parts: Sequence[Part], dropped: Iterable[Source]) -> Part | None:
    """One new part from old ones, without the rows of dropped files; none if no row is left.

    It has the columns of this release, and is still known as made by the code that made the old
    ones.
    """
    gone: dict[str, set[str]] = {kind: set() for kind in _KIND_OF_TABLE.values()}
    for source in dropped:
        gone[source.kind].add(f"{source.scenario or ''}\0{source.run or ''}")
    kept: dict[str, pa.Table] = {}
    bring_tables(root, parts, _KIND_OF_TABLE)
    for name, kind in _KIND_OF_TABLE.items():
        files = [root / p.directory / f"{name}.parquet" for p in parts if name in p.row_counts]
        if files:
            read = (pq.ParquetFile(file).read() for file in files)
            data = pa.concat_tables([_with_declared_columns(rows, TABLES[name]) for rows in read])
            kept[name] = _without(data, kind, gone[kind])
    row_counts = {name: len(data) for name, data in kept.items() if len(data)}
    if not row_counts:
        return None
    contents = [("part", part.part_id) for part in parts]
    contents += [(kind, name) for kind, names in gone.items() for name in names]
    part = _new_part(parts[0], contents, row_counts, parts[0].made_by)
    directories.write_directory(root, part.directory, ((name, kept[name]) for name in row_counts))
    return part


def lacks_values(root: Path, part: Part) -> bool:
    """Whether a part lacks a column that this release declares and that may not be null."""
    bring_tables(root, [part], part.row_counts)
    return any(
        not column.nullable and column.name not in names
        for table in part.row_counts
        for names in [pq.read_schema(root / part.directory / f"{table}.parquet").names]
        for column in TABLES[table].columns
    )


def _with_declared_columns(data: pa.Table, table: Table) -> pa.Table:
    """The rows with the columns that this release declares; those they lack are null."""
    schema = arrow_schema(table)
    if data.column_names == schema.names:
        return data
    columns = [
        data[field.name] if field.name in data.column_names else pa.nulls(len(data), field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def _without(data: pa.Table, kind: str, gone: set[str]) -> pa.Table:
    """The rows that do not come from files that are gone."""
    if not gone:
        return data
    if kind in ("results", "run_log"):
        return data.slice(0, 0)
    text = data["scenario"].type
    run = data["run"] if kind == "judge_log" else pa.scalar("", text)
    names = pc.binary_join_element_wise(data["scenario"], run, pa.scalar("\0", text))
    return data.filter(pc.invert(pc.is_in(names, pa.array(sorted(gone), text))))


_KIND_OF_TABLE = {
    "scenarios": "runs",
    "steps": "runs",
    "plans": "runs",
    "judgements": "judge_log",
    "reported_scenarios": "results",
    "reported_models": "results",
    "run_logs": "run_log",
}


def _new_part(
    alike: InputFile | Part,
    contents: Iterable[tuple[str, ...]],
    row_counts: dict[str, int],
    code: str,
) -> Part:
    """A part named by what is in it, so that the same work done twice is the same part."""
    key = (alike.model or "", alike.experiment or "", alike.language or "")
    digest = hashlib.sha256(f"{code} {columns_id(RAW_TABLES)}".encode())
    for names in (key, *sorted(contents)):
        digest.update("\0".join(("", *names)).encode())
    part_id = digest.hexdigest()[:20]
    model, experiment, language = key
    return Part(
        part_id=part_id,
        directory=f"parts/{part_id}",
        model=model,
        experiment=experiment,
        language=language,
        row_counts=row_counts,
        columns_id=columns_id(RAW_TABLES),
        made_by=code,
    )
