"""Excel: a workbook with a sheet for each relation; texts are texts and never run."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from orchbench_analytics.errors import PathError, SelectionError
from orchbench_analytics.exports.relations import MANIFEST_RELATION, Contents, read_manifest
from orchbench_analytics.exports.sink import (
    CUT_LONG,
    REPLACE_NUL,
    FileSink,
    Outgoing,
    Rule,
    is_sealed,
    require,
    seal,
)
from orchbench_analytics.schema import Table
from orchbench_analytics.store.replace import new_file

_MOST_ROWS = 1_048_576  # of a sheet, including the header
_OPTIONS = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}


class ExcelFile(FileSink):
    """A workbook; the sheet `export_columns` describes its tables and columns."""

    unreadable = (KeyError, ValueError, OSError, zipfile.BadZipFile)

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.xlsxwriter = require("xlsxwriter", extra="excel")
        self.openpyxl = require("openpyxl", extra="excel")

    def rules(self, *, is_raw: bool) -> Sequence[Rule]:
        """A cell holds a limited length and no NUL; formulas do not run, since cells are texts."""
        return (REPLACE_NUL, CUT_LONG)

    def check(self, outgoing: Outgoing) -> None:
        """Refuse a relation with more rows than a sheet has."""
        for name, content in outgoing.contents.relations.items():
            if content.row_count >= _MOST_ROWS:
                raise SelectionError(
                    f"{name} has {content.row_count:,} rows, a sheet of Excel {_MOST_ROWS:,}: "
                    "choose tables with --table, one profile with --profile, or export to Parquet"
                )

    def read(self) -> Contents | None:
        """The manifest, from its sheet."""
        book = self.openpyxl.load_workbook(self.path, read_only=True)
        try:
            _, *rows = book[MANIFEST_RELATION.name].iter_rows(values_only=True)
        finally:
            book.close()
        held = read_manifest([["" if cell is None else cell for cell in row] for row in rows])
        if not is_sealed(self.path):
            raise PathError(
                f"{self.path} was changed since it was exported, and what was done to it would be "
                "lost; move it, or name another place"
            )
        return held

    def damaged(self, stored: Contents) -> set[str]:
        """Nothing: a workbook that was changed is not replaced."""
        return set()

    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Write a new workbook beside the old one, and replace it."""
        with new_file(self.path) as staged:
            with self.xlsxwriter.Workbook(staged, _OPTIONS) as book:
                for relation in outgoing.relations:
                    rows = (row for batch in outgoing.rows(relation) for row in _rows(batch))
                    self._write_sheet(book, relation.table, rows)
                for relation, extra in outgoing.extras:
                    self._write_sheet(book, relation.table, _rows(extra))
            seal(staged)

    def _write_sheet(self, book: Any, table: Table, rows: Iterable[tuple[Any, ...]]) -> None:
        """Write one sheet, row by row: the library has no other way."""
        sheet = book.add_worksheet(table.name)
        sheet.freeze_panes(1, 0)
        sheet.write_row(0, 0, table.column_names, book.add_format({"bold": True}))
        at = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        write_as = {
            "text": sheet.write_string,
            "int": sheet.write_number,
            "float": sheet.write_number,
            "bool": sheet.write_boolean,
            "timestamp": lambda row, column, value: sheet.write_datetime(row, column, value, at),
        }
        writers = [write_as[column.kind] for column in table.columns]
        for number, row in enumerate(rows, start=1):
            for column, value in enumerate(row):
                if value is not None:
                    writers[column](number, column, value)


def _rows(batch: pa.RecordBatch | pa.Table) -> Iterable[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in batch.columns), strict=True)
