"""Apache Iceberg: a table for each relation in the namespace `orchbench` of a catalog.

The catalog is named as pyiceberg's configuration has it; or it is a directory, which then holds an
SQLite catalog and the tables. Iceberg commits table by table: `export_manifest`, written last,
names the generation that is complete.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from orchbench_analytics.errors import PathError
from orchbench_analytics.exports.contents import (
    MANIFEST_RELATION,
    Contents,
    manifest_table,
    part_value,
    read_manifest_table,
)
from orchbench_analytics.exports.relations import Relation
from orchbench_analytics.exports.sink import Outgoing, Sink, gathered, require
from orchbench_analytics.schema import Table, arrow_schema

NAMESPACE = "orchbench"


class IcebergTables(Sink):
    """Iceberg tables of one namespace."""

    def __init__(self, catalog: str) -> None:
        self.name = catalog
        self.catalogs = require("pyiceberg.catalog", extra="iceberg")
        self.expressions = require("pyiceberg.expressions", extra="iceberg")
        self.failures = require("pyiceberg.exceptions", extra="iceberg")
        require("sqlalchemy", extra="iceberg")
        self.may_overwrite = False

    def stored(self, *, may_overwrite: bool) -> Contents | None:
        """The manifest, from its table."""
        self.may_overwrite = may_overwrite
        with self._catalog() as catalog:
            return _held(catalog)

    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Commit each table that changed, then the manifest; what is no longer in it goes."""
        with self._catalog() as catalog:
            held = _held(catalog)
            catalog.create_namespace_if_not_exists(NAMESPACE)
            for relation in outgoing.relations:
                self._write(catalog, outgoing, relation, stored)
            rows = manifest_table(outgoing.contents).cast(_schema(MANIFEST_RELATION.table))
            if stored is None:
                self._create(catalog, MANIFEST_RELATION, may_replace=self.may_overwrite)
            table = catalog.load_table((NAMESPACE, MANIFEST_RELATION.name))
            with table.transaction() as transaction:
                if stored is not None:
                    transaction.delete(self.expressions.AlwaysTrue())
                transaction.append(rows)
            for name in outgoing.stale(held):
                catalog.purge_table((NAMESPACE, name))

    def _write(
        self, catalog: Any, outgoing: Outgoing, relation: Relation, stored: Contents | None
    ) -> None:
        """Bring over the changed parts of one relation in one commit."""
        parts = outgoing.changed(relation, stored)
        old = stored.relations.get(relation.name) if stored else None
        new = outgoing.contents.relations[relation.name]
        if old is None or old.shape_hash != new.shape_hash:
            ours = old is not None or self.may_overwrite
            self._create(catalog, relation, may_replace=ours)
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

    def _create(self, catalog: Any, relation: Relation, *, may_replace: bool) -> None:
        identifier = (NAMESPACE, relation.name)
        if catalog.table_exists(identifier):
            if not may_replace:
                raise PathError(
                    f"{self.name} has a table {NAMESPACE}.{relation.name} that is not an earlier "
                    "export; name another catalog, or replace it with --overwrite"
                )
            catalog.drop_table(identifier)
        properties = {"comment": relation.description}
        catalog.create_table(identifier, _schema(relation.table), properties=properties)

    def _catalog(self) -> Any:
        """The catalog of that name, or in that directory."""
        if "/" not in self.name and not Path(self.name).is_dir():
            try:
                return self.catalogs.load_catalog(self.name)
            except (ValueError, self.failures.NoSuchIcebergTableError) as error:
                raise PathError(
                    f"pyiceberg knows no catalog {self.name!r} ({error}); "
                    "configure it, or name a directory: iceberg:./DIR"
                ) from error
        directory = Path(self.name).absolute()
        directory.mkdir(parents=True, exist_ok=True)
        return self.catalogs.load_catalog(
            "orchbench",
            type="sql",
            uri=f"sqlite:///{directory / 'catalog.db'}",
            warehouse=directory.as_uri(),
        )


def _held(catalog: Any) -> Contents | None:
    """The manifest, from its table."""
    identifier = (NAMESPACE, MANIFEST_RELATION.name)
    if not catalog.namespace_exists(NAMESPACE) or not catalog.table_exists(identifier):
        return None
    return read_manifest_table(catalog.load_table(identifier).scan().to_arrow())


def _schema(table: Table) -> pa.Schema:
    """The columns with their descriptions where Iceberg looks for them."""
    plain = arrow_schema(table)
    return pa.schema(
        [field.with_metadata({"doc": field.metadata[b"description"]}) for field in plain]
    )
