"""Which sink a target's name asks for."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

from orchbench_analytics.errors import PathError
from orchbench_analytics.exports.contents import Selection
from orchbench_analytics.exports.sink import Sink

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
_PREFIXES = {
    "delta:": ("delta", "DeltaTables"),
    "iceberg:": ("iceberg", "IcebergTables"),
}
_PASSWORD = re.compile(r"(//[^:/@]*):[^@]*@")
_POSTGRES = ("postgresql://", "postgres://")


def sink_for(target: str, selection: Selection) -> Sink:
    """The sink of a target; its module is imported only now, with the library it needs."""
    if target.startswith(_POSTGRES):
        return _sink("postgres", "PostgresTables", target)
    for prefix, (room, name) in _PREFIXES.items():
        if target.startswith(prefix):
            return _sink(room, name, target.removeprefix(prefix))
    if "://" in target:
        raise PathError(f"{target} is not a target this release knows; there are {KINDS}")
    path = Path(target)
    if path.suffix == ".zip":
        raise PathError(
            f"{target} is a bundle for Superset: say with --uri where Superset finds the star, "
            "which orchbench export DIR TARGET --star writes"
        )
    if path.suffix in _FILES and not (path.suffix == ".parquet" and path.is_dir()):
        room, name = _FILES[path.suffix]
        _refuse_partitions(target, selection)
        _require_parent(path)
        return _sink(room, name, path)
    _require_parent(path)
    _refuse_other_endings(path)
    return _sink("parquet", "ParquetDirectory", path, selection.partition_by)


def require_apart(target: str, root: Path) -> None:
    """Refuse a target that is the warehouse, is in it, or would take the place of all around it."""
    if "://" in target:
        return
    prefix = next((name for name in _PREFIXES if target.startswith(name)), "")
    path, warehouse = Path(target.removeprefix(prefix)).resolve(), root.resolve()
    is_around = path in warehouse.parents and not prefix
    if warehouse in (path, *path.parents) or is_around:
        where = "holds" if is_around else "is part of"
        raise PathError(f"{target} {where} the warehouse {root}; name a target outside of it")


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


def without_password(target: str) -> str:
    """A target as it may be shown."""
    return _PASSWORD.sub(r"\1:***@", target)
