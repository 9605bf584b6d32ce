"""What the pieces of a report are made from; what many of them need is gathered once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import duckdb
import polars as pl

from orchbench_analytics.profiles import Profile
from orchbench_analytics.schema import polars_schema
from orchbench_analytics.store.manifest import Manifest, table_files
from orchbench_analytics.store.parquet import scan_files
from orchbench_analytics.tables import TABLES
from orchbench_analytics.views.catalog import frame_of, needed_by, populate, quoted, silent_duckdb

_LABELS = """
select text, row_number() over (order by text) - 1 as number
from (
    select label_content as text from main.steps
    union select label_calls from main.steps
    union select label_content from main.plans
    union select label_values from main.scored_arguments
)
where text is not null
order by text
"""


class Source(NamedTuple):
    """A warehouse, the models and profiles of a report, and where gathered rows lie as Parquet.

    Workers are handed a source, so it holds paths and plain values.
    """

    root: Path
    manifest: Manifest
    models: Sequence[tuple[str, str]]
    profiles: Mapping[str, Profile]
    directory: Path

    def gather(self) -> None:
        """Write the texts of labels: every model was asked the same, so each is kept once."""
        target = quoted(str(self._file("labels")))
        with self.connect("steps", "plans", "scored_arguments") as connection:
            connection.execute(f"copy ({_LABELS}) to {target} (format parquet)")

    def connect(self, *relations: str) -> duckdb.DuckDBPyConnection:
        """A connection that has what the tables and views named need."""
        connection = silent_duckdb()
        populate(connection, self.root, self.manifest, names=needed_by(*relations))
        return connection

    def rows(self, name: str, *columns: str) -> pl.DataFrame:
        """Columns of a view, its profiles and models being those of the report."""
        query = f"select {', '.join(columns) or '*'} from main.{name} where {self._is_wanted()}"
        return self.query(f"{query} order by all", name)

    def query(self, query: str, *relations: str) -> pl.DataFrame:
        """What a query of some relations gives, its models being those of the report."""
        with self.connect(*relations) as connection:
            return self.only(frame_of(connection.sql(query)))

    def only(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows of the models of the report."""
        if "model" not in rows.columns:
            return rows
        keys = {"model": pl.String, "experiment": pl.String}
        wanted = pl.DataFrame(self.models, schema=keys, orient="row")
        return rows.join(wanted, on=list(keys), how="semi", maintain_order="left")

    def scored(self, table: str) -> pl.LazyFrame:
        """A table of scores under the profiles of the report, of all models."""
        files = table_files(self.root, self.manifest, table)
        rows = scan_files(files, polars_schema(TABLES[table]))
        return rows.filter(pl.col("profile").is_in(list(self.profiles)))

    def scenario_scores(self) -> pl.DataFrame:
        """The scores of scenarios, of all models: ranks are among all of them."""
        rows = self.scored("scenario_scores").collect()
        return rows.sort("model", "experiment", "language", "scenario", "profile")

    def labels(self) -> pl.DataFrame:
        """The distinct texts of labels and their numbers."""
        return pl.read_parquet(self._file("labels"), glob=False)

    def _file(self, name: str) -> Path:
        return self.directory / f"{name}.parquet"

    def _is_wanted(self) -> str:
        return f"profile in ({', '.join(map(quoted, self.profiles))})"
