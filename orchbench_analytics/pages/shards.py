"""A model's shard: its scenarios, runs and steps, down to the answers and what they counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb
import msgspec
import polars as pl

from orchbench_analytics.pages.answers import numbers_of, with_texts
from orchbench_analytics.pages.columns import columns_of
from orchbench_analytics.pages.pictures import draw_pictures
from orchbench_analytics.pages.source import Source
from orchbench_analytics.score.plans.entries import with_text_parts
from orchbench_analytics.store.manifest import Manifest
from orchbench_analytics.tables import PLAN_EDITS, PLAN_MATCHES, SCORED_PLANS, SCORED_STEPS
from orchbench_analytics.views.catalog import frame_of

_STEP = ("language", "scenario", "run", "step_id", "answer_position")
_KEYS = ("profile", "model", "experiment", *_STEP)
_NAMES = (
    "steps", "plans", "judgements", "scored_steps", "scored_plans", "scored_arguments",
    "plan_edits", "plan_matches", "scenario_means",
)  # fmt: skip
# What the page shows in no place, or by other columns.
_NOT_SHOWN = (
    pl.selectors.matches(r"^(true|false)_(positive|negative)_(reject|call)_count$")
    | pl.selectors.by_name(
        "has_label", "has_call_key", "step_kind", "content_kind", "is_numbered_run",
        "failed_generation_count", "structure_lower_bound", "component_lower_bound",
        require_all=False,
    )
)  # fmt: skip
_FILES = """
select
    profile, language, scenario, scenario_score, decision_accuracy, file_call_f1,
    means.plan_similarity, scores.run_count, scores.call_label_count, scores.rejection_label_count,
    scores.plan_count, scores.failed_generation_count, scores.failed_plan_count
from main.scenario_means as means
inner join main.scenario_scores as scores using (profile, model, experiment, language, scenario)
where model = $model and experiment = $experiment and list_contains($profiles, profile)
order by all
"""


def source_of(source: Source, model: str, experiment: str) -> Source:
    """The source with one model alone: its parts, and the scores that hold theirs."""
    manifest = source.manifest
    parts = [p for p in manifest.parts if (p.model, p.experiment) == (model, experiment)]
    ids = {part.part_id for part in parts}
    scores = [group for group in manifest.scores if not ids.isdisjoint(group.part_ids)]
    own: Manifest = msgspec.structs.replace(manifest, parts=parts, scores=scores, gathered=None)
    return source._replace(manifest=own, models=[(model, experiment)])


def shard(source: Source, *, answer_limit: int) -> dict[str, Any]:
    """The tables of the source's one model, by columns, and the pictures of its plans."""
    labels = source.labels()
    with source.connect(*_NAMES) as connection:
        rows = _Rows(connection, source)
        steps, step_changes = _by_profile(rows, "steps", SCORED_STEPS.name)
        plans, plan_changes = _by_profile(rows, "plans", SCORED_PLANS.name)
        texts = with_text_parts(rows.of("plans")).select(*_STEP, "label_content", "answer_content")
        drawn = draw_pictures(
            _read_plans(rows, plans, texts),
            _of_plans(rows, plans, PLAN_EDITS.name, "edit_number"),
            _of_plans(rows, plans, PLAN_MATCHES.name),
            source.profiles,
        )
        tables = {
            "files": rows.query(_FILES),
            "steps": with_texts(steps, labels, answer_limit=answer_limit),
            "step_changes": step_changes,
            "plans": with_texts(plans, labels, answer_limit=answer_limit),
            "plan_changes": plan_changes,
            "plan_pictures": _sparse(drawn.numbers, ["picture"], list(source.profiles)),
            "arguments": _arguments(rows, steps, labels),
            "judgements": rows.of("judgements").drop("model", "experiment"),
        }
    return {name: columns_of(frame) for name, frame in tables.items()} | {
        "pictures": drawn.pictures
    }


