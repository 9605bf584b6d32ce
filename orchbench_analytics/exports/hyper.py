"""Tableau: a `.hyper` file, which Tableau opens as it is; Hyper reads Parquet made for it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from orchbench_analytics.exports.beside import new_file, refuse
from orchbench_analytics.exports.contents import Contents, manifest_rows, read_manifest
from orchbench_analytics.exports.ddl import MANIFEST_RELATION, POSTGRES
from orchbench_analytics.exports.parquet import write_parquet
from orchbench_analytics.exports.relations import Relation
from orchbench_analytics.exports.sink import Outgoing, require
from orchbench_analytics.exports.sqlite import DESCRIPTIONS, described
from orchbench_analytics.exports.values import REPLACE_NUL, Rule, quoted_name
from orchbench_analytics.schema import arrow_schema
from orchbench_analytics.views.catalog import quoted

_QUIET = {"log_config": ""}  # else it leaves a log where it runs


class HyperFile:
    """A file of Tableau's; what its tables and columns mean is in the table `export_columns`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.hyper = require("tableauhyperapi", extra="tableau")

    def rules(self, *, is_raw: bool) -> Sequence[Rule]:
        """A text of Hyper has no NUL."""
        return (REPLACE_NUL,)

    def check(self, outgoing: Outgoing) -> None:
        """Hyper holds any number of rows."""

    def stored(self, *, may_overwrite: bool) -> Contents | None:
        """The manifest in the file."""
        if not self.path.exists():
            return None
        columns = ", ".join(map(quoted_name, MANIFEST_RELATION.table.column_names))
        query = f"select {columns} from {quoted_name(MANIFEST_RELATION.name)}"
        try:
            with self._connect(self.path, self.hyper.CreateMode.NONE) as connection:
                return read_manifest(connection.execute_list_query(query))
        except self.hyper.HyperException as error:
            if not may_overwrite:
                raise refuse(self.path) from error
            return None

    def write(self, outgoing: Outgoing, stored: Contents | None) -> None:
        """Write the file anew, beside the old one."""
        mode = self.hyper.CreateMode.CREATE_AND_REPLACE
        with (
            tempfile.TemporaryDirectory(prefix="orchbench-hyper-") as directory,
            new_file(self.path) as staged,
            self._connect(staged, mode) as connection,
        ):
            rows = Path(directory) / "rows.parquet"
            for relation in outgoing.relations:
                write_parquet(outgoing, relation, rows)
                _create(connection, relation, rows)
            for relation, extra in (
                (DESCRIPTIONS, described(outgoing.relations)),
                (MANIFEST_RELATION, manifest_rows(outgoing.contents)),
            ):
                pq.write_table(pa.Table.from_pylist(extra, arrow_schema(relation.table)), rows)
                _create(connection, relation, rows)

    @contextmanager
    def _connect(self, path: Path, mode: Any) -> Iterator[Any]:
        """A connection to a file; Hyper runs as long as it is open, and tells nobody."""
        silence = self.hyper.Telemetry.DO_NOT_SEND_USAGE_DATA_TO_TABLEAU
        with (
            self.hyper.HyperProcess(silence, parameters=_QUIET) as process,
            self.hyper.Connection(process.endpoint, str(path), mode) as connection,
        ):
            yield connection


def _create(connection: Any, relation: Relation, rows: Path) -> None:
    """Create a table and fill it from a Parquet file."""
    table, columns = quoted_name(relation.name), relation.table.columns
    declared = ", ".join(
        f"{quoted_name(c.name)} {POSTGRES.types[c.kind]}{'' if c.nullable else ' not null'}"
        for c in columns
    )
    connection.execute_command(f"create table {table} ({declared})")
    names = ", ".join(quoted_name(column.name) for column in columns)
    source = f"external({quoted(str(rows))}, format => 'parquet')"
    connection.execute_command(f"insert into {table} (select {names} from {source})")
