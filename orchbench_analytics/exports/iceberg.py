"""Apache Iceberg: a table for each relation in the namespace `orchbench` of a catalog.

The catalog is named as pyiceberg's configuration has it; or it is a directory, which then holds an
SQLite catalog and the tables. Iceberg commits table by table: `export_manifest`, written last,
names the generation that is complete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from orchbench_analytics.errors import PathError
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
    gathered,
    marked_tables,
    require,
)
from orchbench_analytics.schema import Table, arrow_schema
from orchbench_analytics.store.replace import MADE_BY, mark_directory

NAMESPACE = "orchbench"
_MARK = {"made_by": MADE_BY}  # among the properties of our tables


class IcebergTables(Sink):
    """Iceberg tables of one namespace."""

    def __init__(self, catalog: str, directory: Path | None) -> None:
        self.name = catalog
        self.directory = directory
        self.catalogs = require("pyiceberg.catalog", extra="iceberg")
        self.expressions = require("pyiceberg.expressions", extra="iceberg")
        self.failures = require("pyiceberg.exceptions", extra="iceberg")
        require("sqlalchemy", extra="iceberg")

    def stored(self) -> Contents | None:
        """The manifest, from its table; a directory is ours by its mark."""
        if self.directory is not None and marked_tables(self.directory) is None:
            return None
        with self._catalog() as catalog:
            return self._held(catalog)

    def damaged(self, stored: Contents) -> set[str]:
        """The tables with other rows than were exported, counted model by model."""
        with self._catalog() as catalog:
            return with_other_counts(stored, lambda name: self._row_counts(catalog, name))

    def _row_counts(self, catalog: Any, name: str) -> Counter[Any] | None:
        try:
            table = catalog.load_table((NAMESPACE, name))
            column = part_column(table.schema().column_names)
            fields = (column,) if column else ("*",)
            return column_counts(table.scan(selected_fields=fields).to_arrow(), column)
        except (self.failures.NoSuchTableError, OSError, pa.ArrowException):
            return None

    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Commit each table that changed, then the manifest; then remove tables no longer in it."""
        if self.directory is not None:
            mark_directory(self.directory, set())
        with self._catalog() as catalog:
            held = self._held(catalog)
            catalog.create_namespace_if_not_exists(NAMESPACE)
            for relation in outgoing.relations:
                self._write(catalog, outgoing, relation, stored, held)
            rows = manifest_table(outgoing.contents).cast(_schema(MANIFEST_RELATION.table))
            if held is None:
                self._create(catalog, MANIFEST_RELATION, held)
            table = catalog.load_table((NAMESPACE, MANIFEST_RELATION.name))
            with table.transaction() as transaction:
                if held is not None:
                    transaction.delete(self.expressions.AlwaysTrue())
                transaction.append(rows)
            for name in outgoing.stale(held):
                catalog.purge_table((NAMESPACE, name))

    def _write(
        self,
        catalog: Any,
        outgoing: Outgoing,
        relation: Relation,
        stored: Contents | None,
        held: Contents | None,
    ) -> None:
        """Bring over the changed parts of one relation in one commit."""
        parts = outgoing.changed(relation, stored)
        new, old = outgoing.new_and_old(relation, stored)
        if old is None or old.shape_hash != new.shape_hash:
            self._create(catalog, relation, held)
            old = None
        gone = [part for part in parts if old and part in old.parts]
        come = [part for part in parts if part in new.parts]
        if not gone and not come:
            return
        table = catalog.load_table((NAMESPACE, relation.name))
        with table.transaction() as transaction:
            if gone:
                transaction.delete(self._condition(relation.part_column, gone))
            if come:
                for rows in gathered(outgoing.rows(relation, come)):
                    transaction.append(rows.cast(_schema(relation.table)))

    def _condition(self, column: str | None, parts: Sequence[str]) -> Any:
        if column is None:
            return self.expressions.AlwaysTrue()
        values = [part_value(part) for part in parts]
        known = [value for value in values if value is not None]
        condition = self.expressions.In(column, known) if known else None
        if None not in values:
            return condition
        is_null = self.expressions.IsNull(column)
        return self.expressions.Or(condition, is_null) if condition else is_null

    def _create(self, catalog: Any, relation: Relation, held: Contents | None) -> None:
        """Create a table, in place of one of an earlier export."""
        identifier = (NAMESPACE, relation.name)
        if catalog.table_exists(identifier):
            is_held = held is not None and relation.name in held.relations
            if not is_held and not _is_marked(catalog.load_table(identifier)):
                raise PathError(
                    f"{self.name} has a table {NAMESPACE}.{relation.name} that orchbench did "
                    "not write; name another catalog"
                )
            catalog.drop_table(identifier)
        properties = {"comment": relation.description, **_MARK}
        catalog.create_table(identifier, _schema(relation.table), properties=properties)

    def _held(self, catalog: Any) -> Contents | None:
        """The manifest, from its table; an export that was killed may have left it empty."""
        identifier = (NAMESPACE, MANIFEST_RELATION.name)
        if not catalog.namespace_exists(NAMESPACE) or not catalog.table_exists(identifier):
            return None
        table = catalog.load_table(identifier)
        if not _is_marked(table):
            raise PathError(
                f"{self.name} has a table {NAMESPACE}.{MANIFEST_RELATION.name} that "
                "orchbench did not write; name another catalog"
            )
        return read_manifest_table(table.scan().to_arrow())

    def _catalog(self) -> Any:
        """The catalog of that name, or in that directory."""
        if self.directory is None:
            try:
                return self.catalogs.load_catalog(self.name)
            except (ValueError, self.failures.NoSuchIcebergTableError) as error:
                raise PathError(
                    f"pyiceberg does not know a catalog {self.name!r} ({error}); "
                    "configure it, or name a directory: iceberg:./DIR"
                ) from error
        directory = self.directory.absolute()
        return self.catalogs.load_catalog(
            "orchbench",
            type="sql",
            uri=f"sqlite:///{directory / 'catalog.db'}",
            warehouse=directory.as_uri(),
        )


def _is_marked(table: Any) -> bool:
    return bool(table.properties.items() >= _MARK.items())


def _schema(table: Table) -> pa.Schema:
    """The columns with their descriptions where Iceberg looks for them."""
    plain = arrow_schema(table)
    return pa.schema(
        [field.with_metadata({"doc": field.metadata[b"description"]}) for field in plain]
    )
