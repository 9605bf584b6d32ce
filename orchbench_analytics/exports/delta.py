"""Delta Lake: a directory with a Delta table for each relation.

Delta commits table by table, so a reader of several tables may see two generations for a moment.
`export_manifest` is a Delta table too, written last: it names the generation that is complete.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from orchbench_analytics.exports.relations import (
    MANIFEST_RELATION,
    Contents,
    Relation,
    manifest_table,
    part_column,
    part_value,
    read_manifest_table,
    with_other_counts,
)
from orchbench_analytics.exports.sink import (
    Outgoing,
    Sink,
    column_counts,
    marked_tables,
    refuse_strangers,
    require,
)
from orchbench_analytics.store.replace import mark_directory, marked_names
from orchbench_analytics.views.catalog import quoted, quoted_name

_LOG = "_delta_log"
_DATA_FILE = re.compile(r"part-[0-9]{5}-[0-9a-f-]{36}-c[0-9]{3}(\.\w+)?\.parquet")
_LOG_FILE = re.compile(r"[0-9]{20}\.(json|checkpoint\.parquet)|_last_checkpoint")


class DeltaTables(Sink):
    """Delta tables side by side in a directory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.deltalake = require("deltalake", extra="delta")

    def stored(self) -> Contents | None:
        """The manifest, from its table, if the directory has our mark and holds nothing else."""
        ours = marked_tables(self.path)
        if ours is None:
            return None
        entries = self.path.iterdir()
        refuse_strangers(
            self.path, (e.name for e in entries if e.name not in ours or e.is_symlink())
        )
        return self._held()

    def damaged(self, stored: Contents) -> set[str]:
        """The tables with other rows than were exported, counted model by model."""
        return with_other_counts(stored, self._row_counts)

    def _row_counts(self, name: str) -> Counter[Any] | None:
        try:
            rows = self.deltalake.DeltaTable(str(self.path / name)).to_pyarrow_dataset()
            column = part_column(rows.schema.names)
            return column_counts(rows.to_table([column] if column else []), column)
        except (self.deltalake.exceptions.DeltaError, OSError, pa.ArrowException):
            return None

    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Commit each table that changed, then the manifest; then remove tables no longer in it."""
        held = self._held()
        known = {*(held.relations if held else ()), *outgoing.names, MANIFEST_RELATION.name}
        mark_directory(self.path, {*known, *(marked_names(self.path) or ())})
        for relation in outgoing.relations:
            parts = outgoing.changed(relation, stored)
            new, old = outgoing.new_and_old(relation, stored)
            if old is None or old.shape_hash != new.shape_hash or not relation.part_column:
                if old is None or parts:
                    self._write_whole(relation, outgoing.rows(relation))
            elif parts:
                predicate = _condition(relation.part_column, parts)
                if any(part in new.parts for part in parts):
                    self.deltalake.write_deltalake(
                        str(self.path / relation.name),
                        outgoing.rows(relation, parts),
                        mode="overwrite",
                        predicate=predicate,
                    )
                else:
                    self.deltalake.DeltaTable(str(self.path / relation.name)).delete(predicate)
        self._write_whole(MANIFEST_RELATION, manifest_table(outgoing.contents))
        for name in outgoing.stale(held):
            _remove_table(self.path / name)
        mark_directory(self.path, {*outgoing.names, MANIFEST_RELATION.name})

    def _held(self) -> Contents | None:
        place = str(self.path / MANIFEST_RELATION.name)
        if not self.deltalake.DeltaTable.is_deltatable(place):
            return None
        return read_manifest_table(self.deltalake.DeltaTable(place).to_pyarrow_table())

    def _write_whole(self, relation: Relation, rows: pa.Table | pa.RecordBatchReader) -> None:
        self.deltalake.write_deltalake(
            str(self.path / relation.name),
            rows,
            mode="overwrite",
            schema_mode="overwrite",
            name=relation.name,
            description=relation.description,
        )


def _condition(column: str, parts: Sequence[str]) -> str:
    """The SQL condition under which a row is in one of the parts."""
    values = [part_value(part) for part in parts]
    texts = [quoted(v) if isinstance(v, str) else str(v) for v in values if v is not None]
    conditions = [f"{quoted_name(column)} in ({', '.join(texts)})"] if texts else []
    if None in values:
        conditions.append(f"{quoted_name(column)} is null")
    return " or ".join(conditions)


def _remove_table(directory: Path) -> None:
    """Remove the files that Delta wrote for a table; whatever else lies there stays."""
    for path in (*directory.glob("*"), *(directory / _LOG).glob("*")):
        name = _LOG_FILE if path.parent.name == _LOG else _DATA_FILE
        if name.fullmatch(path.name) and not path.is_symlink():
            path.unlink()
    for emptied in (directory / _LOG, directory):
        with suppress(OSError):
            emptied.rmdir()
