"""Tableau: a `.hyper` file, which Tableau opens as it is; Hyper reads Parquet made for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from orchbench_analytics.exports.parquet import write_parquet
from orchbench_analytics.exports.relations import (
    DESCRIPTIONS,
    MANIFEST_RELATION,
    Contents,
    Relation,
    part_column,
    with_other_counts,
)
from orchbench_analytics.exports.sink import (
    POSTGRES,
    REPLACE_NUL,
    FileSink,
    Outgoing,
    Rule,
    create_table,
    own_manifest,
    require,
)
from orchbench_analytics.store.replace import new_file
from orchbench_analytics.views.catalog import quoted, quoted_name

_QUIET = {"log_config": ""}  # otherwise it writes a log to the current directory


class HyperFile(FileSink):
    """A Hyper file; the table `export_columns` describes its tables and columns."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.hyper = require("tableauhyperapi", extra="tableau")
        self.unreadable = (self.hyper.HyperException,)

    def rules(self, *, is_raw: bool) -> Sequence[Rule]:
        """A text of Hyper has no NUL."""
        return (REPLACE_NUL,)

    def read(self) -> Contents | None:
        """The manifest, from its table."""
        columns = ", ".join(map(quoted_name, MANIFEST_RELATION.table.column_names))
        query = f"select {columns} from {quoted_name(MANIFEST_RELATION.name)}"
        with self._connect(self.path, self.hyper.CreateMode.NONE) as connection:
            rows = connection.execute_list_query(query)
            there = [
                table.name.unescaped
                for schema in connection.catalog.get_schema_names()
                for table in connection.catalog.get_table_names(schema)
            ]
        return own_manifest(self.path, rows, there, ours=[DESCRIPTIONS.name])

    def damaged(self, stored: Contents) -> set[str]:
        """The tables with other rows than were exported, counted model by model."""
        with self._connect(self.path, self.hyper.CreateMode.NONE) as connection:
            return with_other_counts(stored, lambda name: self._row_counts(connection, name))

    def _row_counts(self, connection: Any, name: str) -> Counter[Any] | None:
        try:
            columns = connection.catalog.get_table_definition(name).columns
            column = part_column([column.name.unescaped for column in columns])
            wanted = quoted_name(column) if column else "cast(null as text)"
            query = f"select {wanted}, count(*) from {quoted_name(name)} group by 1"
            return Counter(dict(map(tuple, connection.execute_list_query(query))))
        except self.hyper.HyperException:
            return None

    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Write a new file beside the old one, and replace it."""
        mode = self.hyper.CreateMode.CREATE_AND_REPLACE
        with new_file(self.path) as staged, self._connect(staged, mode) as connection:
            rows = staged.parent / "rows.parquet"
            for relation in outgoing.relations:
                write_parquet(outgoing, relation, rows)
                _create(connection, relation, rows)
            for relation, extra in outgoing.extras:
                pq.write_table(extra, rows)
                _create(connection, relation, rows)

    @contextmanager
    def _connect(self, path: Path, mode: Any) -> Iterator[Any]:
        """A connection to a file; Hyper runs while it is open, and sends no usage data."""
        silence = self.hyper.Telemetry.DO_NOT_SEND_USAGE_DATA_TO_TABLEAU
        with (
            self.hyper.HyperProcess(silence, parameters=_QUIET) as process,
            self.hyper.Connection(process.endpoint, str(path), mode) as connection,
        ):
            yield connection


def _create(connection: Any, relation: Relation, rows: Path) -> None:
    """Create a table and fill it from a Parquet file; Hyper does not have keys."""
    connection.execute_command(create_table(relation.without_keys(), POSTGRES, set()))
    names = ", ".join(map(quoted_name, relation.table.column_names))
    source = f"external({quoted(str(rows))}, format => 'parquet')"
    target = quoted_name(relation.name)
    connection.execute_command(f"insert into {target} (select {names} from {source})")
