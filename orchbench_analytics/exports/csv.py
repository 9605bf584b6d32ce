"""CSV: a directory with a file for each relation; an empty text is `""`, null is nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from orchbench_analytics.exports.directory import DirectorySink
from orchbench_analytics.exports.relations import Relation
from orchbench_analytics.exports.sink import Outgoing
from orchbench_analytics.exports.values import DEFUSE_FORMULA, Rule
from orchbench_analytics.views.sql_text import quoted


class CsvDirectory(DirectorySink):
    """A directory of CSV files, in which texts that look like formulas are inert unless raw."""

    def rules(self, *, is_raw: bool) -> Sequence[Rule]:
        """What a spreadsheet would run gets an apostrophe."""
        return () if is_raw else (DEFUSE_FORMULA,)

    def file_name(self, relation: str) -> str:
        """The name of a relation's file."""
        return f"{relation}.csv"

    def write_file(self, outgoing: Outgoing, relation: Relation, path: Path) -> None:
        """Write the rows of one relation; every text is quoted."""
        texts = [c.name for c in relation.table.columns if c.kind == "text"]
        quoting = f", force_quote ({', '.join(texts)})" if texts else ""
        query = outgoing.query(relation)
        outgoing.connection.execute(
            f"copy ({query}) to {quoted(str(path))} (format csv, header{quoting})"
        )
