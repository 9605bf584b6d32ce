"""Delta Lake: a directory with a Delta table for each relation.

Delta commits table by table, so a reader of several tables may see two generations for a moment.
`export_manifest` is a Delta table too, written last: it names the generation that is complete.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa

from orchbench_analytics.exports.atomic import is_empty, refuse
from orchbench_analytics.exports.contents import (
    MANIFEST_RELATION,
    Contents,
    manifest_table,
    parts_condition,
    read_manifest_table,
)
from orchbench_analytics.exports.relations import Relation
from orchbench_analytics.exports.sink import Outgoing, Sink, require


class DeltaTables(Sink):
    """Delta tables side by side in a directory."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self.deltalake = require("deltalake", extra="delta")

    def stored(self, *, may_overwrite: bool) -> Contents | None:
        """The manifest, from its table."""
        held = self._held()
        if held is None and not is_empty(self.path) and not may_overwrite:
            raise refuse(self.path)
        return held

    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Commit each table that changed, then the manifest; what is no longer in it goes."""
        held = self._held()
        for relation in outgoing.relations:
            parts = outgoing.changed(relation, stored)
            old = stored.relations.get(relation.name) if stored else None
            new = outgoing.contents.relations[relation.name]
            if old is None or old.shape_hash != new.shape_hash or not relation.part_column:
                if old is None or parts:
                    self._write_whole(relation, outgoing.rows(relation))
            elif parts:
                predicate = parts_condition(relation.part_column, parts)
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
            shutil.rmtree(self.path / name, ignore_errors=True)

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
