"""Delta Lake: a directory with a Delta table for each relation.

Delta commits table by table, so a reader of several tables may see two generations for a moment.
`export_manifest` is a Delta table too, written last: it names the generation that is complete.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from orchbench_analytics.exports.beside import refuse
from orchbench_analytics.exports.contents import (
    MANIFEST_TABLE,
    Contents,
    manifest_rows,
    read_manifest,
)
from orchbench_analytics.exports.ddl import MANIFEST_RELATION
from orchbench_analytics.exports.predicates import sql_predicate
from orchbench_analytics.exports.relations import Relation
from orchbench_analytics.exports.sink import Outgoing, require
from orchbench_analytics.exports.values import Rule
from orchbench_analytics.schema import arrow_schema


class DeltaTables:
    """Delta tables side by side in a directory."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self.deltalake = require("deltalake", extra="delta")

    def rules(self, *, is_raw: bool) -> Sequence[Rule]:
        """Delta carries every value."""
        return ()

    def check(self, outgoing: Outgoing) -> None:
        """Delta holds any number of rows."""

    def stored(self, *, may_overwrite: bool) -> Contents | None:
        """The manifest, from its table."""
        held = self._held()
        if held is not None:
            return held
        is_empty = not self.path.exists() or (self.path.is_dir() and not any(self.path.iterdir()))
        if not is_empty and not may_overwrite:
            raise refuse(self.path)
        return None

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
                predicate = sql_predicate(relation.part_column, parts)
                if any(part in new.parts for part in parts):
                    self.deltalake.write_deltalake(
                        str(self.path / relation.name),
                        outgoing.rows(relation, parts),
                        mode="overwrite",
                        predicate=predicate,
                    )
                else:
                    self.deltalake.DeltaTable(str(self.path / relation.name)).delete(predicate)
        schema = arrow_schema(MANIFEST_TABLE)
        rows = pa.Table.from_pylist(manifest_rows(outgoing.contents), schema)
        self._write_whole(MANIFEST_RELATION, rows)
        for name in outgoing.stale(held):
            shutil.rmtree(self.path / name, ignore_errors=True)

    def _held(self) -> Contents | None:
        place = str(self.path / MANIFEST_TABLE.name)
        if not self.deltalake.DeltaTable.is_deltatable(place):
            return None
        rows = self.deltalake.DeltaTable(place).to_pyarrow_table().to_pylist()
        return read_manifest([[row[name] for name in MANIFEST_TABLE.column_names] for row in rows])

    def _write_whole(self, relation: Relation, rows: pa.Table | pa.RecordBatchReader) -> None:
        self.deltalake.write_deltalake(
            str(self.path / relation.name),
            rows,
            mode="overwrite",
            schema_mode="overwrite",
            name=relation.name,
            description=relation.description,
        )
