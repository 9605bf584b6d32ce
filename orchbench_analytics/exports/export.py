"""The whole export, top to bottom: look at the target, compute, compare, write what changed."""

from __future__ import annotations

import importlib
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import duckdb
import msgspec

from orchbench_analytics.errors import PathError
from orchbench_analytics.exports import TARGETS
from orchbench_analytics.exports.addresses import is_address, parse, shown
from orchbench_analytics.exports.documents import DocumentDirectory
from orchbench_analytics.exports.relations import (
    LARGE,
    SMALL,
    Memory,
    Selection,
    contents_of,
    flat_relations,
    stage,
)
from orchbench_analytics.exports.sink import Outgoing, RowProgress, Sink, count_changes
from orchbench_analytics.exports.star import star_documents, star_relations, star_shapes
from orchbench_analytics.exports.superset import BundleSummary, write_bundle
from orchbench_analytics.paths import local_path, require_parent
from orchbench_analytics.selection import scored_profile
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.store.replace import place_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Exported(NamedTuple):
    """One exported relation: its rows, and how many of its parts were written."""

    relation: str
    row_count: int
    changed_part_count: int


class ExportSummary(NamedTuple):
    """What an export did.

    `changed_values` counts, in words, what the format could not carry; `repaired` are the tables
    and files that were not as an earlier export had left them, and were written again.
    """

    target: str
    relations: list[Exported]
    changed_values: dict[str, int]
    repaired: list[str]

    @property
    def row_count(self) -> int:
        """The rows of the whole export."""
        return sum(relation.row_count for relation in self.relations)

    @property
    def is_unchanged(self) -> bool:
        """The target held all of it already, and nothing was written."""
        changed = any(relation.changed_part_count for relation in self.relations)
        return not changed and not self.repaired


def export(
    root: Path,
    manifest: Manifest,
    target: str,
    *,
    selection: Selection,
    may_overwrite: bool = False,
    spark: SparkSession | None = None,
    progress: RowProgress | None = None,
) -> ExportSummary:
    """Make the target hold what is selected; what it holds already is not written again.

    Memory is small first; an export that does not fit into it starts again with more. A Spark
    session computes the views, if one is given.
    """
    if target.startswith(tuple(_DOCUMENTS)):
        selection = _of_documents(root, manifest, target, selection)
    if selection.profile is not None:
        manifest = _only(scored_profile(root, manifest, selection.profile).name, manifest)
    begin = partial(
        _export,
        root,
        manifest,
        target,
        selection,
        spark,
        may_overwrite=may_overwrite,
        progress=progress,
    )
    try:
        return begin(memory=SMALL)
    except (duckdb.OutOfMemoryException, duckdb.TransactionException):  # it may show at a commit
        return begin(memory=LARGE)


def _export(
    root: Path,
    manifest: Manifest,
    target: str,
    selection: Selection,
    spark: SparkSession | None,
    *,
    may_overwrite: bool,
    memory: Memory,
    progress: RowProgress | None,
) -> ExportSummary:
    """The whole export within a memory limit."""
    sink = sink_for(target, selection, root=root, manifest=manifest)
    stored = sink.stored()
    if stored is not None and stored.selection != selection:
        if not may_overwrite:
            raise PathError(_other_selection(shown(target), stored.selection))
        stored = None
    damaged = sink.damaged(stored) if stored is not None else set()
    if stored is not None:
        sound = {name: held for name, held in stored.relations.items() if name not in damaged}
        stored = msgspec.structs.replace(stored, relations=sound)
    with stage(memory) as connection:
        if selection.is_star:
            relations = star_relations(
                connection, root, manifest, selection.tables, spark, memory=memory
            )
        else:
            names = sink.tables if isinstance(sink, DocumentDirectory) else selection.tables
            relations = flat_relations(connection, root, manifest, names, spark)
        contents = contents_of(
            connection, relations, generation=manifest.generation, selection=selection
        )
        rules = sink.rules(is_raw=selection.is_raw)
        documents = star_documents() if selection.is_star else {}
        outgoing = Outgoing(connection, relations, contents, rules, documents, memory, progress)
        sink.check(outgoing)
        if stored is None or damaged or stored.digest != contents.digest:
            sink.write(outgoing, stored)
        exported = [
            Exported(
                r.name, contents.relations[r.name].row_count, outgoing.changed_count(r, stored)
            )
            for r in relations
        ]
        changes = count_changes(connection, relations, rules)
        name = target if isinstance(sink, DocumentDirectory) else shown(target)
        return ExportSummary(name, exported, changes, sorted(damaged))


def export_bundle(
    root: Path, manifest: Manifest, path: Path, *, uri: str, profile: str | None = None
) -> BundleSummary:
    """Write a Superset bundle for the star at an address; its dashboard opens on the profile."""
    if path.suffix != ".zip":
        raise PathError(f"{path} is not a bundle for Superset; name a FILE.zip, or leave out --uri")
    chosen = scored_profile(root, manifest, profile).name
    with stage() as connection:
        relations = star_shapes(connection, root, manifest)
    place = place_for(path, root=root, manifest=manifest)
    return write_bundle(place, uri, relations, profile=chosen)._replace(target=str(path))


