"""CSV: one file, or a directory with a file for each relation.

An empty text is `""`, null is nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from orchbench_analytics.errors import PathError
from orchbench_analytics.exports.relations import Contents, Relation
from orchbench_analytics.exports.sink import DEFUSE_FORMULA, DirectorySink, Outgoing, Rule, Sink
from orchbench_analytics.store.files import FileStamp, fault_of, replace_file, stamp_file
from orchbench_analytics.store.replace import MADE_BY, is_empty, new_file, refuse
from orchbench_analytics.views.catalog import quoted, quoted_name


class CsvDirectory(DirectorySink):
    """A directory of CSV files, in which texts that look like formulas are inert unless raw."""

    def rules(self, *, is_raw: bool) -> Sequence[Rule]:
        """What a spreadsheet would run gets an apostrophe."""
        return _rules(is_raw=is_raw)

    def file_name(self, relation: str) -> str:
        """The name of a relation's file."""
        return f"{relation}.csv"

    def write_file(self, outgoing: Outgoing, relation: Relation, path: Path) -> None:
        """Write the rows of one relation."""
        _write(outgoing, relation, path)


class _Mark(msgspec.Struct):
    """What lies beside a CSV file, which has no room for a manifest: it says that the file is ours.

    The file that is to come is stamped before it replaces the last one, so both count as ours.
    """

    made_by: str
    contents: Contents
    file: FileStamp
    last_file: FileStamp | None


class CsvFile(Sink):
    """One relation as one CSV file; the manifest is in a hidden file beside it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.mark_path = path.with_name(f".{path.name}.orchbench")

    def rules(self, *, is_raw: bool) -> Sequence[Rule]:
        """What a spreadsheet would run gets an apostrophe."""
        return _rules(is_raw=is_raw)

    def stored(self) -> Contents | None:
        """The manifest beside the file; a file that somebody changed is not ours any more."""
        mark = self._mark()
        if mark is None:
            for path in (self.path, self.mark_path):
                if not is_empty(path):
                    raise refuse(path, "an export")
            return None
        stamps = [stamp for stamp in (mark.file, mark.last_file) if stamp is not None]
        if not is_empty(self.path) and all(fault_of(self.path, s, read=True) for s in stamps):
            raise PathError(
                f"{self.path} was changed since it was exported; move it, or name another place"
            )
        return mark.contents

    def damaged(self, stored: Contents) -> set[str]:
        """The table, if its file is gone or is that of the export before."""
        mark = self._mark()
        is_sound = mark is not None and not fault_of(self.path, mark.file, read=True)
        return set() if is_sound else {*stored.relations}

    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Write a new file beside the old one, and replace it."""
        (relation,) = outgoing.relations
        old = None if is_empty(self.path) else stamp_file(self.path)
        with new_file(self.path) as staged:
            _write(outgoing, relation, staged)
            mark = _Mark(MADE_BY, outgoing.contents, stamp_file(staged), old)
            replace_file(self.mark_path, msgspec.json.encode(mark))

    def _mark(self) -> _Mark | None:
        try:
            mark = msgspec.json.decode(self.mark_path.read_bytes(), type=_Mark)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None
        return mark if mark.made_by == MADE_BY else None


def _rules(*, is_raw: bool) -> Sequence[Rule]:
    return () if is_raw else (DEFUSE_FORMULA,)


def _write(outgoing: Outgoing, relation: Relation, path: Path) -> None:
    """Write the rows of one relation; every text is quoted."""
    texts = [quoted_name(c.name) for c in relation.table.columns if c.kind == "text"]
    quoting = f", force_quote ({', '.join(texts)})" if texts else ""
    outgoing.connection.execute(
        f"copy ({outgoing.query(relation)}) to {quoted(str(path))} (format csv, header{quoting})"
    )
