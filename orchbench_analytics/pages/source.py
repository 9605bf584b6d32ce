"""What the pieces of a report are made from: a warehouse, some models and profiles.

What many pieces need is gathered once and lies beside them as Parquet: the texts of labels and of
users, which are the same for every model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import duckdb
import msgspec
import polars as pl

from orchbench_analytics.metrics import HEADLINE
from orchbench_analytics.profiles import Profile
from orchbench_analytics.queries import references
from orchbench_analytics.stats.sweep import ruled, sweep_columns
from orchbench_analytics.store.manifest import Manifest, Part, scan_table
from orchbench_analytics.views.catalog import (
    EVERYTHING,
    Scope,
    frame_of,
    populate,
    quoted,
    silent_duckdb,
)

Model = tuple[str, str]
# So many steps are read at once: many small models, or one large one.
_STEPS = 24_000
_LABELS = """
select text, row_number() over (order by text) - 1 as number
from (
    select label_content as text from main.steps
    union select label_calls from main.steps
    union select label_content from main.plans
    union select label_values from main.scored_arguments
    union select question from main.steps
    union select question from main.plans
)
where text is not null
order by text
"""


class Source(NamedTuple):
    """A warehouse, the models and profiles of a report, and where gathered rows lie as Parquet.

    Workers are handed a source, so it holds paths and plain values. Its queries use so many
    threads; null is one for each core.
    """

    root: Path
    manifest: Manifest
    models: Sequence[Model]
    profiles: Mapping[str, Profile]
    directory: Path
    threads: int | None = None

    def gather(self) -> None:
        """Write the texts of labels and users: every model was asked the same, so each once."""
        with self.connect("steps", "plans", "scored_arguments") as connection:
            target = quoted(str(self._file("labels")))
            connection.execute(f"copy ({_LABELS}) to {target} (format parquet)")

    @property
    def is_gathered(self) -> bool:
        """Whether the texts of labels are written."""
        return self._file("labels").exists()

    def connect(self, *relations: str, scope: Scope = EVERYTHING) -> duckdb.DuckDBPyConnection:
        """A connection that has what the tables and views named need."""
        connection = silent_duckdb(threads=self.threads)
        populate(connection, self.root, self.manifest, names=relations, scope=scope)
        return connection

    @property
    def own_scope(self) -> Scope:
        """The models of the report, where the warehouse has others too; and its one profile."""
        there = {(part.model, part.experiment) for part in self.manifest.parts}
        own = None if there <= {*self.models} else tuple(self.models)
        return self._scope_of_profile()._replace(contenders=own)

    def _scope_of_profile(self) -> Scope:
        return Scope(profile=next(iter(self.profiles))) if len(self.profiles) == 1 else EVERYTHING

    def under(self, profile: str) -> Source:
        """The source under one of its profiles."""
        return self._replace(profiles={profile: self.profiles[profile]})

    def query(self, query: str) -> pl.DataFrame:
        """What a query gives, its models and profiles being the report's."""
        return self.queries({"rows": query})["rows"]

    def queries(
        self, queries: Mapping[str, str], *, is_pooled: bool = False
    ) -> dict[str, pl.DataFrame]:
        """What some queries give, by name.

        Ranks are among all models of the warehouse; what is pooled over models, or says how many
        there are, is of the report's models alone.
        """
        read = set().union(*map(references, queries.values()))
        scope = self.own_scope if is_pooled else self._scope_of_profile()
        with self.connect(*read, scope=scope) as connection:
            return {
                name: self.only(frame_of(connection.sql(query))) for name, query in queries.items()
            }

    def only(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows of the models and profiles of the report; no model stands for all of them."""
        if "profile" in rows.columns:
            rows = rows.filter(pl.col("profile").is_in(list(self.profiles)))
        if "model" not in rows.columns:
            return rows
        keys = {"model": pl.String, "experiment": pl.String}
        wanted = pl.DataFrame([*self.models, ("", "")], schema=keys, orient="row")
        return rows.join(wanted, on=list(keys), how="semi", maintain_order="left")

    def scored(self, table: str) -> pl.LazyFrame:
        """A table of scores under the profiles of the report, of all models."""
        rows = scan_table(self.root, self.manifest, table)
        return rows.filter(pl.col("profile").is_in(list(self.profiles)))

    def scenario_scores(self) -> pl.DataFrame:
        """What headline scores are made from, of all models: ranks are among all of them."""
        columns = sweep_columns(HEADLINE)
        rows = self.scored("scenario_scores").select(columns).collect()
        return ruled(rows, self.profiles.values())

    def clusters(self) -> pl.DataFrame:
        """Which scenarios go together: a scenario and its translations."""
        with self.connect("scenario_clusters") as connection:
            return frame_of(connection.sql("from main.scenario_clusters"))

    def labels(self) -> pl.DataFrame:
        """The distinct texts of labels and users, and their numbers."""
        return pl.read_parquet(self._file("labels"), glob=False)

    def step_count(self) -> int:
        """How many steps the models of the source have."""
        return sum(_step_count(parts) for parts in self._parts().values())

    def batches(self, steps: int = _STEPS) -> Iterator[Source]:
        """The source in batches of models, each with their parts and the scores that hold them.

        A batch has no more than so many steps, or one model.
        """
        parts = self._parts()
        batch: list[Model] = []
        for model in self.models:
            if batch and sum(_step_count(parts[one]) for one in (*batch, model)) > steps:
                yield self._of(batch, parts)
                batch = []
            batch.append(model)
        yield self._of(batch, parts)

    def some(self, numbers: Sequence[int]) -> Source:
        """The source of some models, by their numbers."""
        return self._of([self.models[number] for number in numbers], self._parts())

    def _of(self, models: list[Model], parts: Mapping[Model, list[Part]]) -> Source:
        own = [part for model in models for part in parts[model]]
        ids = {part.part_id for part in own}
        scores = [group for group in self.manifest.scores if not ids.isdisjoint(group.part_ids)]
        manifest = msgspec.structs.replace(
            self.manifest, parts=own, scores=scores, gathered=[], unreferenced={}
        )
        return self._replace(manifest=manifest, models=models)

    def _parts(self) -> dict[Model, list[Part]]:
        parts: dict[Model, list[Part]] = {model: [] for model in self.models}
        for part in self.manifest.parts:
            if (part.model, part.experiment) in parts:
                parts[part.model, part.experiment].append(part)
        return parts

    def _file(self, name: str) -> Path:
        return self.directory / f"{name}.parquet"


def _step_count(parts: Sequence[Part]) -> int:
    return sum(part.row_counts.get("steps", 0) for part in parts)