def _of_documents(root: Path, manifest: Manifest, target: str, selection: Selection) -> Selection:
    """The options of an export of documents, of one profile and of fixed tables."""
    if selection.is_star or selection.tables:
        raise PathError(f"{target} holds documents, not tables: leave out --star and --table")
    profile = scored_profile(root, manifest, selection.profile).name
    return msgspec.structs.replace(selection, profile=profile)


def _only(profile: str, manifest: Manifest) -> Manifest:
    """The manifest as if nothing had been scored under another profile."""
    return msgspec.structs.replace(
        manifest,
        profiles={profile: manifest.profiles[profile]},
        scores=[group for group in manifest.scores if group.profile == profile],
    )


def _other_selection(target: str, stored: Selection) -> str:
    options = [
        *(["--star"] if stored.is_star else []),
        *(["--raw"] if stored.is_raw else []),
        *(["--keys"] if stored.has_keys else []),
        *([f"--profile {stored.profile}"] if stored.profile else []),
        *(f"--table {name}" for name in stored.tables),
        *(f"--partition-by {name}" for name in stored.partition_by),
    ]
    return (
        f"{target} holds an export with other options ({' '.join(options) or 'none'}); "
        "give the same, name another target, or replace that export with --overwrite"
    )


# What holds documents in the words of another format, by the prefix of its name.
_DOCUMENTS = {
    "eee:": ("every_eval_ever", "EveryEvalEver"),
    "lm-eval:": ("lm_eval", "LmEval"),
    "hf:": ("hugging_face", "HuggingFace"),
}
_FILES = {
    ".duckdb": ("duckdb", "DuckDbFile"),
    ".sqlite": ("sqlite", "SqliteFile"),
    ".csv": ("csv", "CsvFile"),
    ".xlsx": ("excel", "ExcelFile"),
    ".parquet": ("parquet", "ParquetFile"),
    ".hyper": ("hyper", "HyperFile"),
}
_POSTGRES = ("postgresql", "postgres")
_PREFIX = re.compile(r"[a-z][a-z-]+:")  # one letter is a drive of Windows


def sink_for(target: str, selection: Selection, *, root: Path, manifest: Manifest) -> Sink:
    """The sink that a target's name asks for, if it takes the options."""
    sink = _find_sink(target, selection, root=root, manifest=manifest)
    if selection.has_keys and not sink.takes_keys:
        raise PathError(f"{shown(target)} is not a DuckDB file; --keys needs FILE.duckdb")
    if selection.partition_by and not sink.takes_partitions:
        raise PathError(f"{shown(target)} has no partitions; --partition-by needs a directory")
    return sink


def _find_sink(target: str, selection: Selection, *, root: Path, manifest: Manifest) -> Sink:
    """The sink of a target; its module is imported only now, with the library it needs."""
    apart = partial(place_for, root=root, manifest=manifest)
    if target.startswith("delta:"):
        return _sink("delta", "DeltaTables", apart(_local(target, "delta:")))
    if target.startswith("iceberg:"):
        name = target.removeprefix("iceberg:")
        is_catalog = "/" not in name and not Path(name).is_dir()
        directory = None if is_catalog else apart(_local(target, "iceberg:"))
        return _sink("iceberg", "IcebergTables", name, directory)
    for prefix, (room, name) in _DOCUMENTS.items():
        if target.startswith(prefix):
            return _sink(room, name, apart(_local(target, prefix)))
    if is_address(target):
        if parse(target).scheme not in _POSTGRES:
            raise PathError(
                f"{shown(target)} is not a target that can be written; possible targets are "
                f"{TARGETS}"
            )
        return _sink("postgres", "PostgresTables", target)
    if _PREFIX.match(target):
        raise PathError(
            f"{target} is not a target that can be written; possible targets are {TARGETS}; "
            f"a directory of that name is ./{target}"
        )
    path = local_path(target)
    if path.suffix == ".zip":
        raise PathError(
            f"{target} is a bundle for Superset: say with --uri where Superset finds the star, "
            "which orchbench export DIR TARGET --star writes"
        )
    path = apart(path)
    require_parent(path)
    if path.suffix == ".csv" and (len(selection.tables) != 1 or path.is_dir()):
        return _sink("csv", "CsvDirectory", path)
    if path.suffix in _FILES and not (path.suffix == ".parquet" and path.is_dir()):
        room, name = _FILES[path.suffix]
        return _sink(room, name, path)
    if path.suffix[1:].isalpha() and not path.is_dir():
        raise PathError(
            f"{path}: no format has the ending {path.suffix}; possible targets are {TARGETS}"
        )
    return _sink("parquet", "ParquetDirectory", path, selection.partition_by)


def _local(target: str, prefix: str) -> Path:
    """The directory that a target with a prefix names; an address is refused."""
    name = target.removeprefix(prefix)
    if is_address(name):
        raise PathError(f"{prefix}{shown(name)} is an address; name a directory: {prefix}DIR")
    if not name:
        raise PathError(f"{target} names no directory; write {prefix}DIR")
    return local_path(name)


def _sink(room: str, name: str, *arguments: object) -> Sink:
    module = importlib.import_module(f"orchbench_analytics.exports.{room}")
    sink: Sink = getattr(module, name)(*arguments)
    return sink
