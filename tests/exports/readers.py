"""Exports read back by other programs than the one that wrote them."""

import csv
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import polars as pl
from openpyxl.utils.escape import unescape
from pyiceberg.catalog import load_catalog

os.environ["POLARS_ICEBERG_PLANNER"] = "pyiceberg"  # its own planner is not installed

Rows = list[dict[str, Any]]


def read_duckdb(target: str, relation: str) -> Rows:
    with duckdb.connect(target, read_only=True) as connection:
        return connection.sql(f"from {relation}").pl().to_dicts()


def read_sqlite(target: str, relation: str) -> Rows:
    connection = sqlite3.connect(target)
    connection.row_factory = sqlite3.Row
    try:
        return [dict(row) for row in connection.execute(f"select * from {relation}")]
    finally:
        connection.close()


def read_csv(target: str, relation: str) -> Rows:
    path = Path(target) / f"{relation}.csv" if Path(target).is_dir() else Path(target)
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_excel(target: str, relation: str) -> Rows:
    book = openpyxl.load_workbook(target, read_only=True)
    try:
        names, *rows = book[relation].iter_rows(values_only=True)
        return [dict(zip(names, map(_unescaped, row), strict=True)) for row in rows]
    finally:
        book.close()


def _unescaped(cell: Any) -> Any:
    """A cell as Excel shows it: control characters are written as _x001B_."""
    return unescape(cell) if isinstance(cell, str) else cell


def read_parquet(target: str, relation: str) -> Rows:
    return pl.read_parquet(Path(target) / f"{relation}.parquet").to_dicts()


def read_delta(target: str, relation: str) -> Rows:
    return pl.read_delta(str(Path(target.removeprefix("delta:")) / relation)).to_dicts()


def read_iceberg(target: str, relation: str) -> Rows:
    directory = Path(target.removeprefix("iceberg:"))
    uri = f"sqlite:///{directory / 'catalog.db'}"
    with load_catalog("orchbench", type="sql", uri=uri, warehouse=directory.as_uri()) as catalog:
        return pl.scan_iceberg(catalog.load_table(("orchbench", relation))).collect().to_dicts()


# The kinds of targets: how each is named, and who reads it.
TARGETS: dict[str, tuple[str, Callable[[str, str], Rows]]] = {
    "parquet": ("{}/out", read_parquet),
    "duckdb": ("{}/out.duckdb", read_duckdb),
    "sqlite": ("{}/out.sqlite", read_sqlite),
    "csv": ("{}/out.csv", read_csv),
    "excel": ("{}/out.xlsx", read_excel),
    "delta": ("delta:{}/out", read_delta),
    "iceberg": ("iceberg:{}/out", read_iceberg),
}
