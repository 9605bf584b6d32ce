"""Which sink a target's name asks for."""

from __future__ import annotations

import importlib
from functools import partial
from pathlib import Path

from orchbench_analytics.errors import PathError
from orchbench_analytics.exports.addresses import is_address, parse, shown
from orchbench_analytics.exports.contents import Selection
from orchbench_analytics.exports.sink import Sink
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.store.replace import place_for

KINDS = (
    "a directory or FILE.parquet (Parquet), FILE.duckdb, FILE.sqlite, DIR.csv (a directory of CSV "
    "files), FILE.xlsx, FILE.hyper (Tableau), delta:DIR, iceberg:CATALOG, postgresql://…"
)
_FILES = {
    ".duckdb": ("duckdb", "DuckDbFile"),
    ".sqlite": ("sqlite", "SqliteFile"),
    ".csv": ("csv", "CsvDirectory"),
    ".xlsx": ("excel", "ExcelFile"),
    ".parquet": ("parquet", "ParquetFile"),
    ".hyper": ("hyper", "HyperFile"),
}
_POSTGRES = ("postgresql", "postgres")


def sink_for(target: str, selection: Selection, *, root: Path, manifest: Manifest) -> Sink:
    """The sink of a target; its module is imported only now, with the library it needs."""
    apart = partial(place_for, root=root, manifest=manifest)
    if target.startswith("delta:"):
        return _sink("delta", "DeltaTables", apart(_local(target, "delta:")))
    if target.startswith("iceberg:"):
        name = target.removeprefix("iceberg:")
        is_catalog = "/" not in name and not Path(name).is_dir()
        directory = None if is_catalog else apart(_local(target, "iceberg:"))
        return _sink("iceberg", "IcebergTables", name, directory)
    if is_address(target):
        if parse(target).scheme not in _POSTGRES:
            raise PathError(
                f"{shown(target)} is not a target this release knows; there are {KINDS}"
            )
        return _sink("postgres", "PostgresTables", target)
    path = Path(target)
    if path.suffix == ".zip":
        raise PathError(
            f"{target} is a bundle for Superset: say with --uri where Superset finds the star, "
            "which orchbench export DIR TARGET --star writes"
        )
    path = apart(path)
    _require_parent(path)
    if path.suffix in _FILES and not (path.suffix == ".parquet" and path.is_dir()):
        room, name = _FILES[path.suffix]
        _refuse_partitions(target, selection)
        return _sink(room, name, path)
    _refuse_other_endings(path)
    return _sink("parquet", "ParquetDirectory", path, selection.partition_by)


def _local(target: str, prefix: str) -> Path:
    """The directory that a target with a prefix names; an address is refused unasked."""
    name = target.removeprefix(prefix)
    if is_address(name):
        raise PathError(f"{prefix}{shown(name)} is an address; name a directory: {prefix}DIR")
    return Path(name)


def _sink(room: str, name: str, *arguments: object) -> Sink:
    module = importlib.import_module(f"orchbench_analytics.exports.{room}")
    sink: Sink = getattr(module, name)(*arguments)
    return sink


def _require_parent(path: Path) -> None:
    """Refuse a path in a directory that is not there: most likely it was mistyped."""
    if not path.parent.is_dir():
        raise PathError(f"{path} cannot be written: there is no directory {path.parent}")


def _refuse_other_endings(path: Path) -> None:
    if path.suffix[1:].isalpha() and not path.is_dir():
        raise PathError(f"{path}: no format has the ending {path.suffix}; there are {KINDS}")


def _refuse_partitions(target: str, selection: Selection) -> None:
    if selection.partition_by:
        raise PathError(f"{target} has no partitions; --partition-by needs a directory of Parquet")
