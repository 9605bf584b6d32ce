"""CSV: a directory with a file for each relation; an empty text is `""`, null is nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from orchbench_analytics.exports.contents import Contents
from orchbench_analytics.exports.directory import stored_in, write_directory
from orchbench_analytics.exports.relations import Relation
from orchbench_analytics.exports.sink import Outgoing
from orchbench_analytics.exports.values import DEFUSE_FORMULA, Rule
from orchbench_analytics.views.catalog import quoted


class CsvDirectory:
    """A directory of CSV files, in which texts that look like formulas are inert unless raw."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def rules(self, *, is_raw: bool) -> Sequence[Rule]:
        """What a spreadsheet would run gets an apostrophe."""
        return () if is_raw else (DEFUSE_FORMULA,)

    def check(self, outgoing: Outgoing) -> None:
        """CSV holds any number of rows."""

    def stored(self, *, may_overwrite: bool) -> Contents | None:
        """The manifest in the directory."""
        return stored_in(self.path, file_name, may_overwrite=may_overwrite)

    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Write the files that changed."""
        write_directory(self.path, outgoing, stored, file_name=file_name, write_file=_write)


def file_name(relation: str) -> str:
    """The name of a relation's file."""
    return f"{relation}.csv"


def _write(outgoing: Outgoing, relation: Relation, path: Path) -> None:
    texts = [c.name for c in relation.table.columns if c.kind == "text"]
    quoting = f", force_quote ({', '.join(texts)})" if texts else ""
    outgoing.connection.execute(
        f"copy ({outgoing.query(relation)}) to {quoted(str(path))} (format csv, header{quoting})"
    )