class _Rows:
    """The rows of one model, each table read once."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, source: Source) -> None:
        self.connection = connection
        self.profiles = list(source.profiles)
        ((model, experiment),) = source.models
        self.parameters = {"model": model, "experiment": experiment}
        self.tables: dict[str, pl.DataFrame] = {}

    def query(self, query: str) -> pl.DataFrame:
        """What a query of the model and its profiles gives."""
        parameters = {**self.parameters, "profiles": self.profiles}
        return frame_of(self.connection.sql(query, params=parameters))

    def of(self, table: str) -> pl.DataFrame:
        """The rows of a table that has no profile."""
        if table not in self.tables:
            where = "model = $model and experiment = $experiment"
            query = f"select * from main.{table} where {where} order by all"
            found = self.connection.sql(query, params=self.parameters)
            self.tables[table] = frame_of(found)
        return self.tables[table]

    def scored(self, table: str) -> pl.DataFrame:
        """The rows of a table under the profiles of the report."""
        if table not in self.tables:
            where = "model = $model and experiment = $experiment"
            where = f"{where} and list_contains($profiles, profile)"
            self.tables[table] = self.query(
                f"select * from main.{table} where {where} order by all"
            )
        return self.tables[table]


def _by_profile(rows: _Rows, raw: str, scored: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Raw rows with their scores under the first profile, and what others score otherwise."""
    given = rows.of(raw).drop("model", "experiment").drop(_NOT_SHOWN).with_row_index("row")
    numbers = given.select("row", *_STEP)
    scores = (
        rows.scored(scored).drop(_NOT_SHOWN).join(numbers, on=_STEP, how="inner", nulls_equal=True)
    )
    columns = [name for name in scores.columns if name not in (*_KEYS, "row")]
    scores = scores.select("profile", "row", *columns)
    changes = _sparse(scores, columns, rows.profiles)
    first = changes.filter(pl.col("profile") == rows.profiles[0]).drop("profile")
    joined = given.join(first, on="row", how="left", maintain_order="left").drop("row")
    return joined, changes.filter(pl.col("profile") != rows.profiles[0])


def _sparse(rows: pl.DataFrame, columns: Sequence[str], profiles: Sequence[str]) -> pl.DataFrame:
    """The rows of the first profile, and of the others those that differ from it."""
    is_first = pl.col("profile") == profiles[0]
    base, others = rows.filter(is_first), rows.filter(~is_first)
    same = others.join(base.drop("profile"), on=["row", *columns], how="anti", nulls_equal=True)
    return pl.concat([base, same]).sort("profile", "row", maintain_order=True)


def _read_plans(rows: _Rows, plans: pl.DataFrame, texts: pl.DataFrame) -> pl.DataFrame:
    """Profile, row and both texts of each plan that was compared."""
    numbers = plans.select(*_STEP).with_row_index("row")
    return (
        rows.scored(SCORED_PLANS.name)
        .filter(pl.col("structure_distance").is_not_null())
        .join(numbers, on=_STEP, how="inner", nulls_equal=True)
        .join(texts, on=_STEP, how="left", nulls_equal=True)
        .select("profile", "row", "label_content", "answer_content")
    )


def _of_plans(
    rows: _Rows, plans: pl.DataFrame, table: str, order: str | None = None
) -> pl.DataFrame:
    """The rows of a table of plans, with the number of their plan in place of its key."""
    numbers = plans.select(*_STEP).with_row_index("row")
    found = rows.scored(table).join(numbers, on=_STEP, how="inner", nulls_equal=True)
    if order is not None:
        found = found.sort("profile", "row", "graph", order).drop(order)
    return found.select("profile", "row", pl.exclude(*_KEYS, "row"))


def _arguments(rows: _Rows, steps: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """Arguments by step: of the first profile, and of others the steps in which they differ."""
    numbers = steps.select(*_STEP).with_row_index("row")
    found = rows.scored("scored_arguments").join(numbers, on=_STEP, how="inner", nulls_equal=True)
    found = found.select("profile", "row", pl.exclude(*_KEYS, "row"))
    columns = [name for name in found.columns if name not in ("profile", "row")]
    changed = _sparse(found, columns, rows.profiles).select("profile", "row").unique()
    kept = found.join(changed, on=["profile", "row"], how="semi", maintain_order="left")
    # Most answers are the label's: a null stands for the same values.
    is_same = pl.col("answer_values").eq_missing(pl.col("label_values"))
    return kept.with_columns(
        numbers_of(kept["label_values"], labels),
        is_same=is_same,
        answer_values=pl.when(is_same).then(None).otherwise("answer_values"),
    ).sort("profile", "row", "argument_key")
